"""stagecache: a reactive dependency-graph cache for simulation models.

A name is looked up when it is first asked for (PEP 562), in one package after the other, each of
which imports those before it anyway. So neither the command line nor the plugin of pytest waits for
NumPy. For type checkers, the names are those of the packages.
"""

import sys
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING

_PACKAGES = (  # whose names are here, from the ground up
    *("views", "files", "graph", "state", "inspection", "live", "sharing"),
    *("numerics", "decorations", "system", "study", "pictures", "assembly"),
)

if TYPE_CHECKING:
    compiled: tuple[str, ...]
    """Names of the modules that are compiled; empty where stagecache is plain Python."""

    import stagecache.models  # their names are not here, only the packages are
    import stagecache.multibody
    import stagecache.simbody  # noqa: F401
    from stagecache.assembly import (
        Assembler,
        AssemblyCondition,
        AssemblyResult,
        QValue,
    )
    from stagecache.decorations import (
        CoordinateDirection,
        DecorativeBrick,
        DecorativeCylinder,
        DecorativeFrame,
        DecorativeLine,
        DecorativeMesh,
        DecorativePoint,
        DecorativeSphere,
        DecorativeText,
    )
    from stagecache.files import (
        register_value,
    )
    from stagecache.graph import (
        Checkpoint,
        Entry,
        Graph,
        Variable,
    )
    from stagecache.inspection import (
        Trace,
        compare,
        strict,
        verify,
    )
    from stagecache.live import (
        watch,
    )
    from stagecache.numerics import (
        solve_constrained,
    )
    from stagecache.pictures import (
        animate,
        draw,
    )
    from stagecache.sharing import (
        SharedResults,
        shared_results,
    )
    from stagecache.state import (
        AutoUpdateVariable,
        CacheEntry,
        ContinuousState,
        ContinuousVariable,
        DiagramContinuousState,
        DiscreteVariable,
        ScalarVariable,
        Stage,
        State,
        SubsystemState,
        TimeVariable,
    )
    from stagecache.study import (
        Integrator,
        IntegratorOptions,
        Simulation,
        StepStatus,
        Study,
        TerminationReason,
        TimeStepper,
        Trajectory,
        find_equilibrium,
        full_factorial,
        latin_hypercube,
        linearize,
        load_study,
        load_trajectory,
        resume,
        run_study,
        simulate,
        sobol,
    )
    from stagecache.system import (
        Event,
        EventAction,
        EventCause,
        Family,
        HandleEventsOptions,
        PeriodicEventHandler,
        PeriodicEventReporter,
        ProjectOptions,
        ScheduledEventHandler,
        ScheduledEventReporter,
        Subsystem,
        System,
        TriggerDirection,
        TriggeredEventHandler,
        TriggeredEventReporter,
        acceleration_error,
        at_initialization,
        at_termination,
        auto_update,
        cached,
        discrete,
        event_trigger,
        generalized_force,
        input_port,
        inverse_mass_matrix,
        kinematics,
        load_state,
        mass_matrix,
        modeling_option,
        normalization_error,
        parameter,
        periodic,
        position_error,
        profile,
        q_variable,
        quaternion_kinematics,
        quaternion_normalization,
        scheduled,
        u_variable,
        velocity_error,
        z_variable,
    )
    from stagecache.views import (
        GraphView,
        Status,
    )
else:

    def __getattr__(name: str) -> object:
        if name in _PACKAGES or name in ("errors", "models", "multibody", "simbody"):
            return import_module(f"stagecache.{name}")
        if name == "compiled":
            return globals().setdefault(name, _compiled())
        if name in __all__:
            for package in _PACKAGES:
                module = import_module(f"stagecache.{package}")
                if name in module.__all__:
                    return globals().setdefault(name, getattr(module, name))
        this = sys.modules[__name__]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=this)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__, "compiled"})

    def _compiled() -> tuple[str, ...]:
        """Return the names of the compiled modules, without importing any."""
        root, suffix = Path(__file__).parent, EXTENSION_SUFFIXES[0]
        found = [file.relative_to(root.parent).as_posix() for file in root.rglob(f"*{suffix}")]
        return tuple(sorted(name.removesuffix(suffix).replace("/", ".") for name in found))


__all__ = [
    "Assembler",
    "AssemblyCondition",
    "AssemblyResult",
    "AutoUpdateVariable",
    "CacheEntry",
    "Checkpoint",
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
    "DiagramContinuousState",
    "DiscreteVariable",
    "Entry",
    "Event",
    "EventAction",
    "EventCause",
    "Family",
    "Graph",
    "GraphView",
    "HandleEventsOptions",
    "Integrator",
    "IntegratorOptions",
    "PeriodicEventHandler",
    "PeriodicEventReporter",
    "ProjectOptions",
    "QValue",
    "ScalarVariable",
    "ScheduledEventHandler",
    "ScheduledEventReporter",
    "SharedResults",
    "Simulation",
    "Stage",
    "State",
    "Status",
    "StepStatus",
    "Study",
    "Subsystem",
    "SubsystemState",
    "System",
    "TerminationReason",
    "TimeStepper",
    "TimeVariable",
    "Trace",
    "Trajectory",
    "TriggerDirection",
    "TriggeredEventHandler",
    "TriggeredEventReporter",
    "Variable",
    "acceleration_error",
    "animate",
    "at_initialization",
    "at_termination",
    "auto_update",
    "cached",
    "compare",
    "discrete",
    "draw",
    "event_trigger",
    "find_equilibrium",
    "full_factorial",
    "generalized_force",
    "input_port",
    "inverse_mass_matrix",
    "kinematics",
    "latin_hypercube",
    "linearize",
    "load_state",
    "load_study",
    "load_trajectory",
    "mass_matrix",
    "modeling_option",
    "normalization_error",
    "parameter",
    "periodic",
    "position_error",
    "profile",
    "q_variable",
    "quaternion_kinematics",
    "quaternion_normalization",
    "register_value",
    "resume",
    "run_study",
    "scheduled",
    "shared_results",
    "simulate",
    "sobol",
    "solve_constrained",
    "strict",
    "u_variable",
    "velocity_error",
    "verify",
    "watch",
    "z_variable",
]
