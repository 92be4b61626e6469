"""What a State contains: values, stages, and the storage of its vectors."""
