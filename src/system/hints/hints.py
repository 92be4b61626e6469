"""Declarations that errors propose: the decorator of a computation, with all that it reads.

Names are those that the body of the class knows, where a tuple of them will do; else they are found
from `self`: what is of another subsystem, through an attribute that leads to it.
"""

from collections.abc import Collection, Iterator
from typing import Any, Final

from stagecache.inspection.strict.coverage import Gap
from stagecache.state.handles import NO_NUMBER, AbstractHandle, CacheEntry, TimeVariable
from stagecache.state.stage import Stage
from stagecache.system.constraints.errors import BiasDeclaration, JacobianDeclaration
from stagecache.system.declare.cached import CachedDeclaration
from stagecache.system.declare.computations import AbstractComputation
from stagecache.system.declare.declaration import (
    AbstractDeclaration,
    AnyPrerequisites,
    item_of,
    resolve,
)
from stagecache.system.declare.groups import ALL
from stagecache.system.declare.prescribed import AbstractPrescription
from stagecache.system.declare.rows import AbstractRows
from stagecache.system.declare.subsystem import Subsystem
from stagecache.system.motion.kinematics import KinematicsDeclaration

FARTHEST: Final = 3  # attributes that lead from one subsystem to another


def hint_of(entry: CacheEntry[Any], gap: Gap) -> str:
    """Return the decorator to write for an entry whose reads are not covered."""
    found = _declaration_of(entry)
    if found is None:
        return "declare what computes it"  # it was allocated by hand, under a declared name
    declared, item = found
    undeclarable = [handle for handle in gap.handles if handle._owner is None]
    if undeclarable:
        return _hint_without_handles(item, undeclarable, gap)
    if isinstance(item, AbstractRows | AbstractPrescription) and gap.latest > item.computed_by:
        return (
            f"leave it out: an entry computed by {item.computed_by} must not depend on values "
            "that change without invalidating that stage; or declare it at a later level or stage"
        )
    if gap.stage is not None and not gap.handles and not isinstance(item, CachedDeclaration):
        return _hint_for_stage(item, gap.stage)
    arguments = []
    if declared is not item:
        arguments.append("count=...")
    elif isinstance(item, AbstractRows | KinematicsDeclaration) and item.of is None:
        arguments.append("...")
    if gap.handles or item.prerequisites is not None:
        arguments.append(_prerequisites(entry, declared, item, gap.handles))
    if isinstance(item, CachedDeclaration):
        arguments += _stages(item, gap)
    return f"write @{_decorator(item)}({', '.join(arguments)})"


def precise_hint(entry: CacheEntry[Any], read: Collection[Any]) -> str:
    """Return the decorator to write in place of one with ALL, for what was read; else "".

    It is also "" if something was read that is not declared: a vector that a stage guarantees.
    """
    found = None if entry._owner is None else _declaration_of(entry)
    if found is None or not _names_all(found[1]):
        return ""
    handles = [
        item for item in read if isinstance(item, AbstractHandle) and item._owner is not None
    ]
    if len(handles) < len(read):
        return ""
    declared, item = found
    arguments = [] if declared is item else ["count=..."]
    handles.sort(key=lambda handle: (handle.subsystem is not None, handle._node))
    arguments.append(_argument(entry, declared, (), tuple(handles)))
    if isinstance(item, CachedDeclaration):
        arguments += _stages(item, Gap((), None, Stage.EMPTY))
    return f"write @{_decorator(item)}({', '.join(arguments)})"


def _names_all(item: AbstractComputation[Any]) -> bool:
    return isinstance(item.prerequisites, tuple) and ALL in item.prerequisites


def variant_of(entry: CacheEntry[Any]) -> str:
    """Return the name of an entry's decorator: "cached", "position_error" and so on."""
    found = None if entry._owner is None else _declaration_of(entry)
    if found is not None:
        return found[1].decorator
    return "update" if entry._declared_as.endswith(".update") else "cached"


