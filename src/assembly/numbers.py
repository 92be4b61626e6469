"""Numbers that are given to an Assembler."""

from stagecache.state.conversion import FLOAT, converted
from stagecache.state.masked import refuse_masked


def number(value: object, what: str) -> float:
    """Return a number, which may be infinite or NaN, as a float.

    Raises
    ------
    ShapeError, NotANumberError
        `what` names the value.
    """
    refuse_masked(value, what)
    return float(converted(value, FLOAT, (), what))
