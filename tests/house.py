"""The rooms of the sources, from the ground up: a room imports from those above it in this table.

A file that lies directly in a package is between its rooms, wherever its imports allow.
"""

from typing import Final

ROOMS: Final = {
    "errors": "Every exception: what raises it, and how its message is made.",
    "checks": "Checks of arguments: each returns what was given, or raises.",
    "files": "Files: values without pickle, and the frame that holds them.",
    "views": "Views of dependency graphs: to look at, to search, to draw, and to take elsewhere.",
    "views/layout": "Layers, order and places of the nodes of a drawing.",
    "views/formats": "A view as text, page, picture, or graph of another library.",
    "graph": "The graph: variables and entries, their prerequisites, versions and validity.",
    "state": "The State: stages, variables, cache entries and partitions, built on the graph.",
    "state/vectors": "The vectors of a State, and conversion of what is written to them.",
    "state/values": "Values of variables: copies, sealing, and comparison.",
    "state/items": "Layouts of Subsystems, and their realization as nodes of a graph.",
    "state/contents": "Contents of a State: values, observers, and the storage of its vectors.",
    "state/continuous": "Continuous states: a vector, its q, u and z, and views of its elements.",
    "inspection": "Questions to a State: why an entry is stale, what a write would cost.",
    "inspection/explain": "Explanations of statuses, and impacts of writes.",
    "inspection/trace": "Traces: records of reads, writes and computations, and their summary.",
    "inspection/strict": "Strict mode: reads that were not declared, and values that are wrong.",
    "numerics": "Linear algebra and optimization that know no State.",
    "decorations": "Geometry to draw: points, lines, spheres, frames, meshes.",
    "system": "Models: Systems made of Subsystems, which declare what every State has.",
    "system/declare": "Declarations in the body of a Subsystem: variables, entries, families.",
    "system/motion": "Kinematics: qdot = N u, prescribed motion, differences.",
    "system/constraints": "Constraint errors, their Jacobians, rows and weights.",
    "system/projection": "Projection onto constraints.",
    "system/dynamics": "Accelerations and multipliers of constrained dynamics.",
    "system/events": "Events: triggers, handlers, reporters, and their times.",
    "system/hints": "Hints in errors: the declaration that a message proposes.",
    "system/core": "The System: topology, realization, transport of States.",
    "study": "Studies: what is done with a System by means of its States.",
    "study/methods": "Integration methods, one in each file.",
    "study/integrate": "The integrator: steps, event localization, constraints, options.",
    "study/trajectory": "Trajectories: rows of States, columns, export, plots.",
    "pictures": "Drawings and animations of decorations.",
    "assembly": "Assembly: configurations that satisfy conditions, and inverse kinematics.",
    "assembly/coordinates": "Free coordinates: locks, bounds, scales.",
    "assembly/conditions": "Conditions: errors and goals of an assembly.",
    "assembly/problem": "The optimization problem of an assembly, and the check of its conditions.",
    "assembly/methods": "Solutions of the problem: own and library methods, restarts.",
    "simbody": "Members of Simbody's State that handles do better: items by index, and the like.",
    "multibody": "Rigid bodies in a tree of mobilizers, with constraints, motions and observers.",
    "multibody/geometry": "Transforms, rotations and spatial vectors.",
    "multibody/mobilizers": "Mobilizers: how a body moves in its parent.",
    "multibody/motions": "Motions: prescribed coordinates as functions of time.",
    "multibody/tree": "The tree of bodies: layout, poses, velocities, stations.",
    "multibody/matter": "The matter subsystem and its bodies.",
    "multibody/constraints": "Constraints between bodies and coordinates.",
    "multibody/observers": "Observers: markers and orientation sensors as assembly conditions.",
    "testing": "Property-based tests of models: whether caches hold what would be computed anew.",
    "testing/oracle": "Values computed from scratch, and comparison with cached ones.",
    "testing/programs": "Random programs of reads and writes, and their execution.",
    "testing/diagnosis": "Shortened failures, their suspects, and the report.",
    "testing/checks": "The checks: coherence, pickling, precision, strictness, threads.",
    "testing/strategies": "Hypothesis strategies for graphs, States and Systems.",
    "examples": "Small complete programs, which the gallery of the documentation shows.",
    "cli": "The command `stagecache`, one file a subcommand.",
    "cli/template": "The files that `stagecache new` writes, as a model that works.",
    "demo": "The demonstration: a four-bar linkage that is assembled and turned.",
}
"""Rooms, from the ground up, with what each is for."""

DELEGATES: Final = {
    "stagecache.state.handles": {
        "stagecache.state.contents.contents",
        "stagecache.state.partition",
    },
    "stagecache.state.state": {
        "stagecache.inspection.explain.explain",
        "stagecache.inspection.explain.explanation",
        "stagecache.inspection.explain.impact",
        "stagecache.inspection.graph_view",
        "stagecache.inspection.strict.strict",
        "stagecache.inspection.trace.trace",
        "stagecache.system.core.system",
    },
    "stagecache.system.declare.subsystem": {
        "stagecache.system.core.system",
        "stagecache.system.events.events",
    },
    "stagecache.cli.main": {"stagecache.demo"},
}
"""Modules whose methods answer from a higher floor, and what these import of it."""
