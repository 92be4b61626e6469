"""Studies: integrators, time steppers and what they bring."""
