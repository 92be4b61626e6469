"""Assembly: configurations that satisfy conditions."""
