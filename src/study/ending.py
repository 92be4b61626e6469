"""The end of a simulation, as its file tells it."""

from typing import Any, Final, Self, final

from attrs import asdict, frozen

from stagecache.errors import short_repr
from stagecache.files.envelope import pack, unpack
from stagecache.files.values import bad_file
from stagecache.study.integrate.statistics import IntegratorStatistics
from stagecache.study.integrate.step_status import TerminationReason

KIND: Final = "end of a simulation"


@final
@frozen
class Ending:
    """The end of a simulation.

    Attributes
    ----------
    reason : TerminationReason or None
    statistics : IntegratorStatistics
    """

    reason: TerminationReason | None
    statistics: IntegratorStatistics

    def to_bytes(self) -> bytes:
        """Return the end in the form of a file."""
        reason = None if self.reason is None else self.reason.name
        return pack(KIND, {"reason": reason, "statistics": asdict(self.statistics)})

    @classmethod
    def of_bytes(cls, data: Any, where: str) -> Self:
        """Return the end that `to_bytes` has saved; `where` names the file in errors.

        Raises
        ------
        FileFormatError
        """
        content, _ = unpack(data, KIND, where)
        try:
            reason = TerminationReason[content["reason"]]
            statistics = IntegratorStatistics(**content["statistics"])
        except (TypeError, KeyError):
            raise bad_file(
                f"{where}: has no end of a simulation", "reason and counts", short_repr(content)
            ) from None
        return cls(reason, statistics)
