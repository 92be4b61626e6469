"""A state machine of Hypothesis that operates States of a model, to be extended.

It writes, reads, realizes, copies and rolls back as `check_coherence` does, and compares what is
cached with a fresh State after each step. A subclass adds what its model can do beside that.
"""

from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.control import current_build_context
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from stagecache.errors import CheckFailedError, IncoherentError
from stagecache.state.state import State
from stagecache.system.core.system import System
from stagecache.testing.checks.explore import quiet
from stagecache.testing.diagnosis.failure import Failure
from stagecache.testing.diagnosis.report import error_of, without_program
from stagecache.testing.oracle.oracle import Blueprint
from stagecache.testing.programs.inventory import Inventory, Strategies
from stagecache.testing.programs.operation import AbstractOperation
from stagecache.testing.programs.programs import steps
from stagecache.testing.programs.run import Run
from stagecache.testing.watch import Watch


class InvalidationMachine(RuleBasedStateMachine):
    """Random operations of a model, to be subclassed with one's own rules and invariants.

    A subclass says which System: by a class attribute `system`, or by `make_system`, which is
    called for each run. Its own rules work on `state`, or on any of `states`; they may write
    and read, realize and assert. They find the States at any stage, and after any writes, so they
    realize what they need. ``TestMyModel = MyMachine.TestCase`` makes it a test.

    Hypothesis prints the steps that lead to a failure, with the steps of one's own rules. The
    error has a program of its own if these have not changed or computed anything.

    Attributes
    ----------
    system : System
    state : State
        The first State.
    states : list of State
        It, and its copies.

    Examples
    --------
    >>> from hypothesis import settings
    >>> from hypothesis import strategies as st
    >>> from hypothesis.stateful import run_state_machine_as_test
    >>> from stagecache import State, Subsystem, System, cached, parameter
    >>> class Spring(Subsystem):
    ...     stiffness = parameter(100.0)
    ...     stretch = parameter(0.0)
    ...
    ...     @cached(prerequisites=(stiffness, stretch))
    ...     def energy(self, state: State) -> float:
    ...         return self.stiffness(state) * self.stretch(state) ** 2 / 2
    >>> class SpringMachine(InvalidationMachine):
    ...     def make_system(self) -> System:
    ...         self.spring = Spring()
    ...         return System(self.spring)
    ...
    ...     @rule(stretch=st.floats(0, 1))
    ...     def pull(self, stretch: float) -> None:
    ...         self.spring.stretch.set(self.state, stretch)
    ...         assert self.spring.energy(self.state) == (
    ...             self.spring.stiffness(self.state) * stretch**2 / 2
    ...         )
    >>> TestSpring = SpringMachine.TestCase
    >>> run_state_machine_as_test(SpringMachine, settings=settings(max_examples=5, database=None))
    """

    system: System

    def __init__(self) -> None:
        super().__init__()
        self.system = self.make_system()
        self._has = Inventory(self.system, self.make_strategies())
        self._blueprint = Blueprint(self.system)
        self._run = Run(self.system)
        self._watch = Watch(self._run, self._blueprint.build())
        self._has_failed = False
        self._is_told = True  # the program has all that was done
        self._done = self._trace()

    def make_system(self) -> System:
        """Return the System to be operated; the class attribute `system` by default."""
        return self.system

    def make_strategies(self) -> Strategies:
        """Strategies for the values of some variables, as `check_coherence` takes them."""
        return {}

    @property
    def state(self) -> State:
        """The first State."""
        return self._run.states[0]

    @property
    def states(self) -> list[State]:
        """The first State and its copies."""
        return self._run.states

    # ------------------------------------------------------------------ rules

    @rule(data=st.data())
    def write(self, data: st.DataObject) -> None:
        """Write something, copy a State, make a checkpoint or go back to one."""
        self._perform(data.draw(steps(self._has, changing=True), label="operations"))

    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        """Read entries, or realize a stage."""
        self._perform(data.draw(steps(self._has, changing=False), label="operations"))

    @invariant()
    def what_is_cached_is_right(self) -> None:
        """Compare valid values of any State with those of a fresh one, after each rule."""
        self._guard(self._check_all)

    def teardown(self) -> None:
        """Compare with the same model where nothing was computed before."""
        if self._has_failed or not self._blueprint.is_known:
            return
        self._guard(lambda: self._watch.check_pristine(self._blueprint.build()))

    def _perform(self, operations: list[AbstractOperation]) -> None:
        def perform() -> None:
            for operation in operations:
                self._watch.perform(operation)

        self._guard(perform)

    def _check_all(self) -> None:
        for number in range(len(self.states)):
            self._watch.check(number)

    def _guard(self, do: Callable[[], None]) -> None:
        """Do something of the kit, and raise what it finds.

        There is one line that raises, and nothing that is being handled there: by these Hypothesis
        tells faults apart, and one fault may be found in several ways.
        """
        found = None
        self._is_told = self._is_told and self._trace() == self._done
        try:
            with quiet():
                do()
        except Failure as failure:
            found = failure
        self._done = self._trace()
        if found is not None:
            raise self._error(found)

    def _trace(self) -> list[tuple[object, ...]]:
        """Return a part of the State that any write, realization, computation or copy changes."""
        realizations = [state._contents.realization for state in self.states]
        return [(r.store.clock, [*r.machine.stages], [*r.store.versions]) for r in realizations]

    def _error(self, failure: Failure) -> CheckFailedError:
        """Return the error; who is to blame is found out once the program is as short as can be."""
        self._has_failed = True
        if current_build_context().is_final:
            return error_of(failure) if self._is_told else without_program(error_of(failure))
        return IncoherentError("the cache", "the right value", "a wrong one", "see below")
