"""Results in a folder: one file for each value, which any number of processes read and write.

::

    folder/ab/ab12...ef.result      the frame of a file: key, origin, value, checksum
    folder/ab/ab12...ef.lock        while a process computes it

A file gets its name when it is complete, so no process sees a part of it, and a crash leaves
nothing that passes for a value. The key is in the file, too, so a renamed file is detected.
`joblib.Memory` and `diskcache` are not used: both unpickle what they find, so a file could run
code; and if one bit of a file has changed, they return a wrong array without an error.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, final

from stagecache.checks import require_extra
from stagecache.errors import FileFormatError, short_repr
from stagecache.files.envelope import pack, unpack, write_atomically
from stagecache.files.values import Blobs, bad_file, decode, encode

KIND: Final = "shared result"
ENDING: Final = ".result"
FULL: Final = 0.9
"""Fraction of the limit to which files are reduced."""

SHARE: Final = 10
"""A process counts files again once it has filled this part of the free room: a tenth."""

LEFT_BEHIND: Final = 86_400.0
"""Age at which a file that is not a result is removed, since no process is writing it [s]."""

FIELDS: Final = {"key": str, "entry": str, "process": str, "at": str, "seconds": float}


@final
class ResultFolder:
    """A folder of values by key.

    Parameters
    ----------
    path : Path
    limit : int
        Limit of the files [bytes]. The least recently used ones are removed.

    Raises
    ------
    OSError
        The folder cannot be made.
    MissingExtraError
    """

    def __init__(self, path: Path, limit: int) -> None:
        locks: Any = require_extra("filelock", "studies", "shared_results(path=...)")
        self._new_lock = locks.FileLock
        self.path = path
        self.limit = limit
        path.mkdir(parents=True, exist_ok=True)
        self._until_counted = 0  # bytes that may be written until the files are counted again

    def get(self, key: str) -> tuple[tuple[dict[str, Any], Any] | None, str]:
        """Return origin and value of a key, or None; and the damage of its file, "" without any."""
        path = self._place(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None, ""
        try:
            content, blobs = unpack(data, KIND, str(path))
            is_result = isinstance(content, dict) and set(content) == {"origin", "value"}
            origin: Any = content["origin"] if is_result else None
            good = isinstance(origin, dict) and {k: type(v) for k, v in origin.items()} == FIELDS
            if not good or origin["key"] != key:
                raise bad_file(f"{path}: is not this result", f"key {key}", short_repr(origin))
            value = decode(content["value"], origin["entry"], list(blobs))
        except FileFormatError as error:  # the file is replaced when the value is computed
            return None, str(error)
        with suppress(OSError):
            os.utime(path)
        return (origin, value), ""

    def put(self, key: str, origin: dict[str, Any], value: Any) -> None:
        """Write a value, unless it alone exceeds the limit.

        Raises
        ------
        UnsavableValueError
            A part of the value cannot be saved in a file.
        OSError
        """
        blobs: Blobs = []
        encoded = encode(value, origin["entry"], blobs)
        data = pack(KIND, {"origin": origin, "value": encoded}, blobs)
        if len(data) > self.limit:
            return
        self._until_counted -= len(data)
        if self._until_counted < 0:
            self._make_room(len(data))
        path = self._place(key)
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, data)

    @contextmanager
    def alone(self, key: str) -> Iterator[None]:
        """Wait until no other process computes a value; others wait while the block runs.

        Where files cannot be locked, several processes may compute it.
        """
        path = self._place(key).with_suffix(".lock")
        lock = self._new_lock(path)
        with suppress(OSError, NotImplementedError):  # a full disk, or one without locks
            path.parent.mkdir(exist_ok=True)
            lock.acquire()
        try:
            yield
        finally:
            with suppress(OSError):
                path.unlink()
            lock.release()

    def _place(self, key: str) -> Path:
        return self.path / key[:2] / f"{key}{ENDING}"

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        """Yield last use, size and path of each file; files left by a crash come first."""
        now = time.time()
        for path in self.path.glob("*/*"):
            with suppress(OSError):  # another process has removed it
                status = path.stat()
                is_result = path.suffix == ENDING
                if is_result or now - status.st_mtime > LEFT_BEHIND:
                    yield status.st_mtime if is_result else 0.0, status.st_size, path

    def _make_room(self, size: int) -> None:
        """Remove the least recently used files, if there is no room for a new one.

        Other processes write as well, so all files are counted again after each tenth.
        """
        files = sorted(self._files())
        used = sum(size for _, size, _ in files)
        if used + size > self.limit:
            for _, freed, path in files:
                if used + size <= FULL * self.limit:
                    break
                with suppress(OSError):
                    path.unlink()
                    used -= freed
        self._until_counted = int(self.limit - used - size) // SHARE
