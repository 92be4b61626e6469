"""Snapshots of States for pickling: variables travel by name.

::

    arm.length   discrete variable that invalidates Instance, a number    0.5
    arm.angle    q, 1 number                                              0.1
    ...

The classes of the model may have changed on the way. Each variable gets its own value, wherever it
is declared now. If one is missing, new or of another form, the State is refused with a list of
these, so no value ever goes to another variable.

A variable that a hook allocates without a name has its kind and place: "arm.q block 0".
"""

from numbers import Real
from typing import Any, Final, final

import numpy as np
from attrs import frozen

from stagecache.errors import TopologyVersionError
from stagecache.inspection.node_paths import NodePaths
from stagecache.state.contents.contents import Contents
from stagecache.state.display import counted
from stagecache.state.handles import AbstractContinuousVariable, AbstractHandle, DiscreteVariable
from stagecache.state.items.layout import Layout
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.vectors.vectors import (
    QERR_WEIGHTS,
    U_WEIGHTS,
    UERR_WEIGHTS,
    Z_WEIGHTS,
    VectorKind,
    Y,
)
from stagecache.system.constraints.rows import row_names

EMPTY, TOPOLOGY, MODEL, INSTANCE = list(Stage)[:4]
MOST_LISTED: Final = 12  # differences that an error message lists


@frozen
class Form:
    """Kind and form of a variable, apart from its value.

    Attributes
    ----------
    kind : str
    values : str
        The type of its declared value, or how many numbers it has; "" while that is not known.
    allocated_at : Stage
    """

    kind: str
    values: str
    allocated_at: Stage

    def fits(self, other: "Form") -> bool:
        """Return whether a value of one form can be a value of the other."""
        same_values = not self.values or not other.values or self.values == other.values
        return self.kind == other.kind and same_values

    def __str__(self) -> str:
        return f"{self.kind}, {self.values}" if self.values else self.kind


@final
@frozen(eq=False)
class Snapshot:
    """The variables of a State, and how often each was written.

    Attributes
    ----------
    subsystems : list of (str, str)
        Their names and versions.
    stage : Stage
    time : float
    forms : dict of str to Form
        By path, of discrete variables and of blocks of q, u and z.
    values : dict of str to object
        By path; values of blocks exist from Model on.
    update_times : dict of str to float
        By path, of discrete variables.
    weights : dict of str to dict
        By vector: weights of blocks by path, and weights of rows of errors by name, unless 1.
    versions : dict of str to int
        By path, of all that can be written.
    left : tuple
        How often stages were left, as in `StageVersions`.
    """

    subsystems: list[tuple[str, str]]
    stage: Stage
    time: float
    forms: dict[str, Form]
    values: dict[str, Any]
    update_times: dict[str, float]
    weights: dict[str, dict[str, Any]]
    versions: dict[str, int]
    left: tuple[list[int], list[int], list[list[int]]]


def snapshot(state: State) -> Snapshot:
    """Return the part of a State that travels: the variables of a copy. Cost O(nodes)."""
    twin = state.copy()
    contents = twin._contents
    realization = contents.realization
    paths = NodePaths(contents).of
    discrete, blocks = _discrete(contents, paths), _blocks(contents, paths)
    values = {path: contents.get_discrete(v) for path, v in discrete.items()}
    weights: dict[str, dict[str, Any]] = {}
    stage = Stage(realization.machine.stage)
    if stage >= MODEL:
        values |= {path: contents.get_block(block) for path, block in blocks.items()}
        for kind in (U_WEIGHTS, Z_WEIGHTS):
            whole, places = contents.view(kind, None), _places(contents, blocks, kind)
            weights[kind.name] = {path: whole[place] for path, place in places.items()}
    if stage >= INSTANCE:
        for kind in (QERR_WEIGHTS, UERR_WEIGHTS):
            weights[kind.name] = _row_weights(twin, kind)
    versions = realization.machine.versions
    return Snapshot(
        _subsystems(contents),
        stage,
        contents.time,
        _forms(contents, paths, is_sized=stage >= MODEL),
        values,
        {path: contents.update_time(v) for path, v in discrete.items()},
        weights,
        {paths[n]: realization.store.versions[n] for n in _variable_nodes(realization.layout)},
        (versions.system, versions.together, versions.alone),
    )


