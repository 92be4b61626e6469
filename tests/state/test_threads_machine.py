"""Threads that use one State, against the brute-force model of the oracle.

As in `tests/graph/test_threads_machine.py`, the rules of `CombinedMachine` make and change a State
in one thread. Between them, threads read it at the same time without a lock; or they do anything,
each while it holds the lock of the State. Commands come from bytes, so the order of threads has no
effect on what is drawn.
"""

from functools import partial

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import rule

from stagecache import State, strict, verify
from stagecache.errors import PrerequisiteStageError
from tests.graph.check_structure import check_store
from tests.profiles import examples
from tests.state.combined import CombinedPair, Computed
from tests.state.test_combined_machine import SEED, CombinedMachine
from tests.threads import many_switches, run_together

READS = ["compute", "compute", "get_dv", "get", "get_t", "ce_is_realized"]
OTHERS = ["copy", "copy with cache", "frozen", "strict", "trace", "verify"]

Step = tuple[str, int]
EVERY = st.integers(3, 40)  # lines after which a thread lets others go on
SELDOM = st.integers(300, 3000)  # where nearly all lines are those of the model


class Reader:
    """A thread that holds no lock: it asks, computes, copies, and begins and ends observation."""

    def __init__(self, pair: CombinedPair, plan: list[Step]) -> None:
        self.state = pair.interpreter.state
        self.interpreter = pair.interpreter
        self.steps = [(kind, self.command(pair, kind, number)) for kind, number in plan]
        self.answers: list[tuple[str, str]] = []
        self.copies: list[State] = []

    @staticmethod
    def command(pair: CombinedPair, kind: str, number: int) -> str:
        """Return the question that a number stands for; for an observer, one that it observes."""
        model = pair.model
        keys = [e.key for e in model.entries() if isinstance(e, Computed)]
        variables = [
            (x, i)
            for x, sub in enumerate(model.current.subsystems)
            for i in range(len(sub.variables))
        ]
        if kind == "ce_is_realized":  # another thread may compute what is not
            keys = [key for key in keys if model.current.is_valid(model.current.entry(key))]
        if kind == "get_dv" and variables:
            return "get_dv {} {}".format(*variables[number % len(variables)])
        if kind == "get":
            return f"get {'quzy'[number % 4]} *"
        if kind == "get_t" or not keys:
            return "get_t"
        return "{} {} {}".format(
            "ce_is_realized" if kind == "ce_is_realized" else "compute", *keys[number % len(keys)]
        )

    def run(self) -> None:
        for kind, command in self.steps:
            self.do(kind, command)

    def do(self, kind: str, command: str) -> None:
        state = self.state
        try:
            if kind == "copy":
                self.copies.append(state.copy())
            elif kind == "copy with cache":
                self.copies.append(state.copy(keep_cache=True))
            elif kind == "frozen":
                self.copies.append(state.frozen())
        except PrerequisiteStageError:
            pass  # what depends on an item would be in the copy, and the item would not
        if kind == "strict":
            with strict(state):
                self.ask(command)
        elif kind == "trace":
            with state.trace():
                self.ask(command)
        elif kind == "verify":
            with verify(state):
                self.ask(command)
        else:
            self.ask(command)

    def ask(self, command: str) -> None:
        self.answers.append((command, self.interpreter.run(command)))


class ThreadsMachine(CombinedMachine):
    """States that several threads use, too."""

    @rule(
        plans=st.lists(
            st.tuples(
                EVERY,
                st.lists(
                    st.tuples(st.sampled_from(READS + OTHERS), st.integers(0, 99)),
                    min_size=1,
                    max_size=5,
                ),
            ),
            min_size=2,
            max_size=16,
        )
    )
    def read_in_threads(self, plans: list[tuple[int, list[Step]]]) -> None:
        """Nothing is written while threads read; but something was before."""
        pair, state = self.pair, self.pair.interpreter.state
        for number, (x, i) in enumerate(self.commands.variables()):
            if number % 2 == len(plans) % 2:
                self.run(f"set_dv {x} {i} {len(plans)}")
        self.run("invalidate_all_cache_at_or_above Time")
        self.run("realize Report")
        entries = [
            pair.interpreter.entry(e.key) for e in pair.model.entries() if isinstance(e, Computed)
        ]
        store = state._contents.realization.store
        # After a rollback, versions given before are skipped.
        before = [(e.version(state), store.rewound.get(e._node, 0)) for e in entries]
        were_valid = [entry.is_valid(state) for entry in entries]
        readers = [Reader(pair, plan) for _, plan in plans]
        observers = state._contents.observers
        with many_switches():
            run_together(*[reader.run for reader in readers], pauses=[n for n, _ in plans])
        assert state._contents.observers == observers
        for reader in readers:
            note(f"together: {[command for _, command in reader.steps]}")
            for command, answer in reader.answers:
                wanted = pair.model.run(command)
                assert not pair._comparison.differences(command, wanted, answer), command
            for twin in reader.copies:
                self.check_copy(twin)
        for entry, versions, was_valid in zip(entries, before, were_valid, strict=True):
            highest = versions[0] if was_valid else max(versions) + 1
            assert entry.version(state) <= highest, "computed more than once"
        check_store(store)
        pair.take_over()
        self.run("get_t")

    def check_copy(self, twin: State) -> None:
        """Whatever is valid in a copy, is right."""
        store = twin._contents.realization.store
        for model_entry in self.pair.model.entries():
            handle = self.pair.interpreter.entry(model_entry.key)
            is_there = handle._node < len(store.keys) and store.keys[handle._node] is handle
            if isinstance(model_entry, Computed) and is_there and handle.is_valid(twin):
                assert handle(twin) == self.pair.model.value(model_entry), model_entry.key
        check_store(store)

    @rule(
        drawn=st.lists(
            st.tuples(SELDOM, st.lists(SEED, min_size=1, max_size=3)), min_size=2, max_size=4
        )
    )
    def write_in_threads(self, drawn: list[tuple[int, list[bytes]]]) -> None:
        """Each thread does anything, and compares all, while it holds the lock."""
        lock = self.pair.interpreter.state.lock
        done: list[str] = []

        def run(seeds: list[bytes]) -> None:
            for seed in seeds:
                with lock:
                    for command in self.commands.next_ones(seed):
                        done.append(command)
                        self.pair.check(command)

        try:
            with many_switches():
                run_together(
                    *[partial(run, seeds) for _, seeds in drawn], pauses=[n for n, _ in drawn]
                )
        finally:
            note(f"in threads, in this order: {done}")


TestThreadsMachine = ThreadsMachine.TestCase
TestThreadsMachine.settings = examples(30, stateful_step_count=20)
