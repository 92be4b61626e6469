"""Statistics of a System: counters over all its States."""

from attrs import Factory, define, fields

from stagecache.state.stage import Stage, check_stage


@define
class SystemStatistics:
    """Counters of a System, over all its States. Realizations are counted by stage.

    They are plain numbers: where several threads realize at the same time, some may be lost.

    Attributes
    ----------
    num_realize_calls : int
        Calls of `System.realize`, also where nothing was left to realize.
    num_prescribe_q_calls, num_prescribe_u_calls : int
    num_project_q_calls, num_project_u_calls : int
    num_failed_project_q_calls, num_failed_project_u_calls : int
        Calls that did not reach the accuracy.
    num_q_projections, num_u_projections : int
        Calls that changed the State.
    num_q_error_estimate_projections, num_u_error_estimate_projections : int
        Calls that changed an error estimate.
    num_handle_event_calls, num_report_event_calls : int
    """

    _realizations: list[int] = Factory(lambda: [0] * len(Stage))
    _changes_by_handlers: list[int] = Factory(lambda: [0] * len(Stage))
    num_realize_calls: int = 0
    num_prescribe_q_calls: int = 0
    num_prescribe_u_calls: int = 0
    num_project_q_calls: int = 0
    num_failed_project_q_calls: int = 0
    num_q_projections: int = 0
    num_q_error_estimate_projections: int = 0
    num_project_u_calls: int = 0
    num_failed_project_u_calls: int = 0
    num_u_projections: int = 0
    num_u_error_estimate_projections: int = 0
    num_handle_event_calls: int = 0
    num_report_event_calls: int = 0

    def num_realizations(self, stage: Stage) -> int:
        """Return how often a stage was realized.

        Raises
        ------
        StageOutOfRangeError
        """
        stage = check_stage(stage, Stage.EMPTY, Stage.INFINITY, "num_realizations()")
        return self._realizations[stage]

    def num_handler_calls_that_changed_stage(self, stage: Stage) -> int:
        """Return the number of calls of `System.handle_events` whose lowest modified stage it was.

        A call of `System.report_events` counts as one that modified Report.

        Raises
        ------
        StageOutOfRangeError
        """
        what = "num_handler_calls_that_changed_stage()"
        return self._changes_by_handlers[check_stage(stage, Stage.EMPTY, Stage.INFINITY, what)]

    def reset(self) -> None:
        """Set all counters to 0."""
        self._realizations[:] = [0] * len(Stage)
        self._changes_by_handlers[:] = [0] * len(Stage)
        for field in fields(SystemStatistics)[2:]:
            setattr(self, field.name, 0)

    def _count_change_by_handlers(self, stage: Stage) -> None:
        self._changes_by_handlers[stage] += 1

    def __str__(self) -> str:
        counts = {f"realizations of {s}": n for s, n in zip(Stage, self._realizations, strict=True)}
        for field in fields(SystemStatistics)[2:]:
            counts[field.name.removeprefix("num_").replace("_", " ")] = getattr(self, field.name)
        changes = zip(Stage, self._changes_by_handlers, strict=True)
        counts |= {f"handler calls that changed {s}": n for s, n in changes if s < Stage.INFINITY}
        lines = [f"{count:10,}  {name}" for name, count in counts.items() if count]
        return "\n".join(lines or ["nothing was done yet"])

    def __repr__(self) -> str:
        return f"SystemStatistics:\n{self}"
