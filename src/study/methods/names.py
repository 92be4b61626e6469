"""What the numbers of a State are called in messages of a Study."""

from stagecache.state.state import State


def name_of_y(state: State, index: int) -> str:
    """The variable that has an item of y: "pendulum.angle", or "chain.angles[2]".

    Where no declared block has it: the vector of its subsystem, "u[1] of subsystem 2 'cart'".
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
