"""The error that tells what a check has found: who, why, and the program that shows it."""

import re
from textwrap import indent
from typing import Final

from stagecache.errors import CheckFailedError, ImpreciseError, IncoherentError
from stagecache.testing.diagnosis.failure import Failure
from stagecache.testing.diagnosis.suspects import OUTSIDE, suspects_of
from stagecache.testing.items import Item
from stagecache.testing.oracle.comparison import Outcome, hook_of, written
from stagecache.testing.programs.run import Run, exception_name, state_name

MODULES: Final = {
    "contextlib": "import contextlib",
    "math": "import math",
    "pickle": "import pickle",
    "np": "import numpy as np",
}
NAMES: Final = {
    "Stage": r"Stage\b",
    "State": r"State\.from_bytes",
    "strict": r"strict\b",
    "verify": r"verify\b",
}
HELPERS: Final = {
    "interrupted": "from stagecache.testing.programs.interrupts import interrupted",
    "read_in_threads": "from stagecache.testing.programs.threads import read_in_threads",
    "require_same_in_threads": (
        "from stagecache.testing.checks.threads import require_same_in_threads"
    ),
    "through_pickle": "from stagecache.testing.oracle.oracle import through_pickle",
}
FIRST: Final = "state = system.new_state()"


def error_of(failure: Failure) -> CheckFailedError:
    """Return the error of a failure."""
    run, state = failure.run, failure.run.states[failure.number]
    title = failure.subject.title(run.names, state)
    program = program_of(run, run.lines[: failure.lines], _assertion(failure))
    got = str(failure.got)
    if failure.kind == "lost":
        return ImpreciseError(
            f"{title}: is invalidated by what is not upstream of it",
            "an entry that stays valid, as nothing upstream of it was written",
            "one that is stale",
            "tell the authors of stagecache",
            program,
        )
    if failure.kind == "version":
        return IncoherentError(
            f"{title}: its version does not count its writes",
            "one more after a write, and the same after one of another variable",
            f"{got} after {failure.expected}",
            "tell the authors of stagecache",
            program,
        )
    if failure.kind == "realization":
        return _realization_error(failure, program)
    if failure.kind == "saved":
        return _saving_error(failure, title)
    if failure.kind == "changed":
        return IncoherentError(
            f"{title}: was changed in place",
            f"{failure.expected}, as when this version of it was new",
            got,
            "let computations return new values, and write variables by set() or upd() only",
            program,
            (title,),
        )
    found = suspects_of(failure)
    return IncoherentError(
        f"{title}: does not have the value that the variables give it",
        f"{failure.expected}, as in a fresh State with the same variables",
        got,
        found.hint,
        program,
        found.names,
    )


def without_program(error: CheckFailedError) -> CheckFailedError:
    """Return the error without its program, which does not have all steps."""
    return type(error)(error.what, error.expected, error.got, error.hint, suspects=error.suspects)


def _saving_error(failure: Failure, title: str) -> IncoherentError:
    """Return the error of a variable that is not the same once it was saved and loaded."""
    run, name, key = failure.run, state_name(failure.number), failure.variable
    state = run.states[failure.number]
    variable = run.names.title(key.handle(state)) if isinstance(key, Item) else f"state.{key}"
    read = failure.subject.code(run.names, state, name)
    last = f"system.realize({name})", asserted(read, failure.expected, "", name)
    return IncoherentError(
        f"{variable}: is another one once it was saved and loaded, so {title} has another value",
        f"{failure.expected}, as with the value that was saved",
        str(failure.got),
        "let register_value() keep all that the value is made of",
        program_of(run, run.lines[: failure.lines], *last),
        (variable,),
    )


