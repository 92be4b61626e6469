"""Hypothesis profiles, and an option under which a skipped test is a failure.

Property tests try the same examples in each run, so that a failure is due to a change; the profile
`nightly` searches for new ones.
"""

import pytest
from hypothesis import settings

settings.register_profile("default", deadline=None, derandomize=True, max_examples=200)
settings.register_profile(
    "nightly", deadline=None, print_blob=True, max_examples=5_000, stateful_step_count=100
)
settings.load_profile("default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--no-skips",
        action="store_true",
        help="fail if a test is skipped: for where everything that tests can use is installed",
    )


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not session.config.getoption("--no-skips"):
        return
    skipped = reporter.stats.get("skipped")
    if skipped and session.exitstatus == pytest.ExitCode.OK:
        reporter.write_line(f"--no-skips: {len(skipped)} skipped")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
