"""Valid calls of an Assembler, of conditions, and of what its studies are made of."""

from typing import Any, Final

import numpy as np

from stagecache import Assembler, AssemblyCondition, QValue, State
from stagecache.assembly import Assembly, Tracking
from tests.misuse.models import Cart, Reach
from tests.misuse.recipe import Recipe, Recipes, call, setting


def of_mobilizer(name: str, *more: object) -> Recipe:
    """Return a recipe of a method that takes a mobilizer."""
    return lambda w: call(getattr(w.assembler, name), w.cart.pose, *more).but(
        mobilizer=[w.foreign.cart.pose, w.cart.speed, w.cart.stiffness, 3, "nonsense", None],
        index=[2, -1, 1.5, "x"],
    )


def make_assembler(system: Any) -> Assembler:
    """Return an Assembler of a member's System."""
    assembler = Assembler(system)
    assembler.add_goal(Reach(system.get(Cart, "cart")))
    return assembler


def flag(name: str) -> Recipe:
    """Return a recipe of the assignment of a bool."""
    return lambda w: setting(w.assembler, name, True)


FLAGS: Final = ("force_numerical_gradient", "force_numerical_jacobian", "use_rms_error_norm")
OTHERS: Final = (AssemblyCondition, "reach", None, 3)

RECIPES: Final[Recipes] = {
    "Assembler": lambda w: call(Assembler, w.system).but(
        accuracy=[0.0, -1.0], error_tolerance=[0.0, -1.0]
    ),
    "Assembler.accuracy =": lambda w: setting(w.assembler, "accuracy", 1e-4).but(accuracy=[0, -1]),
    "Assembler.error_tolerance =": lambda w: setting(w.assembler, "error_tolerance", 1e-4).but(
        tolerance=[0, -1]
    ),
    "Assembler.system_constraints_weight =": lambda w: setting(
        w.assembler, "system_constraints_weight", 2.0
    ).but(weight=-1.0),
    **{f"Assembler.{name} =": flag(name) for name in FLAGS},
    "Assembler.add_error": lambda w: call(w.assembler.add_error, Reach(w.cart)).but(
        condition=[*OTHERS, Reach(w.foreign.cart), w.condition]
    ),
    "Assembler.add_goal": lambda w: call(w.assembler.add_goal, Reach(w.cart), 2.0).but(
        condition=[*OTHERS, w.condition], weight=-1.0
    ),
    "Assembler.add_reporter": lambda w: call(w.assembler.add_reporter, _report),
    "Assembler.assemble": lambda w: call(w.assembler.assemble, w.state),
    "Assembler.calc_current_error_norm": lambda w: call(w.assembler.calc_current_error_norm),
    "Assembler.calc_current_goal": lambda w: call(w.assembler.calc_current_goal),
    "Assembler.condition_weight": lambda w: call(w.assembler.condition_weight, w.condition).but(
        condition=[*OTHERS, Reach(w.cart)]
    ),
    "Assembler.set_condition_weight": lambda w: call(
        w.assembler.set_condition_weight, w.condition, 2.0
    ).but(condition=[*OTHERS, Reach(w.cart)], weight=-1.0),
    "Assembler.free_q_bounds": lambda w: call(w.assembler.free_q_bounds, 0).but(free_q=[10**9]),
    "Assembler.free_q_index_of_q": lambda w: call(w.assembler.free_q_index_of_q, 0).but(q=[10**9]),
    "Assembler.q_index_of_free_q": lambda w: call(w.assembler.q_index_of_free_q, 0).but(
        free_q=[10**9]
    ),
    "Assembler.initialize": lambda w: call(w.assembler.initialize, w.state),
    "Assembler.lock_mobilizer": of_mobilizer("lock_mobilizer"),
    "Assembler.unlock_mobilizer": of_mobilizer("unlock_mobilizer"),
    "Assembler.lock_q": of_mobilizer("lock_q", 0),
    "Assembler.unlock_q": of_mobilizer("unlock_q", 0),
    "Assembler.restrict_q": of_mobilizer("restrict_q", 0, -1.0, 1.0),
    "Assembler.unrestrict_q": of_mobilizer("unrestrict_q", 0),
    "Assembler.set_internal_state": lambda w: call(w.assembler.set_internal_state, w.state),
    "Assembler.track": lambda w: call(w.assembler.track, 0.5),
    "Assembler.track_all": lambda w: call(w.assembler.track_all, [0.0, 0.5], {}).but(
        times=[[1.0, 0.0], [[0.0]]], observations=[{3: [1.0]}, {"reach": [1.0]}, [1.0]]
    ),
    "Assembler.uninitialize": lambda w: call(w.assembler.uninitialize),
    "Assembler.update_from_internal_state": lambda w: call(
        w.assembler.update_from_internal_state, w.state
    ),
    "AssemblerStatistics.reset": lambda w: call(w.assembler.statistics.reset),
    "Assembly": lambda _: call(Assembly, make_assembler),
    "Assembly(...)": lambda w: call(Assembly(make_assembler), w.state),
    "Tracking": lambda _: call(Tracking, make_assembler, [0.0, 0.5], {}).but(
        times=[[1.0, 0.0], [[0.0]]]
    ),
    "Tracking(...)": lambda w: call(Tracking(make_assembler, [0.0, 0.5], {}), w.state),
    "AssemblyCondition": lambda _: call(AssemblyCondition, "idle"),
    "AssemblyCondition.free_q_index_of_q": lambda w: call(w.condition.free_q_index_of_q, 0).but(
        q=[10**9, -1]
    ),
    "AssemblyCondition.uninitialize_assembler": lambda w: call(w.condition.uninitialize_assembler),
    "AssemblyCondition.by_free_q": lambda w: call(
        w.condition.by_free_q, np.ones((1, w.state[1].nu)), w.cart
    ).but(jacobian_by_u=["x", [[1.0]], None], subsystem=[3, None]),
    "QValue": lambda w: call(QValue, w.cart.pose, 0, 0.5).but(index=[-1, 1.5]),
    "QValue.value =": lambda w: setting(QValue(w.cart.pose, 0, 0.5), "value", 1.0),
    "QValue.move_all_observations": lambda w: call(
        QValue(w.cart.pose, 0, 0.5).move_all_observations, 1.0
    ),
}


def _report(state: State) -> None:
    assert state
