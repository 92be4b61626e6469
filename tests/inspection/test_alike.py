"""Subsystems that are alike: those of one class with the same items, and edges among them."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from stagecache import System
from stagecache.testing.strategies.random_systems import part_class, plans
from stagecache.views import GraphView
from tests.profiles import examples
from tests.system.models import Springs


@st.composite
def repeated(draw: st.DrawFn) -> System:
    """Systems of random subsystems, each class several times.

    Entries read items of the first subsystem of a class, so the first may differ from the others.
    """
    plan = draw(plans(2, 8))
    system = System()
    for number in range(plan.parts):
        system.add(part_class(plan, number)(), f"part_{number}")
    more = draw(st.lists(st.integers(0, plan.parts - 1), min_size=1, max_size=4))
    for place, number in enumerate(more):
        system.add(part_class(plan, number)(), f"more_{place}")
    return system


def inner(view: GraphView, name: str) -> object:
    """Return the sub-graph of a subsystem, without its name."""
    nodes = [node for node in view.nodes if node.subsystem == name]
    local = {node.path: node.path.removeprefix(f"{name}.") for node in nodes}
    families = [node.family.removeprefix(f"{name}.") for node in nodes]
    kinds = [(n.kind, n.variant, n.stage, n.computed_by, n.column) for n in nodes]
    edges = {
        (local[e.source], local[e.target], e.kind)
        for e in view.edges
        if e.source in local and e.target in local
    }
    return list(local.values()), families, kinds, edges


@examples(50)
@given(repeated())
def test_subsystems_are_alike_exactly_if_they_have_one_class_and_equal_graphs(
    system: System,
) -> None:
    view = system.graph
    alike = {node.subsystem: node.alike for node in view.nodes}
    assert all(node.alike == alike[node.subsystem] for node in view.nodes)
    names = [name for name in view.subsystems if view.select(subsystem=name).nodes]
    grouped = set()
    for one, other in combinations(names, 2):
        is_same = type(system.subsystem(one)) is type(system.subsystem(other))
        is_alike = is_same and inner(view, one) == inner(view, other)
        assert is_alike == (alike[one] == alike[other] != "")
        grouped |= {one, other} if is_alike else set()
    assert grouped == {name for name in names if alike[name]}


def test_subsystems_of_one_class_with_different_items_are_not_alike() -> None:
    system = System()
    for number, count in enumerate((2, 3, 2)):
        system.add(Springs(count), f"springs_{number}")
    alike = {node.subsystem: node.alike for node in system.graph if node.subsystem}
    assert alike == {"springs_0": "springs", "springs_1": "", "springs_2": "springs"} | {
        name: "" for name in alike if not name.startswith("springs")
    }
