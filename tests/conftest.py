"""Profiles of Hypothesis, the order of tests, and options for runs one after the other."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import profiles
from tests.pages import close_figures

profiles.register()
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell script
    # processes that tests start and interrupt would ignore Control-C, too
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _no_figures_left_open() -> Iterator[None]:
    yield
    close_figures()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--no-skips",
        action="store_true",
        help="fail if a test is skipped: for where everything that tests can use is installed",
    )
    parser.addoption("--but-those-in", metavar="FILE", help="leave out tests with these names")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    file = config.getoption("--but-those-in")
    if file:
        names = set(Path(file).read_text(encoding="utf-8").splitlines())
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in names])
        items[:] = [item for item in items if item.nodeid not in names]
    # those that take minutes start first: at the end, they would leave the other workers idle
    items.sort(key=lambda item: item.get_closest_marker("takes_minutes") is None)


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:  # in a worker
        return
    file = os.environ.get("STAGECACHE_PASSED")  # no option: it is set around README's command
    if file:
        names = [f"{report.nodeid}\n" for report in reporter.stats.get("passed", ())]
        Path(file).write_text("".join(names), encoding="utf-8")
    skipped = session.config.getoption("--no-skips") and reporter.stats.get("skipped")
    if skipped and session.exitstatus == pytest.ExitCode.OK:
        reporter.write_line(f"--no-skips: {len(skipped)} skipped")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
