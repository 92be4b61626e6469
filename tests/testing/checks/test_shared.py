"""Checks of models with shared entries: values that are found are compared with computed ones."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from stagecache import (
    Stage,
    State,
    Subsystem,
    System,
    cached,
    discrete,
    parameter,
    register_value,
    shared_results,
)
from stagecache.errors import IncoherentError
from stagecache.testing import check_coherence
from tests.sharing.models import Room


class Material:
    """A material, which is registered by its name alone: two of one name pass for the same."""

    def __init__(self, name: str, density: float) -> None:
        self.name, self.density = name, density

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Material) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # it can be changed


register_value(Material, to=lambda material: material.name, of=lambda name: Material(name, 0.0))


class Beam(Subsystem):
    length = parameter(1.0)
    material = discrete(Material("oak", 700.0), invalidates=Stage.POSITION)

    @cached(prerequisites=(length, material), shared=True)
    def mass(self, state: State) -> float:
        return self.length(state) * self.material(state).density


def test_values_that_are_found_are_verified() -> None:
    result = check_coherence(System(Room()), settings=settings(max_examples=20), seed=1)
    assert result.shared > 20
    assert "values taken from shared results" in str(result)


def test_a_check_leaves_the_results_in_use_alone() -> None:
    with shared_results() as results:
        check_coherence(System(Room()), settings=settings(max_examples=3), seed=1)
        assert results.statistics.misses == 0


def test_a_key_that_does_not_tell_two_values_is_found() -> None:
    beam = Beam()
    densities = st.sampled_from([700.0, 800.0]).map(lambda density: Material("oak", density))
    with pytest.raises(IncoherentError, match="mass"):
        check_coherence(
            System(beam),
            strategies={beam.material: densities},
            settings=settings(max_examples=50),
            seed=1,
        )
