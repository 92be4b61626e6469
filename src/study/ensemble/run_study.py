"""Studies of many members: each is a copy of a State in which some variables differ.

::

    run_study(system, members, study, ...)
      check      paths and values of all members, before anything runs
      Work       State, function, seed           travels to each worker once
      Driver     members  ->  a pool  ->  outcomes, as they come
      results    in memory, or in a folder       in the order of members
"""

import inspect
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from os import PathLike
from typing import Any, final

from stagecache.checks import (
    require_bool,
    require_callable,
    require_count,
    require_path,
    require_type,
)
from stagecache.errors import ComputeSignatureError, StudyError, short_repr
from stagecache.inspection.trace.trace import tell_untraced
from stagecache.progress import Progress, ProgressBar, check_progress
from stagecache.state.state import State
from stagecache.study.ensemble import fingerprints
from stagecache.study.ensemble.driver import Driver
from stagecache.study.ensemble.folder import INDEX, Folder, FolderWriter, StudyFacts, sealed
from stagecache.study.ensemble.member import Member
from stagecache.study.ensemble.members import Members, members_of, plain
from stagecache.study.ensemble.pools import RemotePool, pool_of
from stagecache.study.ensemble.results import (
    FAILED,
    OK,
    Ensemble,
    MemberResult,
    Memory,
    StudyResults,
)
from stagecache.study.ensemble.settings import Settings
from stagecache.study.ensemble.simulation import Simulation, check_outputs
from stagecache.study.ensemble.worker import Outcome, Work
from stagecache.study.ensemble.writes import Writes
from stagecache.system.core.system import System

StudyFunction = Callable[[State], Any] | Callable[[State, Member], Any]


def run_study(
    system: System,
    members: Any,
    study: StudyFunction,
    *,
    state: State | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    into: str | PathLike[str] | None = None,
    resume: bool = False,
    retries: int = 0,
    seed: int = 0,
    progress: Progress = None,
) -> StudyResults:
    """Run a function for each member: a copy of a State in which some variables have other values.

    Members run in this thread by default, in processes with ``workers=4``, or on any `Executor`:
    threads, processes, or a cluster by ``Client.get_executor()`` of Dask. The results are the same
    everywhere, bit for bit, if the function depends only on its State and its `Member`, and the
    libraries compute the same on all workers.

    A member that raises is kept with its parameters and its traceback, and so is one that kills its
    worker; all others go on.

    Parameters
    ----------
    system : System
        It travels to each worker once, and so must be picklable unless members run in this process.
    members : sequence or mapping
        Values by path: ``[{"pendulum.length": 1.0}, ...]``. A table is a dict of columns, or of
        pandas or polars. `full_factorial`, `latin_hypercube` and `sobol` make some. Paths are those
        of variables: parameters and other discrete variables, q, u and z, "chain.angles[3]" for one
        number of a vector, and "time". A sequence may make its members on demand.
    study : callable
        A function of the State, or of the State and a `Member`, which has values and a seed. It
        returns a number, a text, an array, a `Trajectory`, or a dict of these. The State is at
        Model. `Simulation` is one; `stagecache.assembly` has `Assembly` and `Tracking`. In another
        process, it must find subsystems by ``state.system``.
    state : State, optional
        The State that members are copied from; ``system.new_state()`` by default. It stays
        unchanged. Values computed in it are valid in its copies, in workers as well if pickle
        takes them.
    executor : concurrent.futures.Executor, optional
        It stays open. A ProcessPoolExecutor must not fork; if one of its processes dies, the study
        goes on with a new pool like it.
    workers : int, optional
        Number of processes to start, instead of an Executor. Call `run_study` under
        ``if __name__ == "__main__":`` then.
    into : str or os.PathLike, optional
        Folder for the results, which are written once a second: ``study.json``, files of Arrow with
        a row for each member, and a file of each trajectory. Memory does not grow then.
    resume : bool
        True to run only the members that have no result in the folder, if it is there. Members that
        have failed are not run again. Members in a damaged part of a file are; that file stays in
        the folder, with another name.
    retries : int
        Number of times that a member which raises is run again.
    seed : int
        Seed of all random numbers of `Member.rng`.
    progress : bool or rich.console.Console, optional
        Same as for `TimeStepper`.

    Returns
    -------
    StudyResults

    Raises
    ------
    WrongTypeError, ShapeError
        These are not members.
    UnknownPathError, NodeKindError, WrongTypeError, NotANumberError, OutOfRangeError, ...
        A value cannot be written as it is. The error names member and path. Nothing has run then.
    DuplicateNameError
        Two paths belong to one variable, as "chain.angles" and "chain.angles[3]".
    ComputeSignatureError
        The function takes other arguments.
    NotPicklableError
        The System or the function cannot travel to another process.
    UnknownOptionError, OutOfRangeError
    StudyError
        The folder has results and `resume` is False, or they are of another study, or another
        driver writes into it, or `resume` is True and something cannot be compared; a member has
        changed since it was checked; processes are forked, or die before they run anything.
    UnsavableValueError
        A value of a member cannot be saved in a folder.
    OSError, FileFormatError
    ForeignStateError, TopologyVersionError
    KeyboardInterrupt
        Members that have ended are in the folder.

    Examples
    --------
    >>> from stagecache import State, Subsystem, System, full_factorial, parameter, run_study
    >>> class Spring(Subsystem):
    ...     stiffness = parameter(100.0, unit="N/m")
    ...     stretch = parameter(0.1, unit="m")
    >>> spring = Spring()
    >>> members = full_factorial({"spring.stiffness": [100.0, 200.0], "spring.stretch": [0.1, 0.2]})
    >>> def energy(state: State) -> float:
    ...     return spring.stiffness(state) * spring.stretch(state) ** 2 / 2
    >>> results = run_study(System(spring), members, energy)
    >>> [round(result.values["result"], 3) for result in results]
    [0.5, 2.0, 1.0, 4.0]
    """
    require_type(system, System, "run_study(system): not a System", "a System", "pass the model")
    takes_member = _takes_member(study)
    base = system.new_state() if state is None else system._require_own(state).copy()
    system.realize_model(base)
    retries = require_count(retries, 0, "run_study(retries=...)")
    seed = require_count(seed, 0, "run_study(seed=...)")
    require_bool(resume, "run_study(resume=...)")
    check_progress(progress)
    path = None if into is None else require_path(into, "run_study(into=...)")
    if resume and path is None:
        raise StudyError(
            "run_study(resume=True): there is nothing to resume",
            "a folder, into which the study was run",
            "into=None",
            "write into=path, in the first call as well",
        )
    known = CheckedMembers.of(members_of(members), base, is_hashed=path is not None)
    ensemble = known.ensemble(system)
    if isinstance(study, Simulation):
        check_outputs(study, base, ensemble.names)
    work = Work(base, study, takes_member, seed, retries, ensemble.names, Settings.here())
    pool = pool_of(work, executor, workers)
    start = time.perf_counter()
    try:
        writer: FolderWriter | Memory = Memory()
        if path is not None:
            facts = _facts(ensemble, study, base, known.hash, seed=seed, resume=resume)
            writer = FolderWriter(path, facts, resume=resume)
        num_run = _run(known, pool, writer, system.name, progress)
    except BaseException:
        pool.close(at_once=True)
        raise
    elapsed = time.perf_counter() - start
    if isinstance(pool, RemotePool) and num_run:
        tell_untraced(base, f"not traced: {num_run:,} members of run_study() in other processes")
    totals = pool.totals
    pool.close(at_once=False)
    store = writer if isinstance(writer, Memory) else Folder(writer.path, system)
    return StudyResults(ensemble, store, elapsed, num_run, totals)


