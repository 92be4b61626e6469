"""What somebody may have meant who gave a path that is not there."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(path: str, paths: Iterable[str]) -> str:
    """The question, with the paths that end in what looks like the last part; "" if none does.

    >>> did_you_mean("tip", ["pendulum.tip", "pendulum.q"])
    "did you mean 'pendulum.tip'?"
    """
    by_last: dict[str, list[str]] = {}
    for each in paths:
        by_last.setdefault(_last(each), []).append(each)
    wanted = path.replace("/", ".")
    near = [p for last in get_close_matches(_last(wanted), by_last) for p in by_last[last]]
    best = get_close_matches(wanted, near, cutoff=0.0)
    return f"did you mean {' or '.join(map(repr, best))}?" if best else ""


def _last(path: str) -> str:
    return path.rpartition(".")[2]
