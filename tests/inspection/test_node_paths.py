"""Paths of nodes: distinct, and found in linear time."""

import pytest

from stagecache import Stage, State
from stagecache.inspection.node_paths import NodePaths


def state_with(names: list[str]) -> State:
    state = State()
    part = state[state.add_subsystem("part")]
    for name in names:
        part.allocate_discrete_variable(Stage.INSTANCE, 1.0, name=name)
    return state


def test_of_items_with_the_same_name_all_but_the_first_have_a_number() -> None:
    paths = NodePaths(state_with(["mass", "mass (2)", "mass", "mass", "mass"])._contents)
    named = [path.removeprefix("part.") for path in paths.node if "mass" in path]
    assert named == ["mass", "mass (2)", "mass (3)", "mass (4)", "mass (5)"]
    assert all(paths.node[path] == node for node, path in paths.of.items())


def test_subsystems_with_the_same_name_are_numbered() -> None:
    state = State()
    for name in ("leg", "arm", "leg", ""):
        state.add_subsystem(name)
    names = ["subsystem 0", "arm", "subsystem 2", "subsystem 3"]
    assert NodePaths(state._contents).subsystems == names


class Counting(dict[str, int]):
    """A dict that counts searches."""

    searches = 0

    def __contains__(self, key: object) -> bool:
        self.searches += 1
        return super().__contains__(key)


@pytest.mark.parametrize("number", [30, 300])
def test_each_path_is_found_by_few_searches(number: int) -> None:
    paths = NodePaths(state_with([])._contents)
    paths.node = found = Counting(paths.node)
    for node in range(number):
        paths._add("part.mass", node)
    assert found.searches <= 2 * number
