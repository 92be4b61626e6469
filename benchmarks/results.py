"""The page of results, `benchmarks/RESULTS.md`: a part for each section, of its last run."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

RESULTS: Final = Path(__file__).with_name("RESULTS.md")

HEAD: Final = """# Results of the benchmarks

Written by `python -m benchmarks`; `benchmarks/README.md` explains rows and columns. A cell is a
median, ± half of the interquartile range. The last column compares stagecache, compiled, with its
peers in the same run: with the limit that it has to keep (✓ or ✗) or, where there is none, with the
fastest.
"""


def write_results(parts: Mapping[str, str], order: Sequence[str], path: Path = RESULTS) -> None:
    """Put parts into the page, in place of those with the same headings, and all in order.

    Parameters
    ----------
    parts : mapping of str to str
        By heading; each begins with it.
    order : sequence of str
        Headings. A part that has another one is left out.
    path : Path
    """
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    known = {
        part.partition("\n")[0]: part.strip() for part in re.split(r"^## ", old, flags=re.M)[1:]
    }
    kept = {heading: f"## {part}" for heading, part in known.items()} | dict(parts)
    path.write_text(
        "\n\n".join([HEAD.strip(), *[kept[h].strip() for h in order if h in kept]]) + "\n",
        encoding="utf-8",
    )
