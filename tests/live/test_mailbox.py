"""Mailboxes: however news are merged, a page comes to the same."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stagecache.live.follower import News
from stagecache.live.mailbox import Mailbox
from stagecache.views import GraphView, NodeInfo
from tests.live.page import Page

NODES = st.integers(0, 3)


@st.composite
def news(draw: st.DrawFn) -> News:
    """News of four nodes, seldom with another view."""
    names = draw(st.sampled_from(["", "", "abcd", "efgh"]))
    view = GraphView([NodeInfo(name, "entry") for name in names], ()) if names else None
    nodes: dict[str, dict[str, Any]] = draw(
        st.dictionaries(NODES.map(str), st.fixed_dictionaries({"count": st.integers(0, 9)}))
    )
    flashes = {name: sorted(draw(st.sets(NODES))) for name in ("computed", "written")}
    found = draw(st.dictionaries(NODES, st.just([[0], None, 0, 0, None])))
    rest = {"reasons": {"words": ["It is so."], "of": found}, "state": "paused"}
    return News(view, {"nodes": nodes, **flashes, "time": draw(st.floats(0, 1)), **rest})


@given(st.lists(st.tuples(news(), st.booleans()), min_size=1))
def test_a_slow_page_comes_to_the_same_as_a_fast_one(given: list[tuple[News, bool]]) -> None:
    view = GraphView([NodeInfo(name, "entry") for name in "abcd"], ())
    update = {
        "nodes": {}, "computed": [], "written": [], "reasons": {}, "time": 0.0, "state": "running",
    }  # fmt: skip
    fast, slow, mailbox = Page(), Page(), Mailbox()
    for each, is_taken in [(News(view, update), False), *given]:
        fast.tell(each)
        mailbox.put(each)
        if is_taken:
            slow.tell(mailbox.take(0.0))
    slow.tell(mailbox.take(0.0))
    assert (slow.nodes, slow.time, slow.state) == (fast.nodes, fast.time, fast.state)
    assert slow.reasons == fast.reasons
    assert slow.view == fast.view
    if all(each.view is None for each, _ in given):
        assert set(slow.computed) == set(fast.computed)
        assert set(slow.written) == set(fast.written)
    assert mailbox.take(0.0) is None