def restore_state(system: Any, taken: Snapshot) -> State:
    """Return a State of the System with those variables.

    Raises
    ------
    TopologyVersionError
        The System has other subsystems, other versions of them, or other variables.
    """
    state: State = system.new_state()
    contents = state._contents
    _check_subsystems(system, taken, contents)
    paths = NodePaths(contents).of
    if taken.stage >= TOPOLOGY:
        here = _forms(contents, paths, is_sized=False)
        _check(system, _first(taken.forms), _first(here))
        _write_discrete(contents, paths, taken, EMPTY)
    if taken.stage >= MODEL:
        system.realize_model(state)
        paths = NodePaths(contents).of
        _check(system, taken.forms, _forms(contents, paths, is_sized=True))
        _write_discrete(contents, paths, taken, TOPOLOGY)
    state.time = taken.time
    if taken.stage >= INSTANCE:
        system.realize(state, INSTANCE)
    state.invalidate_all(taken.stage.next())
    if taken.stage >= MODEL:
        _write_blocks(contents, taken, _blocks(contents, paths))
    else:
        paths = NodePaths(contents).of  # what was allocated since is forgotten
    if taken.stage >= INSTANCE:
        for kind in (QERR_WEIGHTS, UERR_WEIGHTS):
            _write_row_weights(state, taken, kind)
    realization = contents.realization
    for node in _variable_nodes(realization.layout):
        realization.store.versions[node] = taken.versions[paths[node]]
    versions = realization.machine.versions
    versions.system, versions.together, versions.alone = taken.left
    for path, variable in _discrete(contents, paths).items():
        contents.update_times[variable._node] = taken.update_times[path]
    return state


# ---------------------------------------------------------------------- what there is


def _subsystems(contents: Contents) -> list[tuple[str, str]]:
    return [(s.name, s.version) for s in contents.realization.layout.subsystems]


def _discrete(contents: Contents, paths: dict[int, str]) -> dict[str, DiscreteVariable[Any]]:
    subsystems = contents.realization.layout.subsystems
    return {paths[v._node]: v for subsystem in subsystems for v in subsystem.discrete}


def _blocks(contents: Contents, paths: dict[int, str]) -> dict[str, AbstractContinuousVariable]:
    return {
        paths[block._node]: block
        for subsystem in contents.realization.layout.subsystems
        for blocks in subsystem.blocks.values()
        for block in blocks
    }


def _variable_nodes(layout: Layout) -> list[int]:
    """Return the nodes of all variables and weights."""
    handles: list[AbstractHandle] = [*layout.variables.values()]
    for subsystem in layout.subsystems:
        handles += subsystem.whole.values()
        handles += [block for blocks in subsystem.blocks.values() for block in blocks]
        handles += subsystem.discrete
    return [*layout.weights.values(), *[handle._node for handle in handles]]


def _forms(contents: Contents, paths: dict[int, str], *, is_sized: bool) -> dict[str, Form]:
    """Return the form of each variable; `is_sized` if the modeling options have their values."""
    default = contents.system.realize_topology()._contents
    forms: dict[str, Form] = {}
    for subsystem in contents.realization.layout.subsystems:
        for kind, blocks in subsystem.blocks.items():
            for block, rows in zip(blocks, subsystem.rows[kind], strict=True):
                is_known = is_sized or rows.is_fixed
                values = counted(rows.count, "number") if is_known else ""
                forms[paths[block._node]] = Form(kind, values, block.allocated_at)
        for variable in subsystem.discrete:
            kind = "discrete variable" if variable.update is None else "auto-update variable"
            forms[paths[variable._node]] = Form(
                f"{kind} that invalidates {variable.invalidates}",
                _type_of(default.get_discrete(variable)) if variable.allocated_at == EMPTY else "",
                variable.allocated_at,
            )
    return forms


