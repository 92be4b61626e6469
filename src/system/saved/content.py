"""Snapshots as JSON and blobs: the content of a file that holds a State.

::

    {"version": "", "subsystems": [["arm", "2"], ...], "stage": "Time", "time": 0.5,
     "variables": [{"kind": "discrete variable that invalidates Instance", "form": "a number",
                    "unit": "m", "allocated_at": "Empty", "values": {"arm.length": 0.5, ...}},
                   ...],
     "updated": {"arm.length": 0.0},
     "weights": {...}, "versions": {...}, "left": [...]}

Kind and form are saved with the values, so a file shows what it contains without the model. Weights
and versions are saved where they are not 1.
"""

import math
from collections.abc import Mapping, MutableSequence
from typing import Any, Final

import numpy as np

from stagecache.display.words import counted
from stagecache.errors import short_repr
from stagecache.files.values import Blobs, bad_file, decode, encode
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import QERR_WEIGHTS, U_WEIGHTS, UERR_WEIGHTS, Z_WEIGHTS
from stagecache.system.saved.snapshot import Form, Snapshot

STAGES: Final = {str(stage): stage for stage in Stage if stage <= Stage.REPORT}
PARTS: Final = {
    *("version", "subsystems", "stage", "time", "variables"),
    *("weights", "versions", "left"),
}
MAY_HAVE: Final = {"system", "layout", "updated", "cache"}
GROUP: Final = {"kind", "form", "unit", "allocated_at", "values"}
COUNT: Final = 2**62
"""Limit of counts of writes."""


def snapshot_content(taken: Snapshot, blobs: Blobs) -> dict[str, Any]:
    """Return a snapshot as JSON, and append its arrays to the blobs.

    Raises
    ------
    UnsavableValueError
    """
    groups: dict[Form, dict[str, Any]] = {}
    for path, form in taken.forms.items():
        value = taken.values.get(path)
        if form.is_continuous and value is not None:
            value = _listed(value)
        groups.setdefault(form, {})[path] = encode(value, path, blobs)
    updated = {p: encode(t, p, blobs) for p, t in taken.update_times.items() if not math.isnan(t)}
    weights = {
        kind: {name: encode(_listed(w), name, blobs) for name, w in weights.items()}
        for kind, weights in taken.weights.items()
    }
    return {
        "version": taken.version,
        "subsystems": [list(pair) for pair in taken.subsystems],
        "stage": str(taken.stage),
        "time": encode(taken.time, "time", blobs),
        "variables": [
            {
                "kind": form.kind,
                "form": form.values,
                "unit": form.unit,
                "allocated_at": str(form.allocated_at),
                "values": values,
            }
            for form, values in groups.items()
        ],
        "updated": updated,
        "weights": weights,
        "versions": taken.versions,
        "left": [list(taken.left[0]), list(taken.left[1]), [list(x) for x in taken.left[2]]],
    }


FEW: Final = 16


def _listed(values: Any) -> Any:
    """Return a short array as a list, which people can read in JSON; a long one as it is."""
    if isinstance(values, np.ndarray) and len(values) <= FEW:
        return values.tolist()
    return values


def content_snapshot(content: Any, blobs: MutableSequence[Any], where: str) -> Snapshot:
    """Return the snapshot that a file describes.

    Raises
    ------
    FileFormatError
        The content does not describe a State. `where` is the name of the file.
    """
    reader = _Reader(blobs, where)
    is_state = isinstance(content, dict) and PARTS <= set(content) <= PARTS | MAY_HAVE
    reader.require(is_state, f"{', '.join(sorted(PARTS))}", content)
    stage = reader.one_of(STAGES, content["stage"], "a stage")
    model, _ = reader.texts([content["version"], content.get("system", "")])
    pairs = reader.items(list, content["subsystems"], "names and versions of subsystems")
    subsystems = [reader.texts(pair) for pair in pairs]
    names = [name for name, _ in subsystems]
    reader.require(len(set(names)) == len(names), "subsystems with different names", names)
    forms: dict[str, Form] = {}
    values: dict[str, Any] = {}
    for group in reader.items(dict, content["variables"], "groups of variables"):
        reader.require(set(group) == GROUP, "kind, form and values of variables", group)
        kind, text = reader.texts([group["kind"], group["form"]])
        _, unit = reader.texts([kind, group["unit"]])
        form = Form(kind, text, reader.one_of(STAGES, group["allocated_at"], "a stage"), unit)
        for path, encoded in reader.named(group["values"], "values by path").items():
            reader.require(path not in forms, "each variable once", path)
            forms[path] = form
            if not form.is_continuous:
                values[path] = decode(encoded, path, blobs)
            elif stage >= Stage.MODEL:
                values[path] = found = reader.numbers(decode(encoded, path, blobs), path)
                reader.require(text == counted(len(found), "number"), f"{text} of {path}", found)
    update_times = {p: math.nan for p, form in forms.items() if not form.is_continuous}
    for path, encoded in reader.named(content.get("updated", {}), "times of writes").items():
        time = decode(encoded, path, blobs)
        reader.require(path in update_times and type(time) is float, f"a time of {path}", time)
        update_times[path] = time
    time = decode(content["time"], "time", blobs)
    is_time = type(time) is float and math.isnan(time) is (stage < Stage.TOPOLOGY)
    reader.require(is_time, f"a time at stage {stage}", time)
    versions = reader.named(content["versions"], "versions")
    for path, version in versions.items():
        reader.count(version, f"the version of {path}")
    return Snapshot(
        model,
        subsystems,
        stage,
        time,
        forms,
        values,
        update_times,
        _weights(reader, content["weights"]),
        versions,
        _left(reader, content["left"], len(subsystems)),
    )


