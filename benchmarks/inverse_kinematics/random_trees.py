"""Trees at random that move, with noise on what is seen of their markers."""

from typing import Final

import numpy as np
from attrs import evolve
from scipy.spatial.transform import Rotation

from benchmarks.inverse_kinematics.problem import Array, Frame, Link, Marker, Problem
from benchmarks.inverse_kinematics.tree import Tree
from stagecache.multibody import Transform

NUM_Q: Final = 31
NUM_MARKERS: Final = 40
NUM_FRAMES: Final = 100
STEP: Final = 0.01  # s
NOISE: Final = 0.002  # m, standard deviation of each coordinate
REACH: Final = 0.3  # rad or m: how far a q moves to both sides


def random_tree(seed: int) -> Problem:
    """A tree of 31 q, seen by 40 markers in 100 frames at 100 Hz.

    A Free on ground, then Pins, Universals and Balls on bodies chosen at random among the last
    four. Each body has a marker, the others are anywhere. Each q is a sine of 0.5 to 1.5 Hz, and
    each coordinate of an observation has noise of 2 mm: so there is an optimum, which is not zero
    and moves from frame to frame.
    """
    rng = np.random.default_rng(seed)
    links = _links(rng)
    extra = rng.integers(0, len(links), NUM_MARKERS - len(links))
    markers = tuple(
        Marker(f"m{i}", int(body), rng.normal(scale=0.1, size=3), float(rng.uniform(0.5, 2.0)))
        for i, body in enumerate([*range(len(links)), *extra])
    )
    still = Problem(
        f"tree {seed}",
        links,
        start=np.zeros(NUM_Q),
        frames=(Frame(),),
        markers=markers,
        accuracy=1e-5,
        tolerance=1e-6,
    )
    tree = Tree(still)
    amplitude, frequency, phase = rng.uniform(
        [[0.1 * REACH], [0.5], [0.0]], [[REACH], [1.5], [2 * np.pi]], (3, NUM_Q)
    )
    frames: list[Frame] = []
    for time in STEP * np.arange(NUM_FRAMES):
        q = amplitude * np.sin(2 * np.pi * frequency * time + phase)
        seen = tree.positions(tree.state_at(q)) + rng.normal(scale=NOISE, size=(NUM_MARKERS, 3))
        frames.append(Frame(float(time), None, seen))
    return evolve(still, frames=tuple(frames))


def _links(rng: np.random.Generator) -> tuple[Link, ...]:
    here = Transform()
    links = [Link("root", -1, "Free", here, here)]
    left = NUM_Q - links[0].num_q
    while left:
        joint = ["Pin", "Universal", "Ball"][int(rng.integers(0, min(3, left)))]
        parent = int(rng.integers(max(0, len(links) - 4), len(links)))
        link = Link(f"body{len(links)}", parent, joint, _frame(rng, 0.2), here)
        links.append(link)
        left -= link.num_q
    return tuple(links)


def _frame(rng: np.random.Generator, distance: float) -> Transform:
    """A frame turned at random, at some distance."""
    arm: Array = rng.normal(size=3)
    return Transform(
        Rotation.from_quat(rng.normal(size=4)).as_matrix(), arm * distance / np.linalg.norm(arm)
    )
