"""Folders of studies: what the study is, rows as they come, and a file of each trajectory.

::

    study.json                  the study: names, units, seed, and fingerprints of all that counts
    results-000.arrows          rows, appended in batches; another file after each resumption
    trajectories/000012.arrows  the trajectory of member 12

A batch is whole or is ignored, so a kill loses the members since the last one, and doubles none.
Nobody but the driver writes.
"""

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Final, final
from urllib.parse import quote

import numpy as np
from attrs import asdict, fields, frozen

from stagecache.errors import FileFormatError, StagecacheError, StudyError, short_repr
from stagecache.files.envelope import errors_naming, open_beside, read_json, write_atomically
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
FILES: Final = "trajectories"
PATTERN: Final = "results-*.arrows"
FORMAT: Final = 1
FLUSH_SECONDS: Final = 1.0
MOST_ROWS: Final = 1000
MOST_CACHED: Final = 4
"""Batches that are kept decoded."""


@final
@frozen(eq=False)
class StudyFacts:
    """All that has to be the same for a study to be resumed.

    Attributes
    ----------
    ensemble : Ensemble
    seed : int
    layout, code : str
        Fingerprints of variables and entries, and of attributes and code, of the model.
    study : str
        Fingerprint of the function of the study.
    state : str
        Fingerprint of the values of the State of which members are copies.
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
        """Return the facts as JSON has them."""
        found = {field.name: getattr(self, field.name) for field in fields(StudyFacts)}
        ensemble = asdict(self.ensemble, recurse=False)
        blobs: Blobs = []
        ensemble["names"] = list(self.ensemble.names)
        ensemble["units"] = dict(self.ensemble.units)
        levels = {p: list(values) for p, values in self.ensemble.levels.items()}
        ensemble["levels"] = encode(levels, "levels", blobs)
        ensemble["blobs"] = [blob.hex() for blob in blobs]
        return {"stagecache": "study", "format": FORMAT} | found | {"ensemble": ensemble}

    @classmethod
    def of_json(cls, found: Any, where: str) -> "StudyFacts":
        """Return the facts that a folder has.

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
            raise bad_file(f"{where}: does not describe a study", "names and a number", "others")
        return facts

    @property
    def identity(self) -> str:
        """Hash of all facts."""
        return sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()

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
        with (path / INDEX).open("rb") as file:
            self.facts = StudyFacts.of_json(read_json(file.read(), str(path / INDEX)), str(path))
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
        """Give up the memory maps."""
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
        if Path(value.name).name != value.name:  # a damaged file names no other folder
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
        True to go on with results that are there.

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
        self._number = 0
        self._check_folder(resume=resume)
        path.mkdir(parents=True, exist_ok=True)
        index = path / INDEX
        if not index.exists():
            text = json.dumps(facts.to_json(), indent=1, ensure_ascii=False)
            write_atomically(index, text.encode())
        self._claimed = index.open("r+b")
        try:
            claim(self._claimed, path)
            self._go_on()
        except BaseException:
            self._claimed.close()
            raise

    def _check_folder(self, *, resume: bool) -> None:
        """Refuse a folder that is something else, or another study."""
        path = self.path
        if path.exists() and not path.is_dir():
            raise self._refused(
                "is a file", "the name of a folder", "a file", "choose another name"
            )
        if not path.exists() or not (path / INDEX).exists():
            found = sorted(p.name for p in path.iterdir()) if path.exists() else []
            found = [name for name in found if not name.startswith(".stagecache-")]
            if found:
                raise self._refused(
                    "is not a folder of a study",
                    "a new folder, or an empty one",
                    f"{len(found)} files, such as {found[0]!r}",
                    "choose another folder",
                )
            return
        folder = Folder(path)
        folder.close()
        different = self._facts.differences(folder.facts)
        count = len(folder.statuses())
        if count and not resume:
            raise self._refused(
                "has results already",
                "a new folder, or resume=True to run the members that are missing",
                f"results of {count} members",
                "choose another folder, write resume=True, or delete the folder",
            )
        if count and different:
            raise self._refused(
                "is a folder of another study",
                "the same System, members, seed, State and function, to resume it",
                "differences in " + ", ".join(different),
                "run the study into another folder; or use the version that began it",
            )
        if different:
            (path / INDEX).unlink()

    def _refused(self, what: str, expected: str, got: str, hint: str) -> StudyError:
        return StudyError(f"run_study(into={str(self.path)!r}): {what}", expected, got, hint)

    def _go_on(self) -> None:
        """Cut what a kill has left, and find the members that have results."""
        for folder in (self.path, self.path / FILES):
            for left in folder.glob(".stagecache-*"):
                left.unlink()
        for name in self.path.glob(PATTERN):
            self._number = max(self._number, int(name.stem.rpartition("-")[2]) + 1)
            file = RowFile(name, self._facts.identity)
            stop, is_finished = file.stop, file.is_finished
            for batch in range(file.num_batches):
                self.done.update(file.members(batch))
            file.close()
            if not is_finished:
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
        """Return a value; write a trajectory into a file, which takes its name when it is whole."""
        if not isinstance(value, Trajectory):
            return value
        folder = self.path / FILES
        folder.mkdir(exist_ok=True)
        middle = "" if name == TRAJECTORY else f".{quote(name, safe='')}"
        file = FileName(f"{index:06d}{middle}.arrows")
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
                self._file.write(data)
                _sync(self._file)
        self._rows = []

    def _begin_file(self, data: bytes) -> None:
        target = self.path / f"results-{self._number:03d}.arrows"
        beside, file = open_beside(target)
        try:
            file.write(data)
            _sync(file)
            file.close()  # Windows renames no open file
            beside.replace(target)
        except BaseException:
            file.close()
            with suppress(OSError):
                beside.unlink()
            raise
        self._file = target.open("r+b")
        self._file.seek(0, os.SEEK_END)
        self._number += 1

    def _end_file(self) -> None:
        file, self._file, self._encoder = self._file, None, None
        if file is not None:
            with file:
                _finish(file)

    def close(self) -> None:
        """Write the last rows, and close the files."""
        try:
            self.flush()
            self._end_file()
        finally:
            if self._file is not None:
                self._file.close()
            self._claimed.close()


def _finish(file: BinaryIO) -> None:
    file.write(END)
    _sync(file)


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
