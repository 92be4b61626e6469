"""Set the addresses of the project: `python docs/_extensions/urls.py DOCUMENTATION SOURCE`.

They stand in `[project.urls]` of `pyproject.toml`, and begin the links of `README.md`, which are
absolute because a package index shows that file alone. The command replaces them wherever they are.
"""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = ("pyproject.toml", "README.md", "CITATION.cff", ".github/ISSUE_TEMPLATE/config.yml")


def set_urls(root: Path, documentation: str, source: str) -> None:
    """Replace the addresses of the documentation and of the source; both end with a slash."""
    present = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    urls = present["project"]["urls"]
    for file in FILES:
        path = root / file
        text = path.read_text(encoding="utf-8")
        for old, new in ((urls["Documentation"], documentation), (urls["Source"], source)):
            text = text.replace(old, f"{new.rstrip('/')}/")
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python docs/_extensions/urls.py DOCUMENTATION SOURCE")
    set_urls(ROOT, *sys.argv[1:])
