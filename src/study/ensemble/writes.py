"""Writes of a member: values by path, which become values of variables of a State.

::

    "pendulum.mode"        modeling options first, then Model is realized anew
    "pendulum.length"      discrete variables
    "pendulum.angle"       q, u and z, one block or one number
    "chain.angles[3]"      one number of a vector
    "time"
"""

import re
from collections.abc import Iterable, Mapping
from math import isnan
from numbers import Real
from typing import Any, Final, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from stagecache.errors import (
    DuplicateNameError,
    NodeKindError,
    NotANumberError,
    OutOfRangeError,
    ShapeError,
    StagecacheError,
    UnknownPathError,
    WrongTypeError,
    short_repr,
)
from stagecache.inspection.node_paths import NodePaths
from stagecache.state.handles import (
    AbstractContinuousVariable,
    ContinuousVariable,
    DiscreteVariable,
    TimeVariable,
)
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.study.ensemble.members import are_same, array_of, plain

ELEMENT: Final = re.compile(r"(.+)\[(\d+)\]")
FLOAT: Final = np.dtype(float)
TAKES: Final = {"f": "fiu", "c": "cfiu", "i": "iuf", "u": "iuf"}
"""Kinds of values that an array of each kind takes, if it represents them exactly."""

MODEL: Final = Stage.MODEL
WRITABLE: Final = AbstractContinuousVariable | DiscreteVariable | TimeVariable


@final
@frozen(eq=False)
class Target:
    """The place of a value in a State: a variable, or one of its numbers."""

    path: str
    handle: Any
    element: int | None = None

    @property
    def is_option(self) -> bool:
        """True for a modeling option, which may change the sizes of other variables."""
        return isinstance(self.handle, DiscreteVariable) and self.handle.invalidates <= MODEL

    def read(self, state: State) -> Any:
        """Return the value in a State."""
        value = self.handle(state)
        return plain(value if self.element is None else value[self.element])

    def write(self, state: State, value: Any, base: State) -> None:
        """Write a value, if it fits the value in another State and is not rounded.

        Raises
        ------
        StagecacheError
            It does not fit the variable.
        """
        handle, value = self.handle, plain(value)
        if isinstance(value, float) and isnan(value):  # a gap in a table, mostly
            raise self._refused(value, "a number that is not NaN")
        if self.element is not None:
            whole = np.array(handle(state))
            number = self._array(value, whole.dtype)
            if number.shape != ():
                raise self._refused(value, "a number")
            whole = whole.astype(np.result_type(whole.dtype, number.dtype))  # longer texts
            whole[self.element] = number[()]
            handle.set(state, whole)
        elif isinstance(handle, DiscreteVariable):
            handle.set(state, self._fitting(handle(base), value))
        else:
            self._require_float(value)
            handle.set(state, value)

    def _fitting(self, before: Any, value: Any) -> Any:
        """Return a value in the form of the one that it replaces."""
        if isinstance(before, np.ndarray):
            array = self._array(value, before.dtype)
            if array.shape != before.shape:
                raise ShapeError(
                    f"{self.path!r}: has another shape",
                    f"shape {before.shape}, as in the State",
                    f"shape {array.shape}",
                    "pass an array of that shape",
                )
            return array
        if isinstance(before, tuple) and isinstance(value, list | np.ndarray):
            value = tuple(map(plain, value))
        if isinstance(before, tuple) and not isinstance(value, tuple):
            raise self._refused(value, "a tuple")
        for kind, expected in ((bool, "True or False"), (Real, "a number"), (str, "a text")):
            if isinstance(before, kind):
                is_wanted = isinstance(value, kind)
                if not is_wanted or isinstance(value, bool) is not isinstance(before, bool):
                    raise self._refused(value, expected)
                break
        return value

    def _array(self, value: Any, dtype: Any) -> NDArray[Any]:
        """Return a value as an array of a dtype that represents it exactly; keep longer texts."""
        if dtype.kind == "O":
            return np.array(value, object)
        given = array_of(value)
        if given is None or given.dtype.kind not in TAKES.get(dtype.kind, dtype.kind):
            raise self._refused(value, self._kind_of(dtype), dtype)
        if dtype.kind in "US":
            return given.astype(np.result_type(dtype, given.dtype))
        with np.errstate(all="ignore"):
            array = given.astype(dtype)
        if given.dtype != dtype and not are_same(array.ravel().tolist(), given.ravel().tolist()):
            raise self._inexact(value, str(dtype))
        return array

    def _kind_of(self, dtype: Any) -> str:
        if self.element is None:
            return f"an array of {dtype}"
        return "a number" if dtype.kind in "iufc" else f"a value of {dtype}"

    def _require_float(self, value: Any) -> None:
        """Refuse integers that q, u, z and the time would round."""
        given = array_of(value)
        if given is not None and given.dtype.kind in "iu":
            self._array(given, FLOAT)

    def _inexact(self, value: object, dtype: str) -> StagecacheError:
        return OutOfRangeError(
            f"{self.path!r}: would be rounded",
            f"values that {dtype} has exactly, as the variable in the State is of that type",
            short_repr(value),
            f"round the values, or declare the variable with floats; np.array(values, {dtype!r}) "
            "rounds to another precision",
        )

    def _refused(self, value: object, expected: str, dtype: Any = None) -> StagecacheError:
        is_number = "number" in expected or (dtype is not None and dtype.kind in "iufc")
        return (NotANumberError if is_number else WrongTypeError)(
            f"{self.path!r}: has another kind of value",
            f"{expected}, as in the State",
            short_repr(value),
            "pass a value of that kind",
        )