def _realization_error(failure: Failure, program: str) -> IncoherentError:
    """Return the error of a realization that depends on earlier operations."""
    fresh, used = failure.expected.error, failure.got.error
    error = used or fresh
    assert error is not None
    assert failure.subject.stage is not None
    title = hook_of(error) or f"Stage.{failure.subject.stage.name}"
    expected, got = "no error, as in the State that was used before", str(failure.expected)
    what = f"{title}: raises in a fresh State with the same variables"
    if used is not None:
        expected, got = f"{failure.expected}, as in a fresh State", str(failure.got)
        what = f"{title}: raises, and in a fresh State it raises something else"
        if fresh is None:
            expected = "no error, as in a fresh State with the same variables"
            what = f"{title}: raises, and in a fresh State it does not"
    return IncoherentError(
        what,
        expected,
        got,
        "let the hook do the same whatever was computed before; if it reads only variables and "
        f"entries, look for {OUTSIDE}",
        program,
        (title,),
    )


def program_of(run: Run, lines: list[str], *last: str) -> str:
    """Return a program that runs if ``system`` is the System."""
    return program(run, "\n".join([FIRST, *lines, *last]))


def program_in(run: Run, mode: str, lines: list[str], *after: str) -> str:
    """Return a program within ``with strict():`` or the like; more lines may follow."""
    inside = indent("\n".join([FIRST, *lines]), "    ")
    return program(run, "\n".join([f"with {mode}:", inside, *after]))


def program(run: Run, text: str) -> str:
    """Return lines with the imports and subsystems that they need."""
    used = [
        f"{name} = system[{subsystem.name!r}]"
        for name, subsystem in zip(run.names.subsystems, run.system.subsystems, strict=True)
        if _is_in(rf"{name}\b", text)
    ]
    imports = [line for name, line in MODULES.items() if _is_in(rf"{name}\.", text)]
    names = [name for name, pattern in NAMES.items() if _is_in(pattern, text)]
    imports += [f"from stagecache import {', '.join(names)}"] if names else []
    imports += [line for name, line in HELPERS.items() if _is_in(name, text)]
    head = ["# system = ...  (the one that was checked)", *imports]
    return "\n".join([*head, "", *used, text])


def _is_in(pattern: str, text: str) -> bool:
    return re.search(rf"\b{pattern}", text) is not None


def _assertion(failure: Failure) -> str:
    run, name = failure.run, state_name(failure.number)
    state = run.states[failure.number]
    if failure.kind == "realization":
        return _realized(failure, name)
    if failure.kind == "exchange":
        assert isinstance(failure.variable, Item)
        handle = failure.variable.handle(state)
        read = f"{run.names.get(handle, name)}({name})"
    else:
        read = failure.subject.code(run.names, state, name)
    if failure.kind == "lost":
        return f"assert {read.rpartition('(')[0]}.is_valid({name})"
    if failure.kind == "version":
        return f"assert {read.rpartition('(')[0]}.version({name}) > {failure.expected.value}"
    return asserted(read, failure.expected, f"system.realize(fresh, {name}.stage)", name)


def _realized(failure: Failure, name: str) -> str:
    if failure.got.error is not None:
        return f"# the last line raises {failure.got}, which a fresh State does not"
    assert failure.expected.error is not None
    return (
        "# a fresh State with the same variables raises\n"
        f"fresh = pickle.loads(pickle.dumps({name}))\nsystem.realize(fresh, {name}.stage)"
    )


def asserted(read: str, expected: Outcome, realize: str, name: str) -> str:
    """Return the statement that fails unless a read gives what is expected."""
    if expected.error is not None:
        kind = exception_name(expected.error)
        return (
            f"try:\n    {read}\nexcept {kind}:\n    pass\nelse:\n"
            f'    raise AssertionError("a fresh State raises {type(expected.error).__name__}")'
        )
    value = written(expected.value)
    if value is None:
        fresh = re.sub(rf"\b{name}\b", "fresh", read)
        return f"fresh = pickle.loads(pickle.dumps({name}))\n{realize}\nassert {read} == {fresh}"
    if "np." in value or "nan" in value:
        return f"np.testing.assert_array_equal({read}, {value})"
    return f"assert {read} == {value}"
