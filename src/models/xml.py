"""XML without surprises: elements with their lines, up to limits, and without a DTD.

The parser is expat, of the standard library. Document types and entities are refused where they
begin, so nothing is expanded, and no other file is opened.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NoReturn, final
from xml.parsers import expat

from stagecache.errors import FileFormatError, short_repr
from stagecache.models.reading import bad, numbers, read_bytes

MOST_BYTES: Final = 64 * 1024 * 1024
MOST_ELEMENTS: Final = 1_000_000
MOST_DEPTH: Final = 64

TRUE: Final = ("true", "1")
FALSE: Final = ("false", "0")


@final
class Element:
    """An element of a file: its tag, attributes, text and children.

    Attributes
    ----------
    tag : str
    attributes : dict of str to str
    children : list of Element
    parent : Element or None
    """

    __slots__ = ("attributes", "children", "file", "line", "parent", "parts", "tag")

    def __init__(
        self, tag: str, attributes: dict[str, str], parent: "Element | None", file: str, line: int
    ) -> None:
        self.tag = tag
        self.attributes = attributes
        self.parent = parent
        self.file = file
        self.line = line
        self.children: list[Element] = []
        self.parts: list[str] = []

    @property
    def name(self) -> str:
        """The attribute `name`; "" without one."""
        return self.attributes.get("name", "").strip()

    @property
    def text(self) -> str:
        """The text of the element itself, without spaces around it."""
        return "".join(self.parts).strip()

    def __iter__(self) -> Iterator["Element"]:
        return iter(self.children)

    def child(self, *tags: str) -> "Element | None":
        """Return the first child of one of these tags."""
        return next((c for tag in tags for c in self.children if c.tag == tag), None)

    def require(self, tag: str) -> "Element":
        """Return the child of a tag.

        Raises
        ------
        FileFormatError
        """
        found = self.child(tag)
        if found is None:
            raise self.bad(f"has no <{tag}>", f"a child <{tag}>", shown_tags(self))
        return found

    def objects(self, tag: str) -> "list[Element]":
        """Return the elements of a set: <BodySet><objects>...; empty without one."""
        holder = self.child(tag)
        listed = None if holder is None else holder.child("objects")
        return [] if listed is None else listed.children

    # ------------------------------------------------------------------ values

    def text_of(self, *tags: str) -> str:
        """Return the text of the first child of one of these tags; "" without one."""
        found = self.child(*tags)
        return "" if found is None else found.text

    def numbers_of(
        self, tag: str, count: int | None = None, default: Any = None, *, finite: bool = True
    ) -> list[float]:
        """Return the numbers of a child, or the default.

        Raises
        ------
        FileFormatError
            They are not numbers, or of another count; or there is neither a child nor a default.
        """
        found = self.child(tag)
        if found is None or (not found.text and default is not None):
            if default is None:
                raise self.bad(f"has no <{tag}>", f"a child <{tag}>", shown_tags(self))
            return list(default)
        return numbers(found.text, count, found.where, finite=finite)

    def number_of(self, tag: str, default: float | None = None, *, finite: bool = True) -> float:
        """Return the number of a child, or the default; else as above."""
        return self.numbers_of(tag, 1, None if default is None else [default], finite=finite)[0]

    def flag_of(self, tag: str, *, default: bool) -> bool:
        """Return the truth of a child: true or false, or the default.

        Raises
        ------
        FileFormatError
        """
        text = self.text_of(tag).lower()
        if text in TRUE:
            return True
        if text and text not in FALSE:
            where = self.child(tag) or self
            raise where.bad("not true or false", "true or false", short_repr(text))
        return False if text else default

    # ------------------------------------------------------------------ errors

    @property
    def where(self) -> str:
        """The place in the file, as errors name it."""
        name = f" name={self.name!r}" if self.name else ""
        owner, inside = self.parent, ""
        if not name:
            while owner is not None and not owner.name:
                owner = owner.parent
            inside = f" of {owner.tag} {owner.name!r}" if owner is not None else ""
        return f"{self.file}, line {self.line}: <{self.tag}{name}>{inside}"

    def bad(self, problem: str, expected: str, got: str, hint: str = "") -> FileFormatError:
        """Return the error of an element that says what it must not."""
        return bad(self.where, problem, expected, got, *([hint] if hint else []))


def shown_tags(element: Element) -> str:
    """Show the tags of the children of an element."""
    tags = list(dict.fromkeys(child.tag for child in element))
    return ", ".join(f"<{tag}>" for tag in tags[:6]) + (", ..." if len(tags) > 6 else "") or "none"


def read_xml(path: Path) -> Element:
    """Return the root of a file.

    Raises
    ------
    FileFormatError
        It is not XML, has a document type or entities, or is too large or too deep.
    OSError
    """
    return _Reader(path.name).read(read_bytes(path, MOST_BYTES))


@final
class _Reader:
    """Builds the elements of one file."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._root: Element | None = None
        self._open: list[Element] = []
        self._count = 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.StartDoctypeDeclHandler = self._refuse_dtd
        self._parser.EntityDeclHandler = self._refuse_dtd

    def read(self, data: bytes) -> Element:
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            raise bad(
                f"{self._file}, line {error.lineno}",
                "is not XML",
                "XML that is well-formed",
                expat.ErrorString(error.code),
            ) from None
        except (ValueError, LookupError) as error:  # of an encoding that it does not know
            raise bad(self._file, "is not XML", "XML in UTF-8", str(error)) from None
        assert self._root is not None, "expat refuses a file without an element"
        return self._root

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > MOST_ELEMENTS or len(self._open) >= MOST_DEPTH:
            expected = f"up to {MOST_ELEMENTS:,} elements, {MOST_DEPTH} deep"
            raise bad(self._place, "has too many elements", expected, "more")
        parent = self._open[-1] if self._open else None
        element = Element(tag, attributes, parent, self._file, self._parser.CurrentLineNumber)
        if parent is None:
            self._root = element
        else:
            parent.children.append(element)
        self._open.append(element)

    def _end(self, _tag: str) -> None:
        self._open.pop()

    def _text(self, text: str) -> None:
        self._open[-1].parts.append(text)

    @property
    def _place(self) -> str:
        return f"{self._file}, line {self._parser.CurrentLineNumber}"

    def _refuse_dtd(self, *_: object) -> NoReturn:
        raise bad(
            self._place,
            "has a document type or an entity",
            "XML without <!DOCTYPE ...> and <!ENTITY ...>, which could open other files",
            "one of them",
            "remove it: models need none",
        )
