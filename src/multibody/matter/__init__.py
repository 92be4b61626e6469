"""The matter subsystem and its bodies."""
