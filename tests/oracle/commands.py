"""Random commands, most of them legal, drawn with the model's state at hand.

Each command is made from a few bytes. All zeros stand for the least that can be done, so Hypothesis
shrinks a failure to few commands with small numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

from tests.oracle.grammar import (
    EMPTY,
    INFINITY,
    INSTANCE,
    MODEL,
    REPORT,
    STAGES,
    TIME,
    TOPOLOGY,
    WHOLE,
    Key,
    Refusal,
)
from tests.oracle.model import Model
from tests.oracle.model_copies import copy_state
from tests.oracle.model_items import VECTORS, Subsystem
from tests.oracle.model_state import ModelState

T = TypeVar("T")

BYTES = 32  # of choice for one command
PAUSE = "system_stage"
ANOTHER_STATE = ("new", "copy", "copy_assign", "swap")
REPLACING = ("set_num_subsystems", "clear", "copy", "copy_assign", "swap", "assign_from")

# Lists of lists: both of few and of many commands, and Hypothesis can drop any of them.
SEEDS = st.lists(
    st.lists(st.binary(min_size=BYTES, max_size=BYTES), min_size=4, max_size=30),
    min_size=1,
    max_size=10,
).map(lambda lists: [seed for seeds in lists for seed in seeds])

ASK = ("num_subsystems", "system_stage", "get_t", "get_all_triggers", "topology_version")
ASK_LISTS = ("value_versions", "q_dependents", "u_dependents", "z_dependents", "dims", "observe")
ASK_SUBSYSTEM = ("subsystem_name", "subsystem_stage", "ss_versions", "dims_ss")
ASK_VARIABLE = (
    *("get_dv", "has_dv", "dv_last_update", "dv_version", "dv_alloc_stage", "dv_invalidates"),
    *("dv_update_index", "dv_update_get", "dv_update_is_realized", "dv_dependents"),
)
ASK_ENTRY = (
    *("get_ce", "has_ce", "raw_ce", "ce_is_realized", "ce_version", "ce_alloc_stage"),
    *("ce_depends_on", "ce_computed_by", "ce_dependents"),
)


class Commands:
    """Draws commands.

    Parameters
    ----------
    model
        In its state they are to be legal, mostly.
    is_live
        Only what the real library knows and survives. Subsystems are added to new states only (its
        array of subsystems does not survive growing: m1, m3), no prerequisite goes first (l1), and
        no assignment is refused, which would leave half a state behind.
    """

    def __init__(self, model: Model, *, is_live: bool = False) -> None:
        self.model = model
        self.is_live = is_live
        self.choices = iter(b"")
        self.is_new = True  # the current state, and no copy or result of anything
        self.marks: list[int] = []  # the checkpoints of the current state, the first one first

    @property
    def state(self) -> ModelState:
        return self.model.current

    def pick(self, options: Sequence[T]) -> T:
        return options[next(self.choices, 0) % len(options)]

    def chance(self, percent: int) -> bool:
        return next(self.choices, 0) % 100 >= 100 - percent

    def some(self, options: Iterable[T], most: int) -> list[T]:
        """Up to so many of the options, each once."""
        left, chosen = list(options), list[T]()
        for _ in range(self.pick(range(most + 1))):
            if left:
                chosen.append(left.pop(self.pick(range(len(left)))))
        return chosen

    def next(self, seed: bytes) -> str:
        """Return the command that these bytes stand for now."""
        self.choices = iter(seed)
        state = self.state
        if self.can_add() and (not state.subsystems or (self.is_early() and self.chance(40))):
            return "add_subsystem s 1"
        command: str = getattr(self, "draw_" + self.pick(self.kinds()))()
        word = command.split(maxsplit=1)[0]
        self.is_new = command == "new" or (self.is_new and word not in REPLACING)
        if word in ANOTHER_STATE:
            self.marks.clear()
        return command

    def kinds(self) -> list[str]:
        """Kinds of commands, the likely ones more often: first allocate, then write and mark."""
        weights = {"pause": 1, "advance": 4, "realize": 2, "ask": 2, "versions": 1, "invalidate": 1}
        if self.entries():
            weights |= {"unmark": 1, "mark": 4 if any(map(self.can_mark, self.entries())) else 0}
        weights |= {"auto": 3 if self.updates() else 0}
        if self.state.stage < INSTANCE:
            count = len(self.entries()) + len(self.variables())
            weights |= {"allocate": 24 if count < 10 else 4, "write": 2}
        else:
            weights |= {"allocate": 1, "write": 8, "invalidate": 2}
        weights |= {"copy": 1, "slot": 2, "change": 1, "checkpoint": 0 if self.is_live else 3}
        return [kind for kind, weight in weights.items() for _ in range(weight)]

    # ------------------------------------------------------------------ what there is

    def subsystem(self) -> int:
        count = len(self.state.subsystems)
        is_there = count > 0 and not self.chance(1)
        return self.pick(range(count)) if is_there else count

    def who(self) -> str:
        return "*" if self.chance(40) else str(self.subsystem())

    def entries(self) -> list[Key]:
        return [e.key for s in self.state.subsystems for e in s.entries]

    def variables(self) -> list[Key]:
        subsystems = self.state.subsystems
        return [(x, i) for x, s in enumerate(subsystems) for i in range(len(s.variables))]

    def key(self, keys: list[Key]) -> str:
        sx, index = self.pick(keys) if keys and not self.chance(2) else (self.subsystem(), 7)
        return f"{sx} {index}"

    def stage(self, likely: int) -> str:
        edges = (EMPTY, TOPOLOGY, MODEL, INFINITY, TIME, INSTANCE)
        return STAGES[self.pick(edges) if self.chance(8) else likely]

    def value(self) -> int:
        return self.pick(range(1, 9))

    # ------------------------------------------------------------------ kinds of commands

    def draw_pause(self) -> str:
        return PAUSE

    def draw_change(self) -> str:
        """Something that changes which subsystems there are, or none of their names."""
        count = len(self.state.subsystems)
        if count < 4 and self.can_add() and (self.is_pristine() or self.chance(30)):
            return "add_subsystem s 1"
        if self.chance(10) and self.can_add():
            return f"set_num_subsystems {self.pick((2, 1, 3, 0, -1))}"
        if self.chance(20):
            return self.pick(("clear", "new"))
        return f"init_subsystem {self.subsystem()} name {self.value()}"

    def can_add(self) -> bool:
        return not self.is_live or (self.is_new and self.is_pristine())

    def is_pristine(self) -> bool:
        return self.state.stage == EMPTY and not any(map(has_items, self.state.subsystems))

    def is_early(self) -> bool:
        return self.is_pristine() and len(self.state.subsystems) < 3

    def draw_advance(self) -> str:
        sx = self.subsystem()
        if self.chance(50) and sx < len(self.state.subsystems):
            g = self.state.subsystems[sx].stage + 1
            return f"advance_subsystem {sx} {self.reachable(g)}"
        g = self.state.stage + 1
        return f"{'advance_system' if self.chance(15) else 'advance_all'} {self.reachable(g)}"

    def reachable(self, likely: int) -> str:
        return self.stage(min(likely, INFINITY if self.chance(5) else REPORT))

    def draw_realize(self) -> str:
        return f"realize {self.reachable(self.pick(range(TOPOLOGY, REPORT + 1)))}"

    def draw_invalidate(self) -> str:
        highest = max([self.state.stage, *(sub.stage for sub in self.state.subsystems)])
        lowest = TOPOLOGY if self.state.stage < INSTANCE or self.chance(10) else INSTANCE
        g = self.stage(self.pick(range(max(highest, lowest), lowest - 1, -1)))
        is_low = STAGES.index(g) < INSTANCE and not self.chance(10)
        command = "" if is_low or self.chance(50) else "_cache_at_or_above"
        return f"invalidate_all{command} {g}"

    def draw_write(self) -> str:
        variables, blocks = self.variables(), self.blocks()
        kinds = ["vector", "time", "vector", "triggers", "entry"]
        kinds += ["block"] * 3 if blocks else []
        kinds += ["variable"] * 4 if variables else []
        match self.pick(kinds):
            case "time":
                return "upd_t" if self.chance(30) else f"set_t {self.value()}"
            case "triggers":
                who, g = self.who(), self.pick(range(TOPOLOGY, REPORT + 1))
                storage, where = self.state.locate_triggers(g, self.index(who))
                return self.assignment(f"set_triggers {who} {STAGES[g]}", len(storage[where]))
            case "entry":
                return f"set_ce {self.key(self.entries())} {self.value()}"
            case "variable":
                if self.chance(30):
                    return f"upd_dv {self.key(variables)}"
                return f"set_dv {self.key(variables)} {self.value()}"
            case "block":
                v, sx, number = self.pick(blocks)
                return f"upd_block {v} {sx} {number}"
        name, who = self.vector()
        if self.chance(50):
            return f"upd {name} {who}"
        storage, where = self.state.locate(name, self.index(who))
        return self.assignment(f"set {name} {who}", len(storage[where]))

    def assignment(self, command: str, size: int) -> str:
        size += self.chance(4)
        return " ".join([command, *(str(self.value()) for _ in range(size))])

    def vector(self) -> tuple[str, str]:
        name = self.pick([*("q", "u", "z") * 3, *VECTORS])
        return name, self.who() if VECTORS[name].partition else "*"

    def index(self, who: str) -> int | None:
        return None if who == "*" else int(who)

    def blocks(self) -> list[tuple[str, int, int]]:
        blocks = [block for v in "quz" for block in self.state.blocks(v)]
        return [block for block in blocks if block[2] != WHOLE and not self.is_live]

    def draw_mark(self) -> str:
        return f"ce_mark {self.key([k for k in self.entries() if self.can_mark(k)])}"

    def can_mark(self, key: Key) -> bool:
        return self.state.subsystems[key[0]].stage >= self.state.entry(key).earliest - 1

    def draw_unmark(self) -> str:
        return f"ce_unmark {self.key(self.entries())}"

    def draw_auto(self) -> str:
        match self.pick(("mark", "set", "update")):
            case "mark":
                return f"dv_update_mark {self.key(self.updates())}"
            case "set":
                return f"dv_update_set {self.key(self.updates())} {self.value()}"
        return "auto_update"

    def updates(self) -> list[Key]:
        return [k for k in self.variables() if self.state.variable(k).update >= 0]

    def draw_copy(self) -> str:
        return self.pick(("copy", "copy_assign"))

    def draw_checkpoint(self) -> str:
        if self.marks and self.chance(60):
            k = self.pick(self.marks)
            del self.marks[self.marks.index(k) + 1 :]
            return f"rollback {k}"
        k = self.pick(range(3))
        self.marks = [*(other for other in self.marks if other != k), k]
        return f"checkpoint {k}"

    def draw_slot(self) -> str:
        k = self.pick(range(2))
        command = self.pick(("save", "swap", "assign_from", "is_consistent"))
        if k not in self.model.slots and not self.chance(5):
            command = "save"
        if command == "assign_from" and self.is_live and k in self.model.slots:
            try:
                copy_state(self.model.slots[k])
            except Refusal:
                return PAUSE
        return f"{command} {k}"

    def draw_versions(self) -> str:
        k = self.pick(range(2))
        if self.chance(10):
            return f"set_topology_version {self.pick(range(1000, 1100)) if self.chance(90) else 0}"
        return f"{self.pick(('sysver_save', 'lowest_diff', 'lowest_diff'))} {k}"

    def draw_ask(self) -> str:
        match self.pick(("entry", "variable", "vector", "triggers", "whole", "subsystem")):
            case "entry":
                return f"{self.pick(ASK_ENTRY)} {self.key(self.entries())}"
            case "variable":
                return f"{self.pick(ASK_VARIABLE)} {self.key(self.variables())}"
            case "vector":
                return "get {} {}".format(*self.vector())
            case "triggers":
                return f"get_triggers {self.who()} {self.pick(STAGES[TOPOLOGY:INFINITY])}"
            case "subsystem":
                return f"{self.pick(ASK_SUBSYSTEM)} {self.subsystem()}"
        return self.pick(ASK + ASK_LISTS)

    # ------------------------------------------------------------------ allocation

    def draw_allocate(self) -> str:
        sx = self.subsystem()
        kind = self.pick(
            ("lazy", "ce", "q", "u", "z", "dv", "auto", "errors", "triggers", *["pre"] * 7)
        )
        earliest = self.pick((TOPOLOGY, MODEL, *range(TOPOLOGY, INFINITY)))
        stages = f"{self.stage(earliest)} {self.stage(self.latest(earliest))}"
        value = self.value()
        match kind:
            case "lazy":
                return f"alloc_lazy_ce {sx} {self.stage(earliest)} {value}"
            case "ce":
                return f"alloc_ce {sx} {stages} {value}"
            case "dv":
                return f"alloc_dv {sx} {self.stage(self.pick(range(MODEL, INFINITY)))} {value}"
            case "auto":
                invalidates = self.stage(self.pick(range(INSTANCE + 2, INFINITY)))
                return f"alloc_auto_dv {sx} {invalidates} {self.stage(earliest)} {value}"
            case "errors":
                name = self.pick(("qerr", "uerr", "udoterr"))
                return f"alloc_{name} {sx} {self.pick((1, 2, 0, 1, 2, 1, -1))}"
            case "triggers":
                g = self.stage(self.pick(range(TOPOLOGY, INFINITY)))
                return f"alloc_event_trigger {sx} {g} {self.pick((1, 2, 1, 2, 1, 0))}"
            case "pre":
                return self.with_prerequisites(sx, earliest, stages, value)
        return self.assignment(f"alloc_{kind} {sx}", self.pick((1, 2, 1, 2, 0)))

    def latest(self, earliest: int) -> int:
        return INFINITY if self.chance(50) else self.pick(range(earliest, INFINITY))

    def with_prerequisites(self, sx: int, earliest: int, stages: str, value: int) -> str:
        is_any = not self.is_live and self.chance(10)  # legal or not
        entries = [
            key
            for key in self.entries()
            if is_any or (self.state.entry(key).earliest <= earliest and self.may_precede(key, sx))
        ]
        names = ",".join("{}:{}".format(*key) for key in self.some(entries, 3)) or "-"
        if self.chance(40) and not self.is_live:
            blocks = [
                block
                for v in "quz"
                for block in self.state.blocks(v)
                if is_any or self.state.block_alloc(block) <= self.alloc(sx)
            ]
            chosen = self.some(blocks, 2) or [("q", 0, WHOLE)]
            if self.chance(5):
                chosen.append(self.pick((chosen[0], ("q", 0, 5))))
            blocks_word = ",".join(f"{v}:{x}:{'*' if n == WHOLE else n}" for v, x, n in chosen)
            return f"alloc_ce_blocks {sx} {stages} {blocks_word} {names} {value}"
        variables = [
            key for key in self.variables() if is_any or self.may_precede(key, sx, is_entry=False)
        ]
        keys = ["{}:{}".format(*key) for key in self.some(variables, 2)]
        if self.chance(5):
            keys.append(keys[0] if keys and self.chance(50) else f"{sx}:9")
        flags = " ".join("1" if self.chance(25) else "0" for _ in "quz")
        return f"alloc_ce_pre {sx} {stages} {flags} {','.join(keys) or '-'} {names} {value}"

    def alloc(self, sx: int) -> int:
        """The stage that is being realized in a subsystem; in one that is not there, any."""
        subsystems = self.state.subsystems
        return subsystems[sx].stage + 1 if sx < len(subsystems) else INFINITY

    def may_precede(self, key: Key, sx: int, *, is_entry: bool = True) -> bool:
        """Whether an item is never forgotten before what is allocated now in a subsystem.

        In the real library an item in another subsystem has to be allocated at a lower stage, as
        what is pending survives (`Quirk.PENDING_SURVIVES`).
        """
        item = self.state.entry(key) if is_entry else self.state.variable(key)
        return item.alloc <= self.alloc(sx) - (self.is_live and key[0] != sx)


def has_items(sub: Subsystem) -> bool:
    return bool(sub.entries or sub.variables or any(sub.pools.values()))
