"""The plugin of pytest, as a project sees it that has stagecache installed."""

import re
from contextvars import Context

import pytest

# NumPy cannot be imported twice, and pytester forgets what was imported while it ran.
import stagecache.testing.all  # noqa: F401

pytest_plugins = ["pytester"]

MODEL = """
import pytest
from stagecache import State, Subsystem, System, cached, parameter, q_variable

class Pendulum(Subsystem):
    length = parameter(1.0)
    angle = q_variable(0.1)

    @cached(prerequisites=(angle, length))
    def sound(self, state: State) -> float:
        return self.length(state) * self.angle(state)

class Faulty(Pendulum):
    @cached(prerequisites=(Pendulum.angle,))
    def faulty(self, state: State) -> float:
        return self.length(state) * self.angle(state)

def made(pendulum):
    return System(pendulum).new_state()
"""


def run(pytester: pytest.Pytester, tests: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(MODEL + tests)
    options = ("-p", "no:cacheprovider", "-Werror", *options)
    return Context().run(pytester.runpytest_inprocess, *options)  # where no State is strict yet


# ---------------------------------------------------------------------- the fixture


def test_a_sound_model_passes_and_the_results_are_returned(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
@pytest.fixture(scope="module")
def results(check_invalidation):
    from hypothesis import settings
    return check_invalidation(System(Pendulum()), settings=settings(max_examples=5))

def test_model(results):
    assert {"coherence", "threads"} <= {result.name for result in results}
""",
    )
    result.assert_outcomes(passed=1)


def test_the_report_of_a_fault_has_the_program_but_not_what_lies_between(
    pytester: pytest.Pytester,
) -> None:
    result = run(
        pytester,
        """
def test_model(check_invalidation):
    check_invalidation(System(Faulty()))
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            ">       check_invalidation(System(Faulty()))",
            "E       stagecache.errors.*faulty*",
            "E*hint: *length*",
            "E*faulty.faulty(state)*",
            "*test_*.py:*Error",
        ]
    )
    result.stdout.no_fnmatch_line("*hypothesis*:*")
    result.stdout.no_fnmatch_line("*in check_all")


UNREAD = """
class Unread(Pendulum):
    @cached(prerequisites=(Pendulum.angle,))
    def faulty(self, state: State) -> float:
        return 0.0 * self.length(state) + self.angle(state)

def test_model(check_invalidation):
    check_invalidation(System(Unread()))
"""


@pytest.mark.parametrize("options", [(), ("--stagecache-strict",)])
def test_the_report_is_as_short_of_what_strict_mode_finds(
    pytester: pytest.Pytester, options: tuple[str, ...]
) -> None:
    result = run(pytester, UNREAD, *options)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E*UndeclaredPrerequisiteError: *'faulty'*", "E*hint: *length*", "E*unread.faulty(state)"]
    )
    places = [line for line in result.outlines if re.match(r"\S+\.py:\d+: ", line)]
    assert [place.partition(" ")[2] for place in places] == ["UndeclaredPrerequisiteError"]


def test_an_error_of_the_model_itself_is_reported_with_the_line_that_raised_it(
    pytester: pytest.Pytester,
) -> None:
    result = run(
        pytester,
        """
from stagecache.errors import OutOfRangeError

class Failing(Pendulum):
    def realize_topology(self, state: State) -> None:
        raise OutOfRangeError("length: is not positive", "more than 0", "0.0", "write another")

def test_model(check_invalidation):
    check_invalidation(System(Failing()))
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([">*raise OutOfRangeError*", "test_*.py:*: OutOfRangeError"])


# ---------------------------------------------------------------------- --stagecache-strict

STRICT = """
@pytest.fixture(scope="session")
def state():
    return made(Faulty())

def test_state_of_a_fixture(state):
    state.system["faulty"].faulty(state)

def test_state_of_a_test():
    state = made(Faulty())
    assert state.system["faulty"].sound(state)
    state.system["faulty"].faulty(state)

def test_state_of_a_fixture_again(state):
    state.system["faulty"].faulty(state)

def test_copy(state):
    state.copy().system["faulty"].faulty(state)

def test_sound():
    state = made(Pendulum())
    assert state.is_strict
    state.system["pendulum"].sound(state)
"""


def test_states_are_strict_if_that_is_asked_for(pytester: pytest.Pytester) -> None:
    result = run(pytester, STRICT, "--stagecache-strict")
    result.assert_outcomes(failed=4, passed=1)
    result.stdout.fnmatch_lines(
        [
            "stagecache: every State is strict",
            "E*UndeclaredPrerequisiteError: *'faulty'*reads*'length'*",
            "E*hint: *Pendulum.length*",
        ]
    )


def test_states_are_not_strict_otherwise(pytester: pytest.Pytester) -> None:
    result = run(pytester, STRICT.replace("assert state.is_strict", "assert not state.is_strict"))
    result.assert_outcomes(passed=5)
    result.stdout.no_fnmatch_line("stagecache: *")


def test_an_option_of_pytest_may_say_so_for_a_project(pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml("[tool.pytest.ini_options]\naddopts = ['--stagecache-strict']\n")
    run(pytester, STRICT).assert_outcomes(failed=4, passed=1)


# ---------------------------------------------------------------------- every other project


def test_the_help_has_the_option(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("--help")
    result.stdout.fnmatch_lines(["stagecache:", "  --stagecache-strict *"])


def test_without_the_plugin_there_is_no_fixture(pytester: pytest.Pytester) -> None:
    result = run(pytester, "\ndef test_model(check_invalidation): pass\n", "-p", "no:stagecache")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fixture 'check_invalidation' not found"])


def test_a_project_that_does_not_use_it_does_not_import_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_modules(request):
            assert request.config.pluginmanager.has_plugin("stagecache")
            large = {"attrs", "hypothesis", "networkx", "numpy", "scipy", "stagecache.state"}
            assert large & sys.modules.keys() == set()
        """
    )
    others = ("hypothesispytest", "zarr", "anyio", "cacheprovider")  # which import much themselves
    options = (*[f"-pno:{name}" for name in others], "-Werror")
    pytester.runpytest_subprocess(*options).assert_outcomes(passed=1)
