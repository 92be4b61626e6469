"""Traces: records of reads, writes and computations, and their summary."""
