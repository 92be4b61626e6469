"""Valid calls of States, partitions, handles, continuous states, and of Simbody's names."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from stagecache import (
    AutoUpdateVariable,
    CacheEntry,
    ContinuousState,
    DiagramContinuousState,
    DiscreteVariable,
    Stage,
    State,
    simbody,
)
from tests.misuse.recipe import (
    Call,
    Recipe,
    Recipes,
    Wrong,
    call,
    item,
    setting,
    setting_item,
)
from tests.misuse.world import World


def weights(name: str) -> Recipe:
    """Return a recipe of an assignment of weights, at the stage where they are."""
    return lambda w: setting(w.state, name, np.ones(len(getattr(w.state, name))))


def vectors() -> Recipes:
    """Return recipes of the writable views of a State's vectors."""
    at_any = ("q", "u", "z", "y", "u_weights", "z_weights", "qerr_weights", "uerr_weights")
    computed = ("qdot", "udot", "zdot", "qdotdot", "qerr", "uerr", "udoterr", "multipliers")
    found: Recipes = {}
    for name in (*at_any, *computed):
        found[f"State.upd_{name}"] = _view(f"upd_{name}")
    return found


def _view(name: str) -> Recipe:
    return lambda w: call(getattr(w.state, name))


def _continuous(_: World) -> ContinuousState:
    return ContinuousState(np.arange(6.0), 2, 2, 2)


def _from_views() -> Call:
    x = np.arange(6.0)
    return call(ContinuousState.from_views, x, x[:2], x[2:4], x[4:])


def _diagram(_: World) -> DiagramContinuousState:
    return DiagramContinuousState([ContinuousState(np.arange(3.0), 1, 1, 1) for _ in range(2)])


def _view_of(w: World) -> Any:
    return _diagram(w).upd_q()


def _part(w: World) -> Any:
    return w.state[1]


def _items(name: str, key: str) -> Recipe:
    """Return a recipe of a function of Simbody that takes a partition and an item's index."""
    indices = {"discrete": 0, "auto": 4, "entry": 1}

    def recipe(w: World) -> Call:
        part = _part(w)
        layout = part._layout
        handles = layout.discrete if key != "entry" else layout.entries
        kinds = {"discrete": DiscreteVariable, "auto": AutoUpdateVariable, "entry": CacheEntry}
        index = next(  # an input is computed when it is read, and here nothing reads it
            i for i, h in enumerate(handles) if type(h) is kinds[key] and "push" not in str(h)
        )
        assert indices
        return call(getattr(simbody, name), part, index).but(
            part=[Wrong("type", "a State", w.state), w.foreign.state]
        )

    return recipe


def _simbody(name: str, *more: object) -> Callable[[World], Call]:
    return lambda w: call(getattr(simbody, name), w.state, *more)


