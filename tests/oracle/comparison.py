"""When two result lines agree.

Everything must be equal, but for these:

- *Versions* are compared by their growth: for each item the difference between the two answers must
  stay what it was when the item was first seen. It may become another when the item is allocated,
  and when the whole state is replaced, by `clear`, `set_num_subsystems` or an assignment. Even then
  no version may fall, but for the topology version in an assignment,
  and those of a subsystem that takes the place of one that is gone are higher too.
- *Versions after a `rollback`* are what they were, and then skip those that were given in between.
  So they only have to rise where those of the model do, and never fall.
- *Versions of entries* are not compared: ours count values (each mark), those of the real library
  count invalidations.
- `lowest_diff` is compared where the versions were saved from the same state, or where those of the
  two states are equally far apart in both answers; else it depends on numbers that are equal by
  chance.
- `AssertAbort`, the abort of an assertion in C, agrees with any refusal.

NaN equals NaN.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests.oracle.grammar import TOPOLOGY

Item: TypeAlias = tuple[str | int, ...]  # what has a version
TOPOLOGY_ITEM: Item = ("system", TOPOLOGY)


@dataclass
class Growth:
    """The versions of one state: by item, how far they are apart, and what both last said."""

    offsets: dict[Item, int] = field(default_factory=dict)
    last: dict[Item, int] = field(default_factory=dict)
    expected: dict[Item, int] = field(default_factory=dict)
    rollbacks: int = 0


class Comparison:
    """Compares two streams of answers to the same commands, which are the same from the start."""

    def __init__(self) -> None:
        self._current = Growth()
        self._slots: dict[str, Growth] = {}
        self._saved: dict[str, tuple[Growth, dict[Item, int], int]] = {}

    def differences(self, command: str, expected: str, actual: str) -> list[str]:
        """Return the paths at which the answers differ, each with both of them.

        It must be told all commands, in their order.
        """
        words = command.split() or [""]
        if not (expected.startswith("ok") and actual.startswith("ok")):
            return line_differences(expected, actual)
        ours, theirs = _payload(actual), _payload(expected)
        self._follow(words, theirs)
        found = list[str]()
        (versions, theirs), (our_versions, ours) = (
            _take_versions(words, payload) for payload in (theirs, ours)
        )
        for item, version in versions.items():
            if item in our_versions:
                found += self._compare_versions(item, version, our_versions[item])
        if words[0] == "sysver_save":
            self._saved[words[1]] = (
                self._current,
                self._current.offsets.copy(),
                self._current.rollbacks,
            )
        if words[0] != "lowest_diff" or self._is_comparable(words[1]):
            _compare("", theirs, ours, found)
        return found

    def _is_comparable(self, k: str) -> bool:
        """Whether versions that were saved have to do with those of the current state."""
        whose, offsets, rollbacks = self._saved[k]
        now = self._current.offsets
        if whose is self._current or rollbacks or self._current.rollbacks:
            return whose is self._current and rollbacks == self._current.rollbacks
        return all(
            now[item] == offset
            for item, offset in offsets.items()
            if item[0] == "system" and item in now
        )

    def _follow(self, words: list[str], answer: object) -> None:
        """Keep to each state what is known of its versions."""
        match words:
            case ["new"]:
                self._current = Growth()
            case ["reset_all"]:
                self._current, self._slots, self._saved = Growth(), {}, {}
            case ["save", k]:
                self._slots[k] = copy.deepcopy(self._current)
            case ["copy"]:
                self._current = copy.deepcopy(self._current)
            case ["swap", k]:
                self._current, self._slots[k] = self._slots[k], self._current
            case [("alloc_dv" | "alloc_auto_dv"), sx, *_] if isinstance(answer, int):
                self._current.offsets.pop(("variable", int(sx), answer), None)
            case ["assign_from", k]:
                self._rebase(self._slots.get(k, Growth()))
            case ["copy_assign"]:
                self._current = copy.deepcopy(self._current)
                self._rebase(self._current)
            case ["rollback", _]:
                self._current.offsets.clear()
                self._current.last.clear()
                self._current.rollbacks += 1
            case [("clear" | "set_num_subsystems"), *_]:
                self._current.offsets.clear()
            case ["set_topology_version", _]:
                self._current.offsets[TOPOLOGY_ITEM] = 0
                self._current.last.pop(TOPOLOGY_ITEM, None)

    def _rebase(self, source: Growth) -> None:
        """The state is a copy of the source now; its topology version is that of the source."""
        topology = source.offsets.get(TOPOLOGY_ITEM)
        self._current.offsets.clear()
        self._current.last.pop(TOPOLOGY_ITEM, None)
        self._current.rollbacks += source.rollbacks
        if topology is not None:
            self._current.offsets[TOPOLOGY_ITEM] = topology

    def _compare_versions(self, item: Item, expected: int, actual: int) -> list[str]:
        now = self._current
        before, wanted = now.last.get(item, actual), now.expected.get(item, expected)
        is_new = item not in now.last
        now.last[item], now.expected[item] = actual, expected
        offset = now.offsets.setdefault(item, actual - expected)
        path = ".".join(map(str, item))
        if actual < before:
            return [f"version of {path}: fell from {before} to {actual}"]
        if now.rollbacks:
            if expected > wanted and actual == before and not is_new:
                return [f"version of {path}: still {actual}"]
            now.offsets[item] = actual - expected
        elif actual != expected + offset:
            return [f"version of {path}: expected {expected + offset}, got {actual}"]
        return []


def line_differences(expected: str, actual: str) -> list[str]:
    """Compare two result lines, versions and all."""
    found = list[str]()
    if expected.startswith("ok") and actual.startswith("ok"):
        _compare("", _payload(expected), _payload(actual), found)
    elif expected != actual and not (
        "error AssertAbort" in (expected, actual) and expected[:6] == actual[:6] == "error "
    ):
        found.append(f"expected {expected[:80]}, got {actual[:80]}")
    return found


def _payload(line: str) -> Any:  # it is JSON
    if line == "ok":
        return None
    try:
        return json.loads(line[3:], parse_constant=str)  # NaN as a word, which equals itself
    except json.JSONDecodeError:
        return f"malformed: {line}"


def _compare(path: str, expected: Any, actual: Any, found: list[str]) -> None:
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name in {**expected, **actual}:
            _compare(f"{path}.{name}", expected.get(name), actual.get(name), found)
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for i, (one, other) in enumerate(zip(expected, actual, strict=True)):
            _compare(f"{path}[{i}]", one, other, found)
    elif expected != actual:
        found.append(f"{path or 'answer'}: expected {expected}, got {actual}")


# ---------------------------------------------------------------------- versions in an answer


def _take_versions(words: list[str], payload: Any) -> tuple[dict[Item, int], Any]:
    """Return the versions by item, and the payload without them."""
    match words:
        case [("observe" | "observe_full"), *_]:
            return _take_all(payload), payload
        case ["value_versions"]:
            return _values(payload), len(payload)
        case ["ss_versions", sx]:
            return _stages(("subsystem", int(sx)), payload), len(payload)
        case ["sysver_save", _]:
            return _stages(("system",), payload), len(payload)
        case ["topology_version"]:
            return {TOPOLOGY_ITEM: payload}, None
        case ["dv_version", sx, dx]:
            return {("variable", int(sx), int(dx)): payload}, None
        case ["ce_version", *_]:
            return {}, None
    return {}, payload


def _take_all(snapshot: dict[str, Any]) -> dict[Item, int]:
    versions = _values(snapshot.pop("value_versions"))
    versions |= _stages(("system",), snapshot.pop("system_stage_versions", []))
    for sx, part in enumerate(snapshot["subsystems"]):
        versions |= _stages(("subsystem", sx), part.pop("stage_versions", []))
        for dx, variable in enumerate(part["dv"]):
            versions["variable", sx, dx] = variable.pop("version")
        for entry in part["ce"]:
            entry.pop("version", None)
            entry.pop("computed_version", None)
    return versions


def _values(versions: list[int]) -> dict[Item, int]:
    return {(v,): version for v, version in zip("quz", versions, strict=True)}


def _stages(whose: Item, versions: list[int]) -> dict[Item, int]:
    return {(*whose, g): version for g, version in enumerate(versions)}