def _declaration_of(
    entry: CacheEntry[Any],
) -> tuple[AbstractDeclaration[Any], AbstractComputation[Any]] | None:
    """Return the declaration of an entry, and the declaration of each item if it is a family."""
    name, _, role = entry._declared_as.partition(".")
    for declared in entry._owner.declarations.values():
        is_it = declared.name == name
        if role:  # an update has the name of its variable, not its own
            is_it = declared.role == role and declared.of.name == name
        if is_it:
            item = item_of(declared)
            return (declared, item) if isinstance(item, AbstractComputation) else None
    return None


def _decorator(item: AbstractComputation[Any]) -> str:
    if item.of is not None:
        return f"{item.of.name}.{item.role}"
    return item.decorator


def _stages(item: AbstractComputation[Any], gap: Gap) -> list[str]:
    """Return the arguments for the stages of an entry, and those after them."""
    arguments = []
    needed = gap.stage
    if gap.handles and item.available_from is None and not _names_all(item):
        needed = None  # it follows from the prerequisites
    available_from = item.available_from
    if needed is not None:
        available_from = needed if available_from is None else max(available_from, needed)
    if available_from is not None:
        arguments.append(f"available_from=Stage.{available_from.name}")
    if item.computed_by < Stage.INFINITY:
        computed_by = max(item.computed_by, available_from or item.computed_by)
        arguments.append(f"computed_by=Stage.{Stage(computed_by).name}")
    if item.equal is not None:
        arguments.append("equal=...")
    return arguments


def _hint_for_stage(item: AbstractComputation[Any], stage: Stage) -> str:
    """Return the hint for an entry whose kind implies its stage."""
    if item.role == "update":
        assert item.of is not None
        return f"write {item.of.name} = auto_update(..., available_from=Stage.{stage.name})"
    whole = item.computed_by if isinstance(item, AbstractRows) else Stage.POSITION
    if isinstance(item, BiasDeclaration):
        whole = Stage.VELOCITY
    if item.prerequisites is not None and stage <= whole:
        return (
            f"leave prerequisites out of @{_decorator(item)}(...), so that it depends on "
            f"all of stage {whole}"
        )
    if isinstance(item, JacobianDeclaration):
        return f"compute it in an entry of @cached(available_from=Stage.{stage.name}) instead"
    return f"declare it at a level or stage from {stage} on, or leave out what it reads"


def _hint_without_handles(
    item: AbstractComputation[Any],
    handles: list[AbstractHandle],
    gap: Gap,
) -> str:
    names = ", ".join(map(str, handles))
    hint = f"declare {names} in a Subsystem: items allocated by hand cannot be prerequisites"
    stage = max(gap.latest, gap.stage or gap.latest)
    if isinstance(item, CachedDeclaration) and stage <= Stage.REPORT:
        hint += f"; or write @{_decorator(item)}(..., available_from=Stage.{stage.name})"
    return hint


# ---------------------------------------------------------------------- prerequisites


def _prerequisites(
    entry: CacheEntry[Any],
    declared: AbstractDeclaration[Any],
    item: AbstractComputation[Any],
    missing: tuple[AbstractHandle, ...],
) -> str:
    """Return the argument `prerequisites`, completed."""
    return (
        "prerequisites=ALL"
        if _names_all(item)
        else _argument(entry, declared, item.prerequisites, missing)
    )


def _argument(
    entry: CacheEntry[Any],
    declared: AbstractDeclaration[Any],
    named: AnyPrerequisites | None,
    missing: tuple[AbstractHandle, ...],
) -> str:
    """Return the argument `prerequisites` of what is named, and what is missing."""
    added = [_name_in_class(declared, handle) for handle in missing]
    is_family = declared is not item_of(declared)
    if (named is None or isinstance(named, tuple)) and None not in added and not is_family:
        before = [_declared_name(declared, name) for name in named or ()]
        names = [*before, *[name for name in added if name is not None]]
        names = list(dict.fromkeys(names))
        return f"prerequisites=({', '.join(names)}{',' if len(names) == 1 else ''})"
    whose = "lambda self, i: " if is_family else "lambda self: "
    if callable(named):
        before = ["..."]
    else:
        before = [_path(entry, handle) for handle in _unique(resolve(named or (), entry))]
    names = list(dict.fromkeys([*before, *[_path(entry, handle) for handle in missing]]))
    return f"prerequisites={whose}({', '.join(names)}{',' if len(names) == 1 else ''})"


