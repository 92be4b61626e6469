"""The run of tests against mutants, as a plugin of pytest: each mutant in a process of its own.

The tests are collected once. A forked process runs all of them, and notes how long each takes and
to which lines it comes. Then each mutant gets a fork, in which the code of its function is
exchanged, and which runs tests that come to its lines, until one fails. So most mutants cost a fork
and some milliseconds of tests; neither sources nor modules are copied.
"""

import gc
import json
import multiprocessing
import os
import resource
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from math import inf
from multiprocessing.connection import Connection
from pathlib import Path
from types import FunctionType
from typing import Final

import pytest
from attrs import frozen
from coverage import Coverage, CoverageData

from tests.mutation.mutants import ROOT, Mutant, replaced_code

FORK: Final = multiprocessing.get_context("fork")

DEADLOCK: Final = 60.0
"""Seconds after which a mutant counts as noticed, if it is not even computing."""

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
        Time that the tests of one mutant may take in all. The tests that killed most mutants of the
        same function come first, and then the fastest.
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
        if not self.is_measured(session.items):
            self.times_file.unlink(missing_ok=True)
            forked(partial(self.measure, session.items), timeout=None)
        times = json.loads(self.times_file.read_text(encoding="utf-8"))
        items = {item.nodeid: item for item in session.items}
        tests = {mutant.file: self.tests_by_line(mutant.file) for mutant in self.mutants}
        kills: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for mutant in self.mutants:
            names = set[str]().union(*(tests[mutant.file].get(n, ()) for n in mutant.lines))
            known = kills[mutant.file, mutant.function]
            ordered = sorted(names & items.keys(), key=lambda name: (-known[name], times[name]))
            chosen, left = {}, self.seconds
            for name in ordered:
                if times[name] <= left:
                    chosen[items[name]] = times[name]
                    left -= times[name]
            place = str(ROOT / mutant.file), mutant.function, mutant.first_line
            if place not in functions:
                raise pytest.UsageError(f"{mutant.function}: not found; are the sources compiled?")
            outcome = self.outcome(mutant, chosen, functions[place])
            known[outcome.by] += 1
            self.note(outcome)
        return True

    def is_measured(self, items: Sequence[pytest.Item]) -> bool:
        """Return whether each of the tests was measured after its file and the sources changed."""
        if not self.times_file.exists():
            return False
        paths = {item.path for item in items} | {ROOT / mutant.file for mutant in self.mutants}
        times = json.loads(self.times_file.read_text(encoding="utf-8"))
        return {item.nodeid for item in items} <= times.keys() and all(
            path.stat().st_mtime < self.times_file.stat().st_mtime for path in paths
        )

    def measure(self, items: Sequence[pytest.Item], say: Callable[[str], None]) -> None:
        """Run tests under coverage; write the time and the lines of each one.

        The time of a test that fails without a mutant, too, is infinite: it notices nothing.
        """
        coverage = Coverage(
            self.data_file, branch=True, source=[str(ROOT / "src")], config_file=False
        )
        times = {}
        coverage.start()
        for item in items:
            say(item.nodeid)
            coverage.switch_context(item.nodeid)
            start = time.process_time()
            has_passed = self.passes(item)
            times[item.nodeid] = time.process_time() - start if has_passed else inf
        coverage.stop()
        coverage.save()
        self.times_file.write_text(json.dumps(times, indent=0), encoding="utf-8")

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
    than the timeout, and all that it started with it.
    """
    receiver, sender = FORK.Pipe(duplex=False)
    process = FORK.Process(target=alone, args=(function, sender))
    process.start()
    sender.close()
    said: list[str] = []
    try:
        while receiver.poll(timeout):
            said.append(receiver.recv())
    except EOFError:
        pass
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.ident or 0, signal.SIGKILL)
        process.join()
    return said


def alone(function: Callable[[Callable[[str], None]], None], sender: Connection) -> None:
    """Call a function in this process, which has its own group and prints nothing, and end it."""
    os.setpgid(0, 0)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    function(sender.send)
    sender.close()
    os._exit(0)
