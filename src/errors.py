"""Every exception of stagecache: one small class for each cause.

Each is also the builtin exception that a caller would expect to catch, and each message has the
same four parts, which are attributes as well: what happened to which thing, what was expected,
what was got, and the hint.
"""

import collections.abc
import reprlib
import typing  # not its names: all classes here are errors


def short_repr(value: object) -> str:
    """Show any value on one short line, even if its own `repr` is long or fails."""
    return " ".join(_REPR.repr(value).split())


def listed(names: collections.abc.Iterable[str]) -> str:
    """Show names one after the other: the first eight, and how many more there are."""
    given = list(names)
    more = len(given) - 8
    return ", ".join(given[:8]) + (f" and {more} more" if more > 0 else "")


_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 60


class StagecacheError(Exception):
    """Base class of all errors raised by stagecache.

    Parameters
    ----------
    what : str
        The thing and what is wrong with it, on one line.
    expected : str
        What would have been accepted.
    got : str
        What was found instead.
    hint : str
        What to do about it.
    """

    def __init__(self, what: str, expected: str, got: str, hint: str) -> None:
        super().__init__(what, expected, got, hint)
        self.what = what
        self.expected = expected
        self.got = got
        self.hint = hint

    def __str__(self) -> str:
        return (
            f"{self.what}\n"
            f"  expected: {self.expected}\n"
            f"  got:      {self.got}\n"
            f"  hint:     {self.hint}"
        )


class InvalidNameError(StagecacheError, TypeError):
    """A node was given a name that is not a non-empty string."""


class DuplicateNameError(StagecacheError, ValueError):
    """A node was given a name that another node of the graph has."""


class CheckpointError(StagecacheError, ValueError):
    """A State cannot go back to what was given."""


class ComparisonError(StagecacheError, TypeError):
    """What is to compare the values of an entry failed to do so."""


class UnknownNodeError(StagecacheError, KeyError):
    """No node of the graph has that name or number."""


class ForeignNodeError(StagecacheError, ValueError):
    """A node of one graph, or a handle of one State, was used with another."""


class RemovedNodeError(StagecacheError, LookupError):
    """A handle was used after its node had been removed."""


class NodeInUseError(StagecacheError, ValueError):
    """A node was to be removed on which other nodes still depend."""


class NodeKindError(StagecacheError, TypeError):
    """An operation was asked of a kind of node that does not have it."""


class DerivedNodeError(NodeKindError):
    """A derived entry was to be set, which only a variable can be."""


class PrerequisitesError(StagecacheError, TypeError):
    """The prerequisites were not given as an ordered collection."""


class NotANodeError(StagecacheError, TypeError):
    """Something that is not a node was given in place of one."""


class DuplicatePrerequisiteError(StagecacheError, ValueError):
    """A prerequisite was listed twice."""


class NotCallableError(StagecacheError, TypeError):
    """A compute function cannot be called."""


class ComputeSignatureError(StagecacheError, TypeError):
    """A compute function does not take one argument for each prerequisite."""


class DeclarationError(StagecacheError, TypeError):
    """A Subsystem class declares something that cannot be."""


class DeclaredNameError(StagecacheError, AttributeError):
    """An attribute was assigned that stands for a declared item."""


class ConstModelError(StagecacheError, AttributeError):
    """A model was to be changed while something is computed with it."""


class NoValueError(StagecacheError, ValueError):
    """A computation returned None where a value was promised."""


class NotASubsystemError(StagecacheError, TypeError):
    """Something else was given in place of a Subsystem."""


class AdoptionError(StagecacheError, ValueError):
    """A subsystem was to be adopted that has a System, or to be used that has none."""


class TopologyVersionError(StagecacheError, ValueError):
    """A State was given that was made before its System was last changed."""


class ForeignStateError(StagecacheError, ValueError):
    """A State was given that is one of another System, or of none."""


class RealizationOrderError(StagecacheError, ValueError):
    """A System was to realize its subsystems in an order that does not have each of them once."""


class StageTooLowError(StagecacheError, RuntimeError):
    """Something was asked for that is there, or allowed, only from a later stage on."""


class StageTooHighError(StagecacheError, RuntimeError):
    """Something was asked for that is allowed only before a stage is realized."""


class StageOutOfRangeError(StagecacheError, ValueError):
    """A stage was given that is none, or none of those that make sense there."""


class StageOrderError(StagecacheError, ValueError):
    """A stage was to be reached before the one that comes before it."""


class CacheEntryOutOfDateError(StagecacheError, RuntimeError):
    """A cache entry was read that is not realized, and that has no compute function."""


class NoUpdateEntryError(StagecacheError, LookupError):
    """The update value was asked for of a discrete variable that has none."""


class PrerequisiteStageError(StagecacheError, ValueError):
    """A prerequisite comes at a later stage than what would depend on it."""


class UnknownSubsystemError(StagecacheError, IndexError):
    """The State has no subsystem of that index."""


