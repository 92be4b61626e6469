"""Verification: valid entries are computed again, and compared.

Entries upstream are verified first, the deepest before all. So the error names the entry at fault,
not one that depends on it, and a chain of any length takes no deep recursion.
"""

from threading import get_ident
from typing import Any, Final, final

from stagecache.errors import StagecacheError, StaleValueError, short_repr
from stagecache.graph.evaluation import no_function
from stagecache.graph.kind import NodeKind
from stagecache.inspection.strict.judge import Judge
from stagecache.inspection.strict.reads import ReadLog, UndeclaredRead
from stagecache.inspection.subject import Subject
from stagecache.state.stage import Stage
from stagecache.state.values.sameness import same, shown

UNKNOWN: Final = "something that is not in the State: a global, an attribute, a random number, ..."


@final
class Verification:
    """The verification in progress in a thread.

    Attributes
    ----------
    done : set of int
        The nodes that need not be verified again.
    stack : list of (int, list of UndeclaredRead)
        The nodes that are being computed again, each with what it should have declared.
    """

    __slots__ = ("done", "stack")

    def __init__(self) -> None:
        self.done: set[int] = set()
        self.stack: list[tuple[int, list[UndeclaredRead]]] = []


def verify_upstream(
    judge: Judge,
    entry: Any,
    verification: Verification,
    logs: tuple[ReadLog, ...],
) -> None:
    """Verify a valid entry, and all that is valid upstream of it, but what is done already.

    Raises
    ------
    StaleValueError
    """
    if judge.is_frozen:
        return
    for node in _deepest_first(judge.subject, entry._node, verification.done):
        verification.done.add(node)
        _verify(judge, node, verification, logs)


def _deepest_first(subject: Subject, node: int, done: set[int]) -> list[int]:
    """Return the valid computed entries upstream of one, each after its prerequisites."""
    store = subject.store
    prerequisites = store.structure.prerequisites
    functions = subject.functions
    found: dict[int, None] = {}
    seen = set(done)
    stack = [node]
    while stack:
        n = stack.pop()
        if n < 0:
            found[~n] = None
        elif n not in seen:
            seen.add(n)
            if store.structure.kinds[n] is NodeKind.CACHE_ENTRY:
                if functions[n] is not no_function and store.is_valid(n):
                    stack.append(~n)
                stack.extend(prerequisites[n])
    return list(found)


def _verify(judge: Judge, node: int, verification: Verification, logs: tuple[ReadLog, ...]) -> None:
    evaluator = judge.subject.evaluator
    store = judge.subject.store
    me = get_ident()
    undeclared: list[UndeclaredRead] = []
    kept = store.values[node]
    if node in evaluator.running:
        return  # another thread computes it, or this one
    try:
        if evaluator.running.setdefault(node, me) != me:
            return
        verification.stack.append((node, undeclared))
        arguments = evaluator.arguments[node] or evaluator._bind(node)
        value = evaluator.functions[node](*arguments)
    except StagecacheError:
        raise
    except Exception as error:
        raised = f"{type(error).__name__}: {error}"
        raise _stale(judge, node, short_repr(kept), raised, undeclared, logs) from error
    finally:
        if evaluator.running.get(node) == me:
            verification.stack[:] = [(n, u) for n, u in verification.stack if u is not undeclared]
            del evaluator.running[node]
        evaluator._wake_others()
    equal = evaluator.equals.get(node)
    if not (same(kept, value) or (equal is not None and equal(kept, value))):
        raise _stale(judge, node, *shown(kept, value), undeclared, logs)


def _stale(
    judge: Judge,
    node: int,
    kept: str,
    now: str,
    undeclared: list[UndeclaredRead],
    logs: tuple[ReadLog, ...],
) -> StaleValueError:
    changed = [read for read in undeclared if _has_changed(judge, read, logs)]
    found = changed or undeclared
    hints = dict.fromkeys(read.hint for read in found)
    suspects = dict.fromkeys(judge.label(read.item) for read in found)
    where = ", ".join(f"{judge.label(read.item)} ({read.file}:{read.line})" for read in found)
    return StaleValueError(
        f"{judge.path(judge.subject.handle(node))}: its value is stale, but counts as valid",
        f"{now}, as it is computed now",
        f"{kept}, as it is kept; suspected: {where or UNKNOWN}",
        "; ".join(hints)
        or "make it a variable of the State, and name it as a prerequisite; compute from nothing "
        "else, and change nothing in place",
        tuple(suspects) or (UNKNOWN,),
    )


def _has_changed(judge: Judge, read: UndeclaredRead, logs: tuple[ReadLog, ...]) -> bool:
    """Return True if the item read is known to have changed since the value was computed."""
    if isinstance(read.item, Stage):
        return False
    before = max(log._version_read(read.entry, read.item) for log in logs)
    return bool(0 < before < judge.subject.store.versions[read.item._node])
