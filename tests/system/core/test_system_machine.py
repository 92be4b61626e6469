"""Systems against brute force: random models, random operations on any number of their States."""

import copy
import io
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from stagecache import Stage, State
from stagecache.errors import StageTooLowError
from tests.interrupting import ignore_lost_strikes
from tests.system.random_model import STAGES, Brute, Built, HookError, Spec, specs
from tests.system.striking import strike_a_copy

RUNTIME = STAGES[Stage.TOPOLOGY : Stage.INFINITY]


class SystemMachine(RuleBasedStateMachine):
    """Runs each operation on a State and on its model."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs: list[tuple[State, Brute]] = []

    @initialize(spec=specs())
    def start(self, spec: Spec) -> None:
        self.spec = spec
        self.built = Built(spec)
        brute = Brute(spec)
        default = self.built.system.realize_topology()
        brute.start()
        self.built.calls.clear()
        for number in spec.entries():
            assert self.built.handle(number).available_from is spec.items[number].available_from
        brute.copied()
        self.pairs.append((default.copy(), brute))

    def some_pair(self, data: st.DataObject) -> tuple[State, Brute]:
        return data.draw(st.sampled_from(self.pairs))

    def some_entry(self, data: st.DataObject) -> int | None:
        numbers = self.spec.entries()
        return data.draw(st.sampled_from(numbers)) if numbers else None

    def check_calls(self, brute: Brute, expected: list[int]) -> None:
        """Each entry that was out of date was computed once, and no other."""
        calls = [i for i in self.built.calls if i not in brute.unsure]
        assert sorted(calls) == sorted(i for i in expected if i not in brute.unsure)
        brute.unsure -= {*self.built.calls, *expected}
        self.built.calls.clear()

    def check_hooks(self, brute: Brute) -> None:
        for number, value in self.built.seen:
            assert value == brute.fresh(number), number
        self.built.seen.clear()

    @rule(data=st.data())
    def write(self, data: st.DataObject) -> None:
        state, brute = self.some_pair(data)
        variables = [i for i, item in enumerate(self.spec.items) if item.kind != "entry"]
        number = data.draw(st.sampled_from(variables))
        item, handle = self.spec.items[number], self.built.handle(number)
        value = float(data.draw(st.integers(0, 9)))
        if not item.is_continuous:
            handle.set(state, value)
            brute.write(number, [value])
        elif brute.stage < Stage.MODEL:
            with pytest.raises(StageTooLowError):
                handle.upd(state)
        else:
            size = np.size(handle(state))
            values = [(value + k) % 10 for k in range(size)]
            if data.draw(st.booleans()):
                handle.upd(state)[:] = values
            else:
                handle.set(state, values if np.ndim(handle(state)) else value)
            brute.write(number, values)
        assert self.built.calls == []

    @rule(data=st.data(), stage=st.sampled_from(RUNTIME))
    def realize(self, data: st.DataObject, stage: Stage) -> None:
        state, brute = self.some_pair(data)
        self.built.system.realize(state, stage)
        self.check_calls(brute, brute.realize(stage))
        self.check_hooks(brute)

    @rule(data=st.data())
    def fail_and_go_on(self, data: st.DataObject) -> None:
        state, brute = self.some_pair(data)
        hooks = [(g, s) for s, stages in enumerate(self.spec.hooks) for g in sorted(stages)]
        hooks = [(g, s) for g, s in hooks if g > brute.stages[s]]
        if not hooks:
            return
        stage, subsystem = data.draw(st.sampled_from(hooks))
        self.built.fails.append((stage, subsystem))
        with pytest.raises(HookError):
            self.built.system.realize(state)
        brute.realize(stage - 1)
        brute.stages = [int(state[s].stage) for s in self.built.subsystems]
        assert state.stage == stage - 1
        assert brute.stages[subsystem] == stage - 1
        assert set(brute.stages) <= {stage - 1, stage}
        self.check_hooks(brute)
        for number in self.built.calls:
            brute.computed[number] = brute.tick
        brute.unsure |= set(self.spec.entries())
        self.built.calls.clear()

    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        number = self.some_entry(data)
        if number is not None:
            self.read_entry(*self.some_pair(data), number)

    @rule(data=st.data())
    def realize_and_read_all(self, data: st.DataObject) -> None:
        state, brute = self.some_pair(data)
        self.realize_all(state, brute, data.draw(st.sampled_from(RUNTIME)))

    def realize_all(self, state: State, brute: Brute, stage: Stage) -> None:
        self.built.system.realize(state, stage)
        self.check_calls(brute, brute.realize(stage))
        self.check_hooks(brute)
        for number in self.spec.entries():
            self.read_entry(state, brute, number)

    def read_entry(self, state: State, brute: Brute, number: int) -> None:
        if not brute.is_readable(number):
            with pytest.raises(StageTooLowError):
                self.built.read(state, number)
            assert self.built.calls == []
            return
        assert self.built.read(state, number) == brute.fresh(number)
        expected: list[int] = []
        brute.read(number, expected)
        self.check_calls(brute, expected)

    @rule(data=st.data())
    def invalidate(self, data: st.DataObject) -> None:
        state, brute = self.some_pair(data)
        number = self.some_entry(data)
        if number is not None:
            self.built.handle(number).invalidate(state)
            brute.invalidate(number)

    @rule(data=st.data(), stage=st.sampled_from(RUNTIME[1:]))
    def invalidate_all(self, data: st.DataObject, stage: Stage) -> None:
        state, brute = self.some_pair(data)
        state.invalidate_all(stage)
        brute.invalidate_all(stage)

    @precondition(lambda self: len(self.pairs) < 3)
    @rule(data=st.data())
    def copy(self, data: st.DataObject) -> None:
        state, brute = self.some_pair(data)
        twin = copy.deepcopy(brute)
        twin.spec = self.spec
        twin.copied()
        self.pairs.append((state.copy(), twin))

    @rule(data=st.data())
    def strike(self, data: st.DataObject) -> None:
        """An operation on a copy that an error cuts short has happened, or what it touched is
        computed again."""
        state, _ = self.some_pair(data)
        other, _ = self.some_pair(data)
        strike_a_copy(data, self.built, state, other, lambda s: travelled(s, self.built))

    @rule(data=st.data())
    def travel(self, data: st.DataObject) -> None:
        """A pickled State has the same variables; which entries are computed is its own affair.

        A realization that was broken off is begun anew.
        """
        k = data.draw(st.integers(0, len(self.pairs) - 1))
        state, brute = self.pairs[k]
        brute.copied()
        brute.stages = [brute.stage] * self.spec.count
        self.pairs[k] = (travelled(state, self.built), brute)
        brute.unsure = set(self.spec.entries())
        self.built.calls.clear()
        self.built.seen.clear()

    @invariant()
    def same_stages_and_variables(self) -> None:
        for state, brute in self.pairs:
            assert state.stage == brute.stage
            assert [state[s].stage for s in self.built.subsystems] == brute.stages
            for number, item in enumerate(self.spec.items):
                if item.kind != "entry" and (not item.is_continuous or brute.stage >= Stage.MODEL):
                    assert self.built.read(state, number) == brute.fresh(number), number

    @invariant()
    def same_validity(self) -> None:
        for state, brute in self.pairs:
            for number in self.spec.entries():
                if number not in brute.unsure:
                    wanted = brute.is_valid(number) and brute.is_readable(number)
                    assert self.built.handle(number).is_valid(state) == wanted, number


def travelled(state: State, built: Built) -> State:
    """The State after a round trip; the System, whose classes are local, stays here."""

    class Pickler(pickle.Pickler):
        def persistent_id(self, obj: object) -> str | None:
            return "system" if obj is built.system else None

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, pid: Any) -> Any:
            return built.system

    file = io.BytesIO()
    Pickler(file).dump(state)
    file.seek(0)
    found = Unpickler(file).load()
    assert isinstance(found, State)
    return found


TestSystemMachine = ignore_lost_strikes(SystemMachine.TestCase)
