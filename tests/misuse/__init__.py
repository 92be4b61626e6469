"""Misuse: wrong arguments, receivers and moments, made from valid calls of every callable.

::

    docs/reference/api --> surface     names, parameters, errors that docstrings promise
                              |
    recipes (valid calls) --> cases <-- wrong (values that do not fit an annotation), sequences
                              |
    world (what is seen) --> trial     refused by a promised error, and everything as before
"""
