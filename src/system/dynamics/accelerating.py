r"""Accelerations where masses or motions are declared: qdot, udot, qdotdot and multipliers.

::

    Velocity        qdot    = N u
    Acceleration    udot        of prescribed u is prescribed, and of those with mass it solves
                    multipliers     M udot + G' multipliers = f,  G udot + bias = 0
                    qdotdot = N udot + dN/dt u

All of it is computed before the hooks of the stage, which may read and change it. qdot and qdotdot
are computed for subsystems that declare a mass matrix or prescribe some u, and relate their q and
u: by `kinematics`, or by equal numbers of both. u that have no mass and are not prescribed keep the
udot that hooks give them, and so do multipliers where nothing has mass.

A System without declared masses and motions pays nothing. Else realizing Acceleration costs, as
measured with rods whose Jacobians and biases are declared, 0.3 ms for one rod, 0.4 ms for 10,
2.5 ms for 100 and 6 ms for 1000 in one subsystem; with as many subsystems, some 25 us for each
more.

Slack: rows of G that repeat each other where the constraints are satisfied, as those of a closed
loop with a bar too many, do so only roughly close by: a combination of them, which should be 0, is
of the size of the position errors. What it demands is of that size too, and meaningless; but it
would take accelerations as large as all others, and huge multipliers. So errors of that part are
left, where that makes nearly redundant rows redundant.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from stagecache.errors import MassMatrixError, NotANumberError
from stagecache.numerics.mass_matrices import MassBlock, free_accelerations, free_part
from stagecache.numerics.matrices import is_sparse
from stagecache.state.handles import Vector
from stagecache.state.stage import Stage
from stagecache.state.vectors.vectors import MULTIPLIERS, QDOT, QDOTDOT, UDOT, UDOTERR
from stagecache.system.constraints.jacobians import bias_of, jacobian_of
from stagecache.system.constraints.rows import (
    ConstraintTable,
    constraint_rows,
    constraint_table,
    row_names,
)
from stagecache.system.dynamics.dynamics import (
    BoundForce,
    BoundMass,
    forces_of,
    masses_of,
    name_of_u,
)
from stagecache.system.motion.differences import derivative_along
from stagecache.system.motion.matrix import product
from stagecache.system.motion.prescribing import declares_motion, is_choosing, prescribed_udot
from stagecache.system.motion.rows import (
    ROWS,
    BoundKinematics,
    Handles,
    Rows,
    as_slice,
    indices,
    rows_of,
)

Call = Callable[[Any], None]
Index = NDArray[np.intp]

NO_ROWS: Final = np.empty(0, np.intp)

LARGEST: Final = 1e-4
"""The largest violation that counts, as a part of the scales of lengths and speeds."""

FACTOR: Final = 10.0
"""Safety factor of the errors that may be left."""


@frozen(eq=False)
class Layout:
    """Places of the declared dynamics in the vectors of a State.

    Attributes
    ----------
    variables : object
        Places of variables: the same object in all States that have this layout.
    masses, forces : list of ndarray of int
        Rows of u, by declaration.
    places : list of slice or ndarray of int
        The rows of masses, as slices where they follow each other.
    others : list of list of int
        By mass, the numbers of forces on its u that its solver does not add itself.
    q, u : ndarray of int
        Rows that are paired with N = 1.
    blocks : list
        Rows of q, rows of u, and what relates them, of the others.
    """

    variables: object
    masses: list[Index]
    forces: list[Index]
    places: list[Rows]
    others: list[list[int]]
    q: Index
    u: Index
    blocks: list[tuple[Any, Any, BoundKinematics]]


@final
class Dynamics:
    """The declared dynamics of a System; constant but for the layout that was found last.

    Attributes
    ----------
    subsystems : tuple of Subsystem
        Subsystems with a mass matrix or a motion of some u: their qdot and qdotdot are computed,
        unless their hooks do that.
    masses : list of BoundMass
    forces : list of BoundForce
    """

    def __init__(self, subsystems: Sequence[Any]) -> None:
        self.masses: list[BoundMass] = []
        self.forces: list[BoundForce] = []
        moving = []
        for subsystem in subsystems:
            masses = masses_of(subsystem)
            if (masses or declares_motion(subsystem, "u")) and not subsystem._fills_rates:
                moving.append(subsystem)
            self.masses += masses
            self.forces += forces_of(subsystem)
        self.subsystems = tuple(moving)
        declaring = [s for s in subsystems if declares_motion(s, "u")]
        self._choosing = [s for s in subsystems if is_choosing(s)]
        self._declares_motion = bool(declaring)
        self._prescribing = sorted({s.index for s in (*declaring, *self._choosing)})
        self._layout: Layout | None = None

    def call_at(self, stage: Stage) -> Call | None:
        """Return the function to call before the hooks of a stage; None without one."""
        if stage == Stage.INSTANCE and self._prescribing:
            return self.realize_instance
        if stage == Stage.VELOCITY and self.subsystems:
            return self.realize_velocity
        if stage == Stage.ACCELERATION and (
            self.subsystems or self.masses or self._prescribing or self.forces
        ):
            return self.realize_acceleration
        return None

    def realize_instance(self, state: Any) -> None:
        """Forget udot of subsystems with prescribed u: parameters decide which u these are."""
        pools = state._contents.pools
        for index in self._prescribing:
            pools.write(UDOT, index, np.full(pools.size("u", index), np.nan))

    def realize_velocity(self, state: Any) -> None:
        """Compute qdot. Cost O(nq), and the cost of N."""
        contents = state._contents
        layout = self.layout_of(contents)
        u, qdot = contents.pools.whole["u"], contents.pools.whole["qdot"].copy()
        qdot[layout.q] = u[layout.u]
        for q_rows, u_rows, block in layout.blocks:
            qdot[q_rows] = product(block.n(state), u[u_rows])
        contents.pools.write(QDOT, None, qdot)

    def realize_acceleration(self, state: Any) -> None:
        """Compute udot, multipliers and qdotdot.

        Raises
        ------
        MassMatrixError, InconsistentConstraintsError, NotANumberError
        KinematicsError
            A prescribed u has no declared udot, and the way q moves is not known, either.
        Exception
            Whatever a computation raises.
        """
        pools = state._contents.pools
        layout = self.layout_of(state._contents)
        udot, multipliers = self._accelerations(state, layout)
        qdotdot = self._qdotdot(state, layout, udot) if self.subsystems else None
        pools.write(UDOT, None, udot)
        if len(multipliers):
            pools.write(MULTIPLIERS, None, multipliers)
        if qdotdot is not None:
            pools.write(QDOTDOT, None, qdotdot)

    # ------------------------------------------------------------------ accelerations

    def _accelerations(self, state: Any, layout: Layout) -> tuple[Vector, Vector]:
        """Return udot, unchanged for u without mass, and the multipliers."""
        pools = state._contents.pools
        udot: Vector = pools.whole["udot"].copy()
        rows = NO_ROWS
        is_driven = self._declares_motion
        for subsystem in self._choosing:
            for kind in ("u", "udot"):
                is_driven = is_driven or bool(subsystem._prescribed_variables(state, kind))
        if is_driven:
            rows, values = prescribed_udot(state)
            udot[rows] = values
        if not self.masses:
            return udot, pools.whole["multipliers"].copy()
        is_constrained = len(pools.whole["udoterr"]) > 0
        solved = [] if is_constrained else self._solve(state, layout, udot, rows)
        if len(solved) == len(self.masses):
            return udot, np.zeros(0)
        is_free = np.ones(len(udot), bool)
        is_free[rows] = False
        forces = np.zeros(len(udot))
        added = [entry for i in solved for entry in self.masses[i].solved_forces]
        for index, force in zip(layout.forces, self.forces, strict=True):
            if force.values not in added:
                forces[index] += force.values(state)
        blocks, columns = self._blocks(state, layout, udot, is_free, forces, solved)
        free = np.zeros(len(udot))
        free[columns] = free_accelerations(blocks, forces[columns])
        if not is_constrained:
            udot[columns] = free[columns]
            return udot, np.zeros(0)
        is_free[columns] = False
        massless = np.flatnonzero(is_free)
        return _constrained(state, udot, free, forces, blocks, columns, massless)

    def _solve(self, state: Any, layout: Layout, udot: Vector, prescribed: Index) -> list[int]:
        """Complete the udot of masses that have a solver, and return which these are."""
        solved = []
        known = None
        if len(prescribed):
            known = np.full(len(udot), np.nan)
            known[prescribed] = udot[prescribed]
        for i, mass in enumerate(self.masses):
            if mass.solve is None:
                continue
            index, others = layout.places[i], None
            if layout.others[i]:
                sums = np.zeros(len(udot))
                for x in layout.others[i]:
                    sums[layout.forces[x]] += self.forces[x].values(state)
                others = sums[index]
            found = mass.solve(state, others, None if known is None else known[index])
            if found is not None:
                udot[index] = found
                solved.append(i)
        return solved

    def _blocks(
        self,
        state: Any,
        layout: Layout,
        udot: Vector,
        is_free: NDArray[np.bool_],
        forces: Vector,
        solved: Sequence[int],
    ) -> tuple[list[MassBlock], Index]:
        """Return the mass of free u, block by block, and the indices of these u in that order.

        Those that were solved are left out. If a part of a block is prescribed, its inertial force
        acts on the others.
        """
        blocks, columns, at = [], [np.empty(0, np.intp)], 0
        any_prescribed = not is_free.all()
        for i, (index, mass) in enumerate(zip(layout.masses, self.masses, strict=True)):
            if i in solved:
                continue
            free = is_free[index]
            if any_prescribed and not free.any():
                continue  # these may have no inertia
            matrix, is_inverse = mass.matrix(state), mass.is_inverse
            if free.all():
                root = mass.root(state)
            else:
                whole, index = index, index[free]  # noqa: PLW2901  # the part of it that counts
                part = free_part(
                    matrix,
                    free,
                    udot[whole],
                    mass.matrix,
                    is_inverse=is_inverse,
                    name=partial(_name_of_row, state, index),
                )
                matrix, root, is_inverse = part.matrix, part.root, False
                forces[index] -= part.force
            blocks.append(MassBlock(np.arange(at, at + len(index)), matrix, root, is_inverse))
            columns.append(index)
            at += len(index)
        return blocks, np.concatenate(columns)

    # ------------------------------------------------------------------ kinematics

    def _qdotdot(self, state: Any, layout: Layout, udot: Vector) -> Vector:
        """Return N udot + dN/dt u; NaN where N changes along a qdot that is not known."""
        pools = state._contents.pools
        u, qdot = pools.whole["u"].copy(), pools.whole["qdot"]
        found: Vector = pools.whole["qdotdot"].copy()
        found[layout.q] = udot[layout.u]
        if not layout.blocks:
            return found
        for q_rows, u_rows, block in layout.blocks:
            found[q_rows] = product(block.n(state), udot[u_rows])
        rows = np.concatenate([indices(q_rows) for q_rows, _, _ in layout.blocks])
        if np.isfinite(qdot).all():
            found[rows] += derivative_along(
                state.system,
                state,
                lambda twin: np.concatenate(
                    [product(block.n(twin), u[u_rows]) for _, u_rows, block in layout.blocks]
                ),
                stage=max(
                    Stage.INSTANCE, *(block.n.available_from for _, _, block in layout.blocks)
                ),
                qdot=qdot.copy(),
                time=1.0,
            )
        else:
            found[rows] = np.nan
        return found

    # ------------------------------------------------------------------ layout

    def layout_of(self, contents: Any) -> Layout:
        """Return the places in a State. Cost O(1), if it has the sizes of the last one."""
        layout = self._layout
        if layout is None or layout.variables is not contents.pools.places:
            layout = self._layout = self._find(contents)
        return layout

    def _find(self, contents: Any) -> Layout:
        pools = contents.pools
        start = pools.size("q", None)
        masses = [_index(pools, mass.u, start) for mass in self.masses]
        forces = [_index(pools, force.u, start) for force in self.forces]
        has_mass = np.zeros(pools.size("u", None), bool)
        has_mass[np.concatenate([np.empty(0, np.intp), *masses])] = True
        for index, force in zip(forces, self.forces, strict=True):
            if not has_mass[index].all():
                raise without_mass(force)
        q, u, blocks = [np.empty(0, np.intp)], [np.empty(0, np.intp)], []
        for subsystem in self.subsystems:
            for q_rows, u_rows, block in _pairs(contents, subsystem):
                if block is None:
                    q.append(indices(q_rows))
                    u.append(indices(u_rows))
                else:
                    blocks.append((q_rows, u_rows, block))
        others = [
            [
                i
                for i, (rows, force) in enumerate(zip(forces, self.forces, strict=True))
                if force.values not in mass.solved_forces and not set(rows).isdisjoint(index)
            ]
            for index, mass in zip(masses, self.masses, strict=True)
        ]
        places = [as_slice(index) for index in masses]
        pairs = np.concatenate(q), np.concatenate(u)
        return Layout(pools.places, masses, forces, places, others, *pairs, blocks)


# ---------------------------------------------------------------------- constraints


def _constrained(
    state: Any,
    udot: Vector,
    free: Vector,
    forces: Vector,
    blocks: list[MassBlock],
    columns: Index,
    massless: Index,
) -> tuple[Vector, Vector]:
    """Complete udot, and return it with the multipliers.

    Parameters
    ----------
    state : State
    udot : (nu,) float
        Given values for prescribed u.
    free : (nu,) float
        The udot without constraints; 0 where it is given.
    forces : (nu,) float
    blocks : list of MassBlock
    columns, massless : ndarray of int
        The u of the blocks; and those with neither mass nor prescribed motion.
    """
    from stagecache.numerics.constrained_dynamics import (  # noqa: PLC0415  # it needs SciPy
        check_consistent,
        excess_of,
        solve_blocks,
    )
    from stagecache.numerics.least_norm import TOLERANCE  # noqa: PLC0415  # likewise

    table = constraint_table(state)
    g, bias = jacobian_of(state, table, UDOTERR), bias_of(state, table)
    check_rows(state, g, bias)
    if massless.size:
        check_massless(state, g, massless)
    given = udot.copy()
    given[columns] = given[massless] = 0.0
    is_all = np.array_equal(columns, np.arange(len(udot)))
    of_blocks = g if is_all else g[:, columns]
    of_bias, f = bias + g @ given, forces[columns]
    slack = np.zeros(0)  # as long as none is needed
    for cut in sorted({max(cut_of(state, table, g), TOLERANCE), TOLERANCE}, reverse=True):
        found, multipliers = solve_blocks(blocks, of_blocks, f, of_bias, cut)
        udot[columns] = given[columns] = found
        if np.all(excess_of(g, given, bias, free, 0.0) <= 1):
            return udot, multipliers
        if not slack.size:
            slack = slack_of(state, table, g, of_bias, free)
        if np.all(excess_of(g, given, bias, free, slack) <= 1):
            return udot, multipliers
    check_consistent(g, given, bias, free, lambda row: row_names(state, "udoterr")[row], slack)
    return udot, multipliers


# ---------------------------------------------------------------------- slack


def cut_of(state: Any, table: ConstraintTable, g: Any) -> float:
    """Return the length below which combinations of rows of length 1 count as redundant.

    It is 0 where position errors are 0. The scale of lengths, along which directions change, is
    `default_length_scale` of the System.
    """
    qerr = np.abs(state._contents.pools.whole["qerr"][table.twice_sources])
    if not qerr.any():
        return 0.0
    return FACTOR * _distance(state, qerr, _lengths(g)[table.twice_derived])


def slack_of(state: Any, table: ConstraintTable, g: Any, bias: Vector, free: Vector) -> Vector:
    """Return the acceleration errors that may be left in a State. Cost O(numbers in G).

    They are 0 where position and velocity errors are 0, and grow with these as `cut_of` does.

    Parameters
    ----------
    state : State
        At Velocity or above.
    table : ConstraintTable
    g : (m, nu) float
    bias : (m,) float
    free : (nu,) float
        Accelerations without constraints.
    """
    whole = state._contents.pools.whole
    qerr = np.abs(whole["qerr"][table.twice_sources])
    uerr = np.abs(whole["uerr"][table.last_sources])
    lengths, sizes = _lengths(g), abs(g)
    position = _distance(state, qerr, lengths[table.twice_derived])
    fast = _most(uerr, lengths[table.last_derived])
    speed = _most(sizes @ np.abs(whole["u"]), lengths)
    velocity = min(fast, LARGEST * speed) * speed / state.system.default_length_scale
    slack: Vector = position * (np.abs(bias) + sizes @ np.abs(free)) + velocity * lengths
    return FACTOR * slack


def _distance(state: Any, qerr: Vector, lengths: Vector) -> float:
    """Return the largest distance from the constraints, in units of the scale of lengths."""
    scale: float = state.system.default_length_scale
    return min(_most(qerr, lengths) / scale, LARGEST)


def _lengths(g: Any) -> Vector:
    """Return the lengths of the rows of G."""
    squares = g**2 if isinstance(g, np.ndarray) else g.power(2)
    lengths: Vector = np.sqrt(np.asarray(squares.sum(axis=1))).ravel()
    return lengths


def _most(errors: Vector, lengths: Vector) -> float:
    """Return the largest error by the length of its row; rows of length 0 do not count."""
    parts = np.nan_to_num(errors) / np.where(lengths > 0, lengths, np.inf)
    return float(parts.max(initial=0.0))


# ---------------------------------------------------------------------- refusals


def check_rows(state: Any, g: Any, bias: Vector) -> None:
    """Refuse rows of G and bias that are unknown, or not finite."""
    numbers = np.isfinite(g if isinstance(g, np.ndarray) else g.data)
    if numbers.all() and np.isfinite(bias).all():
        return
    finite = np.isfinite(bias)
    if is_sparse(g):
        finite[np.repeat(np.arange(len(bias)), np.diff(g.indptr))[~numbers]] = False
    else:
        finite &= numbers.all(axis=1)
    row = int(np.argmin(finite))
    name = row_names(state, "udoterr")[row]
    by_hand = any(
        c.udoterr is not None and c.udoterr.start <= row < c.udoterr.stop and c.handle is None
        for c in constraint_rows(state)
    )
    raise NotANumberError(
        f"{name}: is not known as a condition on udot",
        "a Jacobian and a bias of finite numbers, for each row of udoterr",
        "rows that a hook has allocated" if by_hand else f"numbers that are not, in row {row}",
        "declare the constraint, for instance with @acceleration_error()"
        if by_hand
        else "look at its functions in that State: divisions by 0, or qdot that nobody computes",
    )


def check_massless(state: Any, g: Any, massless: Index) -> None:
    """Refuse constraints that act on u that have no mass and are not prescribed."""
    part = g[:, massless]
    rows, which = part.nonzero()
    if not len(rows):
        return
    row, u = int(rows[0]), int(massless[which[0]])
    raise MassMatrixError(
        f"{row_names(state, 'udoterr')[row]}: acts on a u that has no mass",
        "a mass matrix that covers each u that is in a constraint and not prescribed",
        f"{name_of_u(state, u)}, which none covers",
        "declare @mass_matrix(...) for it in its subsystem; or prescribe it",
    )


def _name_of_row(state: Any, index: Index, row: int) -> str:
    return name_of_u(state, int(index[row]))


def without_mass(force: BoundForce) -> MassMatrixError:
    """Return the error of a declared force that acts on u without mass."""
    return MassMatrixError(
        f"{force.values}: is a force on a u that has no mass",
        "a mass matrix that covers each u on which forces act",
        ", ".join(map(str, force.u)),
        "declare @mass_matrix(...) for these u in the same subsystem; give the bodies of a tree "
        "mass_properties",
    )


# ---------------------------------------------------------------------- rows


def _index(pools: Any, handles: Handles, start: int) -> Index:
    return indices(rows_of(pools, handles, start))


def _pairs(contents: Any, subsystem: Any) -> Sequence[tuple[Any, Any, BoundKinematics | None]]:
    """Return the rows of q and u of a subsystem that are related; none if they are not."""
    declared = type(subsystem).declarations.get(ROWS)
    if declared is not None:
        return declared.bound(subsystem).pairs(contents)  # type: ignore[no-any-return]  # it is that
    q, u = (
        slice(*contents.pools.starts[kind][subsystem.index : subsystem.index + 2]) for kind in "qu"
    )
    return [(q, u, None)] if q.stop - q.start == u.stop - u.start else []