def _unique(handles: tuple[AbstractHandle, ...]) -> Iterator[AbstractHandle]:
    """Return one handle of each family that is named as a whole."""
    seen = set()
    for handle in handles:
        if (handle._owner, handle._declared_as) not in seen:
            seen.add((handle._owner, handle._declared_as))
            yield handle


def _name_in_class(declared: AbstractDeclaration[Any], handle: AbstractHandle) -> str | None:
    """Return the name of an item in the body of the class; None if it is not known there yet."""
    owner = handle._owner
    if not isinstance(owner, Subsystem) or declared.owner is None:
        return None
    if not isinstance(owner, declared.owner):
        return None
    name = handle._declared_as
    for cls in declared.owner.__mro__:
        if isinstance(vars(cls).get(name), AbstractDeclaration):
            if cls is not declared.owner:
                return f"{cls.__name__}.{name}"
            body = {id(value): i for i, value in enumerate(vars(cls).values())}
            here = body.get(id(declared), len(body))
            return name if body[id(vars(cls)[name])] < here else None
    return None


def _declared_name(declared: AbstractDeclaration[Any], named: Any) -> str:
    """Return the name of a declaration in the body of the class."""
    if not isinstance(named, AbstractDeclaration):
        return str(named)
    is_own = named.owner is declared.owner or named.owner is None
    return named.name if is_own else f"{named.owner.__name__}.{named.name}"  # type: ignore[union-attr]  # is_own


def _path(entry: CacheEntry[Any], handle: AbstractHandle) -> str:
    """Return the expression for an item, beginning with `self`."""
    owner = entry._owner
    if isinstance(handle, TimeVariable):
        return "self.time"
    if not isinstance(handle._owner, Subsystem):
        return f"self.system.{handle._declared_as}"
    whose = _attributes(owner, handle._owner) or f'self.system["{handle._owner.name}"]'
    path = f"{whose}.{handle._declared_as}"
    if handle._number == NO_NUMBER:
        return path
    if entry._number == NO_NUMBER:
        return path if handle._owner is owner else f"{path}[{handle._number}]"
    by = handle._number - entry._number
    if abs(by) > 1:  # hardly a rule
        return f"{path}[{handle._number}]"
    return path + ("[i - 1]", "[i]", "[i + 1]")[by + 1]


def _attributes(start: Subsystem, goal: Subsystem) -> str | None:
    """Return the shortest path of attributes between two subsystems; None without one."""
    paths: dict[int, str] = {id(start): "self"}
    queue = [(start, 0)]
    for subsystem, steps in queue:
        path = paths[id(subsystem)]
        if subsystem is goal:
            return path
        if steps < FARTHEST:
            for name, other in _referred(subsystem):
                if id(other) not in paths:
                    paths[id(other)] = f"{path}.{name}"
                    queue.append((other, steps + 1))
    return None


def _referred(subsystem: Subsystem) -> Iterator[tuple[str, Subsystem]]:
    """Return the subsystems to which a subsystem refers, each with the attribute."""
    for name, value in vars(subsystem).items():
        if isinstance(value, Subsystem):
            yield name, value
        elif isinstance(value, list | tuple):
            for i, other in enumerate(value):
                if isinstance(other, Subsystem):
                    yield f"{name}[{i}]", other
        elif isinstance(value, dict):
            for key, other in value.items():
                if isinstance(other, Subsystem):
                    yield f"{name}[{key!r}]", other
