"""Results of a member: numbers, truth values, texts, arrays, trajectories, by name.

::

    1.5                      ->  {"result": 1.5}
    {"error": 1.5, "x": x}   ->  {"error": 1.5, "x": x}
    a Trajectory             ->  {"trajectory": ...}
"""

import io
import pickle
from collections.abc import Collection, Mapping
from typing import Any, Final

import numpy as np

from stagecache.errors import DuplicateNameError, StudyError, short_repr
from stagecache.study.ensemble.members import array_of, plain
from stagecache.study.trajectory.trajectory import Trajectory

RESULT: Final = "result"
TRAJECTORY: Final = "trajectory"
RESERVED: Final = frozenset(
    {"member", "status", "seconds", "attempts", "error", "message", "traceback"}
)
"""Names of the columns that all rows have."""

SCALARS: Final[tuple[Any, ...]] = (bool, int, float, complex, str)
KINDS: Final = "biufcU"
"""The kinds of arrays that are results."""


def values_of(returned: Any, taken: Collection[str]) -> dict[str, Any]:
    """Return the values that the function of a study has returned, by name.

    NumPy numbers become Python numbers; arrays are copied.

    Parameters
    ----------
    returned : object
    taken : collection of str
        Paths in which members differ.

    Raises
    ------
    StudyError
        Something is neither a value nor a dict of values.
    DuplicateNameError
        A name is taken by a path, or by a column that each row has.
    """
    if not isinstance(returned, Mapping):
        name = TRAJECTORY if isinstance(returned, Trajectory) else RESULT
        return {name: _value_of(returned, "the function of the study")}
    values = {}
    for name, value in returned.items():
        if not isinstance(name, str) or not name or not _is_name(name):
            raise StudyError(
                "the function of the study: a name of its results is not a text",
                "a dict from names to values; names without NUL and halves of surrogate pairs",
                short_repr(name),
                "write {'energy': energy}",
            )
        require_free_name(name, taken)
        values[name] = _value_of(value, f"the function of the study: {name!r}")
    return values


def require_free_name(name: str, taken: Collection[str]) -> None:
    """Refuse the name of a result that something else in each row has.

    Raises
    ------
    DuplicateNameError
    """
    if name in RESERVED or name in taken or name.startswith("stagecache."):
        raise DuplicateNameError(
            f"the function of the study: the name {name!r} is taken",
            "a name that is neither a parameter nor one of " + ", ".join(sorted(RESERVED)),
            repr(name),
            "give the result another name",
        )


def _is_name(name: str) -> bool:
    """Return True for a name that files can have."""
    try:
        return b"\0" not in name.encode()
    except UnicodeEncodeError:
        return False


def _value_of(value: Any, what: str) -> Any:
    value = plain(value)
    if isinstance(value, SCALARS):
        return next(kind(value) for kind in SCALARS if isinstance(value, kind))
    if isinstance(value, Trajectory):
        return value
    array = array_of(value) if isinstance(value, list | tuple | np.ndarray) else None
    if array is not None and array.dtype.kind in KINDS:
        array.flags.writeable = False
        return array
    raise StudyError(
        f"{what}: is not a result",
        "a number, a truth value, a text, an array or list of one kind of these, a Trajectory, or "
        "a dict of these",
        f"{short_repr(value)}, of type {type(value).__name__}",
        "return numbers; a State itself cannot be a result"
        if value is not None
        else "end the function with return ...",
    )


# ---------------------------------------------------------------------- on their way


class SystemPickler(pickle.Pickler):
    """A pickler that writes a name for the System: values travel without it.

    Parameters
    ----------
    system : System
    """

    def __init__(self, system: Any) -> None:
        self._file = io.BytesIO()
        super().__init__(self._file, protocol=5)
        self._system = system

    def persistent_id(self, value: Any) -> str | None:
        """Return a name for the System, None for everything else."""
        return "system" if value is self._system else None

    def bytes_of(self, value: Any) -> bytes:
        """Return a value as bytes.

        Raises
        ------
        Exception
            Any exception of an object that cannot be pickled.
        """
        self.dump(value)
        return self._file.getvalue()


class _Unpickler(pickle.Unpickler):
    system: Any

    def persistent_load(self, pid: Any) -> Any:  # noqa: ARG002  # there is one
        return self.system


def to_bytes(outcomes: Any, system: Any) -> bytes:
    """Return outcomes of members as bytes, in which the System is a name."""
    return SystemPickler(system).bytes_of(outcomes)


def from_bytes(data: bytes, system: Any) -> Any:
    """Return the outcomes in bytes that `to_bytes` has made in another process."""
    unpickler = _Unpickler(io.BytesIO(data))
    unpickler.system = system
    return unpickler.load()
