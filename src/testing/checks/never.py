"""Entries and hooks that always raise: no check can say anything of these.

A computation may raise for some values of the variables, so no single exception is a fault. What
never gave a value in any program is one, or the values that are drawn make no sense there.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress

import attrs

from stagecache.errors import NeverComputedError, StagecacheError
from stagecache.state.stage import Stage
from stagecache.system.core.system import System
from stagecache.testing.diagnosis.failure import Failure
from stagecache.testing.diagnosis.report import program_in, program_of
from stagecache.testing.diagnosis.shortening import Program, Shortener
from stagecache.testing.items import Item
from stagecache.testing.oracle.comparison import NOTHING, Outcome, depth_of, hook_of, place_of
from stagecache.testing.oracle.oracle import Subject
from stagecache.testing.programs.run import FOUND_BY_STRICT, Run, state_name
from stagecache.testing.result import CheckResult


@attrs.frozen(eq=False)
class Raising:
    """An entry, or a stage, that raised in a program.

    Attributes
    ----------
    subject : Subject
    title : str
        The entry, or the hook.
    error : Exception
    program : list of AbstractOperation
    """

    subject: Subject
    title: str
    error: Exception
    program: Program

    @property
    def rank(self) -> tuple[bool, int]:
        """Less for what is nearer to the cause: entries, and what raises by itself."""
        return self.subject.item is None, depth_of(self.error)

    def __str__(self) -> str:
        return str(Outcome(error=self.error))


class Tally:
    """Entries and hooks that worked in any program of a check, and those that raised.

    Parameters
    ----------
    entries : iterable of Item
        Entries of the default State.
    build : callable
        Returns a System like the checked one.
    """

    def __init__(self, entries: Iterable[Item], build: Callable[[], System]) -> None:
        self._build = build
        self._entries = {Subject(item) for item in entries}
        self._gave: set[Subject] = set()
        self._waiting: set[Subject] = set()
        self._reached = Stage.EMPTY
        self._raising: dict[Subject, Raising] = {}

    def add(self, program: Program, run: Run) -> None:
        """Count the values and errors of a program."""
        self._gave |= run.gave
        self._waiting |= run.waiting
        self._reached = max(self._reached, run.reached)
        for subject, raised in run.raised.items():
            known = self._raising.get(subject)
            if known is None or len(program) < len(known.program):
                title = (
                    hook_of(raised.error) or f"Stage.{subject.stage.name}"
                    if subject.stage is not None
                    else subject.title(run.names, run.states[raised.number])
                )
                self._raising[subject] = Raising(subject, title, raised.error, program)

    def result(self, result: CheckResult) -> CheckResult:
        """Return the result of the check, with the number of entries.

        Raises
        ------
        NeverComputedError
            An entry or a hook always raises.
        UndeclaredPrerequisiteError, MutatedValueError, StaleValueError
            It always raises an error of strict mode, which was begun outside of the check.
        """
        for raising in self._never():
            if isinstance(raising.error, FOUND_BY_STRICT):
                raising.error.add_note("\n" + self._program(raising))
                raise raising.error
        if self._never():
            raise self._error(self._never())
        entries = self._entries | self._gave | self._waiting
        return attrs.evolve(result, entries=len(entries), computed=len(self._gave))

    def _performed(self, program: Program) -> Run:
        """Run a program up to an error of strict mode."""
        run = Run(self._build())
        with suppress(*FOUND_BY_STRICT):
            run.perform(program)
        return run

    def _never(self) -> list[Raising]:
        """Return the faults that always raise, without consequences of others."""
        found: dict[tuple[type, str], Raising] = {}
        for raising in sorted(self._raising.values(), key=lambda raising: raising.rank):
            if not self._goes_through(raising.subject):
                found.setdefault((type(raising.error), place_of(raising.error)), raising)
        return list(found.values())

    def _goes_through(self, subject: Subject) -> bool:
        """Return True if it worked in a program, or would if an entry were filled."""
        if subject.stage is not None:
            return subject.stage <= self._reached
        return subject in self._gave or subject in self._waiting

    def _error(self, never: list[Raising]) -> NeverComputedError:
        first, *others = never
        how = "computed" if first.subject.item is not None else "called"
        hint = (
            first.error.hint
            if isinstance(first.error, StagecacheError)
            else "mend it; or, if the values are at fault, give strategies= for which it works"
        )
        return NeverComputedError(
            f"{first.title}: raises in every program in which it is {how}",
            "what works in one program at least, so that there is something to compare",
            "; ".join([str(first), *(f"{other.title}: {other}" for other in others)]),
            hint,
            self._program(first),
            tuple(raising.title for raising in never),
        )

    def _program(self, raising: Raising) -> str:
        """Return the shortest program in which it raises; empty if it does not do so again."""
        subject = raising.subject

        def perform(program: Program) -> None:
            run = self._performed(program)
            if subject in run.raised:
                raised = run.raised[subject]
                got = Outcome(error=raised.error)
                number, line = raised.number, raised.line
                raise Failure("never", run, number, subject, NOTHING, got, lines=line)

        try:
            perform(raising.program)
        except Failure as failure:
            found = Shortener(perform, raising.program, failure).shorten()
        else:
            return ""
        run, name = found.run, state_name(found.number)
        last = (
            f"system.realize({name}, Stage.{subject.stage.name})"
            if subject.stage is not None
            else run.code(found.number, subject)
        )
        lines = [*run.lines[: found.lines], last]
        if isinstance(raising.error, FOUND_BY_STRICT):
            return program_in(run, "strict()", lines)
        return program_of(run, lines)
