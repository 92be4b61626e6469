"""A view as text, page, picture, or graph of another library."""
