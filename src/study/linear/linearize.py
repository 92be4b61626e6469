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
"""Steps that about balance the errors of truncation and of rounding."""


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
    that has all valid values; so what a moved variable does not touch is not computed again.

    Parameters
    ----------
    system : System
    state : State
        At Model or further. It stays as it is.
    inputs : iterable of str or handle, optional
        Parameters and other discrete variables whose value is a float, or an array of floats, each
        number of which is a column; and the time. By paths or handles; a family stands for all its
        items.
    outputs : iterable of str or handle, optional
        Cache entries and variables whose value is a number, or an array, each number of which is
        a row.
    differences : str
        "forward", with one evaluation for each group; or "central", with two, and errors of the
        order of step².
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
        True for one more evaluation (two if central), which finds rows that depend on what no
        observer sees; see below.
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
        A variable cannot be an input: a q, a modeling option, a cache entry. Or it has a size, and
        is not moved.
    NotANumberError
        The value of an input is not a float; the value of an output is not a number.
    UnknownChoiceError, OutOfRangeError
        An option cannot have this value; a weight is not positive; a step is lost beside a value.
    KinematicsError
        Weights of u are not 1, and it is not known how q follow from u.
    ShapeError
        An output changes its shape.
    NotFiniteError
        A derivative or an output is not finite, here or where something was moved a little.
    Exception
        Whatever a hook or a computation raises.

    Notes
    -----
    **Sparsity.** The dependencies of outputs are their declared prerequisites. Hooks do not declare
    what they read, nor do entries that depend on a whole stage; so all realizations are
    observed, and each row that a hook writes depends on all that this hook reads. If a hook reads
    something new at moved values (a branch), columns that turn out to meet in a row are moved
    again, apart.

    **Hidden reads.** A value may reach a row past the State: a hook leaves it in a dict or an
    attribute, where another hook finds it. Such a row is taken to depend on everything if it
    changes while nothing moves that it is known to read. But if a hidden column is always moved
    together with known columns of the row, *its part is booked to a known one*: the changes of a
    row in so few evaluations do not tell. With ``check=True``, all columns are moved once more, by
    unequal steps. A row that does not change as its derivatives say, beyond the errors expected of
    them, is taken to depend on everything, and columns are moved again, apart. What is
    not found: a part below some 5e-7 of the row (central: 1e-9) times the number of columns; and
    a value that a computation, not a hook, has left behind, since a valid entry is not computed
    again. Reads in threads are observed.

    A hook is the finest unit. If one hook computes all of udot, its rows are full, and there are as
    many groups as columns; write one Subsystem for each mass instead, as ``docs/howto/linearize``
    shows, or declare masses and forces. With constraints, the multipliers make all of udot depend
    on all of y.

    **Cost.** 1 evaluation and one for each group (two if central), and one for the check (two), if
    there is a group of more than one column. The number of groups is at least
    the largest number of columns in a row. A copy of the State for each, O(items); and O(columns *
    groups * rows / 64) to find the groups.

    **What is held.** Constraints are not projected onto, and events are not handled. Prescribed q
    and u follow the time, the inputs and the other variables, on the copy, as their declarations
    say; they are no states themselves, so their rows and columns are zero.

    **Errors.** Of a derivative by x, about 1.5e-8 (central: 4e-11) of the rate / the size of x, and
    as much of the change of the derivative along such a size. So a size that is far too large gives
    a slope far from the State, and one that is far too small gives rounding errors. Give sizes
    where a state, a control or the time has a small unit; or where a parameter is nearly 0 by
    chance.

    Where a computation has a kink or a switch at the State, differences are those of one side.

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
