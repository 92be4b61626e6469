"""The vectors of a State, and conversion of what is written to them."""
