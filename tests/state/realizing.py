"""What the tests of the State do again and again."""

from stagecache import Stage, State, simbody
from stagecache.state.handles import Vector
from stagecache.state.partition import AbstractPartition


def realize(state: State, stage: Stage) -> State:
    """Advance all subsystems and the system, one stage at a time, and compute nothing."""
    while state.stage < stage:
        upcoming = state.stage.next()
        for subsystem in state:
            if subsystem.stage < upcoming:
                subsystem.advance_to_stage(upcoming)
        state.advance_to_stage(upcoming)
    return state


def state_of(*names: str) -> State:
    """An Empty State with subsystems of these names."""
    state = State()
    for name in names:
        state.add_subsystem(name)
    return state


def upd(part: AbstractPartition, name: str) -> Vector:
    """Write access to a vector: a method or, where there is none, a function of the facade."""
    method = getattr(part, f"upd_{name}", None)
    view: Vector = method() if method is not None else getattr(simbody, f"upd_{name}")(part)
    return view
