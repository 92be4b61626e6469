"""Transforms and mass properties as values."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagecache.multibody import MassProperties, Transform
from tests.multibody.trees import random_transform

seeds = st.integers(0, 1000)


@given(seeds)
def test_transforms_are_composed_and_inverted_as_matrices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, points = random_transform(rng), random_transform(rng), rng.normal(size=(5, 3))
    np.testing.assert_allclose((a @ b).matrix, a.matrix @ b.matrix)
    np.testing.assert_allclose((a @ a.inverse()).matrix, np.eye(4), atol=1e-14)
    np.testing.assert_allclose((a @ b).apply(points), a.apply(b.apply(points)), atol=1e-13)
    np.testing.assert_allclose(a.apply(points[0]), a.apply(points)[0])


def test_a_transform_is_a_const_value() -> None:
    rng = np.random.default_rng(0)
    one = random_transform(rng)
    for twin in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert twin == one
        assert hash(twin) == hash(one)
        assert not twin.matrix.flags.writeable
    assert one != random_transform(rng)
    assert one != "a text"
    assert hash(Transform(None, [0.0, 0, 0])) == hash(Transform(None, [-0.0, 0, 0]))
    with pytest.raises(AttributeError, match="const"):
        one.matrix = np.eye(4)  # type: ignore[misc]  # is refused
    with pytest.raises(AttributeError, match="const"):
        del one._matrix
    with pytest.raises(ValueError, match="read-only"):
        one.translation[0] = 1.0
    assert repr(Transform(None, [1, 0, 2])) == "Transform(translation=[1.0, 0.0, 2.0])"
    assert repr(Transform()) == "Transform()"


@given(seeds)
def test_any_cloud_of_points_has_mass_properties(seed: int) -> None:
    """And the central inertia is that about its center."""
    rng = np.random.default_rng(seed)
    masses, points = rng.random(3) + 0.1, rng.normal(size=(3, 3))
    parts = [MassProperties(m, center=p) for m, p in zip(masses, points, strict=True)]
    mass, center = masses.sum(), masses @ points / masses.sum()
    whole = MassProperties(mass, center=center, inertia=sum(part.inertia for part in parts))
    about = [MassProperties(m, center=p - center) for m, p in zip(masses, points, strict=True)]
    expected = np.sum([part.inertia for part in about], axis=0)
    np.testing.assert_allclose(whole.central_inertia, expected, atol=1e-12)
    assert whole == pickle.loads(pickle.dumps(whole))
    assert whole != parts[0]


def test_mass_properties_are_read_only() -> None:
    found = MassProperties(1.0, inertia=[1, 1, 1])
    with pytest.raises(ValueError, match="read-only"):
        found.inertia[0, 0] = 2.0
    with pytest.raises(AttributeError):
        found.mass = 2.0  # type: ignore[misc]  # is refused
