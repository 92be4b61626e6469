"""Check of precision: some computation reads each declared prerequisite."""

from collections import Counter
from typing import Any, Final

from attrs import frozen
from hypothesis import settings as Settings  # noqa: N812  # a class

from stagecache.errors import ImpreciseError
from stagecache.inspection.strict.reads import OverDeclared
from stagecache.inspection.strict.strict import strict
from stagecache.state.handles import CacheEntry
from stagecache.system.core.system import System
from stagecache.system.hints.hints import precise_hint
from stagecache.testing.checks.expense import Expense
from stagecache.testing.checks.explore import Progress, explore
from stagecache.testing.checks.strictness import StrictFailure
from stagecache.testing.diagnosis.report import program_of
from stagecache.testing.diagnosis.shortening import Program
from stagecache.testing.items import Names, entries_of
from stagecache.testing.oracle.memory import Memory
from stagecache.testing.oracle.oracle import Snapshot
from stagecache.testing.programs.inventory import Inventory, Strategies
from stagecache.testing.programs.run import FOUND_BY_STRICT, Run
from stagecache.testing.result import CheckResult

FEWEST_COMPUTATIONS: Final = 20
RECORDING: Final = 'strict(undeclared="record")'


@frozen
class Found:
    """Prerequisites that were declared but never read, and numbers of computations."""

    over_declared: tuple[OverDeclared, ...]
    computations: dict[CacheEntry[Any], int]
    result: CheckResult
    hint: str
    """The declaration that the first entry needs in place of one with ALL; else ""."""


def over_declared(
    system: System,
    *,
    strategies: Strategies | None = None,
    settings: Settings | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    budget: float | None = None,
) -> tuple[OverDeclared, ...]:
    """Return the prerequisites that no computation has read in random programs.

    The parameters are those of `check_coherence`. Entries that were computed for fewer than 20
    different values of the variables are not judged.

    Raises
    ------
    WrongTypeError, UnknownItemError
        The System or the strategies are not valid.
    """
    return _look(system, strategies, settings, seed, progress, budget).over_declared


def check_precision(
    system: System,
    *,
    strategies: Strategies | None = None,
    settings: Settings | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    budget: float | None = None,
) -> CheckResult:
    """Check by random programs that each declared prerequisite is read by some computation.

    The parameters are those of `check_coherence`. A prerequisite that is never read makes the entry
    stale needlessly. If it is read only for rare values of the variables, give strategies with
    such values. Entries that were computed for fewer than 20
    different values of the variables are not judged, nor are expensive ones.

    Raises
    ------
    ImpreciseError
        The error lists all prerequisites to leave out.
    MutatedValueError
        A value was changed in place; see `check_strict`.
    WrongTypeError, UnknownItemError
        The System or the strategies are not valid.
    """
    found = _look(system, strategies, settings, seed, progress, budget)
    if not found.over_declared:
        return found.result
    names = Names(system)
    first = found.over_declared[0]
    by_entry: dict[str, list[str]] = {}
    for each in found.over_declared:
        by_entry.setdefault(names.title(each.entry), []).append(names.title(each.prerequisite))
    listed = "; ".join(f"{', '.join(p)} by {entry}" for entry, p in by_entry.items())
    count = found.computations[first.entry]
    raise ImpreciseError(
        f"{names.title(first.entry)}: declares a prerequisite that it never reads",
        "prerequisites that some computation reads",
        f"not read in {count} computations: {listed}",
        found.hint or "leave out what is not needed; or give strategies= for which it is",
        _program(system, first),
        tuple(dict.fromkeys(name for p in by_entry.values() for name in p)),
    )


def _look(
    system: System,
    strategies: Strategies | None,
    settings: Settings | None,
    seed: int | None,
    progress: Progress | None,
    budget: float | None,
) -> Found:
    has = Inventory(system, strategies)
    memory = Memory()
    expense = Expense(has, memory, system)
    seen: set[tuple[CacheEntry[Any], int]] = set()
    count: Counter[CacheEntry[Any]] = Counter()

    def note(run: Run) -> None:
        """Count computations for values of the variables that are new."""
        for number, state in enumerate(run.states):
            versions = state._contents.realization.store.versions
            known = computed[number] if number < len(computed) else None
            now = {entry: versions[entry._node] for _, entry in entries_of(state)}
            if known is None:
                computed.append(now)
                continue
            new = [entry for entry, version in now.items() if known.get(entry, 0) < version]
            computed[number] = now
            if new:
                values = hash(repr(Snapshot.of(state).values))
                for entry in new:
                    if (entry, values) not in seen:
                        seen.add((entry, values))
                        count[entry] += 1

    computed: list[dict[CacheEntry[Any], int]] = []

    with strict(undeclared="record") as reads:

        def watched(program: Program) -> int:
            computed.clear()
            run = Run(system)
            try:
                return run.perform(program, note)
            except FOUND_BY_STRICT as error:
                lines = len(run.lines)
                raise StrictFailure(error, run, run.last_read, lines, 0, RECORDING) from None

        try:
            with memory.attached(system, "run"):
                result = explore(
                    "precision", has, expense, watched, settings, seed, progress, budget
                )
        except StrictFailure as failure:
            raise failure.told() from None
    state = system.default_state
    for item in memory.seconds:  # their values were found, for a few values of the variables
        count.pop(item.handle(state), None)
    superfluous = [
        each for each in reads.over_declared() if count[each.entry] >= FEWEST_COMPUTATIONS
    ]
    superfluous.sort(key=_place)
    hint = precise_hint(superfluous[0].entry, reads.of(superfluous[0].entry)) if superfluous else ""
    return Found(tuple(superfluous), dict(count), result, hint)


def _place(found: OverDeclared) -> tuple[int, int, int]:
    entry = found.entry
    return (entry.subsystem or 0, entry.index, found.prerequisite.index)


def _program(system: System, found: OverDeclared) -> str:
    """Return a program that fails as long as the prerequisite is declared and not read."""
    run = Run(system)
    entry = run.names.get(found.entry, "state")
    above = run.names.get(found.prerequisite, "state")
    stage = f", Stage.{found.entry.available_from.name}"
    return program_of(
        run,
        [f"system.realize(state{stage})", f"{entry}.invalidate(state)"],
        'with strict(state, undeclared="record") as reads:',
        f"    {entry}(state)",
        f"assert {above} in reads.of({entry})",
    )
