"""Masked arrays of NumPy: numbers some of which are hidden, as they are not known.

A conversion by `numpy.asarray` forgets which, so what takes arrays asks here first.
"""

from typing import Any

import numpy as np

from stagecache.errors import NotANumberError, brief


def has_masked(values: object) -> bool:
    """Tell whether a number is hidden: of a masked array, or one of a list of these.

    Cost O(size) of lists and masked arrays; of other values none.
    """
    if isinstance(values, np.ma.MaskedArray):
        return bool(np.ma.getmaskarray(values).any())
    if isinstance(values, list | tuple):
        return any(map(has_masked, values))
    return False


def missing_as_nan(values: Any) -> Any:
    """Return the values with NaN for hidden numbers; the same object if there are none."""
    if not has_masked(values):
        return values
    if isinstance(values, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(values), np.nan, np.ma.getdata(values))
    return [missing_as_nan(value) for value in values]


def refuse_masked(values: object, what: str) -> None:
    """Refuse values of which some are hidden.

    Raises
    ------
    NotANumberError
        `what` names the values.
    """
    if has_masked(values):
        raise NotANumberError(
            f"{what}: is masked",
            "numbers that are known",
            brief(values),
            "put a number in its place: values.filled(number)",
        )
