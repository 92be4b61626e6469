"""Kinematics and dynamics of random trees, as MuJoCo and Pinocchio compute them."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import given

from benchmarks.kinematics import load_twin
from stagecache.multibody import AbstractMobilizer, Gimbal, Slider, Universal
from tests.multibody.comparison import CLOSE, Counts, compare
from tests.multibody.trees import MOBILIZERS, Tree, make_tree, trees
from tests.profiles import examples

few = examples(40)


def peer(name: str, package: str, marker: pytest.MarkDecorator) -> object:
    reason = f"needs {name}: pip install 'stagecache[oracles]'"
    missing = pytest.mark.skipif(find_spec(package) is None, reason=reason)
    return pytest.param(name, marks=[marker, missing])


each_peer = pytest.mark.parametrize(
    "name",
    [
        peer("mujoco", "mujoco", pytest.mark.mujoco),
        peer("pinocchio", "pinocchio", pytest.mark.pinocchio),
    ],
)


@each_peer
def test_random_trees_move_as_those_of_the_other_library(name: str) -> None:
    counts = Counts()

    @few
    @given(trees(has_mass=True))
    def check(tree: Tree) -> None:
        compare(load_twin(name), tree, counts)

    check()
    assert counts.trees >= 5
    assert counts.worst <= CLOSE


@each_peer
@pytest.mark.parametrize("euler", [False, True])
def test_every_mobilizer_is_compared_below_every_other(name: str, euler: bool) -> None:
    # body 0 is the ground; then each mobilizer, and below it all of them
    kinds, parents = list(MOBILIZERS), [0] * len(MOBILIZERS)
    for i in range(1, len(MOBILIZERS) + 1):
        kinds += MOBILIZERS
        parents += [i] * len(MOBILIZERS)
    tree = make_tree(kinds, parents, seed=3, use_euler_angles=euler, has_mass=True)
    counts = compare(load_twin(name), tree, Counts())
    assert counts.joints == dict.fromkeys((kind.__name__ for kind in MOBILIZERS), 11)
    assert counts.worst <= CLOSE


@each_peer
@pytest.mark.parametrize(
    ("kind", "method", "fault", "found"),
    [
        (Slider, "pose", lambda pose: (*pose[:3], pose[3] + 1e-7, *pose[4:]), "pose"),
        (Universal, "axes", lambda axes: [axes[0], [1.000001 * x for x in axes[1]]], "velocity"),
        (Gimbal, "axes_rate", lambda rate: [x + 1e-7 for x in rate], "acceleration"),
    ],
)
def test_a_planted_fault_is_found(
    name: str,
    kind: type[AbstractMobilizer],
    method: str,
    fault: Callable[[Any], Any],
    found: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("stagecache.multibody.tree.layout.kernel", None)  # it has its own formulas
    right = getattr(kind, method)
    monkeypatch.setattr(kind, method, lambda *arguments: fault(right(*arguments)))
    tree = make_tree([*MOBILIZERS], list(range(len(MOBILIZERS))), seed=5)
    with pytest.raises(AssertionError, match=f"^{found} of body"):
        compare(load_twin(name), tree, Counts())
