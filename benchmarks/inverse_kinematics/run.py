"""What came out of the frames of a problem, by whatever solved it."""

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

Array = NDArray[np.float64]


@frozen
class Run:
    """What came out of the frames, one number for each. Means are of those that are tracked.

    A frame that could not be solved has NaN in all but `seconds`.

    Attributes
    ----------
    name : str
        Of what solved it.
    accuracy, tolerance : float
        That were asked for.
    seconds, goals : ndarray of shape (frames,)
    rms : ndarray of shape (frames,) or (0,)
        The root mean square of the distances of markers [m]; none where there are no markers.
    errors : ndarray of shape (frames,) or (0,)
        The largest error of the constraints; none where it is not told.
    evaluations : ndarray of shape (frames,) or (0,)
        How often the goal was computed, or how many iterations there were.
    """

    name: str
    accuracy: float
    tolerance: float
    seconds: Array = field(eq=False)
    goals: Array = field(eq=False)
    rms: Array = field(eq=False)
    errors: Array = field(eq=False)
    evaluations: Array = field(factory=lambda: np.zeros(0), eq=False)

    @property
    def failed(self) -> tuple[int, ...]:
        """Which frames could not be solved."""
        return tuple(np.flatnonzero(np.isnan(self.goals)).tolist())

    @property
    def seconds_per_frame(self) -> float:
        """The mean of `seconds`."""
        return _mean(self.seconds)

    @property
    def mean_goal(self) -> float:
        """The mean of `goals`."""
        return _mean(self.goals)

    @property
    def mean_rms(self) -> float:
        """The mean of `rms`; NaN where there are no markers [m]."""
        return _mean(self.rms)

    @property
    def largest_error(self) -> float:
        """The largest of `errors`; NaN where it is not told."""
        return float(np.nanmax(self.errors)) if np.isfinite(self.errors).any() else np.nan

    @property
    def note(self) -> str:
        """What a reader of the time must know, in a few short lines."""
        lines = [f"goal {self.mean_goal:.3g}"]
        if self.rms.size:
            lines.append(f"RMS {1e3 * self.mean_rms:.3g} mm")
        if self.largest_error > 0:
            lines.append(f"error {self.largest_error:.0e}")
        if self.failed:
            lines.append(f"{len(self.failed)} failed")
        return "\n".join(lines)


def _mean(values: Array) -> float:
    """The mean of the frames that were tracked; of one frame alone, what it has."""
    tracked = values[1:] if len(values) > 1 else values
    tracked = tracked[np.isfinite(tracked)]
    return float(np.mean(tracked)) if tracked.size else np.nan
