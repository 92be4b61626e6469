"""Contacts of every kind, for random pairs of bodies, and the same in plain geometry."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from stagecache import State
from stagecache.multibody import (
    LineOnLineContact,
    SphereOnPlaneContact,
    SphereOnSphereContact,
)
from stagecache.multibody.constraints.contact import AbstractContact
from tests.multibody.constrained_trees import Geometry, Pair, at, tied
from tests.multibody.trees import Array, Tree, random_transform, trees


def plane(pair: Pair, rng: np.random.Generator, rolls: bool) -> tuple[AbstractContact, Geometry]:
    frame, center, radius = random_transform(rng), rng.normal(size=3), rng.uniform(0.2, 1)
    contact = SphereOnPlaneContact(pair[0], frame, pair[1], center, radius, enforce_rolling=rolls)

    def error(x: Array, y: Array) -> Array:
        normal = x[:3, :3] @ frame.rotation[:, 2]
        return np.array([normal @ (at(y, center) - at(x, frame.translation)) - radius])

    return contact, error


def spheres(pair: Pair, rng: np.random.Generator, rolls: bool) -> tuple[AbstractContact, Geometry]:
    one, two, radii = rng.normal(size=3), rng.normal(size=3), rng.uniform(0.2, 1, size=2)
    contact = SphereOnSphereContact(
        pair[0], one, radii[0], pair[1], two, radii[1], enforce_rolling=rolls
    )
    return contact, lambda x, y: np.array([np.linalg.norm(at(y, two) - at(x, one)) - radii.sum()])


def lines(pair: Pair, rng: np.random.Generator, rolls: bool) -> tuple[AbstractContact, Geometry]:
    one, two = random_transform(rng), random_transform(rng)
    contact = LineOnLineContact(pair[0], one, 1.0, pair[1], two, 1.0, enforce_rolling=rolls)

    def error(x: Array, y: Array) -> Array:
        """The distance of the nearest points, by least squares, with the sign of the solids."""
        first, second = x @ one.matrix, y @ two.matrix
        both = np.stack([first[:3, 0], -second[:3, 0]], 1)
        offset = second[:3, 3] - first[:3, 3]
        nearest = np.linalg.lstsq(both, offset, rcond=None)[0]
        apart = offset - both @ nearest
        is_outside = apart @ (first[:3, 2] - second[:3, 2]) > 0
        return np.array([np.linalg.norm(apart) * (1 if is_outside else -1)])

    return contact, error


Make = Callable[[Pair, np.random.Generator, bool], tuple[AbstractContact, Geometry]]
KINDS: tuple[Make, ...] = (plane, spheres, lines)


@st.composite
def contacting(draw: Any) -> tuple[Tree, Any, Geometry]:
    """A random tree with a contact, away from where it has no derivatives."""
    tree = draw(trees(most=6))
    kind, rolls = draw(st.sampled_from(KINDS)), draw(st.booleans())
    one, two = tree.rng.permutation(len(tree.bodies))[:2]
    contact, geometry = kind((tree.bodies[one], tree.bodies[two]), tree.rng, rolls)
    tree = tied(tree, contact)
    assume(is_smooth(contact, tree.state))
    return tree, contact, geometry


def is_smooth(contact: Any, state: State) -> bool:
    """Whether a contact is at some distance from where it has no normal, or its axes jump."""
    x, y = (body.pose(state).rotation for body in contact.bodies)
    if isinstance(contact, SphereOnSphereContact):
        reach = contact.first_radius(state) + contact.second_radius(state)
        if contact.separation(state) + reach < 0.3:
            return False
        normal = np.sort(np.abs(x.T @ contact.contact_frame(state).rotation[:, 2]))
        return bool(normal[1] - normal[0] > 0.01)
    if isinstance(contact, LineOnLineContact):
        first, second = (f(state).rotation for f in (contact.first_frame, contact.second_frame))
        first, second = x @ first, y @ second
        both = np.cross(first[:, 0], second[:, 0])
        sign = both @ (first[:, 2] - second[:, 2])
        return bool(np.linalg.norm(both) > 0.3 and abs(sign) > 0.01)
    return True
