"""A walk over all programs of one shape, in which equal states are continued once.

Programs form a tree. Two programs after which a graph is in the same state, in every number of its
store, do the same from there on. And what is done with a graph does not depend on its copies, which
is checked. So each operation is done once in each state of a graph, and counts for all programs::

    x()  y()              one state, reached by two programs; each operation is done once, and
    y()  x()              counts as two longer programs

    b = copy of a         a and b are in states of their own: a program is one of a, with one of b,
    a.set(1)  b.x()       in any order
"""

import random
from collections import Counter
from typing import Final

import attrs

from tests.graph.small_worlds.frozen import freeze
from tests.graph.small_worlds.life import Life, Operation, State
from tests.graph.small_worlds.shapes import Shape

COPY: Final[Operation] = ("copy", 0, 0)


@attrs.frozen
class Counts:
    """Numbers of a walk.

    Attributes
    ----------
    graphs : int
    programs : int
        Of each length up to the longest.
    operations : int
        That were done, each with checks after it.
    comparisons : int
        Of valid entries with a computation from scratch.
    """

    graphs: int = 0
    programs: int = 0
    operations: int = 0
    comparisons: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.graphs + other.graphs,
            self.programs + other.programs,
            self.operations + other.operations,
            self.comparisons + other.comparisons,
        )


@attrs.define
class Place:
    """A state of a graph, and what is known of the operations in it.

    Attributes
    ----------
    is_copy : bool
    state : State
    came_from : tuple of (Place, Operation), optional
        A shortest way to it.
    next : list of tuple of int
        By operation: the numbers of the places of the graph and, after a copy, of the copy.
    num_operations : int
        -1 if nothing was done there yet.
    """

    is_copy: bool
    state: State
    came_from: "tuple[Place, Operation] | None" = None
    next: list[tuple[int, ...]] = attrs.field(factory=list)
    num_operations: int = -1

    def path(self) -> list[Operation]:
        """Return the operations of the graph, and of those of which it is a copy, up to here."""
        if self.came_from is None:
            return []
        before, operation = self.came_from
        return [*before.path(), operation]


class Walk:
    """All programs of a shape, up to a number of operations.

    Parameters
    ----------
    shape : Shape
    deepest : int, optional
        See `Life`.
    """

    def __init__(self, shape: Shape, deepest: int | None = None) -> None:
        self.shape = shape
        self.deepest = deepest
        self.num_operations = 0
        original = Life(shape, deepest)
        self._lives = original, original.copy()
        self._places = [Place(False, original.state())]
        self._numbers = {(False, original.state()): 0}

    def go(self, length: int) -> Counts:
        """Do all programs.

        Raises
        ------
        AssertionError
            A check failed. A note has the program.
        """
        num_programs = 0
        # The places of all graphs, with the number of programs.
        scenes: Counter[tuple[int, ...]] = Counter({(0,): 1})
        for num_left in reversed(range(length)):
            reached: Counter[tuple[int, ...]] = Counter()
            for scene, count in scenes.items():
                for i, number in enumerate(scene):
                    place = self._places[number]
                    if place.num_operations < 0:
                        self._do_all(place, is_last=num_left == 0)
                    num_programs += count * place.num_operations
                    if num_left:
                        others = scene[:i] + scene[i + 1 :]
                        for after in place.next:
                            reached[tuple(sorted(others + after))] += count
            scenes = reached
        for life in self._lives:
            life.check_constant()
        num_comparisons = sum(life.num_comparisons for life in self._lives)
        return Counts(1, num_programs, self.num_operations, num_comparisons)

    def _do_all(self, place: Place, *, is_last: bool) -> None:
        """Do each operation in a place."""
        life, other = self._lives[place.is_copy], self._lives[not place.is_copy]
        before = freeze(other.graph)
        life.set_state(place.state)
        assert life.state() == place.state, "this graph shares something with its copy"
        operations = [*life.operations(), COPY]
        for operation in operations:
            try:
                if operation is COPY:
                    twin = life.copy()
                    twin.check_values()
                    self.num_operations += 1
                    if not is_last:
                        copied = self._number(True, twin.state(), place, operation)
                        place.next.append((self._number_of(place), copied))
                    continue
                life.do(operation)
            except Exception as error:
                program = program_text(self.shape, [*place.path(), operation])
                error.add_note(f"{self.shape}\n{program}")
                raise
            self.num_operations += 1
            if not is_last:
                place.next.append((self._number(place.is_copy, life.state(), place, operation),))
            if not life.found_value:
                life.set_state(place.state)
        place.num_operations = len(operations)
        assert freeze(other.graph) == before, "an operation has changed a copy"

    def _number_of(self, place: Place) -> int:
        return self._numbers[place.is_copy, place.state]

    def _number(self, is_copy: bool, state: State, before: Place, operation: Operation) -> int:
        """Return the number of a place, which is new if the state is."""
        number = self._numbers.setdefault((is_copy, state), len(self._places))
        if number == len(self._places):
            self._places.append(Place(is_copy, state, (before, operation)))
        return number

    def replay(self, rng: random.Random, length: int) -> None:
        """Do a random program of up to that many operations on new graphs and real copies.

        After each operation, all of them are checked, and are in the states that the walk, which
        comes first, has found.
        """
        lives = [Life(self.shape, self.deepest)]
        scene = [0]
        for _ in range(length):
            i = rng.randrange(len(lives))
            choices = [*lives[i].operations(), COPY]
            number = rng.randrange(len(choices))
            if choices[number] is COPY:
                lives.append(lives[i].copy())
            else:
                lives[i].do(choices[number])
            scene[i], *copied = self._places[scene[i]].next[number]
            scene += copied
            for life, at in zip(lives, scene, strict=True):
                life.check_values()
                assert life.state() == self._places[at].state, (choices[number], life.state())


def program_text(shape: Shape, operations: list[Operation]) -> str:
    """Return operations as Python, one a line."""
    names = shape.names
    texts = {
        "write": "{node}.set({value})",
        "read": "{node}()",
        "invalidate": "{node}.invalidate()",
        "checkpoint": "marks.append(graph.checkpoint())",
        "rollback": "graph.rollback(marks[{number}]); del marks[{number} + 1:]",
        "release": "marks.pop({number}).release()",
        "copy": "graph = graph.copy(); marks = []; {all} = graph",
    }
    return "\n".join(
        texts[kind].format(node=names[number], number=number, value=value, all=", ".join(names))
        for kind, number, value in operations
    )
