"""Small complete programs, each run by the tests."""
