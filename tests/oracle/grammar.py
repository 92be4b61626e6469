"""The command language: one command per line, one result line per command.

The grammar is at the top of `state_oracle.cpp`. Beyond it, the model and the interpreter know::

    alloc_ce_blocks sx EARLIEST LATEST BLOCKS CEKEYS value   prerequisites that are single blocks
    upd_block NAME sx BLOCK                                  writing a single block
    checkpoint k | rollback k                                going back gives up later ones

where a block is what one `alloc_q` (or u, z) made, counted from 0 within its subsystem, `*` is the
whole of a subsystem, and BLOCKS are comma separated `NAME:sx:BLOCK`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TypeAlias

EMPTY, TOPOLOGY, MODEL, INSTANCE, TIME, POSITION = range(6)
VELOCITY, DYNAMICS, ACCELERATION, REPORT, INFINITY = range(6, 11)
STAGES = (
    *("Empty", "Topology", "Model", "Instance", "Time", "Position"),
    *("Velocity", "Dynamics", "Acceleration", "Report", "Infinity"),
)
STAGE_NUMBER = {name: g for g, name in enumerate(STAGES)}

Key: TypeAlias = tuple[int, int]  # subsystem, index
Block: TypeAlias = tuple[str, int, int]  # q, u or z; subsystem; number of the block there
WHOLE = -1  # in a Block: all blocks of that subsystem
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


class Refusal(Exception):  # noqa: N818 - it is an answer, not an error
    """The command is refused; the kind is what the result line says."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def require(condition: bool, kind: str = "StageTooLow") -> None:
    """Refuse unless the condition holds."""
    if not condition:
        raise Refusal(kind)


class AbstractInterpreter:
    """Runs commands, each by its method `do_<command>`, which takes the words that follow."""

    def run(self, line: str) -> str:
        """Run one command and return its result line."""
        words = line.split()
        try:
            require(bool(words), "Syntax")
            method: Callable[..., Json] | None = getattr(self, f"do_{words[0]}", None)
            if method is None:
                raise Refusal("UnknownCommand")
            payload = method(*words[1:])
        except Refusal as refusal:
            return f"error {refusal.kind}"
        return "ok" if payload is None else f"ok {encode(payload)}"


# ---------------------------------------------------------------------- what is read


def read_stage(word: str) -> int:
    """The number of a stage that is given by its name or its number."""
    require(word in STAGE_NUMBER or (word.isdigit() and int(word) <= INFINITY), "Syntax")
    return STAGE_NUMBER[word] if word in STAGE_NUMBER else int(word)


def read_key(subsystem: str, index: str) -> Key:
    """A key; what it stands for need not exist."""
    key = int(subsystem), int(index)
    require(min(key) >= 0, "IndexOutOfRange")
    return key


def read_keys(word: str) -> list[Key]:
    """The keys in a comma separated list, which is `-` if there are none."""
    return [] if word == "-" else [read_key(*key.split(":")) for key in word.split(",")]


def read_blocks(word: str) -> list[Block]:
    """The blocks in a comma separated list."""
    return [
        (name, int(sx), WHOLE if number == "*" else int(number))
        for name, sx, number in (block.split(":") for block in word.split(","))
    ]


def read_slot(word: str) -> int:
    """The number of a slot, of which there are eight."""
    require(word.isdigit() and int(word) <= 7, "Syntax")
    return int(word)


# ---------------------------------------------------------------------- what is written


def encode(payload: Json) -> str:
    """JSON as the driver writes it: no spaces, %.17g, NaN and Infinity as Python reads them."""
    if payload is None:
        return "null"
    if isinstance(payload, bool):
        return "true" if payload else "false"
    if isinstance(payload, int):
        return str(payload)
    if isinstance(payload, float):
        return _encode_real(payload)
    if isinstance(payload, str):
        return '"' + payload.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(payload, list):
        return "[" + ",".join(map(encode, payload)) + "]"
    return "{" + ",".join(f'"{name}":{encode(item)}' for name, item in payload.items()) + "}"


def _encode_real(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return f"{value:.17g}"


def list_keys(keys: Iterable[Key]) -> list[Json]:
    """Keys as they stand in results."""
    return [[sx, index] for sx, index in keys]
