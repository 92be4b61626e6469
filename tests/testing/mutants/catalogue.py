"""The catalogue of mutants: each a sound model with one planted fault, and what is to find it.

Each of the checks that are named here must find the fault by itself, within its default settings,
and its error must name the suspects.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from attrs import frozen

from stagecache import Subsystem, System
from tests.testing.mutants import cutoff, elsewhere, hidden, hooks, missing, stages, superfluous
from tests.testing.mutants.models import (
    clock,
    driven,
    heated,
    probed,
    slide,
    springs,
    station,
    train,
    wire,
)

Make = Callable[..., System]

READS: Final = ("coherence", "strict")
COHERENCE: Final = ("coherence",)
STRICT: Final = ("strict",)
PRECISION: Final = ("precision",)
PICKLE: Final = ("pickle",)
THREADS: Final = ("threads",)


@frozen
class Model:
    """A model without a fault."""

    name: str
    make: Make


@frozen
class Mutant:
    """A model with a fault.

    Attributes
    ----------
    name : str
    fault : str
        In one sentence.
    make : callable
        Makes a new System.
    caught_by : tuple of str
        The checks each of which must find it.
    suspects : tuple of str
        What the error must name.
    """

    name: str
    fault: str
    make: Callable[[], System]
    caught_by: tuple[str, ...]
    suspects: tuple[str, ...]


def planted(
    cls: type[Subsystem], model: Make, caught_by: tuple[str, ...], *suspects: str, **how: Any
) -> Mutant:
    """The mutant of a model in which a class is replaced, whose docstring says what is wrong."""
    make = partial(model, **how) if how else partial(model, cls)
    return Mutant(cls.__name__, cls.__doc__ or "", make, caught_by, suspects)


def _anchor(cls: Any, caught_by: tuple[str, ...], *suspects: str) -> Mutant:
    return planted(cls, clock, caught_by, *suspects, anchor=cls)


MODELS: Final = tuple(
    Model(make.__name__, make)
    for make in (clock, springs, slide, heated, train, wire, station, probed, driven)
)

MUTANTS: Final = (
    # ------------------------------------------------------------------ a prerequisite is missing
    planted(missing.ForgottenParameter, clock, READS, "pendulum.length"),
    _anchor(missing.ForgottenInOtherSubsystem, READS, "pendulum.weight"),
    _anchor(missing.ForgottenTime, READS, "time"),
    _anchor(missing.NamesWhatIsUpstream, READS, "anchor.shift"),
    _anchor(missing.ForgottenAfterOverride, READS, "anchor.phase"),
    planted(missing.OneTooFewInChain, train, READS, "wagon.gap", wagon=missing.OneTooFewInChain),
    planted(missing.BrokenChain, train, READS, "wagon.rear", brake=missing.BrokenChain),
    planted(missing.PassedOver, train, STRICT, "wagon.rear", brake=missing.PassedOver),
    planted(missing.ForgottenInBranch, wire, READS, "beads.viscosity"),
    planted(missing.ForgottenOption, wire, READS, "beads.is_long"),
    planted(missing.ForgottenNeighbour, springs, READS, "springs.place["),
    planted(missing.ForgottenMembers, springs, READS, "springs.force["),
    planted(missing.ForgottenInVelocityRow, slide, READS, "slider.vy"),
    planted(missing.ForgottenInJacobian, slide, READS, "slider.y"),
    planted(missing.ForgottenInTrigger, slide, READS, "slider.floor"),
    planted(missing.ForgottenInUpdate, heated, READS, "thermostat.temperature"),
    planted(missing.ForgottenExchange, heated, READS, "thermostat.heating"),
    # ------------------------------------------------------------------ stages and vectors
    planted(stages.StageTooEarly, clock, READS, "pendulum.rate"),
    planted(stages.ReadsWholeQ, wire, READS, "system.q"),
    planted(stages.ReadsPartition, wire, READS, "beads.u"),
    planted(stages.ReadsY, wire, READS, "system.u"),
    planted(stages.ReadsQdot, wire, READS, "Stage.VELOCITY"),
    planted(stages.ReadsQerr, slide, READS, "Stage.POSITION"),
    planted(stages.ReadsWeights, slide, READS, "Stage.REPORT"),
    planted(stages.ReadsSize, wire, READS, "Stage.MODEL"),
    planted(stages.HookTooEarly, clock, COHERENCE, "pendulum.pull"),
    # ------------------------------------------------------------------ what is not in the State
    planted(hidden.ReadsGlobal, clock, COHERENCE, "not in the State"),
    planted(hidden.Counts, clock, COHERENCE, "not in the State"),
    planted(hidden.RemembersByState, clock, COHERENCE, "not in the State"),
    planted(hidden.RemembersByAngle, clock, COHERENCE, "not in the State"),
    planted(hidden.KeepsFirst, clock, COHERENCE, "not in the State"),
    planted(hidden.Accumulates, clock, COHERENCE, "not in the State"),
    planted(hidden.RandomNumber, clock, COHERENCE, "not in the State"),
    planted(hidden.Identity, clock, COHERENCE, "not in the State"),
    planted(hidden.StaysBusy, clock, COHERENCE, "not in the State"),
    planted(hidden.EmptiedByInstance, clock, COHERENCE, "not in the State"),
    planted(hidden.MutatesCachedList, station, READS, "timetable.in_order"),
    planted(hidden.MutatesCachedDict, station, READS, "timetable.departures"),
    planted(hidden.MutatesVariable, station, STRICT, "timetable.times"),
    planted(hidden.AppendsToVariable, station, READS, "timetable.times"),
    # ------------------------------------------------------------------ hooks
    planted(hooks.FilledTooLate, probed, COHERENCE, "hook"),
    planted(hooks.FilledInOneBranch, probed, COHERENCE, "hook"),
    planted(hooks.FilledTooEarly, probed, COHERENCE, "probe.angle"),
    planted(hooks.MarkedWithoutComputing, probed, COHERENCE, "hook"),
    planted(hooks.StaleAttribute, clock, COHERENCE),
    planted(hooks.OrderOfHooks, slide, COHERENCE, follower=hooks.OrderOfHooks),
    # ------------------------------------------------------------------ early cutoff
    planted(cutoff.CoarseEqual, driven, COHERENCE, "equal="),
    planted(cutoff.EqualShapes, driven, COHERENCE, "equal="),
    planted(cutoff.ReadsPastCutoff, driven, READS, "gearbox.speed"),
    # ------------------------------------------------------------------ what is never read
    planted(superfluous.SuperfluousParameter, clock, PRECISION, "pendulum.mass"),
    planted(
        superfluous.SuperfluousInOtherSubsystem,
        train,
        PRECISION,
        "wagon.load",
        brake=superfluous.SuperfluousInOtherSubsystem,
    ),
    planted(superfluous.SuperfluousMembers, springs, PRECISION, "springs.stiffness["),
    planted(superfluous.SuperfluousVector, wire, PRECISION, "wire.u"),
    planted(superfluous.SuperfluousInUpdate, heated, PRECISION, "thermostat.leak"),
    planted(superfluous.ReadsOtherState, clock, PRECISION, "pendulum.length"),
    # ------------------------------------------------------------------ processes and threads
    _anchor(elsewhere.KeepsLambda, PICKLE),
    planted(elsewhere.LosesAttribute, springs, PICKLE),
    planted(elsewhere.LosesInFile, springs, COHERENCE, "springs.cargo"),
    planted(elsewhere.SharedScratch, springs, THREADS),
    planted(elsewhere.KeepsNumber, springs, THREADS),
)
