"""Writes of a member: values by path, which become values of variables of a State.

::

    "pendulum.mode"        modeling options first, then Model is realized anew
    "pendulum.length"      discrete variables
    "pendulum.angle"       q, u and z, one block or one number
    "chain.angles[3]"      one number of a vector
    "time"
"""

import re
from collections.abc import Mapping
from math import isnan
from numbers import Real
from typing import Any, Final, final

import numpy as np
from attrs import frozen

from stagecache.errors import (
    NodeKindError,
    NotANumberError,
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
from stagecache.study.ensemble.members import plain

ELEMENT: Final = re.compile(r"(.+)\[(\d+)\]")
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
        """True for a modeling option, which decides about the sizes of other variables."""
        return isinstance(self.handle, DiscreteVariable) and self.handle.invalidates <= MODEL

    def read(self, state: State) -> Any:
        """Return the value in a State."""
        value = self.handle(state)
        return plain(value if self.element is None else value[self.element])

    def write(self, state: State, value: Any) -> None:
        """Write a value.

        Raises
        ------
        StagecacheError
            It does not fit the variable.
        """
        handle = self.handle
        if isinstance(value, float) and isnan(value):  # a gap in a table, mostly
            raise self._refused(value, "a number that is not NaN")
        if self.element is not None:
            whole = np.array(handle(state))
            if isinstance(value, bool) or not isinstance(value, Real | np.number):
                raise self._refused(value, "a number")
            whole[self.element] = value
            handle.set(state, whole)
        elif isinstance(handle, DiscreteVariable):
            handle.set(state, self._fitting(handle(state), value))
        else:
            handle.set(state, value)

    def _fitting(self, before: Any, value: Any) -> Any:
        """Return a value that can take the place of another one, where that is a number."""
        if isinstance(before, np.ndarray):
            try:
                array = np.array(value, before.dtype)
            except (TypeError, ValueError):
                raise self._refused(value, f"an array of {before.dtype}") from None
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

    def _refused(self, value: object, expected: str) -> StagecacheError:
        return NotANumberError(
            f"{self.path!r}: has another kind of value",
            f"{expected}, as in the State",
            short_repr(value),
            "pass a value of that kind",
        )


@final
class Writes:
    """Values of members on their way into States.

    Parameters
    ----------
    state : State
        The State of which members are copies, at Model or further. Only for reading.
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
        """Return the value that members have which do not name a path."""
        return self.target(path).read(self._state)

    def apply(self, values: Mapping[str, Any]) -> State:
        """Return a copy of the State with these values, at Model or Instance.

        Raises
        ------
        StagecacheError
            The path that cannot be written, or its value, is named.
        """
        with self._state.lock:  # other members are copied in other threads
            state = self._state.copy()
        self._write(state, values)
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
            if any(self.target(path).is_option for path in values):
                self.apply(values)  # sizes may change: not in a State that others use, too
            else:
                self._write(scratch, values)
        except StagecacheError as error:
            raise type(error)(
                f"run_study(members): member {index}, {error.what}",
                error.expected,
                error.got,
                error.hint,
            ) from None

    def _write(self, state: State, values: Mapping[str, Any]) -> None:
        targets = [self.target(path) for path in values]
        if any(target.is_option for target in targets):
            for target in targets:
                if target.is_option:
                    self._set(state, target, values[target.path])
            state.system.realize_model(state)
        for target in targets:
            if not target.is_option:
                self._set(state, target, values[target.path])

    def _set(self, state: State, target: Target, value: Any) -> None:
        try:
            target.write(state, value)
        except StagecacheError as error:
            if repr(target.path) in error.what:
                raise
            what = f"{target.path!r}: {error.what}"
            raise type(error)(what, error.expected, error.got, error.hint) from None
