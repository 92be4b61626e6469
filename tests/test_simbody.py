"""Every documented member of the originals has the name that the table of the docs gives."""

import csv
import importlib
from pathlib import Path

import pytest

import stagecache

TABLE = Path(__file__).parents[1] / "docs" / "coming_from" / "simbody.csv"
HOMES = ("stagecache", "stagecache.state", "stagecache.system", "stagecache.assembly")

with TABLE.open(encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file))
MEMBERS = [row for row in ROWS if row["python_names"] != "-"]


def owner_of(name: str) -> object:
    """The class or the module of that name."""
    homes = [importlib.import_module(home) for home in HOMES]
    return next(getattr(home, name) for home in homes if hasattr(home, name))


def has(owner: object, member: str) -> bool:
    annotated = [base.__annotations__ for base in getattr(owner, "__mro__", ())[:-1]]
    return hasattr(owner, member) or any(member in names for names in annotated)


@pytest.mark.parametrize(
    "row", MEMBERS, ids=lambda row: f"{row['class']}::{row['documented_name']}"
)
def test_a_documented_member_is_found(row: dict[str, str]) -> None:
    for name in row["python_names"].split():
        owner, _, member = name.partition(".")
        assert has(owner_of(owner), member) if member else owner_of(owner), name


def test_all_270_members_are_listed_once() -> None:
    listed = [(row["class"], row["documented_name"]) for row in ROWS]
    assert (len(MEMBERS), len(set(listed))) == (270, len(listed))


def test_each_function_of_the_facade_is_a_documented_member() -> None:
    functions = {
        f"simbody.{name}"
        for name, function in vars(stagecache.simbody).items()
        if callable(function)
        and getattr(function, "__module__", "") == "stagecache.simbody"
        and not name.startswith("_")
    }
    assert functions == {
        name for row in MEMBERS for name in row["python_names"].split() if "simbody." in name
    }
