"""Check of pickling: a System and its States are the same in another process."""

from typing import Any

from hypothesis import settings as Settings  # noqa: N812  # a class

from stagecache.errors import UnfaithfulPickleError
from stagecache.state.state import State
from stagecache.system.core.system import System
from stagecache.testing.checks.expense import Expense
from stagecache.testing.checks.explore import FEWER, Progress, explore
from stagecache.testing.diagnosis.failure import Failure
from stagecache.testing.diagnosis.report import asserted, program_of
from stagecache.testing.diagnosis.shortening import Program
from stagecache.testing.items import Item, entries_of, variables_of
from stagecache.testing.oracle.comparison import NOTHING, Outcome, outcome_of, same_outcome
from stagecache.testing.oracle.memory import Memory
from stagecache.testing.oracle.oracle import (
    Snapshot,
    Subject,
    entries_now,
    expected,
    fresh_state,
    through_pickle,
    vectors_of,
)
from stagecache.testing.programs.inventory import Inventory, Strategies
from stagecache.testing.programs.run import Run, state_name
from stagecache.testing.result import CheckResult


def check_pickle(
    system: System,
    *,
    strategies: Strategies | None = None,
    settings: Settings | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    budget: float | None = None,
) -> CheckResult:
    """Check by random programs that a System, its States and its handles survive pickle.

    The parameters are those of `check_coherence`, with 25 examples by default. The System is built
    anew from its pickle, as in another process. Variables have to keep their values there, and
    entries have to have the values of a fresh State here.

    Raises
    ------
    UnfaithfulPickleError
    WrongTypeError, UnknownItemError
        The System or the strategies are not valid.
    """
    has = Inventory(system, strategies)
    memory = Memory()
    expense = Expense(has, memory, system)

    def there_and_back(program: Program) -> int:
        run = Run(system)
        count = run.perform(program)
        for number in range(len(run.states)):
            _compare(run, number, memory)
        return count

    try:
        with memory.attached(system, "run"):
            return explore(
                "pickle",
                has,
                expense,
                there_and_back,
                FEWER if settings is None else settings,
                seed,
                progress,
                budget,
            )
    except Failure as failure:
        raise _error(failure) from None


def _compare(run: Run, number: int, memory: Memory) -> None:
    """Compare a State with its copy after a journey.

    Raises
    ------
    Failure
    """
    system, state = run.system, run.states[number]
    handles = [pair[1] for pair in (*variables_of(state), *entries_of(state))]
    declared = [handle for handle in handles if handle._owner is not None]
    travel = outcome_of(lambda: _Journey(*through_pickle(system, state, declared)))
    if travel.error is not None:
        raise Failure("pickle", run, number, Subject(), NOTHING, travel)
    twin = travel.value
    memory.attach(twin.system, "twin")
    now, there = Snapshot.of(state), Snapshot.of(twin.state)
    for key in now.at(there.stage).differing(there):
        subject = Subject(key) if isinstance(key, Item) else Subject(vector=key)
        outcomes = Outcome(now.value(key)), Outcome(there.value(key))
        raise Failure("variable", run, number, subject, *outcomes)
    for handle, other in zip(declared, twin.handles, strict=True):
        if str(handle) != str(other) or other._node != handle._node:
            raise Failure("handle", run, number, Subject(vector=str(handle)))
    fresh = fresh_state(system, now)
    error = outcome_of(lambda: twin.system.realize(twin.state, now.reached)).error
    if type(error) is not type(fresh.error):
        outcomes = Outcome(error=fresh.error), Outcome(error=error)
        raise Failure("realization", run, number, Subject(stage=now.reached), *outcomes)
    for subject in [*entries_now(fresh.state, valid=False), *vectors_of(fresh.state)]:
        wanted = expected(system, now, fresh, subject)
        got = outcome_of(lambda s=subject: s.read(twin.state))  # type: ignore[misc]  # a default binds it
        if wanted is not None and not same_outcome(wanted, got):
            again = expected(system, now, fresh_state(system, now), subject)
            if again is not None and same_outcome(wanted, again):  # else it is random
                raise Failure("value", run, number, subject, wanted, got)


class _Journey:
    """System, State and handles that travel together."""

    def __init__(self, system: System, state: State, handles: list[Any]) -> None:
        self.system = system
        self.state = state
        self.handles = handles
        assert state.system is system

    def __deepcopy__(self, memo: object) -> "_Journey":
        return self


def _error(failure: Failure) -> UnfaithfulPickleError:
    run, name = failure.run, state_name(failure.number)
    state = run.states[failure.number]
    journey = f"twin, fresh = through_pickle(system, {name})"
    realize = f"twin.realize(fresh, {name}.stage)"
    if failure.kind == "pickle":
        error = failure.got.error
        assert error is not None
        return UnfaithfulPickleError(
            f"{run.system!r}: cannot be pickled and built anew, with a State",
            "a model made of what pickle can take: classes and functions of modules, and data",
            f"{type(error).__name__}: {error}",
            "put a method or a function of a module in place of a lambda, and classes into a "
            "module; or leave it out in __getstate__, and make it anew in __setstate__",
            program_of(run, run.lines[: failure.lines], journey),
        )
    title = failure.subject.title(run.names, state)
    if failure.kind == "handle":
        code = f"# the handle of {title} belongs to another item there"
    elif failure.kind == "realization":
        code = realize if failure.got.error is not None else f"system.realize({name})"
    else:
        read = failure.subject.code(run.names, state, name)
        there = read.replace(f"({name})", "(fresh)").replace(f"{name}.", "fresh.")
        for each, subsystem in zip(run.names.subsystems, run.system.subsystems, strict=True):
            there = there.replace(f"{each}.", f"twin[{subsystem.name!r}].", 1)
        code = f"{realize}\n{asserted(there, failure.expected, '', name)}"
    return UnfaithfulPickleError(
        f"{title}: is another one after pickle",
        f"{failure.expected}, as here",
        f"{failure.got}, where the System was built anew from what pickle took of it",
        "let pickle take all attributes of the model on which this depends: see __getstate__",
        program_of(run, run.lines[: failure.lines], journey, code),
        (title,),
    )
