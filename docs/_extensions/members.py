"""Tables of the documented members of Simbody and Drake, made from `coming_from/simbody.csv`."""

import csv
from pathlib import Path
from typing import Final

TABLE: Final = Path(__file__).parents[1] / "coming_from" / "simbody.csv"


def tables() -> dict[str, str]:
    """Return a table in Markdown for each class, by its name in lower case."""
    with TABLE.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found: dict[str, list[str]] = {}
    for row in rows:
        table = found.setdefault(row["class"].lower(), ["| there | here | note |", "|---|---|---|"])
        here = "<br>".join(f"`{name}`" for name in row["python_names"].split() if name != "-")
        table.append(f"| `{row['documented_name']}` | {here} | {_plain(row['note'])} |")
    return {name: "\n".join([*rows, ""]) for name, rows in found.items()}


def _plain(note: str) -> str:
    return note.replace("|", "\\|").replace("<", "&lt;")
