"""The table of misuse: cases by callable and kind, with the errors that refuse them."""

from collections import Counter
from collections.abc import Iterable

from tests.misuse.trial import Outcome

BEGIN, END = "<!-- table of misuse -->", "<!-- end of the table -->"


def rows_of(text: str) -> dict[str, set[str]]:
    """Return the kinds and errors of each callable in a table."""
    found = {}
    for line in text.splitlines()[2:-1]:
        name, _, kinds, errors = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        names = {kind.rpartition(" ")[0] for kind in kinds.split(", ")}
        found[name] = names | {error.strip("`") for error in errors.split(", ")}
    return found


def table(outcomes: Iterable[Outcome]) -> str:
    """Return a row for each callable: its cases, their kinds, and the errors."""
    counts: dict[str, Counter[str]] = {}
    errors: dict[str, set[str]] = {}
    for outcome in outcomes:
        if outcome.error and not outcome.complaint:
            name = outcome.case.callable
            counts.setdefault(name, Counter())[outcome.case.kind] += 1
            errors.setdefault(name, set()).add(outcome.error)
    lines = ["| callable | cases | kinds | errors |", "|---|---|---|---|"]
    for name in sorted(counts, key=str.lower):
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(counts[name].items()))
        named = ", ".join(f"`{error}`" for error in sorted(errors[name]))
        lines.append(f"| `{name}` | {counts[name].total()} | {kinds} | {named} |")
    total = sum(c.total() for c in counts.values())
    lines.append(f"| **{len(counts)} callables** | **{total}** | | |")
    return "\n".join(lines)
