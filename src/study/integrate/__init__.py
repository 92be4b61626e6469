"""The integrator: steps, event localization, constraints, options."""
