"""Tests of views of graphs."""
