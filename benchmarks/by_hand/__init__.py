"""Simulations as users write them, each beside the same by hand: NumPy and `solve_ivp`.

::

    building     rooms with thermostats, which are subsystems      a vector, and one event function
    cart_pole    a controller that samples                         a run from sample to sample
    chain        masses between springs, as subsystems, or one     a loop, or vectors
    rods         points between rods, projected                    Newton's method, a banded matrix
"""
