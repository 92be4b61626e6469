"""Detection of values that were changed in place, unnoticed by the State or the Graph.

A value that can be changed is remembered when it is read, as what pickle makes of it, together with
its version. If the same version is different at a later look, somebody has changed it in place:
the computation that read it, or somebody else with a reference. Arrays are read-only, so they need
no check, except those that were handed out by ``upd_...()``, of which somebody may hold a slice.
"""

import pickle
from collections.abc import Callable
from copy import deepcopy
from io import BytesIO
from typing import Any, final

import numpy as np

from stagecache.errors import MutatedValueError, short_repr
from stagecache.graph.graph import Graph
from stagecache.graph.handles import AbstractNode
from stagecache.inspection.strict.judge import Judge
from stagecache.state.handles import AbstractHandle
from stagecache.state.values.sameness import same, shown


class _Pickler(pickle.Pickler):
    """Pickler of a value without the model, States and Graphs to which it may refer."""

    def __init__(self, file: BytesIO) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.referred: dict[int, object] = {}

    def persistent_id(self, value: Any) -> int | None:
        kind = type(value)
        is_model = hasattr(kind, "realize_topology") or hasattr(kind, "_contents")
        if isinstance(value, AbstractHandle | AbstractNode | Graph) or is_model:
            self.referred[id(value)] = value
            return id(value)
        return None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BytesIO, referred: dict[int, object]) -> None:
        super().__init__(file)
        self._referred = referred

    def persistent_load(self, pid: Any) -> object:
        return self._referred[pid]


@final
class Digest:
    """A value as it is now, to be compared later.

    Raises
    ------
    Exception
        The value can be neither pickled nor copied, so that it cannot be compared.
    """

    __slots__ = ("_copy", "_pickled", "_referred")

    def __init__(self, value: object) -> None:
        self._copy: object = None
        self._pickled = b""
        self._referred: dict[int, object] = {}
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            self._copy = value.copy()
            return
        try:
            self._pickled, self._referred = _pickled(value)
        except Exception:  # local classes, lambdas, ...
            self._copy = deepcopy(value)

    def value(self) -> Any:
        """Return a copy of the value as it was."""
        if not self._pickled:
            return self._copy
        return _Unpickler(BytesIO(self._pickled), self._referred).load()

    def matches(self, value: object) -> bool:
        """Return True if the value is unchanged."""
        if not self._pickled:
            return same(self._copy, value)
        try:
            if _pickled(value)[0] == self._pickled:
                return True
        except Exception:  # it has become something that cannot be pickled
            return False
        try:
            before = self.value()
        except Exception:  # pickle cannot restore it: nothing is known of it
            return True
        return same(before, value)  # the same objects inside may be others that are equal


def _pickled(value: object) -> tuple[bytes, dict[int, object]]:
    file = BytesIO()
    pickler = _Pickler(file)
    pickler.dump(value)
    return file.getvalue(), pickler.referred


@final
class Observed:
    """A value that was read.

    Attributes
    ----------
    version : int
    value : object
    digest : Digest
    readers : dict of str to None
        Readers so far, in order.
    """

    __slots__ = ("digest", "readers", "value", "version")

    def __init__(self, version: int, value: object, digest: Digest, reader: str) -> None:
        self.version = version
        self.value = value
        self.digest = digest
        self.readers = {reader: None}


@final
class Observations:
    """The values that were read and could have been changed in place."""

    __slots__ = ("_judge", "_observed", "_open")

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._observed: dict[Any, Observed] = {}
        self._open: set[Any] = set()

    def open(self, handle: Any) -> None:
        """Let a value be changed until a computation reads it: it was handed out for that."""
        self._observed.pop(handle, None)
        self._open.add(handle)

    def look(self, handle: Any, reader: str, *, computes: bool) -> None:
        """Remember a value that is being read, or compare it with what it was.

        Raises
        ------
        MutatedValueError
        """
        if handle in self._open:
            if not computes:
                return
            self._open.discard(handle)
        observed = self._same_version(handle)
        if observed is not None:
            self._compare(handle, observed)
            observed.readers[reader] = None
            return
        if not self._judge.can_change(handle):
            return
        value = self._judge.value(handle)
        try:
            digest = Digest(value)
        except Exception:  # it can be neither pickled nor copied: nothing is known of it
            return
        version = self._judge.subject.store.versions[handle._node]
        self._observed[handle] = Observed(version, value, digest, reader)

    def check(self, handle: Any) -> None:
        """Compare a value with what it was, if it was read and is still the same version.

        Raises
        ------
        MutatedValueError
        """
        observed = self._same_version(handle)
        if observed is not None:
            self._compare(handle, observed)

    def check_all(self) -> None:
        """Compare all values with what they were."""
        for handle in list(self._observed):
            self.check(handle)

    def keep(self, is_there: Callable[[Any], bool]) -> None:
        """Forget all values but those of items that are still there."""
        self._open = {handle for handle in self._open.copy() if is_there(handle)}
        for handle in list(self._observed):
            if not is_there(handle):
                self._observed.pop(handle, None)

    def _same_version(self, handle: Any) -> Observed | None:
        """Return the value that was read, if it should still be the same."""
        observed = self._observed.get(handle)
        if observed is None:
            return None
        subject = self._judge.subject
        node = handle._node
        if (
            not subject.is_there(handle)
            or subject.store.versions[node] != observed.version
            or not subject.store.is_valid(node)
        ):
            return None
        return observed if self._judge.is_same_object(handle, observed.value) else None

    def _compare(self, handle: Any, observed: Observed) -> None:
        value = self._judge.value(handle)
        if observed.digest.matches(value):
            return
        del self._observed[handle]
        readers = ", ".join(observed.readers)
        try:
            before, now = shown(observed.digest.value(), value)
        except Exception:  # pickle cannot restore it
            before, now = "another value", short_repr(value)
        raise MutatedValueError(
            f"{self._judge.path(handle)}: its value was changed in place",
            f"{before}, as it was read {readers}",
            f"{now}, in the same version {observed.version}",
            self._judge.hint_of_change(handle),
        )
