"""The oracle's State and model, with computed entries, clones, strict mode and frozen copies.

The model is that of `tests/oracle`, which has stages, allocation, back-up, hand-made entries,
automatic updates and copies; a checkpoint of it is a deep copy. Here it learns what is computed, in
the simplest way: a value is computed anew from the variables whenever it is asked for. What the
model cannot know, since it depends on which values come out equal, is what is realized after a
read. So it takes that over from the State, but only with the value that it computes itself, and
never loses what it takes for realized itself.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import pytest

from stagecache import CacheEntry as Entry
from stagecache import State, simbody
from stagecache.errors import CacheEntryOutOfDateError, StageTooLowError
from tests.interrupting import fused
from tests.oracle.commands import Commands
from tests.oracle.comparison import Comparison
from tests.oracle.grammar import (
    DYNAMICS,
    INFINITY,
    MODEL,
    POSITION,
    STAGES,
    TIME,
    TOPOLOGY,
    VELOCITY,
    WHOLE,
    Json,
    Key,
    Refusal,
    read_blocks,
    read_key,
    read_keys,
    read_slot,
    read_stage,
    require,
)
from tests.oracle.interpreter import Interpreter
from tests.oracle.interpreter_allocation import stage
from tests.oracle.model import Model
from tests.oracle.model_allocation import Prerequisites
from tests.oracle.model_items import CacheEntry
from tests.oracle.pair import LOOK, Pair

FREE: tuple[tuple[int, str], ...] = ((POSITION, "q"), (VELOCITY, "u"), (DYNAMICS, "z"))


@dataclass
class Computed(CacheEntry):
    """An entry that is the sum of all that it depends on, modulo a small number."""

    modulus: int = 2
    is_compared: bool = False


# ---------------------------------------------------------------------- the model


class CombinedModel(Model):
    """Computes without ever keeping what it has computed."""

    def do_alloc_computed(self, *words: str) -> Json:
        sx, earliest, blocks, discrete, entries, modulus, is_compared = words
        above = Prerequisites(
            blocks=[] if blocks == "-" else read_blocks(blocks),
            discrete=read_keys(discrete),
            entries=read_keys(entries),
        )
        self.check_prerequisites(sx, read_stage(earliest), INFINITY, above)
        index = self.do_alloc_ce(sx, earliest, STAGES[INFINITY], "0")
        old = self.subsystem(sx).entries.pop()
        new = Computed(old.key, old.alloc, old.earliest, old.latest, old.value)
        new.allocated, new.modulus = old.allocated, int(modulus)
        new.is_compared = is_compared == "1"
        self.subsystem(sx).entries.append(new)
        self.connect(sx, above)
        return index

    def do_compute(self, sx: str, cx: str) -> Json:
        return self.value(self.entry(sx, cx))

    def value(self, entry: CacheEntry) -> float:
        """What reading an entry gives; nothing changes."""
        if not isinstance(entry, Computed) or self.current.is_valid(entry):
            return self.read(entry)
        for above in self.current.upstream(entry):
            require(self.current.subsystems[above.key[0]].stage >= above.earliest)
        return self.computed(entry)

    def computed(self, entry: Computed) -> float:
        state = self.current
        total = sum(state.variable(key).value for key in entry.discrete)
        for v, sx, number in entry.blocks:
            require(state.stage >= MODEL)
            values = state.get(v, sx)
            if number != WHOLE:
                stack = state.subsystems[sx].pools[v]
                start = sum(len(initial) for _, initial in stack[:number])
                values = values[start : start + len(stack[number][1])]
            total += sum(values)
        total += sum(self.value(state.entry(key)) for key in entry.entries)
        if entry.earliest >= TIME:
            require(state.stage >= TOPOLOGY)
            total += state.time
        for needed, v in FREE:
            if entry.earliest >= needed:
                total += sum(state.get(v, None))
        return total % entry.modulus

    def do_clone(self, k: str) -> None:
        shared = {id(self.clock): self.clock}
        self.slots[read_slot(k)] = copy.deepcopy(self.current, shared)

    def take_over(self, entry: CacheEntry, value: float) -> None:
        """Take an entry for realized, which the State does."""
        if isinstance(entry, Computed):
            expected = self.computed(entry)
            assert value == expected, f"{entry.key}: {value} is not {expected}"
        else:
            above = self.current.upstream(entry)
            assert any(isinstance(e, Computed) and e.is_compared for e in above), entry.key
        entry.value = value
        self.current.mark(entry)

    def entries(self) -> list[CacheEntry]:
        return [entry for sub in self.current.subsystems for entry in sub.entries]


# ---------------------------------------------------------------------- the State


class CombinedInterpreter(Interpreter):
    def do_alloc_computed(self, *words: str) -> Json:
        sx, earliest, blocks, discrete, entries, modulus, is_compared = words
        vectors = [] if blocks == "-" else [*map(self.block, read_blocks(blocks))]
        variables = [*map(self.variable, read_keys(discrete))]
        others = [*map(self.entry, read_keys(entries))]
        free = [v for needed, v in FREE if read_stage(earliest) >= needed]
        reads_time = read_stage(earliest) >= TIME

        @fused
        def compute(state: State) -> float:
            total = sum(variable(state) for variable in variables)
            total += sum(float(sum(vector(state))) for vector in vectors)
            total += sum(entry(state) for entry in others)
            total += state.time if reads_time else 0.0
            total += sum(float(sum(getattr(state, v))) for v in free)
            return total % int(modulus)

        entry = self.part(sx).allocate_cache_entry_with_prerequisites(
            stage(earliest),
            stage(STAGES[INFINITY]),
            [*vectors, *variables, *others],
            0.0,
            compute=compute,
            equal=is_compared == "1",
        )
        return entry.index

    def do_compute(self, sx: str, cx: str) -> Json:
        return float(self.entry(read_key(sx, cx))(self.state))

    def do_clone(self, k: str) -> None:
        self.slots[read_slot(k)] = self.held.copied(self.state.copy(keep_cache=True))


# ---------------------------------------------------------------------- both


class CombinedComparison(Comparison):
    def _follow(self, words: list[str], answer: object) -> None:
        super()._follow(["save", words[1]] if words[0] == "clone" else words, answer)


class CombinedPair(Pair):
    """Runs each command on both, and remembers what each version number has stood for."""

    model: CombinedModel
    interpreter: CombinedInterpreter

    def __init__(self) -> None:
        self.model = CombinedModel()
        self.interpreter = CombinedInterpreter()
        self._comparison = CombinedComparison()
        self.states: list[State] = []
        self.seen: dict[tuple[object, ...], object] = {}

    def check(self, command: str) -> None:
        """Run a command; both must answer the same, and agree in everything afterwards."""
        differences = self._ask(command).differences
        assert not differences, f"{command}: {differences}"
        if command.startswith("compute"):
            self.take_over()
        seen = self._ask(LOOK).differences
        assert not seen, f"after {command}: {seen}"
        self.check_versions()

    def take_over(self) -> None:
        state = self.interpreter.state
        todo = self.model.entries()
        while todo:  # first what others depend on
            entry = todo.pop(0)
            real = self.interpreter.entry(entry.key)
            if self.model.current.is_valid(entry) or not real.is_valid(state):
                continue
            above = [self.model.current.entry(key) for key in entry.entries]
            if any(e in todo for e in above):
                todo.append(entry)
            else:
                self.model.take_over(
                    entry, simbody.get_cache_entry(state[entry.key[0]], entry.key[1])
                )

    # ------------------------------------------------------------------ versions

    def check_versions(self) -> None:
        """No version number of a State ever stands for two values."""
        state = self.interpreter.state
        if not any(state is other for other in self.states):
            self.states.append(state)
        number = next(i for i, other in enumerate(self.states) if other is state)
        for item, version, value in [*self.values(state), *self.stages()]:
            first = self.seen.setdefault((number, item, version), value)
            assert first == value, f"version {version} of {item}: {first}, and now {value}"

    def values(self, state: State) -> list[tuple[object, int, object]]:
        found: list[tuple[object, int, object]] = []
        for x, sub in enumerate(self.model.current.subsystems):
            for i in range(len(sub.variables)):
                variable = self.interpreter.variable((x, i))
                found.append((variable, variable.version(state), variable(state)))
            for entry in sub.entries:
                handle: Entry[Any] = self.interpreter.entry(entry.key)
                if isinstance(entry, Computed) and handle.is_valid(state):
                    found.append((handle, handle.version(state), handle(state)))
            for v in ("q", "u", "z") if state.stage >= MODEL else ():
                blocks = [state[x].variable(v), *self.interpreter.blocks_of(v, x)]
                found += [(block, block.version(state), tuple(block(state))) for block in blocks]
        return found

    def stages(self) -> list[tuple[object, int, object]]:
        """What the version of a stage stands for is that it was reached, at that tick."""
        state, model = self.interpreter.state, self.model.current
        together = [[sub.reached[g] for sub in model.subsystems] for g in range(len(STAGES))]
        found: list[tuple[object, int, object]] = []
        if model.subsystems:
            versions = state.stage_versions
            found += [(STAGES[g], versions[g], together[g]) for g in range(MODEL, state.stage + 1)]
        for x, sub in enumerate(model.subsystems):
            versions = state[x].stage_versions
            found += [((x, g), versions[g], sub.reached[g]) for g in range(1, sub.stage + 1)]
        return found

    # ------------------------------------------------------------------ frozen copies

    def check_frozen(self, seed: bytes) -> None:
        """A frozen copy is what the State is, whatever is tried on it, and so is its free copy."""
        look = self.interpreter.run(LOOK)
        before = self.interpreter.held
        frozen = before.copied(before.state.frozen())
        commands = CombinedCommands(self.model)
        writes = [commands.next(seed[i:] + seed[:i]) for i in range(0, len(seed), 4)]
        try:
            self.interpreter.held = frozen
            for command in [w for w in writes if not w.startswith(CHANGING_ANOTHER)]:
                self.interpreter.run(command)
                assert self.interpreter.held.state is frozen.state
                assert self.interpreter.run(LOOK) == look, command
            for entry in self.model.entries():
                self.check_frozen_read(
                    frozen.state, self.interpreter.entry(entry.key), before.state
                )
            self.interpreter.held = frozen.copied(frozen.state.copy(keep_cache=True))
            assert self.interpreter.run(LOOK) == look
        finally:
            self.interpreter.held = before

    def check_frozen_read(self, frozen: State, entry: Entry[Any], state: State) -> None:
        if entry.is_valid(state):
            assert entry(frozen) == entry(state)
        else:
            with pytest.raises((CacheEntryOutOfDateError, StageTooLowError)):
                entry(frozen)


# ---------------------------------------------------------------------- commands

CHANGING_ANOTHER = (
    *("new", "copy", "swap", "save", "clone", "sysver_save", "checkpoint", "rollback", "compute"),
    "lowest_diff",
)


class CombinedCommands(Commands):
    """Draws those of the oracle, and the new ones; values of computed entries are not stored."""

    def kinds(self) -> list[str]:
        weights = {"clone": 1, "read": 6 if self.computed() else 0}
        weights["computed"] = 8 if len(self.computed()) < 8 else 1
        return super().kinds() + [kind for kind, n in weights.items() for _ in range(n)]

    def computed(self) -> list[Key]:
        entries = [self.state.entry(key) for key in self.entries()]
        return [entry.key for entry in entries if isinstance(entry, Computed)]

    def next_ones(self, seed: bytes) -> list[str]:
        """The command that these bytes stand for, or those that do the same lawfully.

        What depends on an entry is right only until someone stores another value in it; so it is
        invalidated first.
        """
        command = self.next(seed)
        word, *words = command.split()
        key = " ".join(words[:2])
        if word in ("set_ce", "ce_mark") and key in ["{} {}".format(*k) for k in self.computed()]:
            return [f"compute {key}"]
        if word == "set_ce":
            return [f"ce_unmark {key}", command]
        if word == "dv_update_set":
            try:
                entry = self.state.update_entry(read_key(*words[:2]))
            except (Refusal, IndexError):
                return [command]
            return ["ce_unmark {} {}".format(*entry.key), command]
        return [command]

    def draw_read(self) -> str:
        return "compute {} {}".format(*self.pick(self.computed()))

    def draw_clone(self) -> str:
        return f"clone {self.pick(range(2))}"

    def draw_computed(self) -> str:
        sx = self.subsystem()
        earliest = self.pick((TOPOLOGY, TOPOLOGY, TOPOLOGY, *range(TOPOLOGY, INFINITY)))
        entries = [
            key
            for key in self.entries()
            if self.state.entry(key).earliest <= earliest and self.may_precede(key, sx)
        ]
        computed = [key for key in self.computed() if key in entries]
        chosen = self.some(computed, 2) + self.some([k for k in entries if k not in computed], 1)
        variables = [k for k in self.variables() if self.may_precede(k, sx, is_entry=False)]
        blocks = [
            block
            for v in "quz"
            for block in self.state.blocks(v)
            if self.state.block_alloc(block) <= self.alloc(sx)
        ]
        words = [
            ",".join(f"{v}:{x}:{'*' if n == WHOLE else n}" for v, x, n in self.some(blocks, 1)),
            ",".join("{}:{}".format(*key) for key in self.some(variables, 2)),
            ",".join("{}:{}".format(*key) for key in chosen),
        ]
        above = " ".join(word or "-" for word in words)
        modulus, is_compared = self.pick((2, 3)), self.pick((1, 0))
        return f"alloc_computed {sx} {STAGES[earliest]} {above} {modulus} {is_compared}"
