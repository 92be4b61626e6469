"""An extension of Sphinx: the pages of the API reference, one for each class or function.

`sphinx.ext.autosummary` writes a page for each name in a table of `docs/reference/api/*.md`, from
the templates in `docs/_templates`. The pages are not committed. The functions here choose the
members that the page of a class shows, and put a table of them before their descriptions. The
navigation has the pages with the tables and none of single names: hundreds of them on every page
would be most of its bytes, and most of the time of a build.
"""

import enum
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes
from sphinx.environment.adapters.toctree import TocTree

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

FOLDER = Path(__file__).parents[1] / "reference" / "api"
LEAST = 4  # fewer members need no table

# Classes with members that users meet in instances, although a base class defines them.
INHERITED = {
    *("Variable", "Entry", "CacheEntry", "DiscreteVariable", "AutoUpdateVariable"),
    *("ContinuousVariable", "ScalarVariable", "TimeVariable", "State", "SubsystemState", "System"),
    *("TimeStepper", "Integrator", "IntegratorStatistics", "Assembler", "AssemblerStatistics"),
    *("ScheduledEventHandler", "PeriodicEventHandler", "TriggeredEventHandler"),
    *("ScheduledEventReporter", "PeriodicEventReporter", "TriggeredEventReporter"),
    *("InitializationEventHandler", "InitializationEventReporter"),
    *("TerminationEventHandler", "TerminationEventReporter"),
    *("Store", "ContinuousState", "DiagramContinuousState"),
}

# Classes that are described as a whole: users read their fields or parameters, or only their type.
WHOLE = {
    *("AbstractNode", "AbstractContinuousVariable", "AbstractHandle", "AbstractContinuousState"),
    *("DefaultSystemSubsystem", "AbstractDeclaration"),
    *("AbstractEventHandler", "AbstractEventReporter", "AbstractTraceEvent"),
    *("WriteEvent", "InvalidationEvent", "ComputationEvent", "HitEvent", "StageEvent"),
    *("NodeInfo", "EdgeInfo", "Cause", "Difference", "TriggeredEvent", "Event", "EventTriggerInfo"),
    *("IntegratorOptions", "HandleEventsOptions", "AssemblyResult", "Marker", "OrientationSensor"),
    *("DecorativePoint", "DecorativeLine", "DecorativeSphere", "DecorativeBrick"),
    *("DecorativeCylinder", "DecorativeFrame", "DecorativeMesh", "DecorativeText"),
    *("Weld", "Pin", "Slider", "Universal", "Cylinder", "Planar", "Gimbal", "Translation"),
    *("Ball", "Free", "Screw", "BendStretch", "Bushing", "Ellipsoid", "Reversed"),
    *("CantileverFreeBeam", "LineOrientation", "FreeLine"),
    *("RodConstraint", "BallConstraint", "WeldConstraint"),
    *("PointInPlaneConstraint", "PointOnLineConstraint", "ConstantAngleConstraint"),
    *("ConstantOrientationConstraint", "CoordinateCouplerConstraint"),
    *("ConstantCoordinateConstraint", "Sinusoid", "Steady", "FunctionBased"),
    *("SteadySpeed", "SinusoidalSpeed", "SinusoidalAcceleration"),
    *("PrescribedMotionConstraint", "ConstantSpeedConstraint", "SpeedCouplerConstraint"),
    *("ConstantAccelerationConstraint", "NoSlip1DConstraint"),
    *("Linear", "Polynomial", "NaturalCubicSpline", "SimmSpline", "PiecewiseLinear"),
    *("LeftOut", "ModelMarker", "ModelWarning", "IKTasks", "CoordinateTask"),
    *("Gravity", "MobilitySpring", "MobilityDamper", "MobilityConstantForce", "MobilityStop"),
    *("TwoPointSpring", "TwoPointDamper", "LinearBushing", "CustomForce"),
    *("AbstractMeasure", "Integral", "Extreme", "Delay", "Derivative", "SampleAndHold"),
}

CONTACT = "separation, contact_frame, slip, slip_multipliers, calc_force"

# Classes with members that are public only for other packages of the library.
CHOSEN = {
    "QValue": [":members: value, move_all_observations"],
    "MatterSubsystem": [
        ":members: ground, bodies, body, coordinates, coordinate, add_body, add_stations, "
        "add_decoration, station_groups, use_euler_angles, m_matrix, bias_force, applied_force, "
        "kinetic_energy, potential_energy, multiply_by_m, multiply_by_m_inv, "
        "calc_inverse_dynamics, calc_mass, calc_center_of_mass, calc_momentum, forces"
    ],
    "AbstractForce": [
        ":members: is_enabled, applied, potential_energy, calc_force, calc_potential_energy, "
        "calc_power"
    ],
    "ForceSum": [":members: add_force, add_moment, add_mobility_force"],
    "DiscreteForces": [":members: set_mobility_force, set_body_force, clear"],
    "StationGroup": [":members:", ":exclude-members: table"],
    "AbstractConstraint": [
        ":members: is_enabled, matter, multipliers, power, calc_body_forces, calc_mobility_forces"
    ],
    "SphereOnPlaneContact": [f":members: plane_frame, center, radius, {CONTACT}"],
    "SphereOnSphereContact": [
        f":members: first_center, first_radius, second_center, second_radius, {CONTACT}"
    ],
    "LineOnLineContact": [
        f":members: first_frame, first_half_length, second_frame, second_half_length, {CONTACT}"
    ],
    "AbstractPairConstraint": [":members: calc_error, calc_jacobian, calc_bias"],
    "AbstractCoordinateConstraint": [":members: calc_error, calc_jacobian, calc_bias"],
    "AbstractSpeedConstraint": [":members: calc_error, calc_jacobian"],
    "Markers": [":members:", ":inherited-members: AssemblyCondition"],
    "OrientationSensors": [":members:", ":inherited-members: AssemblyCondition"],
    "InvalidationMachine": [":members: make_system, make_strategies"],
}

