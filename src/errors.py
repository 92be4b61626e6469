"""Every exception of stagecache: one small class for each cause.

Each is also the builtin exception that a caller would expect to catch, and each message has the
same four parts, which are attributes as well: the thing and its fault, what was expected, what was
got, and a hint.
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


class _ShortRepr(reprlib.Repr):
    def repr_int(self, x: int, level: int) -> str:
        """Return the digits, or hexadecimal ones where Python refuses to convert that many."""
        return super().repr_int(x, level) if x.bit_length() < 10_000 else f"{hex(x)[:50]}..."


_REPR = _ShortRepr()
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
    """A name is not a string, or is empty where it must not be."""


class DuplicateNameError(StagecacheError, ValueError):
    """A name is taken: of a node, subsystem, body, event; or two nodes of a view have one path."""


class CheckpointError(StagecacheError, ValueError):
    """A State cannot go back to the given checkpoint."""


class ComparisonError(StagecacheError, TypeError):
    """`equal=` cannot compare the values of an entry, or the entry has no compute function."""


class UnknownNodeError(StagecacheError, KeyError):
    """A graph has no node of that name or number."""


class UnknownAttributeError(StagecacheError, AttributeError):
    """A graph has no attribute of that name."""


class ForeignNodeError(StagecacheError, ValueError):
    """A node of one graph, or a handle of one State, was used with another."""


class RemovedNodeError(StagecacheError, LookupError):
    """A handle was used after its node had been removed."""


class NodeInUseError(StagecacheError, ValueError):
    """A node cannot be removed while other nodes depend on it, or while it is computed."""


class NodeKindError(StagecacheError, TypeError):
    """A node of this kind does not have that operation: an entry cannot be set, for one."""


class WrongTypeError(StagecacheError, TypeError):
    """A value has a type that cannot be used there: not a State, not a function, ..."""


class DuplicatePrerequisiteError(StagecacheError, ValueError):
    """A prerequisite is listed twice."""


class ComputeSignatureError(StagecacheError, TypeError):
    """A compute function does not take the arguments with which it is called."""


class DeclarationError(StagecacheError, TypeError):
    """A class of Subsystem declares something impossible."""


class DeclaredNameError(StagecacheError, AttributeError):
    """An attribute that stands for a declared item was assigned or deleted."""


class ConstModelError(StagecacheError, AttributeError):
    """A model was changed while something is computed with it."""


class NoValueError(StagecacheError, ValueError):
    """A computation returned None, and its annotation promises a value."""


class AdoptionError(StagecacheError, ValueError):
    """A subsystem already has a System, or does not have one yet."""


class InputError(StagecacheError, ValueError):
    """An input of a subsystem is read without a source, or cannot have the source it is given."""


class TopologyVersionError(StagecacheError, ValueError):
    """A State is older than the last change of its System."""


class LayoutMismatchError(TopologyVersionError):
    """A saved State does not fit the model.

    Parameters
    ----------
    what, expected, got, hint : str
    report : LoadReport
        Every difference, item by item; also an attribute.
    """

    def __init__(self, what: str, expected: str, got: str, hint: str, report: object) -> None:
        super().__init__(what, expected, got, hint)
        self.args = (what, expected, got, hint, report)
        self.report = report


class ForeignStateError(StagecacheError, ValueError):
    """A State belongs to another System, or to none."""


class RealizationOrderError(StagecacheError, ValueError):
    """`order_subsystems` does not return each subsystem once."""


class StageTooLowError(StagecacheError, RuntimeError):
    """The call needs a later stage."""


class StageTooHighError(StagecacheError, RuntimeError):
    """The call needs an earlier stage."""


class StageOutOfRangeError(StagecacheError, ValueError):
    """A stage is not a `Stage`, or not in the range of the call."""


class StageOrderError(StagecacheError, ValueError):
    """A stage cannot be reached before the one that precedes it."""


class CacheEntryOutOfDateError(StagecacheError, RuntimeError):
    """An entry without a compute function was read while it is not valid."""


class NoUpdateEntryError(StagecacheError, LookupError):
    """A discrete variable does not have an update value."""


class PrerequisiteStageError(StagecacheError, ValueError):
    """A prerequisite is available only after the entry that depends on it."""


class UnknownSubsystemError(StagecacheError, IndexError):
    """A State or System has no such subsystem."""


class UnknownItemError(StagecacheError, IndexError):
    """No variable, entry, row or element of that index or name exists."""


class ShapeError(StagecacheError, ValueError):
    """An array has another shape than is needed."""


class EquilibriumError(StagecacheError, RuntimeError):
    """No values of the fast variables meet their conditions."""


class OutOfRangeError(StagecacheError, ValueError):
    """A number is beyond its limits."""


class KinematicsError(StagecacheError, ValueError):
    """q and u do not fit each other: their numbers differ, or the matrix N is singular."""


class MassMatrixError(StagecacheError, ValueError):
    """A declared mass matrix is not a mass matrix, or a u that needs a mass has none."""


class InconsistentConstraintsError(StagecacheError, RuntimeError):
    """No accelerations satisfy all constraints: some contradict each other."""


class NotANumberError(StagecacheError, TypeError):
    """A value is not a number, or not of a type that fits there."""


class ProjectionError(StagecacheError, RuntimeError):
    """A State cannot be projected onto its constraints.

    Attributes
    ----------
    results : ProjectResults or None
        Results of the projection up to the error.
    """

    def __init__(
        self, what: str, expected: str, got: str, hint: str, results: typing.Any = None
    ) -> None:
        super().__init__(what, expected, got, hint)
        self.args = (what, expected, got, hint, results)
        self.results = results


class StudyError(StagecacheError, RuntimeError):
    """A Study cannot do that now: before `initialize`, say."""


class MethodError(StagecacheError, ValueError):
    """A numerical method cannot integrate this System."""


class NotFiniteError(StagecacheError, ArithmeticError):
    """A time derivative is not finite, or an event trigger is NaN."""


class EventLoopError(StagecacheError, RuntimeError):
    """Handlers trigger each other without end, at one time."""


class StepSizeError(StagecacheError, RuntimeError):
    """The next step would be shorter than is allowed."""


class UnknownOptionError(StagecacheError, TypeError):
    """An option does not exist, or is given in another way."""


class ConditionError(StagecacheError, ValueError):
    """An assembly condition cannot be used like this, or returns wrong values."""


class UnknownMobilizerError(StagecacheError, LookupError):
    """The System has no such group of q to lock or restrict."""


class ObservationError(StagecacheError, ValueError):
    """Observations do not fit the Assembler, its frames, or each other."""


class AssemblyError(StagecacheError, RuntimeError):
    """No configuration was found that satisfies the errors of an Assembler.

    Attributes
    ----------
    error_norm : float
        The least one that was reached.
    tolerance : float
        The limit for the error norm.
    condition : str
        Name of the condition that is violated the most; "" if not known.
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
    """`Assembler.assemble` has found no configuration. Nothing has changed."""


