"""The commands that allocate, run on `stagecache.State`, and what finds the handles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from stagecache import (
    CacheEntry,
    Checkpoint,
    ContinuousVariable,
    DiscreteVariable,
    Stage,
    State,
    SubsystemState,
    simbody,
)
from stagecache.errors import ForeignNodeError
from tests.oracle.grammar import (
    WHOLE,
    AbstractInterpreter,
    Block,
    Json,
    Key,
    read_blocks,
    read_keys,
    read_stage,
    require,
)

Real: TypeAlias = "CacheEntry[float]"
Discrete: TypeAlias = "DiscreteVariable[float]"
Blocks: TypeAlias = dict[tuple[str, int], list[ContinuousVariable]]
WHOLES: dict[str, Literal["q", "u", "z"]] = {"q": "q", "u": "u", "z": "z"}


@dataclass
class Held:
    """A state, and the handles of the blocks that were allocated in it or in what it copies."""

    state: State
    blocks: Blocks = field(default_factory=dict)
    marks: dict[int, tuple[Checkpoint, Blocks]] = field(default_factory=dict)  # of that state

    def copied(self, state: State) -> Held:
        return Held(state, self.copied_blocks())

    def copied_blocks(self) -> Blocks:
        return {key: handles[:] for key, handles in self.blocks.items()}


def stage(word: str) -> Stage:
    return Stage(read_stage(word))


class AbstractStateInterpreter(AbstractInterpreter):
    """Has a current state, in which it can allocate."""

    held: Held

    @property
    def state(self) -> State:
        return self.held.state

    # ------------------------------------------------------------------ finding things

    def part(self, sx: str | int) -> SubsystemState:
        return self.state[int(sx)]

    def parts(self) -> list[SubsystemState]:
        return [self.state[sx] for sx in range(self.state.num_subsystems)]

    def who(self, word: str) -> State | SubsystemState:
        return self.state if word == "*" else self.part(word)

    def variable(self, key: Key) -> Discrete:
        return simbody.discrete_variable_info(self.part(key[0]), key[1])

    def entry(self, key: Key) -> Real:
        return simbody.cache_entry_info(self.part(key[0]), key[1])

    def blocks_of(self, v: str, sx: int) -> list[ContinuousVariable]:
        """The handles of the blocks that are there; those that are forgotten are dropped."""
        require(v in ("q", "u", "z"), "Syntax")
        handles = self.held.blocks.setdefault((v, sx), [])
        handles[:] = [handle for handle in handles if self.is_known(handle)]
        return handles

    def is_known(self, handle: ContinuousVariable) -> bool:
        try:
            handle.version(self.state)
        except ForeignNodeError:
            return False
        return True

    def block(self, block: Block) -> ContinuousVariable:
        v, sx, number = block
        part = self.part(sx)
        if number == WHOLE:
            require(v in WHOLES, "Syntax")
            return part.variable(WHOLES[v])
        handles = self.blocks_of(v, sx)
        require(number < len(handles), "IndexOutOfRange")
        return handles[number]

    # ------------------------------------------------------------------ allocation

    def allocate(self, v: str, sx: str, values: Iterable[str]) -> Json:
        handle: ContinuousVariable = getattr(self.part(sx), f"allocate_{v}")([*map(float, values)])
        self.blocks_of(v, int(sx)).append(handle)
        return handle.index

    def do_alloc_q(self, sx: str, *values: str) -> Json:
        return self.allocate("q", sx, values)

    def do_alloc_u(self, sx: str, *values: str) -> Json:
        return self.allocate("u", sx, values)

    def do_alloc_z(self, sx: str, *values: str) -> Json:
        return self.allocate("z", sx, values)

    def do_alloc_qerr(self, sx: str, count: str) -> Json:
        return self.part(sx).allocate_qerr(int(count))

    def do_alloc_uerr(self, sx: str, count: str) -> Json:
        return self.part(sx).allocate_uerr(int(count))

    def do_alloc_udoterr(self, sx: str, count: str) -> Json:
        return self.part(sx).allocate_udoterr(int(count))

    def do_alloc_event_trigger(self, sx: str, g: str, count: str) -> Json:
        return self.part(sx).allocate_event_trigger(stage(g), int(count))

    def do_alloc_dv(self, sx: str, invalidates: str, value: str) -> Json:
        return self.part(sx).allocate_discrete_variable(stage(invalidates), float(value)).index

    def do_alloc_auto_dv(self, sx: str, invalidates: str, update: str, value: str) -> Json:
        allocate = self.part(sx).allocate_auto_update_discrete_variable
        return allocate(stage(invalidates), float(value), stage(update)).index

    def do_alloc_ce(self, sx: str, earliest: str, latest: str, value: str) -> Json:
        stages = stage(earliest), stage(latest)
        return self.part(sx).allocate_cache_entry(*stages, float(value)).index

    def do_alloc_lazy_ce(self, sx: str, earliest: str, value: str) -> Json:
        return self.part(sx).allocate_lazy_cache_entry(stage(earliest), float(value)).index

    def do_alloc_ce_pre(self, *words: str) -> Json:
        sx, earliest, latest, q, u, z, discrete, entries, value = words
        allocate = self.part(sx).allocate_cache_entry_with_prerequisites
        above = [
            *(
                self.state.variable(WHOLES[v])
                for v, b in zip("quz", (q, u, z), strict=True)
                if b == "1"
            ),
            *map(self.variable, read_keys(discrete)),
            *map(self.entry, read_keys(entries)),
        ]
        return allocate(stage(earliest), stage(latest), above, float(value)).index

    def do_alloc_ce_blocks(self, *words: str) -> Json:
        sx, earliest, latest, blocks, entries, value = words
        allocate = self.part(sx).allocate_cache_entry_with_prerequisites
        above = [*map(self.block, read_blocks(blocks)), *map(self.entry, read_keys(entries))]
        return allocate(stage(earliest), stage(latest), above, float(value)).index
