"""Names of the numbers of a State in messages of a Study."""

from stagecache.state.state import State


def name_of_y(state: State, index: int) -> str:
    """Return the variable of an item of y: "pendulum.angle", or "chain.angles[2]".

    If no declared block has it: "y[3]".
    """
    contents = state._contents
    places = contents.pools.places
    for subsystem in contents.realization.layout.subsystems:
        for blocks in subsystem.blocks.values():
            for block in blocks:
                place = places[block._node]
                if place.start <= index < place.stop:
                    is_one = place.stop - place.start == 1
                    return f"{block}" if is_one else f"{block}[{index - place.start}]"
    return f"y[{index}]"
