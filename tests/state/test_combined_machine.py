"""Everything at once, against the brute-force model of the oracle.

Write, read, mark, allocate, back up, re-allocate, copy, keep the cache, checkpoint, roll back, cut
off, strict mode and frozen copies; `tests/state/combined.py` holds the model.
"""

from contextlib import ExitStack

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from stagecache import strict
from tests.interrupting import ignore_lost_strikes
from tests.oracle.commands import BYTES, PAUSE
from tests.profiles import examples
from tests.state.combined import CombinedCommands, CombinedPair
from tests.state.striking import strike_a_copy

SEED = st.binary(min_size=BYTES, max_size=BYTES)
SETTINGS = examples(50)


class CombinedMachine(RuleBasedStateMachine):
    """Runs commands on States and on the model; what is run is printed with a failure."""

    def __init__(self) -> None:
        super().__init__()
        self.pair = CombinedPair()
        self.commands = CombinedCommands(self.pair.model)
        self.strict_ones: dict[int, ExitStack] = {}

    def run(self, command: str) -> None:
        if command != PAUSE:
            note(command)
            self.pair.check(command)

    @initialize(seeds=st.lists(SEED, min_size=3, max_size=8), subsystems=st.integers(1, 3))
    def start(self, seeds: list[bytes], subsystems: int) -> None:
        for _ in range(subsystems):
            self.run("add_subsystem s 1")
        for seed in seeds:
            self.draw("computed" if seed[0] % 2 else "allocate", seed[1:])
        if seeds[0][0] % 3:
            self.run("realize Time")

    def draw(self, kind: str, seed: bytes) -> None:
        """Run a command of that kind."""
        self.commands.choices = iter(seed)
        self.run(getattr(self.commands, f"draw_{kind}")())

    @rule(seed=SEED)
    def anything(self, seed: bytes) -> None:
        for command in self.commands.next_ones(seed):
            self.run(command)

    @rule(seed=SEED)
    def read(self, seed: bytes) -> None:
        self.draw("read" if self.commands.computed() else "computed", seed)

    @rule(seed=SEED)
    def write_and_read(self, seed: bytes) -> None:
        variables = self.commands.variables()
        if variables:
            key = variables[seed[0] % len(variables)]
            self.run("set_dv {} {} {}".format(*key, seed[1] % 5))
        self.draw("read" if self.commands.computed() else "computed", seed[2:])

    @rule(seed=SEED)
    def realize(self, seed: bytes) -> None:
        self.draw("realize", seed)

    @rule(seed=SEED)
    def checkpoint_or_rollback(self, seed: bytes) -> None:
        self.draw("checkpoint", seed)

    @rule(seed=SEED)
    def try_and_go_back(self, seed: bytes) -> None:
        """A step that is rejected, and another one in its place."""
        if 2 not in self.commands.marks:
            self.commands.marks.append(2)
        del self.commands.marks[self.commands.marks.index(2) + 1 :]
        self.run("checkpoint 2")
        self.write_and_read(seed)
        self.run("rollback 2")
        self.write_and_read(seed[8:])

    @rule(seed=SEED)
    def freeze(self, seed: bytes) -> None:
        self.pair.check_frozen(seed)

    @rule(data=st.data(), seed=SEED)
    def strike(self, data: st.DataObject, seed: bytes) -> None:
        """Commands on a copy that an error cuts short have happened, or have not."""
        commands = CombinedCommands(self.pair.model).next_ones(seed)
        strike_a_copy(data, self.pair, [command for command in commands if command != PAUSE])

    @rule()
    def switch_strict_mode(self) -> None:
        state = self.pair.interpreter.state
        if id(state) in self.strict_ones:
            self.strict_ones.pop(id(state)).close()
            assert not state.is_strict
        else:
            stack = ExitStack()
            stack.enter_context(strict(state))
            self.strict_ones[id(state)] = stack
            stack.callback(lambda: state.stage)  # so that its id stays its own
            assert state.is_strict

    def teardown(self) -> None:
        for stack in self.strict_ones.values():
            stack.close()


TestCombinedMachine = ignore_lost_strikes(CombinedMachine.TestCase)
TestCombinedMachine.settings = SETTINGS
