"""Values of variables: copies, sealing, and comparison."""
