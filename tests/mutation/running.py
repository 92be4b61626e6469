"""The run of tests against mutants, as a plugin of pytest: each mutant in a process of its own.

The tests are collected once. A forked process runs all of them, and notes how long each takes and
to which lines it comes. Then each mutant gets a fork, in which the code of its function is
exchanged, and which runs tests that come to its lines, and then others that come to the function,
as coverage does not see all of what is done while an error is raised, until one fails. So most
mutants cost a fork and some milliseconds of tests; neither sources nor modules are copied.
"""

import gc
import json
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from importlib import import_module
from math import inf
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Final

import pytest
from attrs import frozen
from coverage import Coverage, CoverageData

from tests.mutation.mutants import ROOT, Mutant, replaced_code

FORK: Final = multiprocessing.get_context("fork")

DEADLOCK: Final = 20.0
"""Seconds after which a mutant counts as noticed, if it says nothing and does not compute."""

IDLE: Final = 0.1
"""Seconds of computing in that time that count as nothing: what waits looks around at times."""

ANY_LINE: Final = 1_000_000
"""A line that no source has, for tests that may come to any line without being seen there."""

MEMORY: Final = 8 << 30
"""Bytes that a mutant may take."""


@frozen
class Outcome:
    """Fate of a mutant: "killed", "survived", "not run" by any test, or "not valid" as a program.

    Attributes
    ----------
    mutant : str
        Its name.
    fate : str
    by : str
        The test that killed it, or the last one that was running.
    """

    mutant: str
    fate: str
    by: str = ""


class MutationRun:
    """Plugin that runs tests against mutants, instead of running them once.

    Parameters
    ----------
    mutants : iterable of Mutant
    folder : Path
        For what is measured.
    seconds : float
        Time that the tests of one mutant may take in all: those that come to its function. The
        tests that killed most mutants of the same function come first, then those that killed most
        in the same file, those that come to its line, and the fastest.
    note : callable
        Takes each `Outcome`.
    """

    def __init__(
        self,
        mutants: Iterable[Mutant],
        folder: Path,
        seconds: float,
        note: Callable[[Outcome], object],
    ) -> None:
        self.mutants = list(mutants)
        self.sources = digest(sorted((ROOT / "src").rglob("*.py")))
        self.data_file = folder / "coverage"
        self.times_file = folder / "times.json"
        self.seconds = seconds
        self.note = note
        self.has_failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note failures, for the process that runs the test."""
        self.has_failed |= report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run all tests once, then for each mutant those that concern it."""
        for file in {mutant.file for mutant in self.mutants}:
            import_module(module_name(file))  # some are imported only when they are used
        gc.collect()
        functions = functions_by_place()
        gc.freeze()
        known = self.measured()
        files = {path: digest([path]) for path in {item.path for item in session.items}}
        new = [i for i in session.items if files[i.path] not in known.get(i.nodeid, ())]
        if new:
            forked(partial(self.measure, new, files), None)
        times = {name: seconds for name, (_, seconds) in self.measured().items()}
        items = {item.nodeid: item for item in session.items}
        tests = {file: self.tests_by_line(file) for file in {m.file for m in self.mutants}}
        kills: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for mutant in self.mutants:
            place = str(ROOT / mutant.file), mutant.function, mutant.first_line
            if place not in functions:
                raise pytest.UsageError(f"{mutant.function}: not found; are the sources compiled?")
            seen = tests[mutant.file]
            at_line = set[str]().union(*(seen.get(n, ()) for n in mutant.lines))
            in_function = {ANY_LINE, *lines_of(functions[place][0].__code__)}
            names = at_line.union(*(seen.get(n, ()) for n in in_function)) & items.keys()
            here, near = kills[mutant.file, mutant.function], kills[mutant.file, ""]
            ranks = {n: (-here[n], -near[n], n not in at_line, times[n]) for n in names}
            chosen, left = {}, self.seconds
            for name in sorted(names, key=lambda name: ranks[name]):
                if times[name] <= left:
                    chosen[items[name]] = times[name]
                    left -= times[name]
            outcome = self.outcome(mutant, chosen, functions[place])
            here[outcome.by] += 1
            near[outcome.by] += 1
            self.note(outcome)
        return True

    def measured(self) -> dict[str, tuple[str, float]]:
        """Return the seconds of tests, and a digest of their file, since a source has changed."""
        if not self.times_file.exists():
            return {}
        known = json.loads(self.times_file.read_text(encoding="utf-8"))
        return known["tests"] if known["sources"] == self.sources else {}

    def measure(
        self, items: Sequence[pytest.Item], files: dict[Path, str], say: Callable[[str], None]
    ) -> None:
        """Run tests under coverage; write the time and the lines of each one, beside the others.

        The time of a test that fails without a mutant, too, is infinite: it notices nothing. A test
        that exchanges the tracer, to strike at a line, counts as coming to `ANY_LINE` of its files:
        those that it comes to meanwhile, which handle what strikes, are not seen.
        """
        coverage = Coverage(self.data_file, source=[str(ROOT / "src")], config_file=False)
        known = self.measured()
        if known:
            coverage.load()
        else:
            coverage.erase()
        unseen = set()

        def settrace(function: Any, /) -> None:
            unseen.add(item.nodeid)
            set_tracer(function)

        set_tracer, sys.settrace = sys.settrace, settrace
        coverage.start()
        for item in items:
            say(item.nodeid)
            coverage.switch_context(item.nodeid)
            start = time.process_time()
            has_passed = self.passes(item)
            seconds = time.process_time() - start if has_passed else inf
            known[item.nodeid] = files[item.path], seconds
        coverage.stop()
        data = coverage.get_data()
        for name in unseen:
            data.set_query_context(name)
            data.set_context(name)
            came_to = [file for file in data.measured_files() if data.lines(file)]
            data.add_lines({file: [ANY_LINE] for file in came_to})
        coverage.save()
        found = {"sources": self.sources, "tests": known}
        self.times_file.write_text(json.dumps(found, indent=0), encoding="utf-8")

    def tests_by_line(self, file: str) -> dict[int, list[str]]:
        """Return names of the tests that come to each line of a file."""
        data = CoverageData(str(self.data_file))
        data.read()
        tests: dict[int, list[str]] = data.contexts_by_lineno(str(ROOT / file))
        return tests

    def outcome(
        self, mutant: Mutant, tests: dict[pytest.Item, float], functions: list[FunctionType]
    ) -> Outcome:
        """Run tests against a mutant in a process of its own, until one fails."""
        if not tests:
            return Outcome(mutant.name, "not run")
        answers = forked(partial(self.attempt, mutant, tests, functions), DEADLOCK)
        last = answers[-1] if answers else ""
        if last in ("survived", "not valid"):
            return Outcome(mutant.name, last)
        return Outcome(mutant.name, "killed", last)

    def attempt(
        self,
        mutant: Mutant,
        tests: dict[pytest.Item, float],
        functions: list[FunctionType],
        say: Callable[[str], None],
    ) -> None:
        """Exchange the code of a function, and say the name of each test before it runs."""
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        code = replaced_code(mutant, str(ROOT / mutant.file))
        if code is None or any(code == function.__code__ for function in functions):
            return say("not valid")
        for function in functions:
            function.__code__ = code
        for item, seconds in tests.items():
            say(item.nodeid)
            signal.setitimer(signal.ITIMER_VIRTUAL, 2 + 10 * seconds)  # ends an endless loop
            if not self.passes(item):
                return None
        return say("survived")

    def passes(self, item: pytest.Item) -> bool:
        """Run a test, and return True if it did not fail."""
        self.has_failed = False
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        return not self.has_failed