def load_study(path: str | PathLike[str], system: System | None = None) -> StudyResults:
    """Return the results in a folder that `run_study` has written, or is writing.

    Parameters
    ----------
    path : str or os.PathLike
    system : System, optional
        Model of the trajectories, as for `load_trajectory`.

    Returns
    -------
    StudyResults
        Members that have not run are "missing".

    Raises
    ------
    OSError
    FileFormatError
        The folder is damaged, or its files do not describe a study.
    StudyError
        The folder does not belong to a study, or has a file of another study.
    WrongTypeError
    """
    where = require_path(path, "load_study(path)")
    if system is not None:
        require_type(
            system, System, "load_study(system): not a System", "a System", "pass the model"
        )
    if where.is_dir() and not (where / INDEX).exists():
        raise StudyError(
            f"{where}: is not a folder of a study",
            f"a folder with {INDEX}",
            "one without",
            "pass the folder that run_study(into=...) has written",
        )
    folder = Folder(where, system)
    return StudyResults(folder.facts.ensemble, folder)


def _facts(
    ensemble: Ensemble, study: StudyFunction, state: State, members: str, *, seed: int, resume: bool
) -> StudyFacts:
    """Return the facts that must be the same for a study to be resumed.

    Raises
    ------
    StudyError
        `resume`, and something cannot be compared.
    """
    model = fingerprints.code_of_model(state)
    function = fingerprints.code_of_study(study, state)
    values = fingerprints.values_of_state(state)
    unknown = {
        "the model": model.unknown,
        "the function of the study": function.unknown,
        "the State": values.unknown,
    }
    for what, name in unknown.items():
        if resume and name:
            raise StudyError(
                f"run_study(resume=True): {what} cannot be compared with the one in the folder",
                "functions and classes of modules, and values that can be pickled",
                name,
                "define it in a module, or pass it by another way; or run the study in one go, "
                "without resume=True",
            )
    return StudyFacts(
        ensemble,
        seed,
        fingerprints.layout_of(state),
        model.hash,
        function.hash,
        values.hash,
        members,
    )


