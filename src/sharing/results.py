"""Shared results: values by key, in memory, and in a folder if there is one.

::

    a read of a shared entry that is not valid
        its key          code, attributes, and values of its prerequisites
        in memory?       the most recently used values, up to a limit in bytes
        in the folder?   values of other processes and sessions
        computed         once, even if several threads or processes need it at the same time

Each process has one set of results in use; `shared_results` replaces it.
"""

import io
import os
import pickle
import re
import socket
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Condition, get_ident
from types import TracebackType
from typing import Any, Final, Self, final

import attrs
from attrs import evolve, frozen

from stagecache.checks import as_float, require_path
from stagecache.errors import OutOfRangeError, UnsharableError, short_repr
from stagecache.graph.handles import AbstractNode
from stagecache.sharing.folder import ResultFolder
from stagecache.state.handles import AbstractHandle
from stagecache.state.partition import AbstractPartition
from stagecache.state.values.values import duplicate

UNITS: Final = {None: 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
SIZE: Final = re.compile(r"(\d+(?:\.\d*)?(?:e\+?\d+)?) ?([kmgt]?b)?")
LONGEST_WAIT: Final = 1.0
"""Seconds until a thread looks again: after an error, nothing may have woken it."""

DEFAULT_LIMIT: Final = "256 MB"
DEFAULT_FOLDER_LIMIT: Final = "10 GB"


Totals = tuple[int, int, float]
"""Counts of shared values that were found and computed, and the time saved [s]."""


class SharedResultsWarning(UserWarning):
    """A saved result is damaged, or the folder of results cannot be used; values are computed."""


@final
@frozen
class Origin:
    """The computation of a shared value.

    Attributes
    ----------
    key : str
        Fingerprint of all that the value depends on, 64 hexadecimal digits.
    entry : str
        Path of the entry that was computed.
    process : str
        Process and host.
    at : str
        Time of the end of the computation, in UTC.
    seconds : float
        Time that it took [s].
    """

    key: str
    entry: str
    process: str
    at: str
    seconds: float

    def __str__(self) -> str:
        return f"computed by {self.process} at {self.at}, in {self.seconds:.3g} s"


@final
@frozen
class SharedStatistics:
    """Counts of shared results since they were made, and of values that are in memory now.

    Attributes
    ----------
    hits : int
        Values that were found, in memory or in the folder.
    hits_in_folder : int
        Hits in the folder.
    misses : int
        Values that were computed.
    seconds_saved : float
        Time that the first computation of the found values took [s].
    values : int
        Values in memory.
    bytes : int
        Approximate size of the values in memory.
    evicted : int
        Values that were dropped from memory, to keep the limit.
    damaged : int
        Values in the folder that were damaged, and computed again.
    """

    hits: int = 0
    hits_in_folder: int = 0
    misses: int = 0
    seconds_saved: float = 0.0
    values: int = 0
    bytes: int = 0
    evicted: int = 0
    damaged: int = 0

    @property
    def totals(self) -> Totals:
        """Values found, values computed, and seconds saved."""
        return self.hits, self.misses, self.seconds_saved

    def __str__(self) -> str:
        return (
            f"{self.hits} found ({self.hits_in_folder} in the folder), {self.misses} computed, "
            f"{self.seconds_saved:.3g} s saved; {self.values} values in memory, "
            f"{self.bytes / 1e6:.3g} MB"
        )


@frozen(eq=False)
class _Kept:
    """A value in memory."""

    value: Any
    origin: Origin
    size: int


@final
class SharedResults:
    """Values of shared entries, found by all that they depend on; `shared_results` makes them.

    A context manager: at its end, the results from before are in use again. Several threads may
    use it at the same time.
    """

    def __init__(self, limit: int, folder: ResultFolder | None) -> None:
        self._limit = limit
        self._folder = folder
        self._before: list[SharedResults] = []  # by ``with`` block that has not ended
        self._kept: OrderedDict[str, _Kept] = OrderedDict()  # the one used last at the end
        self._computing: dict[str, int] = {}  # threads by key
        self._changed = Condition()
        self._counts = SharedStatistics()
        self._has_warned = False

    @property
    def limit(self) -> int:
        """Limit of the memory [bytes]."""
        return self._limit

    @property
    def path(self) -> Path | None:
        """The folder of values, if there is one."""
        return None if self._folder is None else self._folder.path

    @property
    def is_off(self) -> bool:
        """True if nothing is shared: the limit is 0, without a folder."""
        return not self._limit and self._folder is None

    @property
    def statistics(self) -> SharedStatistics:
        """Counts, as they are now."""
        with self._changed:
            return self._counts

    def clear(self) -> None:
        """Forget all values in memory; those in the folder stay."""
        with self._changed:
            self._kept.clear()
            self._counts = evolve(self._counts, values=0, bytes=0)

    def find_or_compute(
        self,
        key: str,
        entry: str,
        compute: Callable[[], Any],
        is_still: Callable[[], bool] = lambda: True,
    ) -> tuple[Any, Origin | None, bool]:
        """Return the value of a key, where it was computed, and True if it was found.

        If another thread or process is computing the value, this waits for it. An exception of
        `compute` is raised unchanged. Nothing is kept after an exception, or if `is_still` returns
        False after the computation, since the key no longer belongs to the value.

        Raises
        ------
        UnsharableError
            The value cannot be shared.
        UnsavableValueError
            It cannot be saved in the folder.
        """
        me = get_ident()
        is_mine = False
        try:
            with self._changed:
                while (kept := self._kept.get(key)) is None:
                    owner = self._computing.get(key)
                    if owner is None:
                        is_mine = True
                        self._computing[key] = me
                    if owner in (None, me):
                        break
                    self._changed.wait(LONGEST_WAIT)
                else:
                    self._kept.move_to_end(key)
                    self._count_hit(kept.origin)
            if kept is not None:
                return duplicate(kept.value), kept.origin, True
            if not is_mine:  # the computation of the value asks for it: a recursion
                return compute(), None, False
            if self._folder is None:
                return *self._computed(key, entry, compute, is_still), False
            return self._fetched_or_computed(self._folder, key, entry, compute, is_still)
        finally:
            if is_mine:
                with self._changed:
                    self._computing.pop(key, None)
                    self._changed.notify_all()

    def _fetched_or_computed(
        self,
        folder: ResultFolder,
        key: str,
        entry: str,
        compute: Callable[[], Any],
        is_still: Callable[[], bool],
    ) -> tuple[Any, Origin | None, bool]:
        found, _ = folder.get(key)
        if found is None:
            with folder.alone(key):
                found, damage = folder.get(key)  # another process may have been faster
                if damage:
                    self._tell_damage(damage)
                if found is None:
                    return *self._computed(key, entry, compute, is_still), False
        origin, value = Origin(**found[0]), duplicate(found[1])
        with self._changed:
            self._count_hit(origin, in_folder=True)
            self._keep(key, value, origin, size_of(value, entry))
        return duplicate(value), origin, True

    def _tell_damage(self, damage: str) -> None:
        with self._changed:
            self._counts = evolve(self._counts, damaged=self._counts.damaged + 1)
        _warn(f"a shared result is damaged, and is computed again: {damage}")

    def _computed(
        self, key: str, entry: str, compute: Callable[[], Any], is_still: Callable[[], bool]
    ) -> tuple[Any, Origin | None]:
        start = time.perf_counter()
        value = compute()
        seconds = time.perf_counter() - start
        size = size_of(value, entry)
        if not is_still():
            return value, None
        now = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
        process = f"process {os.getpid()} on {socket.gethostname()}"
        origin = Origin(key, entry, process, now, seconds)
        if self._folder is not None:
            self._put(self._folder, key, origin, value)
        own = duplicate(value)
        with self._changed:
            self._counts = evolve(self._counts, misses=self._counts.misses + 1)
            self._keep(key, own, origin, size)
        return value, origin

    def _keep(self, key: str, value: Any, origin: Origin, size: int) -> None:
        """Keep a value in memory, and drop the least recently used ones beyond the limit."""
        if size > self._limit:
            return
        kept, used, evicted = self._kept, self._counts.bytes + size, self._counts.evicted
        before = kept.pop(key, None)
        if before is not None:
            used -= before.size
        kept[key] = _Kept(value, origin, size)
        while used > self._limit:
            _, dropped = kept.popitem(last=False)
            used -= dropped.size
            evicted += 1
        self._counts = evolve(self._counts, values=len(kept), bytes=used, evicted=evicted)

    def _count_hit(self, origin: Origin, *, in_folder: bool = False) -> None:
        counts = self._counts
        self._counts = evolve(
            counts,
            hits=counts.hits + 1,
            hits_in_folder=counts.hits_in_folder + in_folder,
            seconds_saved=counts.seconds_saved + origin.seconds,
        )

    def _put(self, folder: ResultFolder, key: str, origin: Origin, value: Any) -> None:
        """Write a value into the folder; warn once if the system refuses it."""
        try:
            folder.put(key, attrs.asdict(origin), value)
        except OSError as error:
            if not self._has_warned:
                self._has_warned = True
                _warn(f"a shared result cannot be written into the folder: {error}")

    # ------------------------------------------------------------------ in use

    def __enter__(self) -> Self:
        now, before = _IN_USE
        self._before.append(before if now is self else now)
        _IN_USE[:] = self, self
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        before = self._before.pop()
        _IN_USE[:] = before, before

    def _forked(self) -> None:
        """Forget the computations of threads that a forked process does not have."""
        self._changed = Condition()
        self._computing.clear()

    def __reduce__(self) -> Any:
        """Return results with the same limits and folder, and nothing in memory."""
        folder = self._folder
        return _arrived, (self._limit, *((folder.path, folder.limit) if folder else (None, 0)))

    def __repr__(self) -> str:
        where = "" if self.path is None else f", in {str(self.path)!r}"
        return f"SharedResults({self.statistics}{where})"


def shared_results(
    limit: str | float = DEFAULT_LIMIT,
    *,
    path: "str | os.PathLike[str] | None" = None,
    path_limit: str | float = DEFAULT_FOLDER_LIMIT,
) -> SharedResults:
    """Set how values of shared entries are kept, in this process, from now on.

    An entry is shared if it is declared so: ``@cached(..., shared=True)``. As a context manager,
    the setting ends with the block. Without a call, results are shared in memory, up to 256 MB.

    Parameters
    ----------
    limit : str or float
        Limit of the values in memory: "1 GB", "200 MB", or a number of bytes; 0 for none. The
        least recently used values are dropped.
    path : str or os.PathLike, optional
        Folder that also keeps values, for other processes and later sessions; it is made if it
        does not exist. Values are saved as `State.save` saves them, with a checksum: a damaged
        value is computed again, with a `SharedResultsWarning`. If several processes need a value
        at the same time, one of them computes it. Needs the extra `studies`.
    path_limit : str or float
        Limit of the files in the folder.

    Returns
    -------
    SharedResults
        The results, with `statistics`.

    Raises
    ------
    OutOfRangeError
        A limit is not a size.
    WrongTypeError, OSError
        `path` is not a folder, or it cannot be made.
    MissingExtraError

    Examples
    --------
    >>> from stagecache import Graph, shared_results
    >>> def squared(side):
    ...     return side() ** 2
    >>> with shared_results(limit="10 MB") as results:
    ...     for value in (2.0, 3.0, 2.0):
    ...         graph = Graph()
    ...         side = graph.variable("side", value)
    ...         area = graph.entry("area", squared, prerequisites=(side,), shared=True)
    ...         _ = area()
    >>> results.statistics.misses, results.statistics.hits
    (2, 1)
    """
    size = size_in_bytes(limit, "shared_results(limit=...)")
    folder = None
    if path is not None:
        most = size_in_bytes(path_limit, "shared_results(path_limit=...)")
        folder = ResultFolder(require_path(path, "shared_results(path=...)"), most)
    results = SharedResults(size, folder)
    _IN_USE[:] = results, _IN_USE[0]
    return results


@contextmanager
def nothing_shared() -> Iterator[None]:
    """Compute each value while the block runs, or the decorated function."""
    with SharedResults(0, None):
        yield


def _arrived(limit: int, path: Path | None, path_limit: int) -> SharedResults:
    return SharedResults(limit, None if path is None else ResultFolder(path, path_limit))


def results_in_use() -> SharedResults:
    """Return the results that the process uses now."""
    return _IN_USE[0]


def size_in_bytes(size: object, what: str) -> int:
    """Return a size as a number of bytes.

    Raises
    ------
    OutOfRangeError
    """
    number = None if isinstance(size, str) else as_float(size)
    text = size if isinstance(size, str) else "" if number is None else f"{number:.0f}"
    match = SIZE.fullmatch(text.strip().lower())
    if match is None:
        raise OutOfRangeError(
            f"{what}: not a size",
            'a number of bytes, or a text such as "200 MB" or "1 GB"',
            short_repr(size),
            "units are B, kB, MB, GB and TB; 0 for none",
        )
    return int(float(match[1]) * UNITS[match[2]])


def size_of(value: Any, entry: str) -> int:
    """Return the size of a value that can be shared [bytes]. Cost O(its parts), an array is one.

    Raises
    ------
    UnsharableError
        It contains a State, a handle or a local function, so it belongs to one State or process.
    """
    large: list[pickle.PickleBuffer] = []
    file = io.BytesIO()
    try:
        _Measure(file, protocol=5, buffer_callback=large.append).dump(value)
    except Exception as error:  # whatever an object raises that cannot be pickled
        raise UnsharableError(
            f"{entry}: its value cannot be shared",
            "a value that makes sense in another State and process: numbers, texts, arrays, or "
            "objects of these",
            f"{short_repr(value)}: {type(error).__name__}: {error}",
            "return data instead of functions and handles; or leave shared=True out",
        ) from error
    return file.tell() + sum(buffer.raw().nbytes for buffer in large)


class _Measure(pickle.Pickler):
    """A pickler that refuses what belongs to one State."""

    def persistent_id(self, value: Any) -> None:
        if isinstance(value, AbstractPartition | AbstractHandle | AbstractNode):
            raise TypeError(f"{type(value).__name__} in a value")


def _warn(message: str) -> None:
    warnings.warn(message, SharedResultsWarning, stacklevel=2)


_IN_USE: Final = [SharedResults(size_in_bytes(DEFAULT_LIMIT, ""), None)] * 2
"""The results in use, and those before the last call of `shared_results`, for a ``with`` block.

They belong to the whole process, since its threads work on the same models.
"""


def _after_fork() -> None:
    _IN_USE[0]._forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
