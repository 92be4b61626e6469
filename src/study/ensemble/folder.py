"""Folders of studies: facts of the study, rows as members end, and a file for each trajectory.

::

    study.json                  names, units, seed; fingerprints of model, State, function, members
    results-000.arrows          rows, appended in batches; another file after each resumption
    trajectories/000012.arrows  the trajectory of member 12
    .lock                       locked by the driver that writes

An incomplete batch is ignored, so a kill loses the members since the last one, and doubles none.
Only the driver writes.
"""

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, Final, final
from urllib.parse import quote

import numpy as np
from attrs import asdict, fields, frozen

from stagecache.errors import FileFormatError, StagecacheError, StudyError, short_repr
from stagecache.files.envelope import (
    errors_naming,
    name_beside,
    open_beside,
    read_json,
    write_atomically,
)
from stagecache.files.values import Blobs, bad_file, decode, encode
from stagecache.study.ensemble.results import (
    FAILED,
    OK,
    AbstractStore,
    Ensemble,
    MemberResult,
)
from stagecache.study.ensemble.rows import (
    FACT,
    PARAMETER,
    RESULT,
    FileName,
    Row,
    RowEncoder,
    RowFile,
    columns_of,
)
from stagecache.study.ensemble.values import TRAJECTORY
from stagecache.study.ensemble.worker import texts_of
from stagecache.study.trajectory.arrow import END
from stagecache.study.trajectory.loading import load_trajectory
from stagecache.study.trajectory.stream import claim
from stagecache.study.trajectory.trajectory import Trajectory
from stagecache.system.core.system import System

INDEX: Final = "study.json"
LOCK: Final = ".lock"
"""A file that is never replaced, so that all drivers lock the same one."""

FILES: Final = "trajectories"
PATTERN: Final = "results-*.arrows"
FORMAT: Final = 1
FLUSH_SECONDS: Final = 1.0
MOST_ROWS: Final = 1000
LONGEST_NAME: Final = 100
"""Characters of the name of a result in the name of a file."""

MOST_CACHED: Final = 4
"""Number of decoded batches in memory."""


