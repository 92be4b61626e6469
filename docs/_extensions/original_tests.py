"""Tables of the tests of Simbody and Drake, made from `coming_from/original_tests.csv`."""

import csv
from pathlib import Path
from typing import Final

TABLE: Final = Path(__file__).parents[1] / "coming_from" / "original_tests.csv"
WORDS: Final = {"yes": "yes", "part": "in part", "no": "no"}
Rows = list[dict[str, str]]


def originals() -> dict[str, dict[str, Rows]]:
    """Return by library and file: the row of the file itself, then those of its cases."""
    found: dict[str, dict[str, Rows]] = {}
    with TABLE.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["library"]:
                rows: Rows = found.setdefault(row["library"], {}).setdefault(row["file"], [])
            rows.append(row)
    return found


def tables() -> dict[str, str]:
    """Return tables in Markdown: of all cases of each library in lower case, and of totals."""
    found = {}
    totals = [
        "| tests of | | expressed and passed | in part | not | all |",
        "|---|---|---|---|---|---|",
    ]
    for library, files in originals().items():
        lines = ["| case | assertions | here | tests here | note |", "|---|---|---|---|---|"]
        cases = [case for rows in files.values() for case in rows[1:]]
        helpers = sum(int(rows[0]["assertions"]) for rows in files.values())
        for path, (of_file, *own) in files.items():
            shared = int(of_file["assertions"])
            what = f"{shared} in helpers" if shared else ""
            lines.append(f"| **{path}** at `{of_file['commit']}` | {what} | | | |")
            lines += [_line(case) for case in own]
        found[library.lower()] = "\n".join([*lines, ""])
        counts = [[int(c["assertions"]) for c in cases if c["expressed"] == v] for v in WORDS]
        numbers = [len(own) for own in counts], [sum(own) for own in counts]
        for kind, own in zip(("cases", "assertions"), numbers, strict=True):
            more = f" + {helpers} in helpers" if kind == "assertions" else ""
            cells = " | ".join(str(number) for number in own)
            totals.append(f"| {library} | {kind} | {cells} | {sum(own)}{more} |")
    found["totals"] = "\n".join([*totals, ""])
    return found


def _line(case: dict[str, str]) -> str:
    tests = [test.partition("::") for test in case["tests"].split()]
    shown = "<br>".join(f"`{file}`: {name[5:].replace('_', ' ')}" for file, _, name in tests)
    note = case["note"].replace("|", "\\|")
    verdict = WORDS[case["expressed"]]
    return f"| {case['case']} | {case['assertions']} | {verdict} | {shown} | {note} |"
