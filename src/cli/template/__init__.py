"""The files that `stagecache new` writes, as a model that works."""
