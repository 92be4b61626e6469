"""The compute functions of the workloads: each takes a reader for each of its prerequisites."""

from collections.abc import Callable

Number = Callable[[], int]


def copy(above: Number) -> int:
    """Return what it reads."""
    return above()


def successor(above: Number) -> int:
    """Return what it reads and 1."""
    return above() + 1


def zero(above: Number) -> int:
    """Return 0, whatever it reads."""
    above()
    return 0


def double(above: Number) -> int:
    """Return twice what it reads."""
    return 2 * above()


def inverse(above: Number) -> int:
    """Return the negative of what it reads."""
    return -above()


def total(*above: Number) -> int:
    """Return the sum of all it reads."""
    return sum([read() for read in above])


def addition(left: Number, right: Number) -> int:
    """Return the sum of the two."""
    return left() + right()


def difference(left: Number, right: Number) -> int:
    """Return the first less the second."""
    return left() - right()


def total_of_thirty(above: Number) -> int:
    """Return the sum of what it reads thirty times."""
    return sum([above() for _ in range(30)])


def total_of_either(head: Number, double: Number, inverse: Number) -> int:
    """Return twenty times the double if the head is odd, else the inverse."""
    return sum([double() if head() % 2 else inverse() for _ in range(20)])


def gather(*heads: Number) -> dict[int, int]:
    """Return all it reads, by position."""
    return {i: head() for i, head in enumerate(heads)}


def plus(amount: int) -> Callable[[Number], int]:
    """Return a function that adds an amount to what it reads."""
    return lambda above: above() + amount


def pick(key: int) -> Callable[[Callable[[], dict[int, int]]], int]:
    """Return a function that looks up a key in what it reads."""
    return lambda mapping: mapping()[key]
