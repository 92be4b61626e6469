"""Contents of a State: values, observers, and the storage of its vectors."""
