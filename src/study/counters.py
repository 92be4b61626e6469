"""Counters of a Study: printing, and reset to 0."""

from attrs import define, fields


@define(repr=False)
class AbstractCounters:
    """Numbers that begin at 0, each an attribute ``num_...``."""

    def reset(self) -> None:
        """Set all counters to 0."""
        for field in fields(type(self)):
            setattr(self, field.name, 0)

    def __str__(self) -> str:
        counts = {field.name: getattr(self, field.name) for field in fields(type(self))}
        lines = [
            f"{count:10,}  {name.removeprefix('num_').replace('_', ' ')}"
            for name, count in counts.items()
            if count
        ]
        return "\n".join(lines or ["nothing was done yet"])

    def __repr__(self) -> str:
        return f"{type(self).__name__}:\n{self}"