class UnknownItemError(StagecacheError, IndexError):
    """A subsystem has no discrete variable, or no cache entry, of that index."""


class InvalidCountError(StagecacheError, ValueError):
    """A number of things was given that is no such number."""


class ShapeError(StagecacheError, ValueError):
    """An array does not have the shape of what it was assigned to."""


class EquilibriumError(StagecacheError, RuntimeError):
    """No values of the fast variables were found at which their conditions are met."""


class OutOfRangeError(StagecacheError, ValueError):
    """A number was given that is outside of what makes sense there."""


class KinematicsError(StagecacheError, ValueError):
    """Some q and u are not related: their numbers differ, or their matrix N is singular."""


class MassMatrixError(StagecacheError, ValueError):
    """What is declared as a mass matrix is none, or something that needs a mass has none."""


class InconsistentConstraintsError(StagecacheError, RuntimeError):
    """No accelerations satisfy all constraints: some of these contradict each other."""


class NotANumberError(StagecacheError, TypeError):
    """Something was assigned that is not made of numbers, or of none that fit there."""


class ProjectionError(StagecacheError, RuntimeError):
    """A State cannot be projected onto its constraints.

    Attributes
    ----------
    results : ProjectResults or None
        What the projection has found out.
    """

    def __init__(
        self, what: str, expected: str, got: str, hint: str, results: typing.Any = None
    ) -> None:
        super().__init__(what, expected, got, hint)
        self.args = (what, expected, got, hint, results)
        self.results = results


class StudyError(StagecacheError, RuntimeError):
    """A Study was asked for something that it cannot do then: before its beginning, say."""


class UnknownMethodError(StagecacheError, ValueError):
    """An integration method was asked for that there is not."""


class MethodError(StagecacheError, ValueError):
    """A numerical method cannot integrate this System."""


class DerivativeError(StagecacheError, ArithmeticError):
    """A time derivative is not finite."""


class EventLoopError(StagecacheError, RuntimeError):
    """Handlers trigger each other without end, at one time."""


class TriggerError(StagecacheError, ArithmeticError):
    """An event trigger is not a number."""


class StepSizeError(StagecacheError, RuntimeError):
    """A step would have to be shorter than it may be."""


class UnknownOptionError(StagecacheError, TypeError):
    """An option was given that there is not, or that is given in another way."""


class UnknownRowError(StagecacheError, IndexError):
    """A trajectory has no row of that index."""


class ConditionError(StagecacheError, ValueError):
    """An assembly condition cannot be used so, or returns what does not fit."""


class NotAConditionError(StagecacheError, TypeError):
    """Something else was given in place of an assembly condition."""


class UnknownMobilizerError(StagecacheError, LookupError):
    """What is to be locked or restricted is no group of q of the System."""


class ObservationError(StagecacheError, ValueError):
    """Observations do not belong to an Assembler, or to its frames; or there are none."""


class AssemblyError(StagecacheError, RuntimeError):
    """No configuration was found that satisfies the errors of an Assembler.

    Attributes
    ----------
    error_norm : float
        The least one that was reached.
    tolerance : float
        What it was to be at most.
    condition : str
        The name of the condition that is violated the most; "" if that is not known.
    """

    def __init__(
        self,
        what: str,
        expected: str,
        got: str,
        hint: str,
        error_norm: float = float("nan"),
        tolerance: float = float("nan"),
        condition: str = "",
    ) -> None:
        super().__init__(what, expected, got, hint)
        self.args = (what, expected, got, hint, error_norm, tolerance, condition)
        self.error_norm = error_norm
        self.tolerance = tolerance
        self.condition = condition


class AssembleFailed(AssemblyError):  # noqa: N818  # the name that it has in Simbody
    """`Assembler.assemble` has found no configuration. All is as it was."""


class TrackFailed(AssemblyError):  # noqa: N818  # likewise
    """`Assembler.track` has found no configuration near the last one. All is as it was."""


class NotAnIntegratorError(StagecacheError, TypeError):
    """Something else was given in place of an Integrator."""


class PartitionError(StagecacheError, ValueError):
    """Sizes of q, v and z, or views of them, do not make up the vector."""


class ElementIndexError(StagecacheError, IndexError):
    """A continuous state has no element of that index."""


class ReadOnlyError(StagecacheError, ValueError):
    """Something was to be written that is only for reading."""


class NotADecorationError(StagecacheError, TypeError):
    """Something else was given in place of a decoration."""


class PictureError(StagecacheError, ValueError):
    """A picture was to be drawn where it cannot be, in a way that there is not, or of nothing."""


class MissingExtraError(StagecacheError, ImportError):
    """A package is missing that comes with an extra."""


class NotAnEventHandlerError(StagecacheError, TypeError):
    """Something else was given in place of an event handler, or of an event reporter."""


class UnknownEventError(StagecacheError, ValueError):
    """Something is no event of this System, or none that can be handled so."""


