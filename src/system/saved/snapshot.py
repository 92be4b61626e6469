"""Snapshots of States, for pickling and for files: variables travel by name.

::

    arm.length   discrete variable that invalidates Instance, a number    0.5
    arm.angle    q, 1 number                                              0.1
    ...

The classes of the model may have changed on the way: `restoring` gives each variable its own value,
wherever it is declared now.

A variable that a hook allocates without a name has its kind and place: "arm.q block 0".
"""

from typing import Any, Final, final

from attrs import frozen

from stagecache.display.words import counted
from stagecache.files.values import form_of
from stagecache.inspection.node_paths import NodePaths
from stagecache.state.contents.contents import Contents
from stagecache.state.handles import AbstractContinuousVariable, AbstractHandle, DiscreteVariable
from stagecache.state.items.layout import Layout
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.vectors.vectors import (
    CONTINUOUS,
    QERR_WEIGHTS,
    U_WEIGHTS,
    UERR_WEIGHTS,
    Z_WEIGHTS,
    VectorKind,
)
from stagecache.system.constraints.rows import row_names
from stagecache.system.declare.units import unit_of

DECLARED: Final = {
    "discrete variable that invalidates Model": "a modeling option",
    "discrete variable that invalidates Instance": "a parameter",
}
"""Kinds of variables, named after the functions that declare them."""

EMPTY, MODEL, INSTANCE = Stage.EMPTY, Stage.MODEL, Stage.INSTANCE


@frozen
class Form:
    """Kind and form of a variable, apart from its value.

    Attributes
    ----------
    kind : str
    values : str
        The type of its declared value, or the number of its numbers; "" if that is not known yet.
    allocated_at : Stage
    unit : str
        Declared unit, or the kind of the joint; "" without one.
    """

    kind: str
    values: str
    allocated_at: Stage
    unit: str = ""

    def fits(self, other: "Form") -> bool:
        """Return True if a value of one form can be a value of the other."""
        same_values = not self.values or not other.values or self.values == other.values
        same_unit = not self.unit or not other.unit or self.unit == other.unit
        return self.kind == other.kind and same_values and same_unit

    @property
    def is_continuous(self) -> bool:
        """True for q, u and z."""
        return self.kind in CONTINUOUS

    def __str__(self) -> str:
        kind = self.kind
        if not self.is_continuous:
            kind = DECLARED.get(kind, f"{'an' if kind.startswith('a') else 'a'} {kind}")
        unit = f" [{self.unit}]" if self.unit else ""
        return f"{kind}, {self.values}{unit}" if self.values else f"{kind}{unit}"


@final
@frozen(eq=False)
class Snapshot:
    """The variables of a State, and how often each was written.

    Attributes
    ----------
    version : str
        Version of the System.
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
        By vector: weights of blocks by path, and of rows of errors by name, unless all are 1.
    versions : dict of str to int
        By path, of all that can be written, unless it is 1.
    left : tuple
        How often stages were left, as in `StageVersions`.
    """

    version: str
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
    discrete, blocks = discrete_variables(contents, paths), blocks_of(contents, paths)
    values = {path: contents.get_discrete(v) for path, v in discrete.items()}
    weights: dict[str, dict[str, Any]] = {}
    stage = Stage(realization.machine.stage)
    if stage >= MODEL:
        values |= {path: contents.get_block(block) for path, block in blocks.items()}
        for kind in (U_WEIGHTS, Z_WEIGHTS):
            whole, places = contents.view(kind, None), places_of(contents, blocks, kind)
            weights[kind.name] = {
                path: whole[place] for path, place in places.items() if (whole[place] != 1).any()
            }
    if stage >= INSTANCE:
        for kind in (QERR_WEIGHTS, UERR_WEIGHTS):
            weights[kind.name] = row_weights(twin, kind)
    versions = realization.machine.versions
    return Snapshot(
        contents.system.version,
        subsystems_of(contents),
        stage,
        contents.time,
        forms_of(contents, paths, is_sized=stage >= MODEL),
        values,
        {path: contents.update_time(v) for path, v in discrete.items()},
        weights,
        {
            paths[node]: version
            for node in variable_nodes(realization.layout)
            if (version := realization.store.versions[node]) != 1
        },
        (versions.system, versions.together, versions.alone),
    )


# ---------------------------------------------------------------------- what there is


def subsystems_of(contents: Contents) -> list[tuple[str, str]]:
    """Return names and versions of the subsystems."""
    return [(s.name, s.version) for s in contents.realization.layout.subsystems]


def discrete_variables(
    contents: Contents, paths: dict[int, str]
) -> dict[str, DiscreteVariable[Any]]:
    """Return the discrete variables by path."""
    subsystems = contents.realization.layout.subsystems
    return {paths[v._node]: v for subsystem in subsystems for v in subsystem.discrete}


def blocks_of(contents: Contents, paths: dict[int, str]) -> dict[str, AbstractContinuousVariable]:
    """Return the blocks of q, u and z by path."""
    return {
        paths[block._node]: block
        for subsystem in contents.realization.layout.subsystems
        for blocks in subsystem.blocks.values()
        for block in blocks
    }


def variable_nodes(layout: Layout) -> list[int]:
    """Return the nodes of all variables and weights."""
    handles: list[AbstractHandle] = [*layout.variables.values()]
    for subsystem in layout.subsystems:
        handles += subsystem.whole.values()
        handles += [block for blocks in subsystem.blocks.values() for block in blocks]
        handles += subsystem.discrete
    return [*layout.weights.values(), *[handle._node for handle in handles]]


def forms_of(contents: Contents, paths: dict[int, str], *, is_sized: bool) -> dict[str, Form]:
    """Return the form of each variable; `is_sized` if the modeling options have their values."""
    default = contents.system.realize_topology()._contents
    forms: dict[str, Form] = {}
    models = contents.system.subsystems
    for subsystem, model in zip(contents.realization.layout.subsystems, models, strict=True):
        for kind, blocks in subsystem.blocks.items():
            for block, rows in zip(blocks, subsystem.rows[kind], strict=True):
                path = paths[block._node]
                is_known = is_sized or rows.is_fixed
                values = counted(rows.count, "number") if is_known else ""
                unit = unit_of(block) or model._meaning_of(path.partition(".")[2])
                forms[path] = Form(kind, values, block.allocated_at, unit)
        for variable in subsystem.discrete:
            kind = "discrete variable" if variable.update is None else "auto-update variable"
            forms[paths[variable._node]] = Form(
                f"{kind} that invalidates {variable.invalidates}",
                form_of(default.get_discrete(variable)) if variable.allocated_at == EMPTY else "",
                variable.allocated_at,
                unit_of(variable),
            )
    return forms


def places_of(
    contents: Contents, blocks: dict[str, AbstractContinuousVariable], kind: VectorKind
) -> dict[str, slice]:
    """Return the slices of the blocks of u, or of z, in their weights."""
    start = contents.start(kind.part, None)
    places = {p: contents.place(block) for p, block in blocks.items() if block.kind == kind.part}
    return {path: slice(p.start - start, p.stop - start) for path, p in places.items()}


def row_weights(state: State, kind: VectorKind) -> dict[str, float]:
    """Return the weights of rows of errors by the names of the rows, unless all are 1."""
    weights = state._contents.view(kind, None).tolist()
    if all(weight == 1.0 for weight in weights):
        return {}
    names = row_names(state, kind.part)
    return {n: weight for n, weight in zip(names, weights, strict=True) if weight != 1.0}
