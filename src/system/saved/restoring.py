"""Restoring a State from a snapshot: matched with the model by name, or refused item by item.

::

    subsystems      names and versions
    Topology        variables that exist for any modeling option: compared, options are written
    Model           the others exist now: compared, and written
    Instance        weights of rows; then back to the stage of the snapshot

A value never goes to a variable of another name, kind or form.
"""

from collections.abc import Mapping
from typing import Any, Final, final

import numpy as np
from attrs import evolve

from stagecache.checks import did_you_mean
from stagecache.errors import UnknownPathError
from stagecache.files.renaming import Renaming
from stagecache.files.report import DifferenceKind, LayoutDifference, LoadReport, mismatch
from stagecache.inspection.node_paths import NodePaths
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.state.vectors.vectors import QERR_WEIGHTS, U_WEIGHTS, UERR_WEIGHTS, Z_WEIGHTS, Y
from stagecache.system.constraints.rows import row_names
from stagecache.system.saved.snapshot import (
    Form,
    Snapshot,
    blocks_of,
    discrete_variables,
    forms_of,
    places_of,
    subsystems_of,
    variable_nodes,
)

EMPTY, TOPOLOGY, MODEL, INSTANCE = list(Stage)[:4]
MISSING, NEW, CHANGED, VERSION = DifferenceKind
ROW_WEIGHTS: Final = (QERR_WEIGHTS, UERR_WEIGHTS)


def unpickled_state(system: Any, taken: Snapshot) -> State:
    """Return a State of the System with the variables of a snapshot, as pickle wants it.

    Raises
    ------
    LayoutMismatchError
    """
    return Restoring(system, taken, f"a pickled State of {system!r}", is_strict=True).state