def _takes_member(study: Any) -> bool:
    """Return True if the function of a study takes a State and a Member, False for a State alone.

    Raises
    ------
    WrongTypeError, ComputeSignatureError
    """
    hint = "write def study(state): ..., or def study(state, member): ..."
    require_callable(study, f"run_study(study): {short_repr(study)}", "a function of a State", hint)
    try:
        signature = inspect.signature(study)
    except (TypeError, ValueError):  # a builtin without a signature
        return False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    places = [p for p in signature.parameters.values() if p.kind in kinds]
    second = places[1:2]
    wants_member = any(p.default is p.empty or p.name == "member" for p in second)
    try:
        signature.bind(*[None] * (1 + wants_member))
    except TypeError:
        raise ComputeSignatureError(
            f"run_study(study): {short_repr(study)} takes other arguments",
            "a function of (state), or of (state, member)",
            f"one of {signature}",
            hint,
        ) from None
    return wants_member


@final
class CheckedMembers:
    """Members whose paths and values are checked.

    Attributes
    ----------
    hash : str
        Fingerprint of all values; "" if they are not saved.
    """

    def __init__(
        self,
        members: Sequence[Mapping[str, Any]],
        writes: Writes,
        scratch: State,
        base: dict[str, Any],
        hashes: fingerprints.MembersHash | None,
    ) -> None:
        self._members = members
        self._writes = writes
        self._scratch = scratch
        self._base = base
        self._hashes = hashes
        self.hash = "" if hashes is None else hashes.text

    @classmethod
    def of(
        cls, members: Sequence[Mapping[str, Any]], state: State, *, is_hashed: bool
    ) -> "CheckedMembers":
        """Check all members. Cost O(their values).

        Raises
        ------
        StagecacheError
        """
        writes, scratch = Writes(state), state.copy()
        hashes = fingerprints.MembersHash() if is_hashed else None
        names: dict[str, None] = {}
        for index in range(len(members)):
            values = members[index]
            writes.check(scratch, values, index)
            if hashes is not None:
                hashes.add(index, {path: plain(value) for path, value in values.items()})
            if len(names) < len(values) or not names.keys() >= values.keys():
                names |= dict.fromkeys(values)
        writes.refuse_overlaps(names)
        base = {path: writes.base(path) for path in names}
        return cls(members, writes, scratch, base, hashes)

    def __len__(self) -> int:
        return len(self._members)

    def ensemble(self, system: System) -> Ensemble:
        """Return the facts that all results share."""
        members = self._members
        units = system.units
        found = {p: units.get(p) or units.get(p.rpartition("[")[0]) for p in self._base}
        levels = members.levels if isinstance(members, Members) else {}
        known = {path: unit for path, unit in found.items() if unit}
        return Ensemble(system.name, len(members), tuple(self._base), known, levels)

    def missing(self, done: set[int]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Return an iterator over members that have no result yet, with a copy of the values."""
        return ((i, self._values(i)) for i in range(len(self)) if i not in done)

    def _values(self, index: int) -> dict[str, Any]:
        """Return the values that a member names now.

        Raises
        ------
        StudyError
            It names other paths than when it was checked; or it has other values, and results go
            into a folder.
        """
        given: Any = self._members[index]
        is_same = isinstance(given, Mapping) and given.keys() <= self._base.keys()
        values = {path: plain(value) for path, value in given.items()} if is_same else {}
        if not is_same or not (self._hashes is None or self._hashes.has(index, values)):
            raise StudyError(
                f"run_study(members): member {index} has changed since it was checked",
                "the same values whenever a member is asked for, if results go into a folder, and "
                "the same paths in any case",
                short_repr(given),
                "pass list(members), and do not change it while the study runs",
            )
        return values

    def parameters(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values at all paths in the State of a member."""
        return self._writes.read_back(self._scratch, values, self._base)


def _run(
    known: CheckedMembers, pool: Any, writer: FolderWriter | Memory, name: str, progress: Progress
) -> int:
    """Run the members that have no results, and return their number."""
    done: set[int] = set() if isinstance(writer, Memory) else set(writer.done)
    count, begin = len(known), len(done)
    has_run = begin

    def take(outcome: Outcome, given: Mapping[str, Any]) -> None:
        nonlocal has_run
        has_run += 1
        index, found = outcome.index, outcome.values
        values = {} if found is None else {key: sealed(value) for key, value in found.items()}
        result = MemberResult(
            index,
            known.parameters(given),
            FAILED if found is None else OK,
            values,
            outcome.error,
            outcome.message,
            outcome.traceback,
            outcome.seconds,
            outcome.attempts,
        )
        writer.take(result)

    try:
        with ProgressBar(name, begin, count, progress, counted="member", has_rate=True) as bar:

            def wait() -> None:
                writer.wait()
                bar.show(has_run)

            Driver(pool, known.missing(done), count - begin, take, wait).run()
    finally:
        writer.close()
    return has_run - begin
