"""Profiles of Hypothesis, the order of tests, and an option that makes a skip a failure."""

import signal
from collections.abc import Iterator

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # those that take minutes start first: at the end, they would leave the other workers idle
    items.sort(key=lambda item: item.get_closest_marker("takes_minutes") is None)


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not session.config.getoption("--no-skips"):
        return
    skipped = reporter.stats.get("skipped")
    if skipped and session.exitstatus == pytest.ExitCode.OK:
        reporter.write_line(f"--no-skips: {len(skipped)} skipped")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