@final
class Restoring:
    """A State made from a snapshot, and the report of what was taken.

    Parameters
    ----------
    system : System
    taken : Snapshot
    where : str
        What is loaded, for errors.
    is_strict : bool
        True to refuse any difference; False to take what fits.
    renamed : dict of str to str, optional
        Paths of variables, or names of subsystems: from names in the snapshot to names here.

    Attributes
    ----------
    state : State
        At the stage of the snapshot, or at Instance if that stage is higher.

    Raises
    ------
    LayoutMismatchError
        The System has other subsystems, other versions of them, or other variables.
    UnknownPathError, WrongTypeError
        `renamed` names nothing in the snapshot, or one path twice.
    """

    def __init__(
        self,
        system: Any,
        taken: Snapshot,
        where: str,
        *,
        is_strict: bool,
        renamed: Mapping[str, str] | None = None,
    ) -> None:
        self._system = system
        self._where = where
        self._is_strict = is_strict
        self._snapshot = self._with_new_names(taken, renamed)
        self._differences: list[LayoutDifference] = []
        self._written: list[str] = []
        self.state: State = system.new_state()
        self._contents = self.state._contents
        self._restore()

    @property
    def report(self) -> LoadReport:
        """The variables that were taken, and all differences."""
        name = self._system.name
        values, written = self._snapshot.values, {*self._written}
        return LoadReport(
            name,
            tuple(self._written),
            tuple(self._differences),
            self._renamed,
            not_taken={path: value for path, value in values.items() if path not in written},
        )

    def _restore(self) -> None:
        taken, system, state = self._snapshot, self._system, self.state
        self._compare_subsystems()
        paths = NodePaths(self._contents)
        if taken.stage >= TOPOLOGY:
            self._compare_forms(paths, is_sized=False)
        self._refuse_differences()
        if taken.stage >= TOPOLOGY:
            self._write_discrete(paths, EMPTY)
        if taken.stage >= MODEL:
            system.realize_model(state)
            paths = NodePaths(self._contents)
            self._compare_forms(paths, is_sized=True)
            self._refuse_differences()
            self._write_discrete(paths, TOPOLOGY)
        state.time = taken.time
        if taken.stage >= INSTANCE:
            system.realize(state, INSTANCE)
        state.invalidate_all(taken.stage.next())
        if taken.stage >= MODEL:
            self._write_blocks(paths)
        else:
            paths = NodePaths(self._contents)  # without later allocations
        if taken.stage >= INSTANCE:
            self._write_row_weights()
            self._refuse_differences()
        self._restore_versions(paths)

    # ------------------------------------------------------------------ comparing

    def _refuse_differences(self) -> None:
        if self._is_strict and self._differences:
            raise mismatch(self.report, self._where)

    def _compare_subsystems(self) -> None:
        """Compare versions, and names of subsystems; their order does not matter."""
        model, version = self._system, self._snapshot.version
        if version != model.version:
            self._differ(model.name, VERSION, f"version {version!r}", f"version {model.version!r}")
        saved, here = dict(self._snapshot.subsystems), dict(subsystems_of(self._contents))
        for name, version in saved.items():
            if name not in here:
                self._differ(name, MISSING, "a subsystem")
            elif version != here[name]:
                self._differ(name, VERSION, f"version {version!r}", f"version {here[name]!r}")
        for name in here:
            if name not in saved:
                self._differ(name, NEW, here="a subsystem")

    def _differ(self, path: str, kind: DifferenceKind, saved: str = "", here: str = "") -> None:
        self._differences.append(LayoutDifference(path, kind, saved, here))

    def _compare_forms(self, paths: NodePaths, *, is_sized: bool) -> None:
        """Compare the variables, those that exist so far; differences are noted once."""
        saved = self._snapshot.forms
        here = forms_of(self._contents, paths.of, is_sized=is_sized)
        if not is_sized:
            saved, here = _first(saved), _first(here)
            if self._snapshot.stage >= MODEL and not self._is_strict:
                return  # they are compared once all of them exist
        for path, form in saved.items():
            if path not in here:
                self._require_old_name(path, here)
                self._differ(path, MISSING, str(form))
            elif not form.fits(here[path]):
                self._differ(path, CHANGED, str(form), str(here[path]))
        for path, form in here.items():
            if path not in saved:
                self._differ(path, NEW, here=str(form))

    def _require_old_name(self, path: str, here: Mapping[str, Form]) -> None:
        """Refuse a new name of a variable that the model does not have."""
        leaf = path.partition(".")[2]
        is_new = any(n == path and o.partition(".")[2] != leaf for o, n in self._renamed.items())
        if is_new:
            raise UnknownPathError(
                f"renamed=...: {path} is not in {self._system.name}",
                "new names that the model has",
                repr(path),
                did_you_mean(path, here) or "look up the path in system.graph",
            )

    def _fits(self, path: str, here: Mapping[str, Form]) -> bool:
        saved = self._snapshot.forms.get(path)
        return saved is not None and saved.fits(here[path]) and path in self._snapshot.values

    # ------------------------------------------------------------------ writing

    def _write_discrete(self, paths: NodePaths, allocated_at: Stage) -> None:
        contents, taken = self._contents, self._snapshot
        here = forms_of(contents, paths.of, is_sized=False)
        for path, variable in discrete_variables(contents, paths.of).items():
            if variable.allocated_at == allocated_at and self._fits(path, here):
                contents.set_discrete(variable, taken.values[path])
                self._written.append(path)

    def _write_blocks(self, paths: NodePaths) -> None:
        """Write q, u and z, and the weights of u and z."""
        contents, taken = self._contents, self._snapshot
        here = forms_of(contents, paths.of, is_sized=True)
        found = blocks_of(contents, paths.of)
        blocks = {path: block for path, block in found.items() if self._fits(path, here)}
        y = contents.view(Y, None).copy()
        for path, block in blocks.items():
            y[contents.place(block)] = taken.values[path]
        self._written += blocks
        contents.assign_vector(Y, None, y)
        for kind in (U_WEIGHTS, Z_WEIGHTS):
            whole = np.ones(len(contents.view(kind, None)))
            saved = taken.weights.get(kind.name, {})
            for path, place in places_of(contents, blocks, kind).items():
                if path in saved:
                    whole[place] = saved[path]
            contents.assign_vector(kind, None, whole)

    def _write_row_weights(self) -> None:
        for kind in ROW_WEIGHTS:
            weights = self._snapshot.weights.get(kind.name)
            whole = np.ones(len(self._contents.view(kind, None)))
            if weights:
                rows = {name: row for row, name in enumerate(row_names(self.state, kind.part))}
                for name, weight in weights.items():
                    if name in rows:
                        whole[rows[name]] = weight
                    else:
                        self._differ(name, MISSING, f"a row of {kind.part}")
            self._contents.assign_vector(kind, None, whole)

    def _restore_versions(self, paths: NodePaths) -> None:
        """Restore counts of writes and stages, and times of updates."""
        contents, taken = self._contents, self._snapshot
        realization = contents.realization
        for node in variable_nodes(realization.layout):
            realization.store.versions[node] = taken.versions.get(paths.of[node], 1)
        versions, (system, together, alone) = realization.machine.versions, taken.left
        names = [name for name, _ in taken.subsystems]
        here = [name for name, _ in subsystems_of(contents)]
        if sorted(names) == sorted(here):
            places = [names.index(name) for name in here]
            counts = [list(alone[place]) for place in places]
            versions.renumber(list(system), list(together), counts)
        for path, variable in discrete_variables(contents, paths.of).items():
            if path in taken.update_times:
                contents.update_times[variable._node] = taken.update_times[path]
        for observer in contents.observers:
            observer.renumbered()

    # ------------------------------------------------------------------ renaming

    def _with_new_names(self, taken: Snapshot, renamed: Mapping[str, str] | None) -> Snapshot:
        """Return the snapshot with the names that variables and subsystems have here."""
        known = {*taken.forms, *(name for name, _ in taken.subsystems)}
        new = Renaming(renamed, known, self._where)
        self._renamed = {path: new(path) for path in taken.forms if new(path) != path}
        names = new.moved(dict(taken.subsystems))
        return evolve(
            taken,
            subsystems=list(names.items()),
            forms=new.moved(taken.forms),
            values=new.moved(taken.values),
            update_times=new.moved(taken.update_times),
            weights={kind: new.moved(weights) for kind, weights in taken.weights.items()},
            versions=new.moved(taken.versions),
        )


def _first(forms: Mapping[str, Form]) -> dict[str, Form]:
    """Return the forms that do not depend on modeling options."""
    return {path: form for path, form in forms.items() if form.allocated_at == EMPTY}
