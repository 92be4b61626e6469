"""Data of the explorer, read as the page does."""

import json
import re
from typing import Any


def column(given: Any, number: int, default: object = None) -> list[Any]:
    """Return the values of a column of so many rows."""
    if given is None:
        return [default] * number
    return given if isinstance(given, list) else [given["words"][n] for n in given["of"]]


def nodes_of_page(page: str) -> dict[str, dict[str, Any]]:
    """Return the attributes of each node of a page that are not left out, by path."""
    (data,) = re.findall(r'<script[^>]*class="graph"[^>]*>(.*?)</script>', page, re.S)
    columns = json.loads(data)["nodes"]
    values = [column(given, len(columns["path"])) for given in columns.values()]
    return {row[0]: dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)}
