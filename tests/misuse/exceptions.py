"""Callables without a recipe, wrong values that are right, and calls that are not tried."""

from fnmatch import fnmatchcase
from typing import Final

WITHOUT_RECIPE: Final = {
    "a record that the library makes": (
        *(
            "AssemblyResult",
            "*Statistics",
            "LoadReport",
            "LayoutDifference",
            "Explanation",
            "Cause",
        ),
        *("Impact", "Comparison", "Difference", "TraceSummary", "*Summary", "*Event", "Event"),
        *("UndeclaredRead", "OverDeclared", "Marker", "OrientationSensor", "Origin", "Member"),
        *("MemberResult", "TriggeredEvent", "EventTriggerInfo", "HandleEventsResults"),
        *("ProjectResults", "WorstError", "KinematicBlock", "Profile", "*Profile", "CheckResult"),
        *(
            "FrameResult",
            "Model",
            "ModelMarker",
            "LeftOut",
            "IKResult",
            "IKTasks",
            "CoordinateTask",
        ),
        *("Verdict", "NodeInfo", "EdgeInfo", "Reason", "Linearization"),
    ),
    "made by another call, which is tried": (
        *("Variable", "Entry", "Trace", "ReadLog", "LiveView", "MobilizedBody", "StationGroup"),
        *("SharedResults", "Checkpoint", "StudyResults", "Family", "DefaultSystemSubsystem"),
        *("CacheEntry", "DiscreteVariable", "AutoUpdateVariable", "ContinuousVariable"),
        *("ScalarVariable", "TimeVariable", "SubsystemState", "ForceSum", "ContinuousElement"),
        "JointCoordinate",
    ),
    "takes nothing that could be wrong": (
        *("*.as_dict", "ReadLog.over_declared", "LiveView.pause", "LiveView.resume"),
        *("LiveView.step", "LiveView.close", "SharedResults.clear", "Member.rng"),
        *(
            "SharedResultsWarning",
            "ModelWarning",
            "*.to_xarray",
            "IKResult.calc_markers",
            "TriggeredEventHandler.trigger",
            "ReadLog.of",
        ),
    ),
    "abstract: its subclasses are tried": (
        *("AbstractNode(...)", "AbstractContinuousVariable(...)", "AbstractHandle(...)"),
    ),
    "overridden by users and called by the library, with what it has checked": (
        *(
            "AssemblyCondition.*",
            "Markers.calc_*",
            "Markers.check_*",
            "Markers.error_names",
            "Markers.marker_distances",
        ),
        *("Markers.*initialize_condition", "AbstractMobilizer.*", "AbstractMotion.*"),
        *("AbstractSpeedMotion.*", "AbstractAccelerationMotion.*"),
        *("AbstractPairConstraint.*", "AbstractCoordinateConstraint.*", "Subsystem.*"),
        "AbstractSpeedConstraint.*",
        *("AbstractForce.calc_force", "AbstractForce.calc_potential_energy", "AbstractFunction.*"),
        *("*EventHandler.*", "*EventReporter.report", "InvalidationMachine*"),
        *("System.order_subsystems",),
    ),
    "a building block below Graph and State, which are its checks": ("Structure*", "Store*"),
    "called by the library, with what it has computed": (
        *("Transform.of_matrix", "SharedResults.find_or_compute"),
    ),
    "opens a port, or needs a package of an extra": (
        "LiveView.serve",
        "Trajectory.to_zarr",
        "IKResult.animate",
    ),
    "a strategy of Hypothesis, which checks it when it draws": ("systems", "graphs", "structures"),
}
"""Patterns of names, by reason."""