def _weights(reader: "_Reader", found: Any) -> dict[str, dict[str, Any]]:
    kinds = reader.named(found, "weights")
    known = {U_WEIGHTS.name, Z_WEIGHTS.name, QERR_WEIGHTS.name, UERR_WEIGHTS.name}
    reader.require(set(kinds) <= known, "kinds of weights", list(kinds))
    weights: dict[str, dict[str, Any]] = {}
    for kind, by_name in kinds.items():
        weights[kind] = {}
        for name, encoded in reader.named(by_name, kind).items():
            values = decode(encoded, name, reader.blobs)
            if kind in (QERR_WEIGHTS.name, UERR_WEIGHTS.name):
                reader.require(type(values) is float, f"a weight of {name}", values)
            else:
                values = reader.numbers(values, name)
            is_weight = bool(np.all(np.isfinite(values)))
            reader.require(is_weight, f"finite weights of {name}", values)
            weights[kind][name] = values
    return weights


def _left(reader: "_Reader", found: Any, count: int) -> Any:
    """Return how often each stage was left: by the system, together, and by each subsystem."""
    reader.require(isinstance(found, list) and len(found) == 3, "counts of stages", found)
    system, together, alone = (reader.items(None, part, "counts of stages") for part in found)
    reader.require(len(alone) == count, f"counts of {count} subsystems", alone)
    for counts in (system, together, *alone):
        is_complete = isinstance(counts, list) and len(counts) == len(Stage)
        reader.require(is_complete, f"counts of {len(Stage)} stages", counts)
        for number in counts:
            reader.count(number, "counts of stages")
    return system, together, alone


class _Reader:
    """Checks of content from JSON: each returns the content, or raises `FileFormatError`."""

    def __init__(self, blobs: MutableSequence[Any], where: str) -> None:
        self.blobs = blobs
        self._where = where

    def require(self, holds: bool, expected: str, got: object) -> None:
        if not holds:
            raise bad_file(f"{self._where}: does not describe a State", expected, short_repr(got))

    def one_of(self, known: Mapping[str, Any], found: Any, expected: str) -> Any:
        self.require(isinstance(found, str) and found in known, expected, found)
        return known[found]

    def items(self, kind: type | None, found: Any, expected: str) -> list[Any]:
        fits = isinstance(found, list) and (
            kind is None or all(isinstance(item, kind) for item in found)
        )
        self.require(fits, expected, found)
        return list(found)

    def texts(self, found: Any) -> Any:
        self.require([type(text) for text in found] == [str, str], "two texts", found)
        return tuple(found)

    def named(self, found: Any, expected: str) -> dict[str, Any]:
        self.require(isinstance(found, dict), expected, found)
        return dict(found)

    def count(self, found: Any, expected: str) -> None:
        self.require(type(found) is int and -1 <= found < COUNT, expected, found)

    def numbers(self, found: Any, path: str) -> Any:
        if isinstance(found, list):
            self.require(all(type(x) is float for x in found), f"numbers of {path}", found)
            found = np.array(found, float)
        fits = isinstance(found, np.ndarray) and found.dtype == float and found.ndim == 1
        self.require(fits, f"numbers of {path}", found)
        return found
