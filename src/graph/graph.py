"""A reactive cache: variables, and entries that are computed from them when they are read.

>>> graph = Graph("pendulum")
>>> length = graph.variable("length", 2.0)
>>> angle = graph.variable("angle", 0.0)
>>> @graph.entry(prerequisites=(length, angle))
... def tip(length, angle):
...     return length() * (1 - angle() ** 2 / 2)
>>> tip()
2.0
>>> angle.set(1.0)
>>> tip.is_valid(), tip()
(False, 1.0)
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from copy import deepcopy
from functools import cache
from graphlib import TopologicalSorter
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeVar, final, overload

from attrs import frozen

from stagecache.checks import did_you_mean, require_bool, require_count, require_path
from stagecache.display.html import MOST_ROWS, heading, output, status, table
from stagecache.display.words import counted
from stagecache.errors import (
    DuplicateNameError,
    ForeignNodeError,
    InvalidNameError,
    NodeInUseError,
    UnknownAttributeError,
    UnknownNodeError,
    WrongTypeError,
    short_repr,
)
from stagecache.graph.checkpoint import (
    Checkpoint,
    release_forgotten,
    snapshot_of,
)
from stagecache.graph.declaration import (
    Equality,
    check_equal,
    check_function,
    check_prerequisites,
    check_shared,
)
from stagecache.graph.handles import (
    REMOVED,
    AbstractNode,
    Entry,
    Handles,
    Variable,
)
from stagecache.graph.kind import NodeKind
from stagecache.graph.observing import MOST_EVENTS, OBSERVERS_OF_NEW
from stagecache.graph.sources import shown_file, source_of
from stagecache.graph.status import status_of
from stagecache.graph.store import Store
from stagecache.graph.structure import Structure
from stagecache.views.nodes import EdgeInfo, NodeInfo, Status
from stagecache.views.view import GraphView

if TYPE_CHECKING:
    from stagecache.files.report import LoadReport
    from stagecache.graph.pickled import Declaration, NodeValues
    from stagecache.inspection.explain.explanation import Explanation
    from stagecache.inspection.explain.impact import Impact
    from stagecache.inspection.strict.reads import ReadLog
    from stagecache.inspection.trace.trace import Trace

T = TypeVar("T")
N1 = TypeVar("N1", bound=AbstractNode)  # of prerequisites, so that a lambda knows its arguments
N2 = TypeVar("N2", bound=AbstractNode)
N3 = TypeVar("N3", bound=AbstractNode)

MOST_COMPARED = 2_000  # names among which a similar one is looked for: that takes a while
MOST_LISTED = 12  # names that an error message lists


@frozen
class GraphStatistics:
    """Counts of one `Graph` at the moment when they were asked for."""

    variables: int
    """Nodes that are written from outside."""

    entries: int
    """Nodes that are computed."""

    valid_entries: int
    """Entries that a read would not compute."""

    edges: int
    """Declared prerequisites."""

    groups: int
    """Sets of nodes that always become stale together; a write visits groups, not nodes."""

    changes: int
    """Writes and explicit invalidations since the graph was made."""


@final
class Graph:
    """A reactive cache of variables and computed entries.

    An entry's compute function is called with the handles of its prerequisites, in the order in
    which they are declared, and calls those whose value it needs: what it does not read is not
    computed. The handles it gets are those of the graph that computes, so a function that reads
    nothing else serves copies of the graph as well.

    Any number of threads may read at the same time, and an entry that several of them need is
    computed once. A write, or a change of the structure, needs the graph to itself.

    An operation that is cut short by an error, such as Control-C or a lack of memory, has happened
    or has not. Valid values are right; more entries may be stale than before.

    Parameters
    ----------
    name : str
        For messages.
    """

    __slots__ = ("__weakref__", "_family", "_handles", "name")

    def __init__(self, name: str = "graph") -> None:
        self._become(_check_graph_name(name), Handles(Store(), [], self), object())

    def _become(self, name: str, handles: Handles, family: object) -> None:
        self.name = name
        self._handles = handles
        self._family = family  # the same in all copies
        for observe in OBSERVERS_OF_NEW.get():
            observe(self)

    # ------------------------------------------------------------------ declaring

    def variable(self, name: str, value: T) -> Variable[T]:
        """Add a variable with its first value.

        Raises
        ------
        InvalidNameError, DuplicateNameError
        """
        self._check_name("variable", name)
        return self._handles.declare(name, NodeKind.VARIABLE, value)  # type: ignore[return-value]  # a variable

    @overload
    def entry(
        self,
        name: str,
        compute: Callable[[N1], T],
        *,
        prerequisites: tuple[N1],
        equal: Equality = None,
        shared: bool = False,
        version: str = "",
    ) -> Entry[T]: ...

    @overload
    def entry(
        self,
        name: str,
        compute: Callable[[N1, N2], T],
        *,
        prerequisites: tuple[N1, N2],
        equal: Equality = None,
        shared: bool = False,
        version: str = "",
    ) -> Entry[T]: ...

    @overload
    def entry(
        self,
        name: str,
        compute: Callable[[N1, N2, N3], T],
        *,
        prerequisites: tuple[N1, N2, N3],
        equal: Equality = None,
        shared: bool = False,
        version: str = "",
    ) -> Entry[T]: ...

    @overload
    def entry(
        self,
        name: str,
        compute: Callable[..., T],
        *,
        prerequisites: Iterable[AbstractNode] = (),
        equal: Equality = None,
        shared: bool = False,
        version: str = "",
    ) -> Entry[T]: ...

    @overload
    def entry(
        self,
        *,
        prerequisites: Iterable[AbstractNode] = (),
        equal: Equality = None,
        shared: bool = False,
        version: str = "",
    ) -> Callable[[Callable[..., T]], Entry[T]]: ...

    def entry(
        self,
        name: str | None = None,
        compute: Callable[..., T] | None = None,
        *,
        prerequisites: Iterable[AbstractNode] = (),
        equal: Equality = None,
        shared: bool = False,
        version: str = "",
    ) -> Entry[T] | Callable[[Callable[..., T]], Entry[T]]:
        """Add an entry; without name and function, as a decorator of the function.

        Nothing is computed before the entry is read. Cost O(prerequisites), amortised.

        Parameters
        ----------
        name : str
            A decorated function gives its own.
        compute : callable
            Called with one handle for each prerequisite; returns the value.
        prerequisites : iterable of Variable or Entry
            Nodes of this graph. The value may depend on nothing else.
        equal : bool or callable
            Comparison of a new value with the one before; True stands for ``==``. If they are
            equal, the old one stays, and entries below that depend on nothing else that has changed
            are not computed again (early cutoff). To find that out, a read of one of them first
            computes its prerequisites, even those that it would not read this time.
        shared : bool
            True if a value that was computed for the same values of the prerequisites is taken,
            also from another graph, and as `shared_results` says, from another process. A read
            first computes all prerequisites, unless they are shared, too.
        version : str
            Version of a shared function, for a change of something that it uses outside of its
            code, such as a file of data.

        Raises
        ------
        InvalidNameError, DuplicateNameError, WrongTypeError, ComputeSignatureError,
        WrongTypeError, ForeignNodeError, RemovedNodeError,
        DuplicatePrerequisiteError, DeclarationError
            And the graph is as before.
        """
        arguments = check_prerequisites(prerequisites)
        what = f"entry {name!r}" if name is not None else "entry"
        shared_as = check_shared(what, shared, version, has_prerequisites=bool(arguments))
        if name is None and compute is None:

            def decorate(function: Callable[..., T]) -> Entry[T]:
                name = getattr(function, "__name__", None)
                return self._add_entry(name, function, arguments, equal, shared_as)

            return decorate
        return self._add_entry(name, compute, arguments, equal, shared_as)

    def _add_entry(
        self,
        name: object,
        compute: Callable[..., T] | None,
        arguments: tuple[AbstractNode, ...],
        equal: Equality,
        version: str | None,
    ) -> Entry[T]:
        checked = self._check_name("entry", name)
        for argument in arguments:
            self._number_of(argument)
        function: Callable[..., T] = check_function(
            checked, compute, tuple([a.name for a in arguments])
        )
        if version is not None:
            from stagecache.sharing.of_graph import SharedGraphFunction  # noqa: PLC0415

            function = SharedGraphFunction(
                function, checked, tuple([a.name for a in arguments]), version
            )
        compare = check_equal(equal, f"entry {checked!r}")
        return self._handles.declare(  # type: ignore[return-value]  # an entry
            checked, NodeKind.CACHE_ENTRY, None, function, arguments, compare
        )

    def remove(self, *nodes: AbstractNode) -> None:
        """Remove nodes on which nothing else depends. Their handles cannot be used any more.

        Cost O(the nodes and their prerequisites), if what was added last is removed first.

        Raises
        ------
        NodeInUseError
            A node that stays depends on one of them, or one of them is being computed.
        ForeignNodeError, RemovedNodeError, WrongTypeError
            Whatever is raised, the graph is as before.
        """
        structure = self._structure
        computing = self._handles.evaluator.running
        going = {self._number_of(node): node for node in nodes}
        dependents = {n: list(structure.dependents[n]) for n in going}
        for n, node in going.items():
            staying = [structure.name_of(d) for d in dependents[n] if d not in going]
            if staying or n in computing:
                raise NodeInUseError(
                    f"{node!r}: cannot be removed",
                    "a node that no other one needs",
                    "dependents " + ", ".join(map(repr, staying)) if staying else "its computation",
                    "remove these first, or in the same call" if staying else "remove it later",
                )
        last_first = {n: dependents[n] for n in reversed(dependents)}
        order = TopologicalSorter(last_first).static_order()
        self._handles.remove([going[n].name for n in order])

    # ------------------------------------------------------------------ looking up

    @overload
    def __getitem__(self, key: Variable[T]) -> Variable[T]: ...

    @overload
    def __getitem__(self, key: Entry[T]) -> Entry[T]: ...

    @overload
    def __getitem__(self, key: str) -> Variable[Any] | Entry[Any]: ...

    def __getitem__(self, key: str | Variable[T] | Entry[T]) -> object:
        """Return the node of that name; or, in a copy, the node that has this handle in the other.

        Raises
        ------
        UnknownNodeError
        ForeignNodeError
            The handle belongs to a graph that is not a copy of this one, nor of the same original.
        """
        name = key if isinstance(key, str) else self._name_in_family(key)
        node = self._numbers.get(name)
        if node is None:
            raise UnknownNodeError(
                f"{self._title}: no such node",
                "the name of a node",
                repr(name),
                _suggest(name, self._numbers),
            )
        return self._handles.get(node)

    def __contains__(self, key: object) -> bool:
        if isinstance(key, AbstractNode):
            return key._handles is self._handles and key._node != REMOVED
        return key in self._numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[AbstractNode]:
        """Iterate over the nodes in the order of their declaration."""
        return map(self._handles.get, list(self._numbers.values()))

    @property
    def statistics(self) -> GraphStatistics:
        """Counts of nodes, edges and changes, as they are now. Cost O(nodes)."""
        structure = self._structure
        store = self._handles.store
        entries = [n for n in structure if structure.kinds[n] == NodeKind.CACHE_ENTRY]
        return GraphStatistics(
            variables=len(self) - len(entries),
            entries=len(entries),
            valid_entries=sum(map(store.is_valid, entries)),
            edges=sum(len(structure.prerequisites[n]) for n in entries),
            groups=structure.num_groups,
            changes=store.clock,
        )

    @property
    def view(self) -> GraphView:
        """A view of all nodes and edges, as they are now. Cost O(nodes + edges)."""
        from stagecache.inspection.explain.of_graph import GraphAnswers  # noqa: PLC0415

        answers = GraphAnswers(self._mended())
        structure = self._structure
        shown = cache(shown_file)  # many entries are of one file
        return GraphView(
            [self._info(name, node, shown) for name, node in self._numbers.items()],
            [
                EdgeInfo(structure.name_of(above), name)
                for name, node in self._numbers.items()
                for above in structure.prerequisites[node]
            ],
            self.name,
            find_impacts=answers.impacts,
            find_reasons=answers.reasons,
        )

    def _info(self, name: str, node: int, shown: Callable[[str], str] = shown_file) -> NodeInfo:
        store = self._handles.store
        is_valid, version = store.is_valid(node), store.versions[node]
        value = short_repr(store.values[node]) if is_valid else ""
        if store.structure.kinds[node] is not NodeKind.CACHE_ENTRY:
            return NodeInfo(name, "variable", status=Status.VALUE, version=version, value=value)
        file, line = source_of(self._handles.functions[node])
        return NodeInfo(
            name,
            "entry",
            status=status_of(store, node),
            version=version,
            value=value,
            file=shown(file),
            line=line,
        )

    def __repr__(self) -> str:
        counts = self.statistics
        return (
            f"Graph({self.name!r}: {counted(counts.variables, 'variable')}, "
            f"{counts.valid_entries} of {counted(counts.entries, 'entry')} valid)"
        )

    def _repr_html_(self) -> str:
        rows = []
        for name, number in islice(self._numbers.items(), MOST_ROWS):
            node = self._info(name, number)
            shown = f"version {node.version}" if node.kind == "variable" else str(node.status)
            rows.append((name, node.kind, node.value, status(shown)))
        about = repr(self).removeprefix("Graph(").removesuffix(")")
        heads = ("node", "kind", "value", "status")
        nodes = table(heads, rows, texts=len(heads), more=len(self) - len(rows), what="nodes")
        return output(heading("Graph", about), nodes)

    # ------------------------------------------------------------------ copying

    def copy(self, name: str | None = None) -> "Graph":
        """Return an independent graph in the same state: what is valid here is valid there.

        `copy[handle]` is the copy's own handle. Values are shared, so replace them with `set`
        rather than change them in place. Cost O(nodes), as copies of flat lists.
        """
        twin = Graph.__new__(Graph)
        name = self.name if name is None else _check_graph_name(name)
        twin._become(name, self._mended().copy(twin), self._family)
        return twin

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> "Graph":
        """Return a copy whose values are copied, too; compute functions are the same."""
        twin = memo[id(self)] = self.copy()
        values = twin._handles.store.values
        for name, node in twin._numbers.items():
            try:
                values[node] = deepcopy(values[node], memo)
            except Exception as error:
                error.add_note(f"while the value of {name!r} of {self._title} was being copied")
                raise
        return twin

    def __reduce__(self) -> "tuple[Any, ...]":
        """Pickle declarations, and values of variables; entries are computed again."""
        from stagecache.graph.pickled import declarations_of, values_of  # noqa: PLC0415

        handles = self._mended()
        return _declared, (self.name, declarations_of(handles)), values_of(handles)

    def __setstate__(self, given: "NodeValues") -> None:
        from stagecache.graph.pickled import fill  # noqa: PLC0415

        fill(self._handles, given)

    # ------------------------------------------------------------------ going back

    def checkpoint(self) -> Checkpoint:
        """Return a mark to which `rollback` goes back, any number of times.

        From now on changes are noted, until the mark is released, or there is no reference to it
        when the next one is made. Cost O(1).

        Returns
        -------
        Checkpoint
            Also a context manager, which goes back if the block raises.

        Raises
        ------
        NodeInUseError
            An entry is being computed.

        Examples
        --------
        >>> graph = Graph()
        >>> length = graph.variable("length", 2.0)
        >>> mark = graph.checkpoint()
        >>> length.set(3.0)
        >>> graph.rollback(mark)
        >>> length(), length.version
        (2.0, 1)
        """
        handles = self._handles
        handles.require_idle("checkpoint()")
        release_forgotten(handles.checkpoints, handles.store)
        return Checkpoint(self, handles.checkpoints, handles.snapshot())

    def rollback(self, mark: Checkpoint) -> None:
        """Restore a checkpoint: nodes, values, versions, and what was valid.

        Entries that were valid then are valid, without a computation; values computed since are
        dropped, and handles of nodes declared since count as removed. Later checkpoints are given
        up. Version numbers given since are not given again. Cost O(changes since), and O(nodes) if
        nodes were added or removed.

        Raises
        ------
        CheckpointError
            It belongs to another graph, or was released or given up.
        NodeInUseError
            An entry is being computed. Whatever is raised, nothing has changed.
        """
        handles = self._handles
        handles.require_idle("rollback()")
        handles.go_back(snapshot_of(mark, handles.checkpoints))

    # ------------------------------------------------------------------ files

    def save(self, path: "str | PathLike[str]") -> None:
        """Write the values of all variables into a file, by name, which `load` reads.

        The file holds no code and no entries. An older file of that name is replaced at once: after
        a crash the old one or the new one is there, whole.

        Raises
        ------
        UnsavableValueError
            A variable has a value of a class that is not registered: see
            `stagecache.register_value`. Nothing is written then.
        WrongTypeError, OSError
        """
        from stagecache.graph.saved import save_variables  # noqa: PLC0415  # it imports NumPy

        file = require_path(path, f"save(path) of {self._title}")
        save_variables(self.name, self._variables, file)

    def load(
        self,
        path: "str | PathLike[str]",
        *,
        strict: bool = True,
        renamed: Mapping[str, str] | None = None,
    ) -> "LoadReport":
        """Set each variable to the value that `save` has written under its name; all or none.

        Parameters
        ----------
        path : str or os.PathLike
        strict : bool
            True to refuse a file that does not have exactly the variables of this graph, with
            values of the same form. False to take what fits; other variables keep their values.
        renamed : dict of str to str, optional
            Names that variables had when they were saved, and their names now.

        Returns
        -------
        LoadReport
            What was taken, and each difference.

        Raises
        ------
        OSError
        FileFormatError
            The file is damaged, cut short, of another kind, or of a newer version.
        LayoutMismatchError
            The file does not fit; its `report` says why, item by item. Nothing is written then.
        UnknownPathError
            `renamed` names something that was not saved.
        WrongTypeError, NodeInUseError

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> graph = Graph()
        >>> length = graph.variable("length", 2.0)
        >>> path = Path(mkdtemp(), "lengths.graph")
        >>> graph.save(path)
        >>> length.set(3.0)
        >>> graph.load(path).taken, length()
        (('length',), 2.0)
        """
        from stagecache.graph.saved import load_variables  # noqa: PLC0415  # it imports NumPy

        file = require_path(path, f"load(path) of {self._title}")
        require_bool(strict, "strict=...")
        return load_variables(
            self.name, self._variables, self.checkpoint, file, strict=strict, renamed=renamed
        )

    @property
    def _variables(self) -> dict[str, Variable[Any]]:
        return {node.name: node for node in self if isinstance(node, Variable)}

    # ------------------------------------------------------------------ questions

    def explain(self, entry: AbstractNode | str) -> "Explanation":
        """Explain whether an entry is valid; if not, what has changed, and what a call computes.

        Cost O(nodes).

        Parameters
        ----------
        entry : Entry or str
            The handle, or its name.

        Raises
        ------
        UnknownNodeError, NodeKindError, ForeignNodeError, RemovedNodeError, WrongTypeError

        Examples
        --------
        >>> graph = Graph()
        >>> angle = graph.variable("angle", 0.1)
        >>> cosine = graph.entry("cosine", lambda x: 1 - x() ** 2 / 2, prerequisites=(angle,))
        >>> before = cosine()
        >>> angle.set(0.2)
        >>> print(graph.explain(cosine))
        cosine is stale: angle (now version 2) has changed since it was computed.
        A call computes cosine.
        cosine: stale
        └─ angle: changed, now version 2
        """
        from stagecache.inspection.explain.of_graph import explain_entry  # noqa: PLC0415

        return explain_entry(self._mended(), self._find(entry))

    def impact(self, variable: AbstractNode | str) -> "Impact":
        """Tell what a write of a variable would make stale. Nothing is written. Cost O(nodes).

        Parameters
        ----------
        variable : Variable or str
            The handle, or its name.

        Raises
        ------
        UnknownNodeError, NodeKindError, ForeignNodeError, RemovedNodeError, WrongTypeError
        """
        from stagecache.inspection.explain.of_graph import impact_of_variable  # noqa: PLC0415

        return impact_of_variable(self._mended(), self._find(variable))

    def trace(self, *others: "Graph", most: int = MOST_EVENTS) -> "Trace":
        """Note what is done with this graph, and with others, in a ``with`` block.

        That is: writes, and what they make stale; computations, with what they take and read; reads
        that find a value. Blocks may be nested, and go together with strict mode. Where no graph is
        traced, nothing is paid.

        Parameters
        ----------
        *others : Graph
        most : int
            How many events are kept; later ones are only counted.

        Raises
        ------
        WrongTypeError

        Examples
        --------
        >>> graph = Graph()
        >>> stretch = graph.variable("stretch", 0.1)
        >>> force = graph.entry("force", lambda x: -100.0 * x(), prerequisites=(stretch,))
        >>> with graph.trace() as trace:
        ...     total = force() + force()
        >>> summary = trace.summary()
        >>> summary.computed, summary.hits
        (1, 1)
        """
        for other in others:
            if not isinstance(other, Graph):
                raise WrongTypeError(
                    f"{short_repr(other)}: not a Graph",
                    "a Graph",
                    f"an object of type {type(other).__name__}",
                    "pass a Graph",
                )
        from stagecache.inspection.trace.trace import Trace  # noqa: PLC0415

        most = require_count(most, 0, "trace(most=...)")
        return Trace(tuple(dict.fromkeys((self, *others))), most)

    def strict(
        self, *, undeclared: Literal["raise", "record"] = "raise"
    ) -> AbstractContextManager["ReadLog"]:
        """Watch the reads of computations, in a ``with`` block: `stagecache.strict` of this graph.

        A computation may only read its prerequisites. A handle that its function got in another
        way, from a closure or a global, is refused: a change of it would not make the entry stale.
        Values that are changed in place are found, too.

        Parameters
        ----------
        undeclared : str
            "raise" an error at a read that is not declared, or "record" it in `ReadLog.undeclared`.

        Returns
        -------
        context manager of ReadLog
            Reads of computations, and prerequisites that they did not read.

        Raises
        ------
        UndeclaredPrerequisiteError, MutatedValueError
            In the block.
        UnknownChoiceError

        Examples
        --------
        >>> graph = Graph()
        >>> stretch = graph.variable("stretch", 0.1)
        >>> stiffness = graph.variable("stiffness", 100.0)
        >>> force = graph.entry("force", lambda x: -stiffness() * x(), prerequisites=(stretch,))
        >>> with graph.strict(undeclared="record") as reads:
        ...     value = force()
        >>> reads.undeclared[0].hint
        "declare 'force' with prerequisites=(stretch, stiffness)"
        """
        from stagecache.inspection.strict.strict import strict  # noqa: PLC0415

        return strict(self, undeclared=undeclared)

    # ------------------------------------------------------------------ inside

    if not TYPE_CHECKING:  # pragma: no branch - for which there would be any name, then

        def __getattr__(self, name: str) -> Any:
            """Raise, with similar names; only called for what is missing."""
            known = [known for known in dir(type(self)) if not known.startswith("_")]
            raise UnknownAttributeError(
                f"Graph: has no attribute {name!r}",
                "an attribute of a Graph",
                name,
                did_you_mean(name, known) or f"a node is found by its name: graph[{name!r}]",
            )

    @property
    def lock(self) -> Any:
        """A re-entrant lock, which no copy shares: ``with graph.lock: ...``."""
        return self._handles.lock

    def _mended(self) -> Handles:
        """Return the handles; first finish or undo an operation that was cut short by an error."""
        if self._handles.is_torn:
            self._handles.mend()
        return self._handles

    def _find(self, item: object) -> int:
        """Return the node of a handle, or of a name."""
        return self._number_of(self[item] if isinstance(item, str) else item)

    @property
    def _structure(self) -> Structure:
        return self._mended().store.structure

    @property
    def _numbers(self) -> dict[str, int]:
        return self._mended().numbers

    @property
    def _title(self) -> str:
        return f"graph {self.name!r}"

    def _number_of(self, node: object) -> int:
        if not isinstance(node, AbstractNode):
            raise self._no_node(node)
        if node._handles is not self._handles:
            raise self._foreign(node)
        return node._number()

    def _name_in_family(self, node: object) -> str:
        if not isinstance(node, AbstractNode):
            raise self._no_node(node)
        if node._handles is self._handles:
            node._number()  # refuses a removed one, even if its name was taken again
        owner = node._handles.owner
        if not isinstance(owner, Graph) or owner._family is not self._family:
            raise self._foreign(node)
        return node.name

    def _no_node(self, node: object) -> WrongTypeError:
        return WrongTypeError(
            f"{short_repr(node)}: not a node",
            f"a Variable or an Entry of {self._title}",
            f"an object of type {type(node).__name__}",
            f"write graph[{node!r}]"
            if isinstance(node, str) and node in self._numbers
            else "pass the handle, which variable() or entry() returned, without calling it",
        )

    def _foreign(self, node: AbstractNode) -> ForeignNodeError:
        return ForeignNodeError(
            f"{node!r}: belongs to another graph",
            f"a node of {self._title}",
            f"one of {getattr(node._handles.owner, '_title', 'another')}",
            "use nodes of one graph; in a copy, find a node's own handle by copy[node]",
        )

    def _check_name(self, kind: str, name: object) -> str:
        if not isinstance(name, str) or not name:
            hint = f"write graph.{kind}(name, ...)"
            if callable(name):
                hint = "write the decorator with parentheses: @graph.entry(prerequisites=(...))"
            raise InvalidNameError(
                f"{kind} of {self._title}: not a name",
                "a string that is not empty",
                short_repr(name),
                hint,
            )
        if name in self._numbers:
            raise DuplicateNameError(
                f"{kind} {name!r}: the name is taken in {self._title}",
                "a name that no other node has",
                f"the name of {self._handles.get(self._numbers[name])!r}",
                "choose another name, or remove that node first",
            )
        return name


def _check_graph_name(name: object) -> str:
    if isinstance(name, str):
        return name
    raise InvalidNameError(
        "graph: its name is not a string", "a string", short_repr(name), "give it a name"
    )


def _declared(name: str, declarations: "Iterable[Declaration]") -> Graph:
    """Return a new graph, as a pickle declares it."""
    graph = Graph(name)
    for each in declarations:
        if each.function is None:
            graph.variable(each.name, None)
        else:
            graph.entry(
                each.name,
                each.find(),
                prerequisites=tuple([graph[above] for above in each.prerequisites]),
                equal=each.equal,
                shared=each.version is not None,
                version=each.version or "",
            )
    return graph


def _suggest(name: str, names: Collection[str]) -> str:
    similar = did_you_mean(name, names) if len(names) <= MOST_COMPARED else ""
    if similar:
        return similar
    if len(names) <= MOST_LISTED:
        return "use one of " + ", ".join(map(repr, names))
    return "iterate over the graph to see its nodes"
