"""Linear models at one State, and the sparsity that the graph tells."""