@final
@frozen(eq=False)
class StudyFacts:
    """Facts that must be the same for a study to be resumed.

    Attributes
    ----------
    ensemble : Ensemble
    seed : int
    layout, code : str
        Fingerprints of variables and entries, and of attributes and code, of the model.
    study : str
        Fingerprint of the function of the study.
    state : str
        Fingerprint of the values of the State that members are copied from.
    members : str
        Fingerprint of the values of all members.
    """

    ensemble: Ensemble
    seed: int
    layout: str
    code: str
    study: str
    state: str
    members: str

    def to_json(self) -> dict[str, Any]:
        """Return the facts as JSON."""
        found = {field.name: getattr(self, field.name) for field in fields(StudyFacts)}
        ensemble = asdict(self.ensemble, recurse=False)
        blobs: Blobs = []
        ensemble["names"] = list(self.ensemble.names)
        ensemble["units"] = dict(self.ensemble.units)
        levels = {p: list(values) for p, values in self.ensemble.levels.items()}
        ensemble["levels"] = encode(levels, "levels", blobs)
        ensemble["blobs"] = [blob.hex() for blob in blobs]
        facts = {"stagecache": "study", "format": FORMAT} | found | {"ensemble": ensemble}
        return facts | {"sum": _sum_of(facts)}

    @classmethod
    def of_json(cls, found: Any, where: str) -> "StudyFacts":
        """Return the facts in the JSON of a folder.

        Raises
        ------
        FileFormatError
        """
        if not isinstance(found, dict) or found.get("stagecache") != "study":
            raise bad_file(f"{where}: does not describe a study", "a study", short_repr(found))
        if found.get("format") != FORMAT:
            raise FileFormatError(
                f"{where}: is of another version",
                f"format version {FORMAT}",
                short_repr(found.get("format")),
                "open it with a newer release of stagecache",
            )
        if found.get("sum") != _sum_of({k: v for k, v in found.items() if k != "sum"}):
            raise bad_file(f"{where}: is damaged", "facts that fit its checksum", "other facts")
        try:
            ensemble = dict(found["ensemble"])
            blobs = [bytes.fromhex(blob) for blob in ensemble.pop("blobs")]
            levels = decode(ensemble.pop("levels"), where, blobs)
            ensemble["names"] = tuple(ensemble["names"])
            ensemble["levels"] = {path: tuple(values) for path, values in levels.items()}
            given = Ensemble(**ensemble)
            facts = cls(given, *[found[field.name] for field in fields(StudyFacts)[1:]])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise bad_file(f"{where}: does not describe a study", "facts", str(error)) from None
        texts = [given.system, *given.names, *given.units, *given.units.values(), facts.members]
        is_number = type(given.number) is int and given.number >= 0
        if not is_number or not all(type(text) is str for text in texts):
            raise bad_file(
                f"{where}: does not describe a study", "names and a number", short_repr(ensemble)
            )
        return facts

    @property
    def identity(self) -> str:
        """Hash of all facts."""
        found: str = self.to_json()["sum"]
        return found

    def differences(self, other: "StudyFacts") -> list[str]:
        """Return what differs from the facts of another study, in words."""
        mine, theirs = self.ensemble, other.ensemble
        pairs = {
            "the System": (mine.system, theirs.system),
            "the number of members": (mine.number, theirs.number),
            "the paths in which members differ": (mine.names, theirs.names),
            "values of members": (self.members, other.members),
            "the levels of a factorial design": (str(mine.levels), str(theirs.levels)),
            "units": (mine.units, theirs.units),
            "the seed": (self.seed, other.seed),
            "variables or entries of the model": (self.layout, other.layout),
            "code or attributes of the model": (self.code, other.code),
            "the function of the study": (self.study, other.study),
            "values of the State": (self.state, other.state),
        }
        return [what for what, (one, another) in pairs.items() if one != another]


def _sum_of(facts: Mapping[str, Any]) -> str:
    return sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


# ---------------------------------------------------------------------- reading


@final
class Folder(AbstractStore):
    """Results in a folder.

    Parameters
    ----------
    path : Path
    system : System, optional
        Model of the trajectories.

    Raises
    ------
    OSError
    FileFormatError
    """

    def __init__(self, path: Path, system: System | None = None) -> None:
        self.path = path
        self._system = system
        self.facts = read_facts(path / INDEX)
        self._files: list[RowFile] = []
        self._places: dict[int, tuple[int, int, int]] = {}  # file, batch, row
        self._statuses: dict[int, tuple[str, float]] = {}
        self._cache: dict[tuple[int, int], list[Row]] = {}
        for name in sorted(path.glob(PATTERN)):
            self._add(RowFile(name, self.facts.identity))

    def _add(self, file: RowFile) -> None:
        self._files.append(file)
        for batch in range(file.num_batches):
            for row, (index, status, seconds) in enumerate(file.facts(batch)):
                if not 0 <= index < self.facts.ensemble.number or status not in (OK, FAILED):
                    raise bad_file(f"{file.path}: is damaged", "members", f"{index}: {status}")
                if index not in self._places:
                    self._places[index] = len(self._files) - 1, batch, row
                    self._statuses[index] = status, seconds

    def close(self) -> None:
        """Close the memory maps."""
        for file in self._files:
            file.close()

    def _rows(self, file: int, batch: int) -> list[Row]:
        key = file, batch
        if key not in self._cache:
            while len(self._cache) >= MOST_CACHED:
                del self._cache[next(iter(self._cache))]
            self._cache[key] = self._files[file].rows(batch)
        return self._cache[key]

    def result(self, index: int) -> MemberResult | None:
        """Return the result of a member; None if it has not run."""
        place = self._places.get(index)
        if place is None:
            return None
        file, batch, row = place
        return self._result(self._rows(file, batch)[row])

    def results(self) -> Iterator[MemberResult]:
        """Return an iterator over all results, batch by batch."""
        return (self._result(self._rows(f, b)[row]) for f, b, row in sorted(self._places.values()))

    def statuses(self) -> Mapping[int, tuple[str, float]]:
        """Return status and seconds by index."""
        return self._statuses

    def _result(self, row: Row) -> MemberResult:
        facts = {name: value for (role, name), value in row.items() if role == FACT}
        named = {
            role: {name: sealed(value) for (at, name), value in row.items() if at == role}
            for role in (PARAMETER, RESULT)
        }
        names = self.facts.ensemble.names
        return MemberResult(
            facts["member"],
            {path: named[PARAMETER][path] for path in names if path in named[PARAMETER]},
            facts["status"],
            {name: self._loaded(value) for name, value in named[RESULT].items()},
            facts.get("error", ""),
            facts.get("message", ""),
            facts.get("traceback", ""),
            facts["seconds"],
            facts["attempts"],
        )

    def _loaded(self, value: Any) -> Any:
        """Return a value; a trajectory from its file."""
        if not isinstance(value, FileName):
            return value
        if Path(value.name).name != value.name:  # it must not lead into another folder
            raise bad_file(f"{self.path}: is damaged", "the name of a file", value.name)
        return load_trajectory(self.path / FILES / value.name, self._system)


