"""Words: docstrings begin with a verb or a noun; nothing "is no" such thing, or "that of" one."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PAGES = [  # without tables of names of tests, whose notes are checked in tests/originals
    *(p for p in sorted((ROOT / "docs").rglob("*.md")) if not p.match("_generated/original_*")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")),
]
FIRST_WORDS = re.compile(r"(What|Whether|Which|How|Where|Who|By|Of)\b")
NEGATION = re.compile(r"(?<!\b[Tt]here\s)\b(?:is|are)\s+(?:no|none)\b(?!\s+(?:longer|more)\b)")
"""Also where the line ends after "is"; "there is no" is plain, and None is a value."""

STAND_IN = re.compile(r"\b(?:that\s+of|that\s+which|those\s+of\s+which)\b", re.IGNORECASE)
"""Pronouns in the place of a noun that a reader has to search for: say the noun again."""


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Docstrings of a file, also below assignments, each with its line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield statement.lineno, text


def words(path: Path) -> Iterator[tuple[int, str]]:
    """Comments and string literals of a Python file, each with its line."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Constant(value=str(literal)):
                yield node.lineno, literal
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def offence(path: Path, line: int, text: str) -> str:
    return f"{path.relative_to(ROOT)}:{line}: {' '.join(text.split())[:80]}"


def matches(
    pattern: re.Pattern[str], path: Path, parts: Iterator[tuple[int, str]]
) -> Iterator[str]:
    """Places where a pattern is found."""
    for line, text in parts:
        for found in pattern.finditer(text):
            below = text.count("\n", 0, found.start())
            yield offence(path, line + below, text[max(found.start() - 30, 0) :])


def test_docstrings_begin_with_a_verb_or_a_noun() -> None:
    found = [
        offence(path, line, text)
        for path in SOURCES
        for line, text in docstrings(path)
        if FIRST_WORDS.match(text)
    ]
    assert not found, "\n".join(found)


def in_sources(pattern: re.Pattern[str]) -> list[str]:
    return sorted({one for path in SOURCES for one in matches(pattern, path, words(path))})


def in_prose(pattern: re.Pattern[str]) -> list[str]:
    return [
        one
        for path in PAGES
        for one in matches(pattern, path, iter([(1, path.read_text(encoding="utf-8"))]))
    ]


def test_nothing_in_the_sources_is_no_such_thing() -> None:
    found = in_sources(NEGATION)
    assert not found, "\n".join(found)


def test_nothing_in_the_prose_is_no_such_thing() -> None:
    found = in_prose(NEGATION)
    assert not found, "\n".join(found)


def test_no_pronoun_in_the_sources_stands_for_a_noun_out_of_sight() -> None:
    found = in_sources(STAND_IN)
    assert not found, "\n".join(found)


def test_no_pronoun_in_the_prose_stands_for_a_noun_out_of_sight() -> None:
    found = in_prose(STAND_IN)
    assert not found, "\n".join(found)