def _first(forms: dict[str, Form]) -> dict[str, Form]:
    """Return the forms that do not depend on modeling options."""
    return {path: form for path, form in forms.items() if form.allocated_at == EMPTY}


def _type_of(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}, shape {value.shape}"
    if isinstance(value, Real) and not isinstance(value, bool):
        return "a number"
    return f"of type {type(value).__module__}.{type(value).__qualname__}"


# ---------------------------------------------------------------------- refusals


def _check_subsystems(system: Any, taken: Snapshot, contents: Contents) -> None:
    here = _subsystems(contents)
    if here != taken.subsystems:
        raise TopologyVersionError(
            f"a State of {system!r}: was pickled by another version of it",
            "subsystems with names and versions " + ", ".join(map(str, here)),
            ", ".join(map(str, taken.subsystems)),
            "unpickle it with the version of the model that pickled it",
        )


def _check(system: Any, taken: dict[str, Form], here: dict[str, Form]) -> None:
    """Refuse a State whose variables are not those that are here."""
    missing = [f"{path} is not here (it was {taken[path]})" for path in taken if path not in here]
    new = [f"{path} is new: {here[path]}" for path in here if path not in taken]
    others = [
        f"{path} is {here[path]} (it was {form})"
        for path, form in taken.items()
        if path in here and not form.fits(here[path])
    ]
    _refuse(system, [*missing, *new, *others])


def _refuse(system: Any, differences: list[str]) -> None:
    if differences:
        more = len(differences) - MOST_LISTED
        raise TopologyVersionError(
            f"a State of {system!r}: was pickled by another version of the model",
            "the variables that it had then",
            "; ".join(differences[:MOST_LISTED]) + (f"; and {more} more" if more > 0 else ""),
            "unpickle it with the version of the model that pickled it, or set the variables of a "
            "new State one by one",
        )


# ---------------------------------------------------------------------- writing


def _write_discrete(
    contents: Contents, paths: dict[int, str], taken: Snapshot, allocated_at: Stage
) -> None:
    for path, variable in _discrete(contents, paths).items():
        if variable.allocated_at == allocated_at:
            contents.set_discrete(variable, taken.values[path])


def _write_blocks(
    contents: Contents, taken: Snapshot, blocks: dict[str, AbstractContinuousVariable]
) -> None:
    """Write q, u and z, and the weights of u and z."""
    y = contents.view(Y, None).copy()
    for path, block in blocks.items():
        y[contents.place(block)] = taken.values[path]
    contents.assign_vector(Y, None, y)
    for kind in (U_WEIGHTS, Z_WEIGHTS):
        whole = contents.view(kind, None).copy()
        for path, place in _places(contents, blocks, kind).items():
            whole[place] = taken.weights[kind.name][path]
        contents.assign_vector(kind, None, whole)


def _places(
    contents: Contents, blocks: dict[str, AbstractContinuousVariable], kind: VectorKind
) -> dict[str, slice]:
    """Return the slices of the blocks of u, or of z, in their weights."""
    start = contents.start(kind.part, None)
    places = {p: contents.place(block) for p, block in blocks.items() if block.kind == kind.part}
    return {path: slice(p.start - start, p.stop - start) for path, p in places.items()}


def _row_weights(state: State, kind: VectorKind) -> dict[str, float]:
    """Return the weights of rows of errors by the names of the rows, unless all are 1."""
    weights = state._contents.view(kind, None).tolist()
    if all(weight == 1.0 for weight in weights):
        return {}
    names = row_names(state, kind.part)
    return {n: weight for n, weight in zip(names, weights, strict=True) if weight != 1.0}


def _write_row_weights(state: State, taken: Snapshot, kind: VectorKind) -> None:
    weights = taken.weights[kind.name]
    whole = state._contents.view(kind, None).copy()
    if weights:
        rows = {name: row for row, name in enumerate(row_names(state, kind.part))}
        gone = [name for name in weights if name not in rows]
        _refuse(state.system, [f"{n} has no row of {kind.part} any more" for n in gone])
        for name, weight in weights.items():
            whole[rows[name]] = weight
    state._contents.assign_vector(kind, None, whole)
