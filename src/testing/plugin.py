"""The plugin of pytest: a fixture that checks a System, and an option that makes States strict.

pytest loads it wherever stagecache is installed, so it imports the rest of stagecache where that is
used. `pytest -p no:stagecache` runs without it.
"""

from collections.abc import Callable, Generator
from functools import wraps
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from stagecache.system import System
    from stagecache.testing import CheckResult


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--stagecache-strict`."""
    parser.getgroup("stagecache", "stagecache").addoption(
        "--stagecache-strict",
        action="store_true",
        help="make every State strict that a test or a fixture makes: a computation that reads "
        "what it does not declare raises UndeclaredPrerequisiteError",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make States strict, if that is asked for; nothing is paid otherwise."""
    if config.getoption("--stagecache-strict"):
        config.pluginmanager.register(StrictTests(), "stagecache-strict")


class StrictTests:
    """Every State is strict that is made in a test, or to set up a fixture.

    One that a fixture makes is strict for as long as the fixture lasts. One that is made where a
    module is imported, or in another thread, is not.
    """

    def pytest_report_header(self) -> str:
        """Say so at the head of the report."""
        return "stagecache: every State is strict"

    @pytest.fixture(autouse=True)
    def _strict_in_a_test(self) -> Generator[None]:
        from stagecache.inspection import strict  # noqa: PLC0415

        with strict():
            yield

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object]
    ) -> Generator[None, object, object]:
        """Watch what a fixture makes that outlasts a test."""
        if fixturedef.scope == "function":
            return (yield)
        from stagecache.graph.observing import OBSERVERS_OF_NEW  # noqa: PLC0415
        from stagecache.inspection.strict.reads import ReadLog  # noqa: PLC0415
        from stagecache.inspection.strict.strict import Everywhere  # noqa: PLC0415

        everywhere = Everywhere(ReadLog())
        fixturedef.addfinalizer(everywhere.end)
        token = OBSERVERS_OF_NEW.set((*OBSERVERS_OF_NEW.get(), everywhere))
        try:
            return (yield)
        finally:
            OBSERVERS_OF_NEW.reset(token)


@pytest.fixture(scope="session")
def check_invalidation() -> Callable[..., "tuple[CheckResult, ...]"]:
    """Check a System by random operations: `check_invalidation(system)`.

    It has the parameters and the result of `stagecache.testing.check_all`. The report of a fault
    has the shortest program that shows it, without the frames of the kit.
    """
    from stagecache.errors import CheckFailedError  # noqa: PLC0415
    from stagecache.testing import check_all  # noqa: PLC0415
    from stagecache.testing.programs.run import FOUND_BY_STRICT  # noqa: PLC0415  # needs Hypothesis

    @wraps(check_all)
    def check(system: "System", **options: Any) -> "tuple[CheckResult, ...]":
        __tracebackhide__ = True
        try:
            return check_all(system, **options)
        except (CheckFailedError, *FOUND_BY_STRICT) as error:
            raise error.with_traceback(None) from None

    return check
