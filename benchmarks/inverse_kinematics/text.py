"""A problem as text, for the program that solves it by Simbody: words that say what comes next."""

from collections.abc import Iterator

from benchmarks.inverse_kinematics.problem import Array, Closure, Problem
from stagecache.multibody import Transform


def text_of(problem: Problem) -> str:
    """The problem in the form that `simbody/assembler.cpp` reads."""
    return "\n".join(_lines(problem)) + "\n"


def _lines(problem: Problem) -> Iterator[str]:
    yield f"bodies {len(problem.links)}"
    for link in problem.links:
        yield f"{link.joint} {link.parent} {_frame(link.inboard)} {_frame(link.outboard)}"
    yield f"constraints {len(problem.closures)}"
    yield from map(_closure, problem.closures)
    yield f"q_initial {len(problem.start)} {_numbers(problem.start)}"
    aim = problem.aim
    yield "goal -1 0" if aim is None else f"goal {aim.body} {aim.index}"
    yield f"markers {len(problem.markers)}"
    for marker in problem.markers:
        yield f"{marker.body} {_numbers(marker.station)} {marker.weight!r}"
    yield f"frames {len(problem.frames)}"
    for frame in problem.frames:
        time = -1.0 if frame.time is None else frame.time  # which leaves the time as it is
        value = 0.0 if frame.value is None else frame.value
        yield f"{time!r} {value!r} {_numbers(frame.observations.ravel())}"


def _closure(closure: Closure) -> str:
    if closure.kind == "Weld":
        parts = _frame(closure.first_frame), _frame(closure.second_frame)
    else:
        parts = (
            _numbers(closure.first_frame.translation),
            _numbers(closure.second_frame.translation),
        )
    length = f" {closure.length!r}" if closure.kind == "Rod" else ""
    return f"{closure.kind} {closure.first} {parts[0]} {closure.second} {parts[1]}{length}"


def _frame(frame: Transform) -> str:
    return f"{_numbers(frame.rotation.ravel())} {_numbers(frame.translation)}"


def _numbers(values: Array) -> str:
    return " ".join(repr(float(value)) for value in values)
