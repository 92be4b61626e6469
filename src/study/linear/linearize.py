r"""Sensitivities of a System: A, B, C and D by differences, with the sparsity of its graph.

::

    springs in a chain          columns of q       moved together: 0, 3, 6, ...
                                0 1 2 3 4 5 6                      1, 4, ...
    rows of udot   0            # # . . . . .                      2, 5, ...
                   1            # # # . . . .
                   2            . # # # . . .      so 3 evaluations serve all, and one more
                   3            . . # # # . .      is the State itself

Source: Curtis, Powell and Reid (1974), see `grouping`.
"""

from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np

from stagecache.checks import require_bool, require_choice, require_number, require_type
from stagecache.numerics.matrices import Matrix
from stagecache.state.state import State
from stagecache.study.linear.differences import Differences, Table
from stagecache.study.linear.evaluations import Evaluations
from stagecache.study.linear.items import Items
from stagecache.study.linear.linearization import Linearization
from stagecache.study.linear.sizes import EPSILON, Sizes
from stagecache.system.core.system import System

STEPS: Final = {"forward": EPSILON ** (1 / 2), "central": EPSILON ** (1 / 3)}
"""Steps that roughly balance truncation and rounding errors."""


def linearize(
    system: System,
    state: State,
    inputs: Items = (),
    outputs: Items = (),
    *,
    differences: Literal["forward", "central"] = "forward",
    step: float | None = None,
    sizes: Sizes | None = None,
    check: bool = False,
    sparse: bool = False,
) -> Linearization:
    r"""Linearize a System at a State, by differences that use the sparsity of its graph.

    A is the derivative of ydot = (qdot, udot, zdot) by y = (q, u, z), and B by the inputs; C and D
    are the derivatives of the outputs. Columns that touch no row in common are moved together: a
    chain of 100 springs takes 4 evaluations, not 201. Each evaluation realizes a copy of the State
    with all valid values, so entries that do not depend on a moved variable are not computed again.

    Parameters
    ----------
    system : System
    state : State
        At Model or further. It stays as it is.
    inputs : iterable of str or handle, optional
        Parameters and other discrete variables with a float or an array of floats as value, and
        the time, by paths or handles. Each number is a column. A family stands for all its items.
    outputs : iterable of str or handle, optional
        Cache entries and variables with a number or an array as value. Each number is a row.
    differences : str
        "forward", with one evaluation for each group; or "central", with two evaluations and
        errors of the order of step².
    step : float, optional
        Step relative to the size of a column. The default is 1.5e-8, the square root of the machine
        epsilon; central, its cube root, 6e-6.
    sizes : dict, optional
        Sizes of some of y and of the inputs, by path or handle, in their units: a change by which
        results change about as much as they are large. By default, the size of a parameter is
        abs(x), or 1 if it is 0; of the time and of other discrete variables max(1, abs(x)); and of
        q, u and z max(1 / weight, abs(x)), with the weights of the State, which are 1 by default. A
        size of a family, or of all q, holds for each of its numbers; if two concern a number, the
        later one counts.
    check : bool
        True for one more evaluation (two if central) that finds rows with hidden reads; see below.
    sparse : bool
        True for matrices of scipy.sparse.

    Returns
    -------
    Linearization

    Raises
    ------
    WrongTypeError, ForeignStateError, TopologyVersionError
    UnknownPathError, ForeignNodeError, DuplicateNameError
        An input or output does not exist, or is named more than once.
    NodeKindError
        An item cannot be an input: a q, a modeling option, a cache entry. Or `sizes` names an item
        that is not moved.
    NotANumberError
        The value of an input is not a float; the value of an output is not a number.
    UnknownChoiceError, OutOfRangeError
        An option cannot have this value; a weight is not positive; a step is lost beside a value.
    KinematicsError
        Weights of u are not 1, and it is not known how q follow from u.
    ShapeError
        An output changes its shape.
    NotFiniteError
        A derivative or an output is not finite, at the State or at moved values.
    Exception
        Any exception of a hook or a computation.

    Notes
    -----
    **Sparsity.** The dependencies of outputs are their declared prerequisites. Hooks do not declare
    what they read, and entries that depend on a whole stage do not, either. So all realizations are
    observed, and each row that a hook writes depends on everything that the hook reads. If a hook
    reads something new at moved values (a branch), columns that turn out to meet in a row are moved
    again, separately.

    **Hidden reads.** A value may reach a row past the State: a hook leaves it in a dict or an
    attribute, where another hook finds it. Such a row is taken to depend on everything if it
    changes although no column moves that it is known to read. But if a hidden column is always
    moved together with known columns of the row, *its part is added to the derivative by a known
    column*: so few evaluations cannot separate the two. With ``check=True``, all columns are moved
    once more, by unequal steps. If a row does not change as its derivatives predict, within the
    expected errors, it is taken to depend on everything, and columns are moved again, separately.
    The check does not find a part below about 5e-7 of the row (central: 1e-9) times the number of
    columns, or a value that a computation, not a hook, has left behind, since a valid entry is not
    computed again. Reads in threads are observed.

    A hook is the finest unit. If one hook computes all of udot, its rows are full, and there are as
    many groups as columns; write one Subsystem for each mass instead, as ``docs/howto/linearize``
    shows, or declare masses and forces. With constraints, the multipliers make all of udot depend
    on all of y.

    **Cost.** One evaluation of the State and one for each group (two if central); one for the check
    (two if central) if a group has more than one column. The number of groups is at least the
    largest number of columns in a row. Each evaluation copies the State, O(items). Finding the
    groups costs O(columns * groups * rows / 64).

    **Constraints, events and prescribed motion.** The State is not projected onto constraints, and
    events are not handled. In each copy, prescribed q and u follow the time, the inputs and the
    other variables as declared. They are not states, so their rows and columns are zero.

    **Errors.** The error of a derivative by x is about 1.5e-8 (central: 4e-11) of the rate divided
    by the size of x, plus the same fraction of the change of the derivative over that size. So with
    a size far too large, the slope is taken too far from the State; with a size far too small,
    rounding dominates. Give sizes if a state, a control or the time has a small unit, or if a
    parameter is nearly 0 by chance.

    If a computation has a kink or a switch at the State, differences see one side of it.

    Examples
    --------
    >>> from stagecache import linearize
    >>> from stagecache.examples import pendulum as example
    >>> system = example.system()
    >>> state = system.new_state()
    >>> model = linearize(system, state, ("pendulum.length",), ("pendulum.tip",))
    >>> model
    Linearization(2 states, 1 input, 2 outputs at t = 0 s, by 3 evaluations)
    >>> print(model.A.round(3))
    [[ 0.     1.   ]
     [-9.761  0.   ]]
    >>> print(model.D.round(3))
    [[ 0.1  ]
     [-0.995]]
    """
    require_type(
        system,
        System,
        "linearize(system): not a System",
        "a System",
        "pass the System of the State",
    )
    system._require_own(state)
    require_choice(differences, STEPS, "linearize(differences=...)")
    is_checked = require_bool(check, "linearize(check=...)")
    is_sparse = require_bool(sparse, "linearize(sparse=...)")
    relative = STEPS[differences]
    if step is not None:
        relative = require_number(step, "linearize(step=...)", least=EPSILON, most=1.0)
    evaluations = Evaluations(system, state, inputs, outputs, {} if sizes is None else sizes)
    found = Differences(evaluations, relative, is_central=differences == "central")
    found.find(is_checked=is_checked)
    groups = sorted(group for group, _ in found.done)
    columns, names = evaluations.columns, tuple(evaluations.columns.names)
    ny = columns.ny
    a, b, c, d = _quarters(
        found.table, len(evaluations.values), len(columns), ny, is_sparse=is_sparse
    )
    values = [columns.values[:ny], evaluations.values[:ny], columns.values[ny:]]
    values.append(evaluations.values[ny:])
    for each in values:
        each.flags.writeable = False
    y0, ydot0, inputs0, outputs0 = values
    return Linearization(
        A=a,
        B=b,
        C=c,
        D=d,
        states=names[:ny],
        inputs=names[ny:],
        outputs=tuple(evaluations.outputs.names),
        time=evaluations.base.time,
        y0=y0,
        ydot0=ydot0,
        inputs0=inputs0,
        outputs0=outputs0,
        num_evaluations=evaluations.count,
        groups=tuple(tuple(names[column] for column in group) for group in groups),
    )


def _quarters(
    table: Table, num_rows: int, num_columns: int, ny: int, *, is_sparse: bool
) -> Sequence[Matrix]:
    """Return A, B, C and D."""
    rows, columns, numbers = table
    whole: Any
    if is_sparse:
        from scipy.sparse import coo_array  # noqa: PLC0415  # it takes a while

        whole = coo_array((numbers, (rows, columns)), shape=(num_rows, num_columns)).tocsr()
        return [whole[:ny, :ny], whole[:ny, ny:], whole[ny:, :ny], whole[ny:, ny:]]
    whole = np.zeros((num_rows, num_columns))
    whole[rows, columns] = numbers
    found = [whole[:ny, :ny], whole[:ny, ny:], whole[ny:, :ny], whole[ny:, ny:]]
    for matrix in found:
        matrix.flags.writeable = False
    return found