class TrackFailed(AssemblyError):  # noqa: N818  # likewise
    """`Assembler.track` has found no configuration near the last one. Nothing has changed."""


class PartitionError(StagecacheError, ValueError):
    """Sizes of q, v and z, or views of them, do not make up the vector."""


class ReadOnlyError(StagecacheError, ValueError):
    """A write to something that is read-only."""


class PictureError(StagecacheError, ValueError):
    """A picture cannot be drawn like this, or there."""


class MissingExtraError(StagecacheError, ImportError):
    """A package that comes with an extra is not installed."""


class UnknownEventError(StagecacheError, ValueError):
    """The System has no such event, or it cannot be handled like this."""


class EventHandlerError(StagecacheError, RuntimeError):
    """A handler, reporter or schedule of an event raised, or returned a wrong value."""


class EventTimeError(StagecacheError, ValueError):
    """A handler changed the time, or the time of an event is not a number."""


class UnknownPathError(StagecacheError, KeyError):
    """No node, or column, has that path."""


class GraphFormatError(StagecacheError, ValueError):
    """A text is not a graph in JSON, or its version is unknown."""


class ModelError(StagecacheError, RuntimeError):
    """A model that a command names cannot be imported, found or run."""


class FileFormatError(StagecacheError, ValueError):
    """A file is damaged, cut short, of another kind, or says what it must not."""


class UnsavableValueError(StagecacheError, TypeError):
    """A value has no form in which it can be saved."""


class UnsharableError(StagecacheError, TypeError):
    """A shared entry depends on something that two processes cannot compare."""


class NotPicklableError(StagecacheError, TypeError):
    """The object cannot be pickled, since it means nothing in another process."""


class CheckFailedError(StagecacheError, AssertionError):
    """A check of the testing kit found a fault in a model.

    Attributes
    ----------
    program : str
        The shortest program that shows the fault; it runs where ``system`` is the System.
    suspects : tuple of str
        The probable causes: variables and entries, by name.
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
    """A value differs from the one in a fresh State with the same variables."""


class ImpreciseError(CheckFailedError):
    """A declared prerequisite is never read, or a write invalidates an independent entry."""


class NeverComputedError(CheckFailedError):
    """An entry or a hook raises in every program, so nothing could be compared."""


class UnfaithfulPickleError(CheckFailedError):
    """A System or State cannot be pickled, or differs afterwards."""


class ThreadedReadError(CheckFailedError):
    """Threads that read at the same time get other values, or compute more than once."""


class CycleError(StagecacheError, ValueError):
    """A node depends on itself, by declaration or in its computation.

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
    """A computation read something that its entry does not declare."""


class MutatedValueError(StagecacheError, RuntimeError):
    """A value that was read from a State has been changed in place."""


class StaleValueError(StagecacheError, RuntimeError):
    """A value that counts as valid differs from the value that would be computed now.

    Attributes
    ----------
    suspects : tuple of str
        The probable causes: reads that are not declared, or something outside of the State.
    """

    def __init__(
        self, what: str, expected: str, got: str, hint: str, suspects: tuple[str, ...] = ()
    ) -> None:
        super().__init__(what, expected, got, hint)
        self.args = (what, expected, got, hint, suspects)
        self.suspects = suspects


class UnknownChoiceError(StagecacheError, ValueError):
    """A choice does not exist: of a mode, a method, a kind, a status."""


class UnknownBodyError(StagecacheError, LookupError):
    """The tree has no such body."""


class MassPropertiesError(StagecacheError, ValueError):
    """A rigid body cannot have that mass and inertia."""


class MobilizerError(StagecacheError, TypeError):
    """A joint is not a mobilizer, or the methods of its class do not fit each other."""


class MotionError(StagecacheError, TypeError):
    """The motion of a joint is not a motion, or the joint has nothing to move."""


class ConstraintError(StagecacheError, ValueError):
    """A constraint cannot act between these bodies or coordinates."""


class UnknownMarkerError(StagecacheError, LookupError):
    """No marker, sensor or observation has that name or index."""


class NoObservationError(ObservationError):
    """Markers or sensors are assembled without any observation."""
