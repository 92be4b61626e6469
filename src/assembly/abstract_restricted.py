"""An Assembler, as far as locks and bounds of q go."""

from math import inf, isnan

from stagecache.assembly.abstract_assembler import AbstractAssembler
from stagecache.assembly.coordinates.mobilizers import Mobilizer, checked_index, handle_of, name_of
from stagecache.assembly.coordinates.restrictions import Restrictions
from stagecache.errors import OutOfRangeError
from stagecache.state.handles import AbstractContinuousVariable
from stagecache.state.vectors.conversion import FLOAT, converted
from stagecache.system.core.system import System


class AbstractRestricted(AbstractAssembler):
    """An Assembler of which q can be locked and restricted.

    A mobilizer is a handle of q, what has one as its attribute `q`, as a MobilizedBody, or a name:
    that of a body, or the path of a q, as "pendulum.angle". The q of a mobilizer are counted as the
    internal State has them: Euler angles, no quaternions. Each change uninitializes.
    """

    def __init__(self, system: System, name: str, version: str) -> None:
        super().__init__(system, name, version)
        self._restrictions = Restrictions()

    def lock_mobilizer(self, mobilizer: Mobilizer) -> None:
        """Keep all q of a mobilizer where they are, whatever is said about single ones.

        Raises
        ------
        UnknownMobilizerError, ForeignNodeError
        """
        handle = self._handle(mobilizer, "lock_mobilizer(mobilizer)")
        self.uninitialize()
        self._restrictions.mobilizers.add(handle)

    def unlock_mobilizer(self, mobilizer: Mobilizer) -> None:
        """Take that back. A q that was locked by itself stays locked, and so does a prescribed one.

        Raises
        ------
        UnknownMobilizerError, ForeignNodeError
        """
        handle = self._handle(mobilizer, "unlock_mobilizer(mobilizer)")
        if handle in self._restrictions.mobilizers:
            self.uninitialize()
            self._restrictions.mobilizers.discard(handle)

    def lock_q(self, mobilizer: Mobilizer, index: int = 0) -> None:
        """Keep one q of a mobilizer where it is, also when the mobilizer is unlocked as a whole.

        Raises
        ------
        UnknownMobilizerError, ForeignNodeError, UnknownItemError
        """
        key = self._key(mobilizer, index, "lock_q(mobilizer, index)")
        self.uninitialize()
        self._restrictions.locked.add(key)

    def unlock_q(self, mobilizer: Mobilizer, index: int = 0) -> None:
        """Take that back. The q stays locked while its mobilizer is locked as a whole.

        Raises
        ------
        UnknownMobilizerError, ForeignNodeError, UnknownItemError
        """
        key = self._key(mobilizer, index, "unlock_q(mobilizer, index)")
        if key in self._restrictions.locked:
            self.uninitialize()
            self._restrictions.locked.discard(key)

    def restrict_q(self, mobilizer: Mobilizer, index: int, lower: float, upper: float) -> None:
        """Keep one q of a mobilizer within a range, where it is free.

        A start outside of the range is moved into it. A q that is locked or prescribed stays where
        it is.

        Parameters
        ----------
        mobilizer : handle of q, what has one as its `q`, or str
        index : int
            Which q of it.
        lower, upper : float
            In the unit of the q; either may be infinite. If both are, that takes bounds back.

        Raises
        ------
        UnknownMobilizerError, ForeignNodeError, UnknownItemError
        ShapeError, NotANumberError
        OutOfRangeError
            The range is empty, or a bound is NaN.
        """
        key = self._key(mobilizer, index, "restrict_q(mobilizer, index)")
        low = float(converted(lower, FLOAT, (), "restrict_q(lower=...)"))
        high = float(converted(upper, FLOAT, (), "restrict_q(upper=...)"))
        if isnan(low) or isnan(high) or low > high or low == inf or high == -inf:
            raise OutOfRangeError(
                f"restrict_q: q {index} of {name_of(key[0], self._internal)} would have no value",
                "lower <= upper, either of which may be infinite",
                f"[{low:g}, {high:g}]",
                "exchange the two; to keep the q where it is, call lock_q",
            )
        self.uninitialize()
        if (low, high) == (-inf, inf):
            self._restrictions.bounds.pop(key, None)
        else:
            self._restrictions.bounds[key] = (low, high)

    def unrestrict_q(self, mobilizer: Mobilizer, index: int = 0) -> None:
        """Take bounds back. The q stays locked if it is locked.

        Raises
        ------
        UnknownMobilizerError, ForeignNodeError, UnknownItemError
        """
        key = self._key(mobilizer, index, "unrestrict_q(mobilizer, index)")
        if key in self._restrictions.bounds:
            self.uninitialize()
            del self._restrictions.bounds[key]

    def _handle(self, mobilizer: Mobilizer, what: str) -> AbstractContinuousVariable:
        return handle_of(mobilizer, self._internal, what)

    def _key(
        self, mobilizer: Mobilizer, index: int, what: str
    ) -> tuple[AbstractContinuousVariable, int]:
        handle = self._handle(mobilizer, what)
        return handle, checked_index(handle, index, self._internal)