SPECIAL = ":special-members: __call__, __getitem__, __setitem__, __iter__, __len__"


def documented_names() -> list[str]:
    """Full names in the tables of the pages that are committed."""
    names = []
    for page in sorted(FOLDER.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        for module, table in re.findall(
            r"^\.\. currentmodule:: (\S+)$(.*?)^```$", text, re.M | re.S
        ):
            names += [
                f"{module}.{name}" for name in re.findall(r"^ {3}([A-Za-z]\S*)$", table, re.M)
            ]
    return names


def member_options() -> dict[str, list[str]]:
    """Options of `autoclass` for each class in the tables, by its full name."""
    found = {}
    for full_name in documented_names():
        module, _, name = full_name.rpartition(".")
        documented = getattr(import_module(module), name)
        if isinstance(documented, type):
            found[full_name] = _options_of(name, documented)
    return found


def _options_of(name: str, documented: type) -> list[str]:
    if name in WHOLE:
        return [":no-members:"]
    if name in CHOSEN:
        return CHOSEN[name]
    if issubclass(documented, enum.Enum):
        return [":members:", ":undoc-members:"]
    return [":members:", SPECIAL, *([":inherited-members:"] if name in INHERITED else [])]


def remove_old_pages(_app: "Sphinx", _config: object) -> None:
    """Remove pages of names that are in no table any more: Sphinx would warn about them."""
    kept = {f"{name}.rst" for name in documented_names()}
    for page in FOLDER.glob("stagecache.*.rst"):
        if page.name not in kept:
            page.unlink()


def add_tables(_app: "Sphinx", page: nodes.document) -> None:
    """Put a table of its members before those of each class with several methods."""
    for described in list(page.findall(addnodes.desc)):
        if described.get("objtype") != "class":
            continue
        content = described.children[-1]
        members = [
            node
            for node in content.children
            if isinstance(node, addnodes.desc) and node.next_node(addnodes.desc_signature)["ids"]
        ]
        methods = [node for node in members if node.get("objtype") in ("method", "property")]
        if len(members) >= LEAST and methods:
            content.insert(content.index(members[0]), _table(members))


def _table(members: list[addnodes.desc]) -> nodes.table:
    """Names of members with links, each with the first paragraph of its description."""
    body = nodes.tbody()
    for member in members:
        signature = member.next_node(addnodes.desc_signature)
        name = nodes.literal("", signature["ids"][0].rpartition(".")[2])
        link = nodes.reference("", "", name, internal=True, refid=signature["ids"][0])
        first = next(
            (n for n in member.children[-1].children if isinstance(n, nodes.paragraph)), None
        )
        text = first.deepcopy() if first is not None else nodes.paragraph()
        body += nodes.row("", nodes.entry("", nodes.paragraph("", "", link)), nodes.entry("", text))
    columns = [nodes.colspec(colwidth=width) for width in (30, 70)]
    group = nodes.tgroup("", *columns, body, cols=len(columns))
    return nodes.table("", group, classes=["autosummary", "longtable"])


def leave_out_names(_app: "Sphinx", environment: "BuildEnvironment") -> None:
    """Take the names in the tables out of the navigation; their pages keep their place in it."""
    for page in FOLDER.glob("*.md"):
        for tree in list(environment.tocs[f"reference/api/{page.stem}"].findall(addnodes.toctree)):
            if all(_is_of_a_name(entry) for _, entry in tree["entries"]):
                tree.parent.remove(tree)


def show_page_with_table(
    app: "Sphinx", page: str, _template: str, context: dict[str, object], _tree: object
) -> None:
    """Let the navigation on the page of a name show where its table is."""
    if not _is_of_a_name(page):
        return
    above = next(name for name, below in app.env.toctree_includes.items() if page in below)

    def navigation(**options: object) -> str:
        tree = TocTree(app.env).get_toctree_for(above, app.builder, **options)
        html = str(app.builder.render_partial(tree)["fragment"])
        return html.replace('href="#"', f'href="{app.builder.get_relative_uri(page, above)}"')

    context["toctree"] = navigation


def _is_of_a_name(page: str) -> bool:
    return page.startswith("reference/api/stagecache.")


def setup(app: "Sphinx") -> dict[str, bool]:
    """Connect the functions above."""
    app.connect("config-inited", remove_old_pages)
    app.connect("doctree-read", add_tables)
    app.connect("env-updated", leave_out_names)
    app.connect("html-page-context", show_page_with_table, priority=400)  # before the theme asks
    return {"parallel_read_safe": True}
