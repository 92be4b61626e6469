"""Mutants of a source file: the operators of mutmut and two more, applied to functions.

mutmut itself replaces each function by a switch between its variants, and passes over decorated
functions, so over all properties. Here a mutant is the text of the file with one place changed, of
which the code of one function is used (`replaced_code`).
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType

import libcst as cst
from attrs import evolve, frozen
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import (
    mutation_operators,
    operator_arg_removal,
    operator_assignment,
    operator_string,
)

ROOT = Path(__file__).parents[2]

LEFT_OUT = (operator_arg_removal, operator_assignment, operator_string)
"""Operators that are not used.

Put None in place of an argument or of what is assigned, and the next use raises nearly always: so
such mutants, three quarters of all, show what branch coverage shows. A text is not a rule.
"""

UNTOUCHED = {"cast", "isinstance", "len", "super"}
"""Calls that stay as they are: wrong arguments raise, or are for type checkers only."""

KEEPING = {"let_go"}
"""Calls that do nothing: they only keep their arguments alive up to there."""

COUNTERS = {"clock", "computations", "serial"}
"""Numbers that are compared with each other only: how far they rise is not a rule."""

GAPS = {"SHUT"}
"""Constants that are no value of what is compared with them: `<` and `<=` are the same."""


@frozen
class Mutant:
    """A place in a file, and what is written there instead.

    Attributes
    ----------
    file : str
        Path from the root of the project.
    function : str
        Qualified name of the outermost function around the place.
    first_line : int
        First line of that function, or of its first decorator.
    lines : range
        Lines from the beginning of the statement to the place: a test that notices runs one.
    start, end : int
        The place, as characters of the file.
    text : str
    mutation : str
        Changed lines, "before -> after", numbered if the function has several that read alike.
    """

    file: str
    function: str
    first_line: int
    lines: range
    start: int
    end: int
    text: str
    mutation: str = ""

    @property
    def name(self) -> str:
        """File, function and mutation, which identify the mutant."""
        return f"{self.file}: {self.function}: {self.mutation}"

    def source(self) -> str:
        """Return the text of the whole file, with the fault."""
        whole = read(self.file)
        return f"{whole[: self.start]}{self.text}{whole[self.end :]}"

    @property
    def line(self) -> int:
        """Line of the place."""
        return read(self.file).count("\n", 0, self.start) + 1

    def before_and_after(self) -> tuple[str, str]:
        """Return the changed lines before and after, each as one line."""
        before = read(self.file)
        first = before.rfind("\n", 0, self.start) + 1
        last = before.find("\n", self.end)
        after = f"{before[first : self.start]}{self.text}{before[self.end : last]}"
        return " ".join(before[first:last].split()), " ".join(after.split())


@cache
def read(file: str) -> str:
    """Return the text of a source file as it was first read, though it is edited meanwhile."""
    return (ROOT / file).read_text(encoding="utf-8")


def mutants_of(file: str) -> list[Mutant]:
    """Make all mutants of the functions in a file, in the order of its lines."""
    counts: Counter[tuple[str, str]] = Counter()
    found = []
    for mutant in Finder(file).below(None):
        mutation = " -> ".join(mutant.before_and_after())
        counts[mutant.function, mutation] += 1
        number = counts[mutant.function, mutation]
        found.append(evolve(mutant, mutation=f"{mutation} #{number}" if number > 1 else mutation))
    return found


class Finder:
    """Finds places to mutate in the syntax tree of a file."""

    def __init__(self, file: str) -> None:
        self.file = file
        wrapper = MetadataWrapper(cst.parse_module(read(file)))
        self.module = wrapper.module
        self.spans = wrapper.resolve(PositionProvider)
        self.starts = [0]
        for line in read(file).splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def below(
        self,
        node: cst.CSTNode | None,
        names: tuple[str, ...] = (),
        function: tuple[str, int] | None = None,
        statement: int = 0,
    ) -> Iterator[Mutant]:
        """Yield mutants of a node (default: the module) and of what is below it.

        Annotations, decorators and defaults are left out, as they are not part of the code of a
        function, and errors that are raised: that they are raised is the rule, not their text. So
        are the numbers by which `COUNTERS` rise.
        """
        node = node or self.module
        if isinstance(node, cst.Annotation | cst.Decorator | cst.Parameters | cst.Raise):
            return
        if isinstance(node, cst.ClassDef | cst.FunctionDef):
            names = (*names, node.name.value)
        if isinstance(node, cst.FunctionDef) and function is None:
            first = min(self.span(part).start.line for part in (node.name, *node.decorators))
            function = ".".join(names), first
        if isinstance(node, cst.SimpleStatementLine | cst.BaseCompoundStatement):
            statement = self.span(node).start.line
        if function is not None:
            for place, text in variants(node):
                span = self.span(place)
                yield Mutant(
                    file=self.file,
                    function=function[0],
                    first_line=function[1],
                    lines=range(statement, span.end.line + 1),
                    start=self.starts[span.start.line - 1] + span.start.column,
                    end=self.starts[span.end.line - 1] + span.end.column,
                    text=text if isinstance(text, str) else self.code(text),
                )
        if isinstance(node, cst.AugAssign) and name_of(node.target) in COUNTERS:
            return
        for child in node.children:
            yield from self.below(child, names, function, statement)

    def span(self, node: cst.CSTNode) -> CodeRange:
        """Return lines and columns of a node."""
        return self.spans[node]

    def code(self, node: cst.CSTNode) -> str:
        """Return the text of a node."""
        text: str = self.module.code_for_node(node)
        return text


def variants(node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.CSTNode | str]]:
    """Yield what may stand in place of a node, or of its condition: a node, or text."""
    called = node.value if isinstance(node, cst.Expr) else None
    if isinstance(called, cst.Call) and name_of(called.func) not in KEEPING:
        yield node, "pass"
    if isinstance(node, cst.If) and isinstance(node.test, cst.Name | cst.Attribute | cst.Call):
        yield node.test, cst.UnaryOperation(cst.Not(), node.test)
    if isinstance(node, cst.Call) and getattr(node.func, "value", None) in UNTOUCHED:
        return
    if isinstance(node, cst.ComparisonTarget) and name_of(node.comparator) in GAPS:
        return
    for kind, operator in mutation_operators:
        if isinstance(node, kind) and operator not in LEFT_OUT:
            yield from ((node, mutated) for mutated in operator(node))


def name_of(node: cst.CSTNode) -> str:
    """Return a name, the last one of several with dots in between; "" if it is something else."""
    name = node.attr if isinstance(node, cst.Attribute) else node
    return name.value if isinstance(name, cst.Name) else ""


def replaced_code(mutant: Mutant, path: str) -> CodeType | None:
    """Return the code of the mutant's function, or None where the fault is not valid Python."""
    try:
        return code_of(compile(mutant.source(), path, "exec"), mutant)
    except SyntaxError:
        return None


def code_of(code: CodeType, mutant: Mutant) -> CodeType | None:
    """Return the code of a mutant's function within that of its module, or None."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if (inner.co_qualname, inner.co_firstlineno) == (mutant.function, mutant.first_line):
                return inner
            found = code_of(inner, mutant)
            if found is not None:
                return found
    return None
