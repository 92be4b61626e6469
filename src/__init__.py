"""stagecache: a reactive dependency-graph cache for simulation models.

A name is looked up when it is first asked for (PEP 562), in one package after the other, each of
which imports those before it anyway. So neither the command line nor the plugin of pytest waits for
NumPy. For type checkers, the names are those of the packages.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING

_PACKAGES = (  # whose names are here, from the ground up
    *("views", "graph", "state", "inspection", "numerics", "decorations", "system"),
    *("study", "pictures", "assembly"),
)

if TYPE_CHECKING:
    import stagecache.multibody  # their names are not here, only the packages are
    import stagecache.simbody  # noqa: F401
    from stagecache.assembly import *
    from stagecache.decorations import *
    from stagecache.graph import *
    from stagecache.inspection import *
    from stagecache.numerics import *
    from stagecache.pictures import *
    from stagecache.state import *
    from stagecache.study import *
    from stagecache.system import *
    from stagecache.views import *
else:

    def __getattr__(name: str) -> object:
        if name in _PACKAGES or name in ("errors", "multibody", "simbody"):
            return import_module(f"stagecache.{name}")
        if name in __all__:
            for package in _PACKAGES:
                module = import_module(f"stagecache.{package}")
                if name in module.__all__:
                    return globals().setdefault(name, getattr(module, name))
        this = sys.modules[__name__]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=this)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__all__ = [
    "AbstractConstrainedSystem",
    "AbstractContinuousState",
    "AbstractContinuousVariable",
    "AbstractDeclaration",
    "AbstractDecoration",
    "AbstractElementView",
    "AbstractEventHandler",
    "AbstractEventReporter",
    "AbstractEventfulSystem",
    "AbstractHandle",
    "AbstractNode",
    "AbstractSystem",
    "AbstractTraceEvent",
    "Assembler",
    "AssemblerStatistics",
    "AssemblyCondition",
    "AssemblyResult",
    "AutoUpdateVariable",
    "CacheEntry",
    "Cause",
    "CauseKind",
    "Checkpoint",
    "Comparison",
    "ComputationEvent",
    "ContinuousState",
    "ContinuousVariable",
    "CoordinateDirection",
    "DecorativeBrick",
    "DecorativeCylinder",
    "DecorativeFrame",
    "DecorativeLine",
    "DecorativeMesh",
    "DecorativePoint",
    "DecorativeSphere",
    "DecorativeText",
    "DefaultSystemSubsystem",
    "DiagramContinuousState",
    "Difference",
    "DiscreteVariable",
    "EdgeInfo",
    "EdgeKind",
    "Entry",
    "EntryProfile",
    "EntrySummary",
    "Event",
    "EventAction",
    "EventCause",
    "EventTriggerInfo",
    "Explanation",
    "Family",
    "Graph",
    "GraphStatistics",
    "GraphView",
    "HandleEventsOptions",
    "HandleEventsResults",
    "HandleEventsStatus",
    "HitEvent",
    "Impact",
    "Integrator",
    "IntegratorOptions",
    "IntegratorStatistics",
    "InvalidationEvent",
    "KinematicBlock",
    "NodeInfo",
    "NodeKind",
    "OverDeclared",
    "PeriodicEventHandler",
    "PeriodicEventReporter",
    "Profile",
    "ProjectOptions",
    "ProjectResults",
    "ProjectStatus",
    "QValue",
    "ReadLog",
    "ScalarVariable",
    "ScheduledEventHandler",
    "ScheduledEventReporter",
    "Stage",
    "StageEvent",
    "State",
    "Status",
    "StepStatus",
    "Store",
    "Structure",
    "Study",
    "Subsystem",
    "SubsystemState",
    "System",
    "SystemStatistics",
    "TerminationReason",
    "TimeStepper",
    "TimeVariable",
    "Timeline",
    "Trace",
    "TraceSummary",
    "Trajectory",
    "TriggerDirection",
    "TriggeredEvent",
    "TriggeredEventHandler",
    "TriggeredEventReporter",
    "UndeclaredRead",
    "Variable",
    "WorstError",
    "WriteEvent",
    "WriteProfile",
    "acceleration_error",
    "animate",
    "auto_update",
    "cached",
    "compare",
    "discrete",
    "draw",
    "event_trigger",
    "generalized_force",
    "inverse_mass_matrix",
    "kinematic_blocks",
    "kinematics",
    "mass_matrix",
    "modeling_option",
    "normalization_error",
    "parameter",
    "position_error",
    "profile",
    "q_variable",
    "quaternion_kinematics",
    "quaternion_normalization",
    "simulate",
    "solve_constrained",
    "strict",
    "u_variable",
    "velocity_error",
    "verify",
    "z_variable",
]