def sealed(value: Any) -> Any:
    """Return a value; an array as a read-only one."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    return value


# ---------------------------------------------------------------------- writing


@final
class FolderWriter:
    """A folder to which results are added.

    Parameters
    ----------
    path : Path
    facts : StudyFacts
    resume : bool
        True to continue from the results in the folder.

    Attributes
    ----------
    path : Path
    done : set of int
        Members that have results.

    Raises
    ------
    StudyError
        The folder has results and `resume` is False, or they are of another study; or it has other
        files, or is being written.
    FileFormatError, OSError
    """

    def __init__(self, path: Path, facts: StudyFacts, *, resume: bool) -> None:
        self.path = path
        self._facts = facts
        self.done: set[int] = set()
        self._rows: list[Row] = []
        self._due = 0.0
        self._encoder: RowEncoder | None = None
        self._file: BinaryIO | None = None
        self._stop = 0  # end of the complete rows in the file
        self._number = 0
        self._refuse_other_files()
        path.mkdir(parents=True, exist_ok=True)
        self._lock = (path / LOCK).open("ab")
        try:
            claim(self._lock, path)
            self._check_folder(resume=resume)
            self._go_on()
        except BaseException:
            self._lock.close()
            raise

    def _refuse_other_files(self) -> None:
        """Refuse a path that is not a folder of a study, before anything is written there."""
        path = self.path
        if path.exists() and not path.is_dir():
            raise self._refused(
                "is a file", "the name of a folder", "a file", "choose another name"
            )
        if not path.exists() or (path / INDEX).exists():
            return
        found = sorted(p.name for p in path.iterdir())
        found = [name for name in found if not name.startswith(".stagecache-") and name != LOCK]
        if found:
            raise self._refused(
                "is not a folder of a study",
                "a new folder, or an empty one",
                f"{len(found)} files, such as {found[0]!r}",
                "choose another folder",
            )

    def _check_folder(self, *, resume: bool) -> None:
        """Refuse results of another study; write the facts if there are no results."""
        index, files = self.path / INDEX, sorted(self.path.glob(PATTERN))
        before = read_facts(index) if index.exists() else None
        if before is not None and files and not resume:
            raise self._refused(
                "has results already",
                "a new folder, or resume=True to run the members that are missing",
                f"results of {sum(len(_members_of(name)) for name in files)} members",
                "choose another folder, or write resume=True",
            )
        different = [] if before is None else self._facts.differences(before)
        if files and different:
            raise self._refused(
                "is a folder of another study",
                "the same System, members, seed, State and function, to resume it",
                "differences in " + ", ".join(different),
                "run the study into another folder; or use the version that began it",
            )
        if before is None or different:
            text = json.dumps(self._facts.to_json(), indent=1, ensure_ascii=False)
            write_atomically(index, text.encode())

    def _refused(self, what: str, expected: str, got: str, hint: str) -> StudyError:
        return StudyError(f"run_study(into={str(self.path)!r}): {what}", expected, got, hint)

    def _go_on(self) -> None:
        """Remove what a kill has left, set damaged files aside, find the members with results."""
        for folder in (self.path, self.path / FILES):
            for left in folder.glob(".stagecache-*"):
                left.unlink()
        for name in sorted(self.path.glob(PATTERN)):
            self._number = max(self._number, int(name.stem.rpartition("-")[2]) + 1)
            self._take_over(name)

    def _take_over(self, name: Path) -> None:
        """Find the members in a file; if it is damaged, keep only its good batches.

        The damaged file stays in the folder under another name. Members of its bad batches count as
        missing.
        """
        try:
            file = RowFile(name, self._facts.identity)
        except FileFormatError:
            name.replace(_aside(name))
            return
        try:
            good = [number for number in range(file.num_batches) if file.is_whole(number)]
            kept = [members for number in good for members in file.members(number)]
            stop, is_finished = file.stop, file.is_finished
            data = file.bytes_of(good) if len(good) < file.num_batches else b""
        finally:
            file.close()
        self.done.update(kept)
        if data:
            beside = name_beside(name)
            try:
                with open_beside(beside, name) as opened:
                    opened.write(data + END)
                    _sync(opened)
                name.replace(_aside(name))
                if good:
                    beside.replace(name)
            finally:
                with suppress(OSError):
                    beside.unlink()
        elif not is_finished:
            with name.open("r+b") as opened:
                opened.seek(stop)
                opened.truncate()
                _finish(opened)

    def take(self, result: MemberResult) -> None:
        """Add a result, which is on disk within a second, if `wait` is called."""
        try:
            values = {
                name: self._saved(result.index, name, value)
                for name, value in result.values.items()
            }
        except StagecacheError as error:  # a trajectory without rows, or with unsavable values
            result = MemberResult(
                result.index,
                result.parameters,
                FAILED,
                {},
                *texts_of(error),
                result.seconds,
                result.attempts,
            )
            values = {}
        row: Row = {
            (FACT, "member"): result.index,
            (FACT, "status"): result.status,
            (FACT, "seconds"): result.seconds,
            (FACT, "attempts"): result.attempts,
        }
        if result.status == FAILED:
            row[FACT, "error"] = result.error
            row[FACT, "message"] = result.message
            row[FACT, "traceback"] = result.traceback
        row |= {(PARAMETER, path): value for path, value in result.parameters.items()}
        row |= {(RESULT, name): value for name, value in values.items()}
        if not self._rows:
            self._due = time.monotonic() + FLUSH_SECONDS
        self._rows.append(row)
        self.done.add(result.index)
        if len(self._rows) >= MOST_ROWS:
            self.flush()

    def _saved(self, index: int, name: str, value: Any) -> Any:
        """Return a value; write a trajectory into a file, which is renamed when it is complete."""
        if not isinstance(value, Trajectory):
            return value
        folder = self.path / FILES
        folder.mkdir(exist_ok=True)
        file = FileName(f"{index:06d}{_suffix_of(name)}.arrows")
        beside = folder / f".stagecache-{file.name}"
        value.save(beside)
        beside.replace(folder / file.name)
        return file

    def wait(self) -> None:
        """Write rows that have waited for a second."""
        if self._rows and time.monotonic() >= self._due:
            self.flush()

    def flush(self) -> None:
        """Write all rows, and wait until they are on disk.

        Raises
        ------
        OSError
        """
        if not self._rows:
            return
        columns = columns_of(self._rows)
        known = self._encoder
        has_results = any(column.role == RESULT for column in columns)
        if known is not None and has_results and all(c.role != RESULT for c in known.columns):
            self._end_file()  # the members before have all failed
        if self._encoder is None:
            units = self._facts.ensemble.units
            self._encoder = RowEncoder(columns, units, self._facts.identity)
        data = self._encoder.batch(self._rows)
        with errors_naming(self.path):
            if self._file is None:
                self._begin_file(self._encoder.schema + data)
            else:
                self._append(self._file, data)

    def _append(self, file: BinaryIO, data: bytes) -> None:
        """Add rows to the file. If an error leaves a part of them, the next call removes it."""
        file.truncate(self._stop)  # an error or Control-C may have left a part of the rows
        file.seek(self._stop)
        _write(file, data)
        self._stop, self._rows = self._stop + len(data), []
        _sync(file)

    def _begin_file(self, data: bytes) -> None:
        """Write rows into a new file, which is renamed when they are on disk."""
        target = self.path / f"results-{self._number:03d}.arrows"
        self._number += 1
        beside = name_beside(target)
        try:
            with open_beside(beside, target) as file:  # Windows renames no open file
                file.write(data)
                _sync(file)
            try:
                _rename_to_new(beside, target)
                opened = target.open("r+b", buffering=0)
                self._stop, self._rows, self._file = len(data), [], opened
            except BaseException:
                if self._file is None:
                    with suppress(OSError):
                        if not beside.exists() or beside.samefile(target):
                            target.unlink()
                raise
        finally:
            with suppress(OSError):
                beside.unlink()

    def _end_file(self) -> None:
        file, self._file, self._encoder = self._file, None, None
        if file is not None:
            with file:
                file.truncate(self._stop)
                file.seek(self._stop)
                _finish(file)

    def close(self) -> None:
        """Write the last rows, and close the files."""
        try:
            self.flush()
            self._end_file()
        finally:
            if self._file is not None:
                self._file.close()
            self._lock.close()


def read_facts(index: Path) -> StudyFacts:
    """Return the facts in a folder.

    Raises
    ------
    OSError
    FileFormatError
        The file is damaged.
    """
    return StudyFacts.of_json(read_json(index.read_bytes(), str(index)), str(index))


def _members_of(name: Path) -> set[int]:
    """Return the members in a file of any study; an empty set if it cannot be read."""
    try:
        file = RowFile(name)
    except FileFormatError:
        return set()
    found = {index for number in range(file.num_batches) for index in file.members(number)}
    file.close()
    return found


def _suffix_of(name: str) -> str:
    """Return the part of a file's name that keeps results of one member apart."""
    if name == TRAJECTORY:
        return ""
    quoted = quote(name, safe="", errors="surrogatepass")
    if len(quoted) > LONGEST_NAME:  # systems refuse long names of files
        quoted = f"{quoted[:LONGEST_NAME]}-{sha256(quoted.encode()).hexdigest()[:16]}"
    return f".{quoted}"


def _aside(name: Path) -> Path:
    """Return a free name for a damaged file."""
    tries = (name.with_name(f"{name.name}.damaged{n or ''}") for n in count())
    return next(path for path in tries if not path.exists())


def _rename_to_new(beside: Path, target: Path) -> None:
    """Rename a file, without replacing another one.

    Raises
    ------
    FileExistsError
    """
    try:
        os.link(beside, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if target.exists():
            raise FileExistsError(str(target)) from None
        beside.rename(target)


def _write(file: BinaryIO, data: bytes) -> None:
    """Write all bytes into an unbuffered file, whose `write` may take only some of them."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def _finish(file: BinaryIO) -> None:
    file.write(END)
    _sync(file)


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