def digest(files: Iterable[Path]) -> str:
    """Return a digest of the texts of files."""
    return sha256(b"".join([path.read_bytes() for path in files])).hexdigest()


def lines_of(code: CodeType) -> set[int]:
    """Return the lines of a function and of those inside of it."""
    lines = {line for _, _, line in code.co_lines() if line}
    return lines.union(*[lines_of(inner) for inner in code.co_consts if type(inner) is CodeType])


def module_name(file: str) -> str:
    """Return the name by which a source file is imported."""
    return ".".join(["stagecache", *Path(file).relative_to("src").with_suffix("").parts])


def functions_by_place() -> dict[tuple[str, str, int], list[FunctionType]]:
    """Return all functions by file, qualified name and first line, however they are decorated."""
    found: defaultdict[tuple[str, str, int], list[FunctionType]] = defaultdict(list)
    for thing in gc.get_objects():
        if type(thing) is FunctionType:
            code = thing.__code__
            found[code.co_filename, code.co_qualname, code.co_firstlineno].append(thing)
    return dict(found)


def forked(function: Callable[[Callable[[str], None]], None], timeout: float | None) -> list[str]:
    """Call a function in a fork of this process; return what it said, until it ended.

    It says something by calling its argument. The process is killed if it says nothing for longer
    than the timeout and does not compute, and all that it started with it.
    """
    receiver, sender = FORK.Pipe(duplex=False)
    process = FORK.Process(target=alone, args=(function, sender))
    process.start()
    sender.close()
    said: list[str] = []
    computed = 0.0
    try:
        while True:
            if receiver.poll(timeout):
                said.append(receiver.recv())
            elif (
                now := seconds_of(process.ident or 0)
            ) > computed + IDLE:  # others may be in its way
                computed = now
            else:
                break
    except EOFError:
        pass
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.ident or 0, signal.SIGKILL)
        process.join()
    return said


def seconds_of(process: int) -> float:
    """Return the time that a process has been computing, by the clock that Linux has for each."""
    return time.clock_gettime(~process << 3 | 2)


def alone(function: Callable[[Callable[[str], None]], None], sender: Connection) -> None:
    """Call a function in this process, which has its own group and prints nothing, and end it."""
    os.setpgid(0, 0)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    function(sender.send)
    sender.close()
    os._exit(0)
