"""Random views, with names that have all that needs to be escaped somewhere."""

from hypothesis import strategies as st

from stagecache.views import EdgeInfo, EdgeKind, GraphView, NodeInfo, Status

NASTY = (
    'a"b',
    "<b>&amp;",
    "l1\nl2",
    "größe",
    "質量",
    "[0]",
    "\\N",
    "]]>",
    "`x`",
    "{{",
    "$x$",
    "end",
)

names = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)


@st.composite
def views(draw: st.DrawFn, most: int = 8) -> GraphView:
    """Views with edges of all kinds in all directions, so with cycles."""
    paths = draw(st.lists(names.filter(bool), unique=True, max_size=most))
    nodes = [
        NodeInfo(
            path,
            draw(st.sampled_from(["variable", "entry", "stage", "hook"])),
            draw(names),
            draw(st.sampled_from(["", *NASTY[:4]])),
            draw(st.sampled_from(["", "Position", "<&>"])),
            draw(names),
            draw(st.sampled_from(Status)),
            draw(st.none() | st.integers(0, 2**60)),
            draw(names),
            draw(names),
            draw(st.integers(0, 1000)),
            draw(st.none() | st.floats(0, 1e9)),
            draw(st.none() | st.floats(0, 1)),
            draw(names),
            draw(st.sampled_from(["", "Position", "<&>"])),
            draw(names),
            draw(names),
        )
        for path in paths
    ]
    ends = st.sampled_from(paths or [""])
    edges = draw(st.lists(st.builds(EdgeInfo, ends, ends, st.sampled_from(EdgeKind)), max_size=12))
    stages = draw(st.lists(names.filter(bool), max_size=3))
    return GraphView(nodes, edges if paths else [], draw(names), stages)
