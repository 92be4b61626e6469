"""Random programs of reads and writes, and their execution."""