RECIPES: Final[Recipes] = {
    "State": lambda _: call(State),
    "State[...]": lambda w: item(w.state, 1).but(subsystem=[w.foreign.cart, None, 1.0]),
    "State.add_subsystem": lambda w: call(w.hand.add_subsystem, "third"),
    "State.advance_to_stage": lambda w: call(
        _with_parts_at_topology(w).advance_to_stage, Stage.TOPOLOGY
    ).but(stage=[Stage.MODEL, Stage.REPORT]),
    "State.assign": lambda w: call(w.state.assign, w.second_state),
    "State.auto_update_discrete_variables": lambda w: call(w.state.auto_update_discrete_variables),
    "State.cache_to_string": lambda w: call(w.state.cache_to_string),
    "State.checkpoint": lambda w: call(w.state.checkpoint),
    "State.clear": lambda w: call(w.state.clear),
    "State.copy": lambda w: call(w.state.copy),
    "State.event_triggers_by_stage": lambda w: call(
        w.state.event_triggers_by_stage, Stage.POSITION
    ),
    "State.explain": lambda w: call(w.state.explain, w.cart.force).but(
        entry=["nonsense", w.cart.stiffness]
    ),
    "State.from_bytes": lambda w: call(State.from_bytes, w.state.to_bytes(), w.system).but(
        data=[b"", b"nonsense", w.state.to_bytes()[:-9], w.graph]
    ),
    "State.discard_cache": lambda w: call(w.state.discard_cache),
    "State.freeze": lambda w: call(w.state.freeze),
    "State.frozen": lambda w: call(w.state.frozen),
    "State.impact": lambda w: call(w.state.impact, w.cart.stiffness).but(
        variable=["nonsense", w.cart.force]
    ),
    "State.invalidate_all": lambda w: call(w.state.invalidate_all, Stage.POSITION),
    "State.lowest_stage_difference": lambda w: call(
        w.state.lowest_stage_difference, w.state.stage_versions
    ),
    "State.q =": lambda w: setting(w.state, "q", np.arange(w.state.nq) + 0.5),
    "State.unfreeze": lambda w: call(w.state.unfreeze),
    "State.u =": lambda w: setting(w.state, "u", np.arange(w.state.nu) + 0.5),
    "State.z =": lambda w: setting(w.state, "z", np.arange(w.state.nz) + 0.5),
    "State.y =": lambda w: setting(w.state, "y", np.arange(w.state.ny) + 0.5),
    "State.u_weights =": weights("u_weights"),
    "State.z_weights =": weights("z_weights"),
    "State.qerr_weights =": weights("qerr_weights"),
    "State.uerr_weights =": weights("uerr_weights"),
    "State.time =": lambda w: setting(w.state, "time", 0.5),
    "State.topology_version =": lambda w: setting(w.state, "topology_version", 7).but(version=0),
    "State.rollback": lambda w: call(w.state.rollback, w.mark).but(
        mark=[Wrong("dead", "a checkpoint that was released", _released(w.second_state))]
    ),
    "State.save": lambda w: call(w.state.save, w.folder / "saved"),
    "State.to_bytes": lambda w: call(w.state.to_bytes),
    "State.trace": lambda w: call(w.state.trace),
    "State.variable": lambda w: call(w.state.variable, "q").but(name=["y", "nonsense"]),
    "State.upd_event_triggers_by_stage": lambda w: call(
        w.state.upd_event_triggers_by_stage, Stage.POSITION
    ),
    **vectors(),
    # ------------------------------------------------------------------ partitions
    "SubsystemState.advance_to_stage": lambda w: call(w.part.advance_to_stage, Stage.TOPOLOGY).but(
        stage=[Stage.MODEL, Stage.REPORT]
    ),
    "SubsystemState.allocate_q": lambda w: call(w.part.allocate_q, [1.0, 2.0]),
    "SubsystemState.allocate_u": lambda w: call(w.part.allocate_u, [1.0, 2.0]),
    "SubsystemState.allocate_z": lambda w: call(w.part.allocate_z, [1.0, 2.0]),
    "SubsystemState.allocate_qerr": lambda w: call(w.part.allocate_qerr, 2),
    "SubsystemState.allocate_uerr": lambda w: call(w.part.allocate_uerr, 2),
    "SubsystemState.allocate_udoterr": lambda w: call(w.part.allocate_udoterr, 2),
    "SubsystemState.allocate_event_trigger": lambda w: call(
        w.part.allocate_event_trigger, Stage.POSITION, 2
    ),
    "SubsystemState.allocate_discrete_variable": lambda w: call(
        w.part.allocate_discrete_variable, Stage.POSITION, 1.0
    ),
    "SubsystemState.allocate_auto_update_discrete_variable": lambda w: call(
        w.part.allocate_auto_update_discrete_variable, Stage.REPORT, 1.0, Stage.POSITION
    ),
    "SubsystemState.allocate_cache_entry": lambda w: call(
        w.part.allocate_cache_entry, Stage.POSITION, Stage.VELOCITY, 1.0
    ).but(computed_by=Stage.TIME),
    "SubsystemState.allocate_lazy_cache_entry": lambda w: call(
        w.part.allocate_lazy_cache_entry, Stage.POSITION, 1.0
    ).but(compute=lambda: 1.0),
    "SubsystemState.allocate_cache_entry_with_prerequisites": lambda w: call(
        w.part.allocate_cache_entry_with_prerequisites,
        Stage.POSITION,
        Stage.VELOCITY,
        (w.item("q"),),
        compute=lambda state: 1.0,
    ).but(
        computed_by=Stage.TIME,
        prerequisites=[
            (w.item("q"), w.item("q")),
            (w.foreign.cart.place,),
            (w.foreign.node,),
            w.item("q"),
            ("q",),
        ],
        compute=lambda: 1.0,
    ),
    "SubsystemState.variable": lambda w: call(w.part.variable, "q").but(
        name=["time", "y", "nonsense"]
    ),
    "Stage.next": lambda _: call(Stage.POSITION.next),
    "Stage.prev": lambda _: call(Stage.POSITION.prev),
    "Checkpoint.release": lambda w: call(w.mark.release),
    # ------------------------------------------------------------------ handles
    "CacheEntry(...)": lambda w: call(w.cart.force, w.state),
    "CacheEntry.dependents": lambda w: call(w.cart.force.dependents, w.state),
    "CacheEntry.invalidate": lambda w: call(w.cart.force.invalidate, w.state),
    "CacheEntry.is_valid": lambda w: call(w.cart.force.is_valid, w.state),
    "CacheEntry.mark_valid": lambda w: call(w.item("entry").mark_valid, _hand_at_topology(w)),
    "CacheEntry.prerequisites": lambda w: call(w.cart.force.prerequisites, w.state),
    "CacheEntry.set": lambda w: call(w.item("entry").set, _hand_at_topology(w), 2.0),
    "CacheEntry.upd": lambda w: call(w.item("entry").upd, _hand_at_topology(w)),
    "CacheEntry.version": lambda w: call(w.cart.force.version, w.state),
    "DiscreteVariable(...)": lambda w: call(w.cart.label, w.state),
    "DiscreteVariable.last_update_time": lambda w: call(w.cart.label.last_update_time, w.state),
    "DiscreteVariable.set": lambda w: call(w.cart.label.set, w.state, "new"),
    "DiscreteVariable.upd": lambda w: call(w.cart.label.upd, w.state),
    "ContinuousVariable(...)": lambda w: call(w.cart.pose, w.state),
    "ContinuousElement(...)": lambda w: call(w.cart.pose[0], w.state),
    "ContinuousElement.set": lambda w: call(w.cart.pose[0].set, w.state, 1.0),
    "ContinuousElement.place": lambda w: call(w.cart.pose[0].place, w.state),
    "ContinuousVariable[...]": lambda w: call(w.cart.pose.__getitem__, 0).but(index=[-1, "x"]),
    "ContinuousVariable.place": lambda w: call(w.cart.pose.place, w.state),
    "ContinuousVariable.set": lambda w: call(w.cart.pose.set, w.state, [1.0, 2.0]),
    "ContinuousVariable.upd": lambda w: call(w.cart.pose.upd, w.state),
    "ScalarVariable(...)": lambda w: call(w.cart.place, w.state),
    "ScalarVariable.set": lambda w: call(w.cart.place.set, w.state, 1.0),
    "TimeVariable(...)": lambda w: call(w.system.time, w.state),
    "TimeVariable.set": lambda w: call(w.system.time.set, w.state, 1.0),
    # ------------------------------------------------------------------ continuous states
    "ContinuousState": lambda _: call(ContinuousState, np.arange(6.0), 2, 2, 2).but(
        num_q=3, num_v=3, num_z=3
    ),
    "ContinuousState[...]": lambda w: item(_continuous(w), 2).but(key=[6, -7, 1.5, "x", None]),
    "ContinuousState[...] =": lambda w: setting_item(_continuous(w), 2, 1.0).but(
        key=[6, -7, 1.5, "x", None]
    ),
    "ContinuousState.clone": lambda w: call(_continuous(w).clone),
    "ContinuousState.copy_to_vector": lambda w: call(_continuous(w).copy_to_vector),
    "ContinuousState.from_views": lambda _: _from_views().but(
        q=np.zeros(2), v=np.zeros(2), vector=np.zeros(6)
    ),
    "ContinuousState.set_from": lambda w: call(_continuous(w).set_from, _continuous(w)).but(
        other=ContinuousState(np.zeros(3), 1, 1, 1)
    ),
    "ContinuousState.set_from_vector": lambda w: call(
        _continuous(w).set_from_vector, np.arange(6.0)
    ),
    "ContinuousState.to_labeled": lambda w: call(_continuous(w).to_labeled),
    "ContinuousState.upd_q": lambda w: call(_continuous(w).upd_q),
    "ContinuousState.upd_v": lambda w: call(_continuous(w).upd_v),
    "ContinuousState.upd_z": lambda w: call(_continuous(w).upd_z),
    "ContinuousState.upd_vector": lambda w: call(_continuous(w).upd_vector),
    "DiagramContinuousState": lambda w: call(DiagramContinuousState, [_continuous(w)]).but(
        substates=[[], [3], _continuous(w)]
    ),
    "DiagramContinuousState.clone": lambda w: call(_diagram(w).clone),
    "DiagramContinuousState.substate": lambda w: call(_diagram(w).substate, 0).but(index=2),
    "AbstractElementView.read_only": lambda w: call(_view_of(w).read_only),
    "AbstractElementView.copy": lambda w: call(_diagram(w).upd_q().copy),
    "AbstractElementView[...]": lambda w: item(_diagram(w).upd_q(), 0).but(
        key=[2, -3, 1.5, "x", None]
    ),
    "AbstractElementView[...] =": lambda w: setting_item(_diagram(w).upd_q(), 0, 1.0).but(
        key=[2, -3, 1.5, "x", None]
    ),
    # ------------------------------------------------------------------ Simbody's names
    "simbody.set_num_subsystems": lambda w: call(simbody.set_num_subsystems, w.hand, 2),
    "simbody.initialize_subsystem": lambda w: call(
        simbody.initialize_subsystem, w.hand, 0, "name", "1"
    ),
    "simbody.is_consistent": lambda w: call(simbody.is_consistent, w.state, w.state.copy()),
    "simbody.invalidate_all_cache_at_or_above": _simbody(
        "invalidate_all_cache_at_or_above", Stage.POSITION
    ),
    **{
        f"simbody.{name}": _simbody(name)
        for name in ("qerr_start", "uerr_start", "udoterr_start", "upd_ydot", "upd_yerr")
    },
    "simbody.upd_event_triggers": _simbody("upd_event_triggers"),
    "simbody.num_event_triggers_by_stage": _simbody("num_event_triggers_by_stage", Stage.POSITION),
    "simbody.event_trigger_start_by_stage": _simbody(
        "event_trigger_start_by_stage", Stage.POSITION
    ),
    **{
        f"simbody.{name}": _items(name, "discrete")
        for name in (
            "has_discrete_variable",
            "discrete_variable_info",
            "discrete_variable_last_update_time",
            "get_discrete_variable",
            "upd_discrete_variable",
            "discrete_variable_update_index",
        )
    },
    "simbody.set_discrete_variable": lambda w: call(
        simbody.set_discrete_variable, *_items("get_discrete_variable", "discrete")(w).positional, 2
    ),
    **{
        f"simbody.{name}": _items(name, "auto")
        for name in (
            "get_discrete_variable_update_value",
            "upd_discrete_variable_update_value",
            "is_discrete_variable_update_value_realized",
            "mark_discrete_variable_update_value_realized",
        )
    },
    **{
        f"simbody.{name}": _items(name, "entry")
        for name in (
            "has_cache_entry",
            "cache_entry_info",
            "get_cache_entry",
            "upd_cache_entry",
            "is_cache_value_realized",
            "mark_cache_value_realized",
            "mark_cache_value_not_realized",
        )
    },
}


def _released(state: State) -> Any:
    mark = state.checkpoint()
    mark.release()
    return mark


def _with_parts_at_topology(w: World) -> State:
    for part in w.hand:
        if part.stage < Stage.TOPOLOGY:
            part.advance_to_stage(Stage.TOPOLOGY)
    return w.hand


def _hand_at_topology(w: World) -> State:
    state = _with_parts_at_topology(w)
    if state.stage < Stage.TOPOLOGY:
        state.advance_to_stage(Stage.TOPOLOGY)
    return state