ACCEPTED: Final = {
    "a name may be empty where it is for messages only": (
        *("Graph: name = ''", "Graph.copy: name = ''", "*.add_subsystem: name = ''"),
        *("SubsystemState.allocate_*: name = ''", "simbody.*: name = ''", "Study: name = ''"),
        *(
            "Assembler: name = ''",
            "Table: name = ''",
            "Integrator: name = ''",
            "TimeStepper: name = ''",
        ),
        *("Markers.add_marker: name = ''", "OrientationSensors.add_sensor: name = ''"),
    ),
    "Stage is an IntEnum: 5 is Position": ("*: *= int 5",),
    "is in the range of the call": (
        *("*event_triggers_by_stage: stage = *", "*trigger_start_by_stage: stage = *"),
        *("*invalidate_all*: stage = Stage.INFINITY", "*: computed_by = Stage.INFINITY"),
        *("System.realize: stage = Stage.EMPTY", "SystemStatistics.*: stage = *"),
        *("Integrator.reinitialize: stage = Stage.*", "*: projection_limit = inf"),
        *("Extreme: since = *inf", "Integral: initial = one more"),
        *("MobilityStop: low = -inf", "MobilityStop: high = inf", "Table.between: * = *inf"),
        *("FunctionBased: checked_at = empty", "Polynomial: coefficients = one more"),
    ),
    "a State takes all numbers; who integrates or projects refuses NaN": (
        *("State.* =: values = NaN", "State.* =: values = infinite", "State.time =: time = *"),
        *("SubsystemState.allocate_?: values = *", "*Variable.set: value* = NaN"),
        *("*Variable.set: value* = infinite", "ScalarVariable.set: value = *"),
        *("TimeVariable.set: time = *",),
    ),
    "a vector takes all numbers": (
        *("*ContinuousState*: v* = NaN", "*ContinuousState*: v* = infinite"),
        *("AbstractElementView*: values = *", "System.multiply_by_*: * = *"),
        "System.calc_constraint_acceleration_errors: udot = *",
    ),
    "an infinite time is the end of time": (
        *("Integrator.step_*: * = inf", "IntegratorOptions: final_time = inf"),
        *("Simulation: until = *", "run_checks: budget = inf"),
    ),
    "an infinite weight makes a goal an error": (
        *("Assembler.*: weight = inf", "Assembler.restrict_q: * = *inf"),
    ),
    "a negative index counts from the end": (
        *("ContinuousState*: key = -1", "Family*: index = -1", "Trajectory*: index = -1"),
        *("StudyResults*: index = -1",),
    ),
    "it fits: another System with the same layout, a State as a value": (
        *("*: system = another System", "State.assign: other = *", "compare: * = *"),
        *("strict: state = *", "verify: state = *", "watch: state = *", "simbody.*: * = a State*"),
        *("kinematic_blocks: state = *", "Trajectory: state = *", "Simulation(*: state = *"),
        *("Assembly(*: state = *", "Tracking(*: state = *", "State.trace: others = *"),
    ),
    "whether an item is there can be asked of anything": (
        *("simbody.has_*: index = *", "State.lowest_stage_difference: versions = *"),
        *("System.is_same_system: other = *", "Comparison.of: what = *"),
        *("GraphView.select: * = *", "GraphView.to_html: impacts = {}", "linearize: sizes = {}"),
    ),
    "a function, or what it returns, is checked when it is called": (
        *("*: * = a coroutine function", "*: * = a generator function", "*: * = a function of 9"),
        *(
            "*: prerequisites = *",
            "*: count = *",
            "*: jacobian = print",
            "*: parts = print",
            "*: next_time = print",
        ),
        *("*: value = print", "GraphView: find_* = *", "*: exists = print", "*: exists = State"),
    ),
    "checked when it is added to a System or an Assembler": (
        *("QValue: * = *", "*: body = a body of another matter", "*Coordinate*: * = *"),
        *(
            "Sinusoid*: * = one more",
            "Steady*: * = one more",
            "Assembler.add_*: condition = Reach*",
        ),
    ),
    "a missing value is NaN or None": (
        *("Markers.move_*: * = NaN", "Markers.define_observation_order: order = *"),
        *("Markers.calc_decorations: color = None", "AbstractElementView*: key = None"),
    ),
    "no accuracy is too high; the results say if it was reached": (
        *("Assembler: * = 0.0", "Assembler.*: * = 0"),
    ),
    "None is the default, in a Console's place": ("*: progress = None",),
    "True is 1": ("StudyResults*: index = True", "Members*: which = True"),
    "nothing, or all": ("run_checks: checks = {}", "AssemblyCondition.by_free_q: * = None"),
    "an empty table": ("*: times = *", "DiagramContinuousState: substates = *"),
}
"""Patterns of cases that are no misuse, by reason."""

NOT_TRIED: Final = {
    "goes on until an event ends it": (
        *("simulate: until = inf", "TimeStepper.step_to: time = inf", "simulate: until = 10*"),
        *("Simulation(*: until = inf", "resume: until = inf"),
    ),
    "a function is called as it is, and its own error comes through": (
        *("profile: run = a function of 9", "draw: extra = a function of 9"),
        *("animate: * = a function of 9", "animate: * = a coroutine function", "draw: * = a coro*"),
        "run_study: study = a coroutine function",
    ),
    "how many numbers there are is known in a State, which refuses it": (
        "ContinuousVariable(...): index = 10*",
    ),
    "takes files of the machine": ("shared_results: path = the root",),
}
"""Patterns of cases that would not end, or do harm, by reason."""


def reason_of(text: str, table: dict[str, tuple[str, ...]]) -> str:
    """Return the reason why a table has a name, or a case; "" if it does not have it."""
    plain = text.replace("[...]", "(...)")
    for reason, patterns in table.items():
        if any(fnmatchcase(plain, pattern) for pattern in patterns):
            return reason
    return ""