@final
class Writes:
    """Writer of the values of members into copies of a State.

    Parameters
    ----------
    state : State
        The State that members are copied from, at Model or further. It is only read.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._paths = NodePaths(state._contents)
        self._targets: dict[str, Target] = {}

    def target(self, path: object) -> Target:
        """Return the place of a path.

        Raises
        ------
        WrongTypeError, UnknownPathError
        NodeKindError
            The path of something that cannot be written.
        """
        known = self._targets.get(path) if isinstance(path, str) else None
        if known is None:
            if not isinstance(path, str):
                raise WrongTypeError(
                    f"{short_repr(path)}: not a path",
                    "the path of a variable, as 'pendulum.length'",
                    f"an object of type {type(path).__name__}",
                    f"write {str(path)!r}",
                )
            known = self._targets[path] = self._found(path)
        return known

    def _found(self, path: str) -> Target:
        keys = self._state._contents.realization.store.keys
        try:
            handle: Any = keys[self._paths.find(path)]
        except UnknownPathError:
            match = ELEMENT.fullmatch(path)
            if match is None or match[1] not in self._paths.node:
                raise
            handle, element = keys[self._paths.node[match[1]]], int(match[2])
            is_vector = isinstance(handle, ContinuousVariable) or (
                isinstance(handle, DiscreteVariable)
                and isinstance(handle(self._state), np.ndarray)
                and handle(self._state).ndim == 1
            )
            if not is_vector or element >= len(handle(self._state)):
                raise
            return Target(path, handle, element)
        if isinstance(handle, WRITABLE):
            return Target(path, handle)
        raise NodeKindError(
            f"{path!r}: cannot be given a value",
            "a parameter or modeling option, another discrete variable, the time, or a q, u or z",
            "a cache entry" if hasattr(handle, "available_from") else "a stage, or weights",
            "name the variables from which it is computed",
        )

    def base(self, path: str) -> Any:
        """Return the value at a path of members that do not name it."""
        return self.target(path).read(self._state)

    def refuse_overlaps(self, paths: Iterable[str]) -> None:
        """Refuse two paths of one variable, since a write to one would overwrite the other.

        Raises
        ------
        DuplicateNameError
        """
        written: dict[int, dict[int | None, str]] = {}  # paths by node and element
        parts: dict[int, str] = {}  # paths of parts, by the node of the whole
        for path in paths:
            target = self.target(path)
            node, *wholes = self._paths.parts_to_whole(target.handle._node)
            here = written.setdefault(node, {})
            other = here.get(target.element, here.get(None)) or parts.get(node)
            if target.element is None and here:
                other = next(iter(here.values()))
            for whole in wholes:
                other = other or next(iter(written.get(whole, {}).values()), None)
                parts[whole] = path
            if other is not None:
                raise DuplicateNameError(
                    f"run_study(members): {other!r} and {path!r} are paths of the same variable",
                    "one path for each number in which members differ",
                    f"{other!r} and {path!r}",
                    "name the whole variable in all members, or its elements in all members",
                )
            here[target.element] = path

    def apply(self, values: Mapping[str, Any]) -> State:
        """Return a copy of the State with these values, at Model or Instance.

        Raises
        ------
        StagecacheError
            The error names the path.
        """
        with self._state.lock:  # other members are copied in other threads
            state = self._state.copy()
        self._write(state, values, state)
        return state

    def check(self, scratch: State, values: object, index: int) -> None:
        """Refuse values that cannot be written; the error names member and path.

        Raises
        ------
        WrongTypeError
            Not a mapping.
        StagecacheError
        """
        if not isinstance(values, Mapping):
            raise WrongTypeError(
                f"run_study(members): member {index} is not a dict",
                "a dict from paths to values",
                short_repr(values),
                "write {'pendulum.length': 1.0}",
            )
        try:
            if self._has_option(values):
                self.apply(values)  # sizes may change, so not in the State of all members
            else:
                self._write(scratch, values, self._state)
        except StagecacheError as error:
            raise type(error)(
                f"run_study(members): member {index}, {error.what}",
                error.expected,
                error.got,
                error.hint,
            ) from None

    def read_back(
        self, scratch: State, values: Mapping[str, Any], base: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the values that a member has at all paths, after its writes.

        Parameters
        ----------
        scratch : State
            A copy of the State, for writing.
        values : mapping of str to object
            Values that the member names.
        base : mapping of str to object
            Values of the State at all paths. A modeling option of the member may reset them.
        """
        try:
            if self._has_option(values):
                state = self.apply(values)
                return {
                    path: self.target(path).read(state) for path in base if self._has(state, path)
                }
            with self._state.lock:
                self._write(scratch, values, self._state)
        except Exception:  # of any kind: the member has failed, and its values could not be written
            return {**base, **values}
        return {**base, **{path: self.target(path).read(scratch) for path in values}}

    def _has(self, state: State, path: str) -> bool:
        """Return True if an element exists after a modeling option has changed the size."""
        target = self.target(path)
        return target.element is None or target.element < len(target.handle(state))

    def _has_option(self, values: Mapping[str, Any]) -> bool:
        return any(self.target(path).is_option for path in values)

    def _write(self, state: State, values: Mapping[str, Any], base: State) -> None:
        targets = [self.target(path) for path in values]
        if any(target.is_option for target in targets):
            for target in targets:
                if target.is_option:
                    self._set(state, target, values[target.path], base)
            state.system.realize_model(state)
        for target in targets:
            if not target.is_option:
                self._set(state, target, values[target.path], base)

    def _set(self, state: State, target: Target, value: Any, base: State) -> None:
        try:
            target.write(state, value, base)
        except StagecacheError as error:
            if repr(target.path) in error.what:
                raise
            what = f"{target.path!r}: {error.what}"
            raise type(error)(what, error.expected, error.got, error.hint) from None
