"""Mutation tests: small faults are planted, one at a time, and tests must notice each."""
