"""XML: what is refused, and what errors name."""

from pathlib import Path

import pytest

from stagecache.errors import FileFormatError
from stagecache.models import reading, xml
from tests.models.conftest import Write


def refused(text: str, write: Write) -> str:
    with pytest.raises(FileFormatError) as caught:
        xml.read_xml(write(text, "x.xml"))
    return str(caught.value)


BOMB = '<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;&b;">]><a>&c;</a>'
OUTSIDE = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><a>&b;</a>'


@pytest.mark.parametrize(
    "text", [BOMB, OUTSIDE, "<!DOCTYPE a><a />", '<!DOCTYPE a SYSTEM "a.dtd"><a/>']
)
def test_document_types_and_entities_are_refused(text: str, write: Write) -> None:
    assert "x.xml, line 1: has a document type or an entity" in refused(text, write)


@pytest.mark.parametrize("text", ["", "<a>", "<a></b>", "<a>&b;</a>", "a", "<a/><b/>", "<a b=c/>"])
def test_what_is_not_xml_is_refused_with_its_line(text: str, write: Write) -> None:
    assert "x.xml, line 1: is not XML" in refused(text, write)


def test_an_unknown_encoding_is_refused(write: Write) -> None:
    assert "is not XML" in refused('<?xml version="1.0" encoding="klingon"?><a/>', write)


def test_elements_up_to_a_number_and_a_depth_are_read(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xml, "MOST_ELEMENTS", 10)
    assert len(xml.read_xml(write(f"<a>{'<b/>' * 9}</a>")).children) == 9
    assert "has too many elements" in refused(f"<a>{'<b/>' * 10}</a>", write)
    monkeypatch.setattr(xml, "MOST_ELEMENTS", 1000)
    deep = xml.MOST_DEPTH
    xml.read_xml(write("<a>" * deep + "</a>" * deep))
    assert "has too many elements" in refused("<a>" * (deep + 1) + "</a>" * (deep + 1), write)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"x" * 101)
    assert len(reading.read_bytes(path, 101)) == 101
    with pytest.raises(FileFormatError, match="is too large"):
        reading.read_bytes(path, 100)


def test_values_are_read_or_refused_with_the_place(write: Write) -> None:
    root = xml.read_xml(write('<m name="arm">\n<a>1 2</a><b>Infinity</b><c>true</c><d/></m>'))
    assert root.numbers_of("a", 2) == [1.0, 2.0]
    assert root.number_of("b", finite=False) == float("inf")
    assert root.flag_of("c", default=False)
    assert root.flag_of("d", default=True)
    assert root.number_of("e", 3.0) == 3.0
    with pytest.raises(FileFormatError, match=r"line 2: <b> of m 'arm': not 1 number"):
        root.number_of("b")
    with pytest.raises(FileFormatError, match="<m name='arm'>: has no <e>"):
        root.numbers_of("e")
    with pytest.raises(FileFormatError, match="has no <e>"):
        root.require("e")
    with pytest.raises(FileFormatError, match="not numbers"):
        root.numbers_of("c")


@pytest.mark.parametrize(
    ("text", "found"), [("1.5", 1.5), ("1e3", 1000.0), ("1_0", None), ("x", None), ("", None)]
)
def test_numbers_are_those_of_files(text: str, found: float | None) -> None:
    assert reading.number(text) == found


def test_counts_may_be_written_as_floats() -> None:
    assert [reading.whole(text) for text in ("3", "3.0", "3.5", "-1", "x", "nan")] == [
        *(3, 3),
        *(None,) * 4,
    ]
