"""The end of a simulation, as a trajectory and its file tell it."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, Self, final

from attrs import asdict, fields, frozen

from stagecache.errors import FileFormatError, short_repr
from stagecache.files.envelope import pack, unpack
from stagecache.files.values import bad_file
from stagecache.study.integrate.statistics import IntegratorStatistics
from stagecache.study.integrate.step_status import TerminationReason

KIND: Final = "end of a simulation"
ENDING: Final = "ending"
"""Name of the end among the details of a header."""


@final
@frozen
class Ending:
    """The end of a simulation.

    Attributes
    ----------
    reason : TerminationReason
    statistics : IntegratorStatistics
    """

    reason: TerminationReason
    statistics: IntegratorStatistics

    def to_json(self) -> dict[str, Any]:
        """Return the end as JSON has it."""
        return {"reason": self.reason.name, "statistics": asdict(self.statistics)}

    def to_bytes(self) -> bytes:
        """Return the end in the form of a file."""
        return pack(KIND, self.to_json())

    @classmethod
    def of_json(cls, found: Any, where: str) -> Self:
        """Return the end that `to_json` has described; `where` names the file in errors.

        Raises
        ------
        FileFormatError
        """
        is_end = isinstance(found, dict) and set(found) == {"reason", "statistics"}
        is_end = is_end and found["reason"] in list(TerminationReason.__members__)
        if not is_end or not are_counts(found["statistics"]):
            raise bad_file(
                f"{where}: has no end of a simulation", "reason and counts", short_repr(found)
            )
        reason = TerminationReason[found["reason"]]
        return cls(reason, IntegratorStatistics(**found["statistics"]))

    @classmethod
    def in_file(cls, details: Mapping[str, Any], last: bytes, where: str) -> Self | None:
        """Return the end that a header or the last batch of a file tells; None without one."""
        if ENDING in details:
            return cls.of_json(details[ENDING], where)
        found = None
        with suppress(FileFormatError):  # it is a restart, or there is none
            found, _ = unpack(last, KIND, where)
        return None if found is None else cls.of_json(found, where)


def are_counts(found: Any) -> bool:
    """Return True if JSON has all counts of `IntegratorStatistics`."""
    names = {field.name for field in fields(IntegratorStatistics)}
    is_whole = isinstance(found, dict) and set(found) == names
    return is_whole and all(type(count) is int and count >= 0 for count in found.values())
