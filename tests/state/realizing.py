"""What the tests of the State do again and again."""

from stagecache import Stage, State


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
