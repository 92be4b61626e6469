"""Reports of loading: what of a saved State has found its place in the model, item by item.

::

    arm.length   in the file     parameter, a number          taken
    arm.mass     in the file     parameter, a number          missing: the model does not have it
    arm.width    in the model    parameter, a number          new: it keeps its first value
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from enum import Enum
from typing import Any, Final, final

from attrs import evolve, field, frozen

from stagecache.display.words import counted
from stagecache.errors import LayoutMismatchError

MOST_LISTED: Final = 12
"""Differences that an error message lists."""

MOST_COMPARED: Final = 200
"""Differences for which a new name is looked for."""


class DifferenceKind(Enum):
    """Kinds of differences between a saved State and a model."""

    MISSING = "is not in the model"
    NEW = "is new"
    CHANGED = "has changed"
    VERSION = "has another version"


@frozen
class LayoutDifference:
    """A difference between a saved State and the model that takes it.

    Attributes
    ----------
    path : str
        Path of a variable, or name of a subsystem.
    kind : DifferenceKind
    saved : str
        Kind and form of it when it was saved; empty for what is new.
    here : str
        Kind and form of it in the model; empty for what is missing.
    """

    path: str
    kind: DifferenceKind
    saved: str = ""
    here: str = ""

    def __str__(self) -> str:
        if self.kind is DifferenceKind.MISSING:
            return f"{self.path} is not here (it was {self.saved})"
        if self.kind is DifferenceKind.NEW:
            return f"{self.path} is new: {self.here}"
        return f"{self.path} is {self.here} (it was {self.saved})"


@final
@frozen(repr=False)
class LoadReport:
    """The variables that were taken from a saved State, and those that could not be.

    Attributes
    ----------
    model : str
        Name of the System.
    taken : tuple of str
        Paths, in the model, of the variables whose values were taken.
    differences : tuple of LayoutDifference
        Variables that have no counterpart, or another form, and other versions. What is in the
        model keeps its first value.
    renamed : dict of str to str
        Path in the model of each variable that was saved under another one.
    computed_again : tuple of str
        Paths of saved cache entries that are not valid here, with the reason.
    not_taken : dict of str to object
        Saved values that were not taken, by path; with the new names, if there are any.
    """

    model: str
    taken: tuple[str, ...]
    differences: tuple[LayoutDifference, ...]
    renamed: Mapping[str, str] = field(factory=dict)
    computed_again: tuple[str, ...] = ()
    not_taken: Mapping[str, Any] = field(factory=dict)

    @property
    def is_complete(self) -> bool:
        """True if there are no differences."""
        return not self.differences

    def __str__(self) -> str:
        lines = [f"{counted(len(self.taken), 'variable')} of {self.model} taken"]
        lines += [f"  {old} is now {new}" for old, new in shortened(self.renamed).items()]
        lines += [f"  {line}" for line in lines_of(self.differences)]
        lines += [f"  {line} is computed again" for line in _grouped(self.computed_again)]
        if self.not_taken:
            lines.append("  What was not taken keeps its first value; not_taken has the saved one.")
        return "\n".join(lines)

    def __repr__(self) -> str:
        count = len(self.differences)
        differences = f"{count} difference{'' if count == 1 else 's'}"
        return f"<LoadReport of {self.model!r}: {len(self.taken)} taken, {differences}>"


def lines_of(differences: Sequence[LayoutDifference]) -> list[str]:
    """Return a line for each difference, and one for those that are alike."""
    whole = {(d.path, d.kind) for d in differences}
    groups: dict[object, list[LayoutDifference]] = {}
    for d in differences:
        subsystem, dot, _ = d.path.partition(".")
        if not dot or (subsystem, d.kind) not in whole:  # else the subsystem is told
            key = (_leaf(d.path), d.kind, d.saved, d.here)
            groups.setdefault(key, []).append(d)
    return [
        str(evolve(found[0], path=_named([d.path for d in found]))) for found in groups.values()
    ]


def _grouped(entries: Sequence[str]) -> list[str]:
    """Return "path (reason)" for each entry, once for those that are alike."""
    groups: dict[tuple[str, str], list[str]] = {}
    for path, _, reason in (entry.rpartition(" (") for entry in entries):
        groups.setdefault((_leaf(path), reason), []).append(path)
    return [f"{_named(paths)} ({reason}" for (_, reason), paths in groups.items()]


def _named(paths: Sequence[str]) -> str:
    """Return the first of some paths, and how many more there are."""
    more = len(paths) - 1
    return f"{paths[0]} (and {more} more, to {paths[-1]})" if more else paths[0]


def _leaf(path: str) -> str:
    """Return the name of a variable within its subsystem; of an item, the name of its family."""
    family = path.partition("[")[0]
    return family.partition(".")[2] or path


def mismatch(report: LoadReport, where: str, hint: str = "") -> LayoutMismatchError:
    """Return the error of a saved State, named by `where`, that does not fit the model."""
    lines = lines_of(report.differences)
    more = len(lines) - MOST_LISTED
    return LayoutMismatchError(
        f"{where}: was saved by another version of {report.model}",
        "the subsystems and variables that it had then",
        "; ".join(lines[:MOST_LISTED]) + (f"; and {more} more" if more > 0 else ""),
        hint or _hint(report),
        report,
    )


def _hint(report: LoadReport) -> str:
    """Propose a renaming where something that is missing looks like something that is new."""
    new = {d.path: d for d in report.differences if d.kind is DifferenceKind.NEW}
    found: dict[str, str] = {}
    for d in report.differences[:MOST_COMPARED]:
        alike = [p for p in new if new[p].here == d.saved and p not in found.values()]
        if d.kind is DifferenceKind.MISSING and alike:
            same_name = [p for p in alike if p.split(".")[-1] == d.path.split(".")[-1]]
            same_place = [p for p in alike if p.split(".")[0] == d.path.split(".")[0]]
            close = same_name or get_close_matches(d.path, same_place or alike, 1, 0.5)
            name = close[0] if close else alike[0] if len(alike) == 1 else ""
            subsystem, dot, rest = d.path.partition(".")
            if name and found.get(subsystem, "") + dot + rest != name:
                found[d.path] = name
    if found:
        return f"if these were renamed, pass renamed={shortened(found)}"
    return "use the version of the model that saved it; or take what fits of a file: strict=False"


def shortened(renamed: Mapping[str, str]) -> dict[str, str]:
    """Return a renaming in which one name stands for the names of all subsystems and items."""
    short: dict[str, str] = {}
    counts = Counter((_leaf(old), _leaf(new)) for old, new in renamed.items())
    for old, new in renamed.items():
        same_item = old.partition("[")[1:] == new.partition("[")[1:]
        same_place = old.partition(".")[0] == new.partition(".")[0]
        is_whole = "." in old and same_item and same_place
        leaf, new_leaf = _leaf(old), _leaf(new)
        if is_whole and counts[leaf, new_leaf] > 1:
            short[f"*.{leaf}"] = f"*.{new_leaf}"
        else:
            short[old] = new
    return short
