"""Check of strictness: computations read only what they declare, for any variables."""

from textwrap import indent

from hypothesis import settings as Settings  # noqa: N812  # a class

from stagecache.inspection.strict.strict import strict, verify
from stagecache.system.core.system import System
from stagecache.testing.checks.expense import Expense
from stagecache.testing.checks.explore import Progress, explore
from stagecache.testing.checks.never import Tally
from stagecache.testing.diagnosis.failure import Failure
from stagecache.testing.diagnosis.report import program_in
from stagecache.testing.diagnosis.shortening import Program
from stagecache.testing.oracle.memory import Memory
from stagecache.testing.oracle.oracle import Blueprint, Subject
from stagecache.testing.programs.inventory import Inventory, Strategies
from stagecache.testing.programs.operation import ReadAll
from stagecache.testing.programs.run import FOUND_BY_STRICT, Run, state_name
from stagecache.testing.result import CheckResult


class StrictFailure(Failure):
    """Error of strict mode, or of verify mode after it.

    Parameters
    ----------
    error : Exception
    run : Run
    subject : Subject or None
        The entry whose computation raised, if any.
    lines : int
        Number of lines of the program in strict mode.
    number : int
        Number of the verified State.
    mode : str
        Code that begins strict mode.
    """

    def __init__(
        self,
        error: Exception,
        run: Run,
        subject: Subject | None,
        lines: int,
        number: int,
        mode: str = "strict()",
    ) -> None:
        subject = subject or Subject(vector=str(error).partition("\n")[0])
        super().__init__(type(error).__name__, run, number, subject, lines=lines)
        self.error = error
        self.mode = mode

    def told(self) -> Exception:
        """Return the error, with the program as a note."""
        self.error.add_note("\n" + self.program())
        return self.error

    def program(self) -> str:
        """Return the program: first lines in strict mode, the others in verify mode."""
        lines, names = self.run.lines, state_name(self.number)
        rest = lines[self.lines :]
        after = [f"with verify({names}):", indent("\n".join(rest), "    ")] if rest else []
        return program_in(self.run, self.mode, lines[: self.lines], *after)


def check_strict(
    system: System,
    *,
    strategies: Strategies | None = None,
    settings: Settings | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    budget: float | None = None,
) -> CheckResult:
    """Check by random programs that computations read only what they declare.

    The parameters and programs are those of `check_coherence`. Programs run in strict mode, and at
    the end of each, all valid entries are verified. This finds faults before values are wrong.

    Raises
    ------
    UndeclaredPrerequisiteError
        A computation has an undeclared read. The error names both, and the declaration to write.
    MutatedValueError
        A value was changed in place.
    StaleValueError
        An entry computes another value though its prerequisites have not changed. Each of these
        errors has a note with the shortest program that shows it.
    NeverComputedError
        Nothing else was found, but an entry or a hook has raised in every program.
    WrongTypeError, UnknownItemError
        The System or the strategies are not valid.
    """
    has = Inventory(system, strategies)
    blueprint = Blueprint(system)
    tally = Tally(has.entries, blueprint.build)
    memory = Memory()
    expense = Expense(has, memory, memory.attach(blueprint.build(), "run"), has_scouts=True)

    def in_strict_mode(operations: Program) -> int:
        count, lines, number = 0, None, 0
        run: Run | None = None
        try:
            with strict():
                run = Run(memory.attach(blueprint.build(), "run"))
                count = run.perform(operations)
            lines = len(run.lines)
            for number, state in enumerate(run.states):
                del run.lines[lines:]
                with verify(state):
                    run.perform([ReadAll(where=number)])
        except FOUND_BY_STRICT as error:
            run = run or Run(system)
            lines = len(run.lines) if lines is None else lines
            raise StrictFailure(error, run, run.last_read, lines, number) from None
        tally.add(operations, run)
        return count

    try:
        result = explore("strict", has, expense, in_strict_mode, settings, seed, progress, budget)
    except StrictFailure as failure:
        raise failure.told() from None
    return tally.result(result)
