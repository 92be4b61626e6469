"""Trials of misuse: each call must be refused by a documented error, and change nothing."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final
from zlib import crc32

from attrs import evolve, field, frozen

import stagecache.errors
from stagecache.errors import StagecacheError, short_repr
from tests.misuse.exceptions import NOT_TRIED, reason_of
from tests.misuse.recipe import Call, Recipe, Wrong
from tests.misuse.surface import ROOT, PublicCallable
from tests.misuse.world import VARIANTS, Foreign, Valid, World
from tests.misuse.wrong import wrong_values

ANYWHERE: Final = ("Any argument", "Any State", "Nodes and handles", "Stages")
"""Sections of the page of errors that hold for each call, whatever its docstring says."""


@frozen
class Case:
    """A call of a public callable with one fault.

    `fault` is the parameter with its wrong value, or the receiver; `kind` is that of the fault.
    """

    callable: str
    kind: str
    fault: str
    call: Call = field(repr=False)


@frozen
class Outcome:
    """The result of a case: the class of the error ("" if accepted), and what is wrong with it."""

    case: Case
    error: str
    complaint: str = ""


def arguments_of(
    public: PublicCallable, call: Call, foreign: Foreign
) -> Iterator[tuple[str, Wrong, Call]]:
    """Yield the name of each parameter with a wrong value and the call that has it."""
    parameters = public.parameters
    for i, right in enumerate(call.positional):
        parameter = parameters[min(i, len(parameters) - 1)]
        if call.only and parameter.name not in call.only:
            continue
        for wrong in (
            *wrong_values(parameter, right, foreign),
            *call.wrong.get(parameter.name, ()),
        ):
            changed = (*call.positional[:i], wrong.value, *call.positional[i + 1 :])
            yield parameter.name, wrong, evolve(call, positional=changed)
    given = {p.name for p in parameters[: len(call.positional)]}
    for parameter in parameters:
        if parameter.name in given or (call.only and parameter.name not in call.only):
            continue
        if parameter.is_variadic:
            continue
        right = call.named.get(parameter.name)
        for wrong in (
            *wrong_values(parameter, right, foreign),
            *call.wrong.get(parameter.name, ()),
        ):
            named = {**call.named, parameter.name: wrong.value}
            yield parameter.name, wrong, evolve(call, named=named)


def cases_of(public: PublicCallable, recipe: Recipe, world: World) -> Iterator[Case]:
    """Yield the cases of a callable in one world, which stays as it is while they are refused."""
    for name, wrong, changed in arguments_of(public, recipe(world), world.foreign):
        if reason_of(f"{public.name}: {name} = {wrong.text}", NOT_TRIED):
            continue
        yield Case(public.name, wrong.kind, f"{name} = {wrong.text}", changed)


def few_of(cases: Iterable[Case]) -> list[Case]:
    """Return one case of each parameter and kind, another one for each callable."""
    alike: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        alike.setdefault((case.fault.partition(" = ")[0], case.kind), []).append(case)
    return [
        group[crc32(f"{group[0].callable} {key}".encode()) % len(group)]
        for key, group in alike.items()
    ]


Choice = Callable[[Iterable[Case]], list[Case]]
"""A choice of cases: `few_of`, or `list` for all of them."""


def try_arguments(
    public: PublicCallable, recipe: Recipe, folder: Path, foreign: Foreign, choice: Choice
) -> Iterator[Outcome]:
    """Make a call with each wrong argument, and at the end the valid call, which must work."""
    world = World(folder, foreign)
    cases = choice(cases_of(public, recipe, world))
    before, files = world.seen(), world.files()
    done = 0
    while done < len(cases):
        outcome = tried(cases[done], public, world, before)
        done += 1
        yield outcome
        if not outcome.error or outcome.complaint:  # accepted: the world may have changed
            world = World(folder, foreign)
            cases = choice(cases_of(public, recipe, world))
            before, files = world.seen(), world.files()
    if cases and (changed := differences(files, world.files())):
        yield Outcome(cases[-1], "", f"bytes have changed: {changed}")
    last = recipe(world)
    if last.is_refused:
        yield tried(Case(public.name, "kind", "whatever is passed", last), public, world, before)
        return
    try:
        last.make()
    except Exception as error:
        case = Case(public.name, "valid", "the valid call afterwards", last)
        yield Outcome(case, type(error).__name__, f"the valid call fails: {error}")


def try_variants(
    public: PublicCallable, recipe: Recipe, folder: Path, foreign: Foreign, choice: Choice
) -> Iterator[Outcome]:
    """Make the valid call in each world whose State or handle is one that is refused."""
    plain = World(folder, foreign)
    recipe(plain)
    variants = [v for v, things in VARIANTS.items() if not things.isdisjoint(vars(plain))]
    if choice is few_of and variants:  # one of them, another one for each callable
        variants = [variants[crc32(public.name.encode()) % len(variants)]]
    for variant in variants:
        world = World(folder, foreign, variant)
        try:
            call = recipe(world)
        except Exception:  # its ingredients already refuse: that is the case of another callable
            continue
        before, files = world.seen(), world.files()
        outcome = tried(Case(public.name, variant, f"a {variant}", call), public, world, before)
        if outcome.error and not outcome.complaint and differences(files, world.files()):
            outcome = evolve(outcome, complaint="bytes have changed")
        yield outcome


def tried(case: Case, public: PublicCallable, world: World, before: dict[str, object]) -> Outcome:
    """Make the call of a case, and look what became of it."""
    try:
        case.call.make()
    except Exception as error:
        name = type(error).__name__
        complaint = complaint_of(error, public)
        if not complaint and (changed := differences(before, world.seen())):
            complaint = f"something has changed: {changed}"
        return Outcome(case, name, complaint)
    return Outcome(case, "")


def complaint_of(error: Exception, public: PublicCallable) -> str:
    """Return what is wrong with an error: not ours, not documented, a part that is missing."""
    if not isinstance(error, StagecacheError):
        if isinstance(error, OSError) and "OSError" in public.raises:
            return ""
        return f"obscure: {type(error).__name__}: {short_repr(str(error))}"
    if not all((error.what, error.expected, error.got, error.hint)):
        return "the message lacks a part"
    if len(str(error)) > 2000:
        return "the message is long"
    names = {c.__name__ for c in type(error).__mro__}
    if names.isdisjoint(public.raises | errors_anywhere()):
        return f"not documented: {type(error).__name__}"
    return ""


@cache
def errors_anywhere() -> frozenset[str]:
    """Return the names of errors that the page of errors documents for each call."""
    text = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.M)
    chosen = [s for s in sections if s.partition("\n")[0] in ANYWHERE]
    names = {name for s in chosen for name in re.findall(r"^\| `(\w+)`", s, re.M)}
    assert all(hasattr(stagecache.errors, name) for name in names)
    return frozenset(names)


def differences(before: Mapping[str, object], after: Mapping[str, object]) -> str:
    """Return the names of things that have changed; more valid entries are not a change."""
    return ", ".join(name for name, thing in before.items() if not _is_kept(thing, after.get(name)))


def _is_kept(before: object, after: object) -> bool:
    if isinstance(before, Valid) and isinstance(after, Valid):
        return all(after.get(name) == value for name, value in before.items())
    if isinstance(before, dict) and isinstance(after, dict):
        return all(_is_kept(value, after.get(name)) for name, value in before.items())
    if isinstance(before, tuple) and isinstance(after, tuple) and len(before) == len(after):
        return all(map(_is_kept, before, after))
    return before == after
