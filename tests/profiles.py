"""Profiles of Hypothesis: how many examples random tests try, in one table.

`default` is for every day, `few` for further versions of Python, `ci` for what is merged, and
`nightly` searches for new examples. `.ci/run` uses `ci` for the compiled form and `default` for the
plain one. All others try the same examples in each run, so that a failure is due to a change.
Tests state their own number for `ci`, and the others scale it.
"""

from typing import Any, Final

from hypothesis import Phase, settings

CI_EXAMPLES: Final = 200

PROFILES: Final[dict[str, dict[str, Any]]] = {
    "default": {"max_examples": 30, "derandomize": True},
    "few": {"max_examples": 5, "derandomize": True},
    "ci": {"max_examples": CI_EXAMPLES, "derandomize": True},
    "mutation": {
        "max_examples": 30,
        "derandomize": True,
        "phases": [Phase.explicit, Phase.generate],  # that something fails is enough
    },
    "nightly": {"max_examples": 5_000, "stateful_step_count": 100, "print_blob": True},
}
"""Profiles by name, as `--hypothesis-profile` takes it."""

FEWEST: Final = 5
"""Examples that remain of a larger number in a small profile."""


def register() -> None:
    """Register the profiles, and load the default one."""
    for name, chosen in PROFILES.items():
        settings.register_profile(name, deadline=None, **chosen)
    settings.load_profile("default")


def count(number: int) -> int:
    """Scale a number of examples for `ci` to the profile in use."""
    scaled = number * settings().max_examples // CI_EXAMPLES
    return max(scaled, min(number, FEWEST))


def examples(number: int, **others: Any) -> settings:
    """Make settings of a test that tries a number of examples in `ci`, others in proportion."""
    return settings(max_examples=count(number), **others)


def is_nightly() -> bool:
    """Return whether the profile is deeper than `ci`."""
    return settings().max_examples > CI_EXAMPLES