class EventHandlerError(StagecacheError, RuntimeError):
    """What handles, reports or schedules an event has raised, or returned what it may not."""


class EventTimeError(StagecacheError, ValueError):
    """A handler has changed the time, or the time of an event is no number."""


class NotAStateError(StagecacheError, TypeError):
    """Something else was given in place of a State, or of a continuous state."""


class DuplicatePathError(StagecacheError, ValueError):
    """Two nodes of a view have the same path."""


class UnknownPathError(StagecacheError, KeyError):
    """A view of a graph has no node of that path."""


class UnknownSelectionError(StagecacheError, ValueError):
    """Nodes were asked for of a kind, or with a status, that there is not."""


class GraphFormatError(StagecacheError, ValueError):
    """A text is no graph in JSON, or one of a version of the format that is not known."""


class ModelImportError(StagecacheError, ImportError):
    """A module or a file, named on a command line, cannot be imported."""


class UnknownModelError(StagecacheError, LookupError):
    """A module has no System of the name that was given, or none was given where it has several."""


class NotASystemError(StagecacheError, TypeError):
    """Something else was given in place of a System, or of what returns one."""


class ModelRunError(StagecacheError, RuntimeError):
    """A model, named on a command line, raises when it is realized, read, written or run."""


class NotPicklableError(StagecacheError, TypeError):
    """Something was to be pickled that cannot be taken to another process."""


class HandleTruthError(StagecacheError, TypeError):
    """A handle was used as a condition, where its value was meant."""


class CheckFailedError(StagecacheError, AssertionError):
    """A check of the testing kit found a fault in a model.

    Attributes
    ----------
    program : str
        The shortest program that shows it, which runs where ``system`` is the System.
    suspects : tuple of str
        What is to blame, as far as that was found out: variables and entries, by name.
    """

    def __init__(
        self,
        what: str,
        expected: str,
        got: str,
        hint: str,
        program: str = "",
        suspects: tuple[str, ...] = (),
    ) -> None:
        super().__init__(what, expected, got, hint)
        self.args = (what, expected, got, hint, program, suspects)
        self.program = program
        self.suspects = suspects

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text}\n\n{self.program}" if self.program else text


class IncoherentError(CheckFailedError):
    """A value is not the one that a fresh State with the same variables gives."""


class ImpreciseError(CheckFailedError):
    """A declared prerequisite is never read, or a write invalidates what does not depend on it."""


class NeverComputedError(CheckFailedError):
    """An entry, or a hook, raises in every program that gets to it, so nothing is known of it."""


class UnfaithfulPickleError(CheckFailedError):
    """A System or a State cannot be pickled, or is another one afterwards."""


class ThreadedReadError(CheckFailedError):
    """Threads that read at the same time get other values, or compute more than once."""


class CycleError(StagecacheError, ValueError):
    """A node was to depend on itself, by declaration or while it was being computed.

    Attributes
    ----------
    path : tuple of str
        The names along the cycle, each a prerequisite of the one before it; the first and the
        last are the same.
    """

    def __init__(
        self, what: str, expected: str, got: str, hint: str, path: tuple[str, ...] = ()
    ) -> None:
        super().__init__(what, expected, got, hint)
        self.args = (what, expected, got, hint, path)
        self.path = path


class UndeclaredPrerequisiteError(StagecacheError, RuntimeError):
    """A computation has read something that its entry does not declare."""


class MutatedValueError(StagecacheError, RuntimeError):
    """A value that was read from a State has been changed in place."""


class StaleValueError(StagecacheError, RuntimeError):
    """A value that counts as realized is not what would be computed now.

    Attributes
    ----------
    suspects : tuple of str
        What may have changed: reads that are not declared, or something outside of the State.
    """

    def __init__(
        self, what: str, expected: str, got: str, hint: str, suspects: tuple[str, ...] = ()
    ) -> None:
        super().__init__(what, expected, got, hint)
        self.args = (what, expected, got, hint, suspects)
        self.suspects = suspects


class UnknownModeError(StagecacheError, ValueError):
    """A way of working was asked for that there is not."""


class UnknownBodyError(StagecacheError, LookupError):
    """A body was named that is not in the tree."""


class MassPropertiesError(StagecacheError, ValueError):
    """No body can have that mass and inertia."""


class MobilizerError(StagecacheError, TypeError):
    """What is to join two bodies is no mobilizer, or one whose methods do not fit each other."""


class MotionError(StagecacheError, TypeError):
    """What is to move a joint is no motion, or there is nothing to move."""


class ConstraintError(StagecacheError, ValueError):
    """A constraint ties what cannot be tied so."""


class UnknownMarkerError(StagecacheError, LookupError):
    """Markers, or sensors, have no such one, or no such observation."""


class ObservationOrderError(StagecacheError, ValueError):
    """One marker, or sensor, would have two observations."""


class NoObservationError(ObservationError):
    """There is nothing to be compared with markers, or sensors."""
