"""A read-only view of a dependency graph: to look at, to search, to draw, and to take elsewhere.

A view is made of a `Graph`, a `System` or a `State`, and does not follow what happens to it later.
Selections are views again::

    system.graph                              all nodes of a model
    state.graph.subsystem("pendulum")         the nodes of one subsystem, with their status
    state.graph.upstream_of("anchor.torque")  what it is computed from
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property, partial
from typing import Any, Final, TypeAlias, final

from attrs import evolve

from stagecache.checks import (
    did_you_mean,
    require_count,
    require_each,
    require_text,
    wrong_type,
)
from stagecache.errors import (
    DuplicateNameError,
    UnknownChoiceError,
    UnknownPathError,
    short_repr,
)
from stagecache.views.formats.dot import dot_of
from stagecache.views.formats.html import html_of
from stagecache.views.formats.json_text import json_of, parts_of_json
from stagecache.views.formats.mermaid import mermaid_of
from stagecache.views.formats.svg import svg_of
from stagecache.views.nodes import KINDS, EdgeInfo, NodeInfo, Parts, Reason, Status
from stagecache.views.reach import neighbours, reached, shortest_path

Impacts: TypeAlias = Mapping[str, Sequence[str]]
Reasons: TypeAlias = Mapping[str, Reason]

MOST_LISTED: Final = 12


@final
class GraphView:
    """Nodes and edges of a graph, as they were when it was made.

    Parameters
    ----------
    nodes : iterable of NodeInfo
        With paths of their own.
    edges : iterable of EdgeInfo
        Between these. There is one edge at most from a node to another: of several, the first
        counts. They are kept in the order of their sources, then of their targets.
    title : str
        Title of pictures.
    stages : sequence of str
        The stages in order, which are the columns of pictures. Stages of nodes that are missing
        here are put last: first stages of stage nodes, then others, as they come.
    find_impacts : callable, optional
        Returns `impacts`, when they are first asked for.
    find_reasons : callable, optional
        Returns `reasons`, when they are first asked for.

    Raises
    ------
    DuplicateNameError
        Two nodes have one path.
    UnknownPathError
        An edge ends at no node.
    WrongTypeError, InvalidNameError

    Notes
    -----
    Views are equal if their titles, stages, nodes and edges are, in this order.
    """

    def __init__(
        self,
        nodes: Iterable[NodeInfo],
        edges: Iterable[EdgeInfo],
        title: str = "",
        stages: Iterable[str] = (),
        find_impacts: Callable[[], Impacts] = dict,
        find_reasons: Callable[[], Reasons] = dict,
    ) -> None:
        self._title = require_text(title, "the title of a view")
        self._find_impacts = find_impacts
        self._find_reasons = find_reasons
        self._nodes: dict[str, NodeInfo] = {}
        for node in require_each(nodes, NodeInfo, "nodes of a view", "pass NodeInfo(path, kind)"):
            if node.path in self._nodes:
                raise DuplicateNameError(
                    f"node {node.path!r}: is there twice",
                    "a path for each node of its own",
                    f"{self._nodes[node.path]} and {node}",
                    "give subsystems and items different names",
                )
            self._nodes[node.path] = node
        self._in_order = tuple(self._nodes.values())
        numbers = {path: number for number, path in enumerate(self._nodes)}
        found: dict[tuple[int, int], EdgeInfo] = {}
        hint = "pass EdgeInfo(source, target)"
        for edge in require_each(edges, EdgeInfo, "edges of a view", hint):
            for end in (edge.source, edge.target):
                if end not in numbers:
                    raise self._unknown(end)
            found.setdefault((numbers[edge.source], numbers[edge.target]), edge)
        self._edges = tuple(found[pair] for pair in sorted(found))
        stages = require_each(stages, str, "stages of a view", "pass their names")
        named = [n.stage for n in self if n.kind == "stage"] + [n.stage for n in self]
        self._stages = tuple(dict.fromkeys([*stages, *[stage for stage in named if stage]]))

    # ------------------------------------------------------------------ nodes and edges

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[NodeInfo]:
        return iter(self._in_order)

    def __contains__(self, item: object) -> bool:
        """Return True if the view has this node, or one of this path."""
        if isinstance(item, NodeInfo):
            return self._nodes.get(item.path) == item
        return self._at(item) is not None

    def __getitem__(self, path: str) -> NodeInfo:
        """Return the node of that path; "/" may stand for ".", as in "pendulum/tip".

        Raises
        ------
        UnknownPathError
        """
        node = self._at(path)
        if node is None:
            raise self._unknown(path)
        return node

    def find(self, pattern: str) -> tuple[NodeInfo, ...]:
        """Return the nodes whose path fits: ``*`` stands for anything, ``?`` for one character.

        Brackets stand for themselves, as in ``springs.force[*]``, and "/" may stand for ".".
        """
        literal = require_text(pattern, "find(pattern)").replace("[", "[[]")
        wanted = (literal, literal.replace("/", "."))
        return tuple([n for n in self if any(fnmatchcase(n.path, each) for each in wanted)])

    @property
    def title(self) -> str:
        """Title of pictures."""
        return self._title

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages in order, also stages of nodes that a selection left out."""
        return self._stages

    @property
    def nodes(self) -> tuple[NodeInfo, ...]:
        """All nodes, in the order of the model."""
        return self._in_order

    @property
    def edges(self) -> tuple[EdgeInfo, ...]:
        """All edges."""
        return self._edges

    @property
    def subsystems(self) -> tuple[str, ...]:
        """The names of the subsystems that have a node, in order."""
        return tuple(dict.fromkeys([n.subsystem for n in self if n.subsystem]))

    @property
    def counts(self) -> Mapping[str, int]:
        """Numbers of nodes of each kind, and of edges."""
        found = dict.fromkeys(KINDS, 0)
        for node in self:
            found[node.kind] = found.get(node.kind, 0) + 1
        return {**found, "edge": len(self._edges)}

    @cached_property
    def impacts(self) -> Impacts:
        """Paths of valid entries that a write would make stale, by the path of the variable.

        The results of `State.impact` or `Graph.impact` when the view was made; empty for the view
        of a System. Cost O(variables * entries) the first time.
        """
        return self._find_impacts()

    @cached_property
    def reasons(self) -> Reasons:
        """Reasons why entries are not valid, by path of the entry.

        The first sentences of `State.explain` or `Graph.explain`, as they were when the view was
        made; empty for the view of a System. Cost O(nodes + edges) the first time.
        """
        return self._find_reasons()

    # ------------------------------------------------------------------ selections

    def select(
        self,
        *,
        subsystem: str | None = None,
        kind: str | None = None,
        stage: str | None = None,
        status: str | None = None,
    ) -> "GraphView":
        """Return the nodes of a subsystem, kind, stage and status, and edges between them.

        Omitted criteria do not count; ``subsystem=""`` selects nodes of the whole State.

        Raises
        ------
        UnknownChoiceError
            Unknown kind or status.
        """
        for what, value, known in (("kind", kind, KINDS), ("status", status, tuple(Status))):
            if value is not None and value not in known:
                raise UnknownChoiceError(
                    f"{self!r}: cannot select by {what}",
                    f"one of {', '.join(repr(str(each)) for each in known)}",
                    short_repr(value),
                    f"give one of these, or leave out {what}=",
                )
        wanted = {"subsystem": subsystem, "kind": kind, "stage": stage, "status": status}
        asked = {name: str(value) for name, value in wanted.items() if value is not None}
        return self._of(
            [n.path for n in self if all(str(getattr(n, k)) == v for k, v in asked.items())]
        )

    def upstream_of(self, path: str, *, depth: int | None = None) -> "GraphView":
        """Return a node and its prerequisites, direct and indirect, up to a depth.

        Raises
        ------
        UnknownPathError, OutOfRangeError
        """
        return self._of(reached(self[path].path, self._above, _depth(depth)))

    def downstream_of(self, path: str, *, depth: int | None = None) -> "GraphView":
        """Return a node and its dependents, direct and indirect, up to a depth.

        Raises
        ------
        UnknownPathError, OutOfRangeError
        """
        return self._of(reached(self[path].path, self._below, _depth(depth)))

    def around(self, path: str, *, depth: int = 1) -> "GraphView":
        """Return a node and its prerequisites and dependents, up to a depth.

        Raises
        ------
        UnknownPathError, OutOfRangeError
        """
        start = self[path].path
        depth = require_count(depth, 0, "depth of a view")
        return self._of([*reached(start, self._above, depth), *reached(start, self._below, depth)])

    def path_between(self, source: str, target: str) -> tuple[str, ...]:
        """Return a shortest path from a node down to another, with both; empty without a path.

        Raises
        ------
        UnknownPathError
        """
        return shortest_path(self[source].path, self[target].path, self._below)

    def _of(self, paths: Iterable[str]) -> "GraphView":
        chosen = set(paths)
        return GraphView(
            [node for path, node in self._nodes.items() if path in chosen],
            [e for e in self._edges if e.source in chosen and e.target in chosen],
            self._title,
            self._stages,
            lambda: self.impacts,
            lambda: self.reasons,
        )

    @cached_property
    def _above(self) -> Mapping[str, Sequence[str]]:
        return neighbours((e.target, e.source) for e in self._edges)

    @cached_property
    def _below(self) -> Mapping[str, Sequence[str]]:
        return neighbours((e.source, e.target) for e in self._edges)

    def with_costs(self, rows: Iterable[Any]) -> "GraphView":
        """Return the view with times of the last computations, and hit rates of reads.

        Parameters
        ----------
        rows : iterable of EntrySummary
            As a trace has them: ``state.graph.with_costs(trace.summary().rows)``.

        Raises
        ------
        WrongTypeError
        """
        nodes = dict(self._nodes)
        for row in require_each(rows, object, "rows of costs", "pass trace.summary().rows"):
            if not hasattr(row, "hit_rate"):
                hint = "pass trace.summary().rows"
                raise wrong_type(row, "rows of costs", "an iterable of EntrySummary", hint)
            if row.entry in nodes:
                seconds = row.last_seconds if row.computed else None
                node = nodes[row.entry]
                nodes[row.entry] = evolve(node, seconds=seconds, hit_rate=row.hit_rate)
        parts = (nodes.values(), self._edges, self._title, self._stages)
        return GraphView(*parts, lambda: self.impacts, lambda: self.reasons)

    # ------------------------------------------------------------------ to take elsewhere

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the view as JSON, which `from_json` reads.

        Parameters
        ----------
        indent : int, optional
            How far to indent; all is on one line if it is not given.

        Notes
        -----
        The document is an object. In version 2 of the format it has

        format : string
            "stagecache graph".
        version : number
            2. It is raised when one who reads the old format would misunderstand the new one.
        title : string
            Title of pictures.
        stages : array of strings
            The stages, in order.
        nodes : array of objects
            With the attributes of `NodeInfo`: the strings path, kind, variant, subsystem, stage,
            computed_by, status, value, file, waits_for, column, family and alike; line, a number;
            version, seconds and hit_rate, each a number or null.
        edges : array of objects
            With the attributes of `EdgeInfo`: the strings source, target and kind.

        All are written. To be read, a node needs its path and kind, and an edge its source and
        target; the rest may be missing. What is not known there is left out.
        """
        if indent is not None:
            indent = require_count(indent, 0, "to_json(indent=...)")
        return json_of(self, indent)

    @classmethod
    def from_json(cls, text: str) -> "GraphView":
        """Read a view that `to_json` has written.

        Raises
        ------
        GraphFormatError
            It was not, or it was by another version that wrote another format.
        """
        return cls._from(parts_of_json(require_text(text, "from_json(text)")))

    def to_networkx(self) -> Any:
        """Return the view as a `networkx.DiGraph`, which `from_networkx` reads.

        Its nodes are paths. They have the attributes of `NodeInfo` as str, int and float, without
        those that are None; an edge has its "kind", and the graph has "title" and, as JSON,
        "stages". So networkx can write it in any of its formats.
        """
        from stagecache.views.formats.networkx_graph import networkx_of  # noqa: PLC0415  # takes a while

        return networkx_of(self)

    @classmethod
    def from_networkx(cls, graph: Any) -> "GraphView":
        """Return the view that a `networkx.DiGraph` came from, or one of a graph made by hand.

        A node without a kind is a variable if no edge leads to it, else an entry.

        Raises
        ------
        GraphFormatError
            An attribute that `NodeInfo` or `EdgeInfo` has is of another type here, or "stages" is
            not a JSON array.
        """
        from stagecache.views.formats.networkx_graph import parts_of_networkx  # noqa: PLC0415  # likewise

        if not hasattr(graph, "nodes"):
            hint = "read a file of JSON by from_json()"
            raise wrong_type(graph, "from_networkx(graph)", "a networkx.DiGraph", hint)
        return cls._from(parts_of_networkx(graph))

    def to_dot(self) -> str:
        """Return a picture for Graphviz: ``dot -Tsvg``."""
        return dot_of(self)

    def to_mermaid(self) -> str:
        """Return a flowchart for Mermaid, as Markdown pages show it."""
        return mermaid_of(self)

    # ------------------------------------------------------------------ to look at

    def to_html(self, impacts: Impacts | None = None) -> str:
        """Return a page to explore the graph: one file that needs no network.

        Large graphs open folded. The page embeds `reasons`, so it tells why an entry is stale.

        Parameters
        ----------
        impacts : mapping of str to sequence of str, optional
            By path of a variable: what a write of it invalidates, for its what-if. Of the others
            the page follows the edges. If it is not given, `impacts` of the view.

        Raises
        ------
        WrongTypeError
        """
        if impacts is not None and not isinstance(impacts, Mapping):
            hint = "pass what impacts of a view is"
            raise wrong_type(impacts, "to_html(impacts)", "a mapping of paths", hint)
        return html_of(self, self.impacts if impacts is None else impacts, self.reasons)

    def to_svg(self, *, most: int = 500) -> str:
        """Return an SVG, made without other programs: stages are columns, subsystems are bands.

        Parameters
        ----------
        most : int
            Most nodes to show one by one. If there are more, one box stands for all variables of
            a subsystem, and one for all its entries of a stage; or of several subsystems, as many
            as it takes to have no more boxes than that, and at most two edges for each.
        """
        return svg_of(self, require_count(most, 0, "to_svg(most=...)"))

    def draw(self, ax: Any = None, *, most: int = 500) -> Any:
        """Draw the same picture on axes of matplotlib, and return these.

        Parameters
        ----------
        ax : object, optional
            The `Axes`; new ones if it is not given.
        most : int
            Same as for `to_svg`.

        Raises
        ------
        MissingExtraError
            matplotlib is not installed.
        """
        from stagecache.views.formats.plot import draw_on  # noqa: PLC0415  # few need it

        return draw_on(self, ax, require_count(most, 0, "draw(most=...)"))

    def _repr_html_(self) -> str:
        style = "overflow: auto; max-height: 80vh"
        return f'<div class="stagecache-graph" style="{style}">{svg_of(self)}</div>'

    # ------------------------------------------------------------------ the rest

    @classmethod
    def _from(cls, parts: Parts) -> "GraphView":
        return cls(parts.nodes, parts.edges, parts.title, parts.stages)

    def _at(self, path: object) -> NodeInfo | None:
        if not isinstance(path, str):
            return None
        return self._nodes.get(path) or self._nodes.get(path.replace("/", "."))

    def _unknown(self, path: object) -> UnknownPathError:
        listed = ", ".join(map(repr, list(self._nodes)[:MOST_LISTED]))
        return UnknownPathError(
            f"node {short_repr(path)}: is not in this view",
            "the path of a node, as 'pendulum.tip'",
            short_repr(path),
            did_you_mean(str(path), self._nodes)
            or f"use one of {listed}" + (", ..." if len(self) > MOST_LISTED else ""),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphView):
            return NotImplemented
        return self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    @property
    def _parts(self) -> Parts:
        return Parts(self.nodes, self.edges, self.title, self.stages)

    def __reduce__(self) -> Any:
        parts = (self.nodes, self.edges, self.title, self.stages)
        return GraphView, (*parts, partial(dict, self.impacts), partial(dict, self.reasons))

    def __repr__(self) -> str:
        counts = ", ".join(f"{number} {kind}" for kind, number in self.counts.items() if number)
        return f"GraphView({self.title!r}: {counts})"


def _depth(depth: int | None) -> int | None:
    return None if depth is None else require_count(depth, 0, "depth of a view")
