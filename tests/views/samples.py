"""Views to test with: a pendulum, and random ones."""

import random
from itertools import pairwise

from attrs import evolve

from stagecache.views import EdgeInfo, EdgeKind, GraphView, NodeInfo, Reason, Status

STAGES = ("Topology", "Model", "Instance", "Time", "Position", "Velocity")


def pendulum() -> GraphView:
    """A pendulum on an anchor, at Position."""
    nodes = [
        NodeInfo("stage Instance", "stage", stage="Instance", status=Status.REALIZED),
        NodeInfo("stage Position", "stage", stage="Position", status=Status.REALIZED),
        NodeInfo("stage Velocity", "stage", stage="Velocity", status=Status.NOT_REALIZED),
        NodeInfo("pendulum.length", "variable", "discrete", "pendulum", "Instance", value="1.0"),
        NodeInfo("pendulum.angle", "variable", "q", "pendulum", "Position", version=3),
        NodeInfo("pendulum.tip", "entry", "cached", "pendulum", "Instance", status=Status.STALE),
        NodeInfo(
            "pendulum.energy", "entry", "cached", "pendulum", "Velocity", status=Status.NOT_COMPUTED
        ),
        NodeInfo("anchor.torque", "entry", "cached", "anchor", "Instance", status=Status.STALE),
    ]
    edges = [
        EdgeInfo("stage Instance", "stage Position", EdgeKind.STAGE),
        EdgeInfo("stage Position", "stage Velocity", EdgeKind.STAGE),
        EdgeInfo("pendulum.length", "stage Instance", EdgeKind.INVALIDATES),
        EdgeInfo("pendulum.angle", "stage Position", EdgeKind.INVALIDATES),
        EdgeInfo("pendulum.length", "pendulum.tip"),
        EdgeInfo("pendulum.angle", "pendulum.tip"),
        EdgeInfo("stage Instance", "pendulum.tip", EdgeKind.STAGE),
        EdgeInfo("stage Velocity", "pendulum.energy", EdgeKind.STAGE),
        EdgeInfo("stage Instance", "anchor.torque", EdgeKind.STAGE),
        EdgeInfo("pendulum.tip", "anchor.torque"),
    ]
    return GraphView(nodes, edges, "pendulum")


def random_view(number: int, seed: int = 0) -> GraphView:
    """A system of so many nodes, the same for the same seed."""
    rng = random.Random(seed)
    names = [f"body {i}" for i in range(max(1, number // 25))]
    stages = STAGES[: max(1, min(len(STAGES), number // 4))]
    nodes = [NodeInfo(f"stage {s}", "stage", stage=s, status=Status.REALIZED) for s in stages]
    edges = [EdgeInfo(a.path, b.path, EdgeKind.STAGE) for a, b in pairwise(nodes)]
    items: list[NodeInfo] = []
    own: dict[str, list[NodeInfo]] = {name: [] for name in names}
    while len(nodes) < number:
        here = rng.choice(names)
        stage = rng.choice(stages)
        path = f"{here}.item {len(nodes)}"
        if rng.random() < 0.4:
            node = NodeInfo(path, "variable", "q", here, stage, status=Status.VALUE)
            edges.append(EdgeInfo(path, f"stage {stage}", EdgeKind.INVALIDATES))
        else:
            status = rng.choice([Status.VALID, Status.STALE, Status.NOT_COMPUTED])
            node = NodeInfo(path, "entry", "cached", here, stage, status=status)
            edges.append(EdgeInfo(f"stage {stage}", path, EdgeKind.STAGE))
            some = rng.sample(items, min(len(items), 3))
            known = [
                n
                for n in [*own[here], *[n for n in some if n.subsystem != here]]
                if n.kind == "variable" or stages.index(n.stage) <= stages.index(stage)
            ]
            chosen = rng.sample(known, min(len(known), rng.randint(0, 3)))
            edges.extend(EdgeInfo(other.path, path) for other in chosen)
        nodes.append(node)
        items.append(node)
        own[here].append(node)
    rng.shuffle(nodes)
    order = {s: i for i, s in enumerate(stages)}
    nodes.sort(key=lambda n: order[n.stage] if n.kind == "stage" else len(order))
    return GraphView(nodes, edges, f"random {number}")


def rooms(number: int = 12) -> tuple[GraphView, dict[str, Reason]]:
    """A house of rooms that are alike, with families and hooks; and why some entries are stale."""
    nodes = [NodeInfo(f"stage {s}", "stage", stage=s, status=Status.REALIZED) for s in STAGES]
    edges = [EdgeInfo(a.path, b.path, EdgeKind.STAGE) for a, b in pairwise(nodes)]
    nodes += [
        NodeInfo("weather.mean", "variable", "discrete", "weather", "Instance", column="Instance"),
        NodeInfo("weather.air", "entry", "cached", "weather", "Time", column="Time"),
    ]
    edges.append(EdgeInfo("weather.mean", "weather.air"))
    reasons = {}
    for room in [f"room_{i}" for i in range(number)]:
        common = NodeInfo("", "entry", "cached", room, "Model", column="Position", alike="room")
        variable = evolve(common, kind="variable", variant="discrete", column="Model")
        stale = Status.STALE if room == "room_0" else Status.VALID
        flow = evolve(common, status=stale, family=f"{room}.flow")
        loss = evolve(common, status=Status.NOT_COMPUTED, column="Velocity")
        hook = evolve(common, kind="hook", variant="realize", stage="", column="Velocity")
        nodes += [
            evolve(variable, path=f"{room}.power"),
            evolve(variable, path=f"{room}.heat", variant="z", column="Position"),
            *[evolve(flow, path=f"{room}.flow[{i}]") for i in range(8)],
            evolve(loss, path=f"{room}.loss"),
            evolve(hook, path=f"{room}.realize_dynamics"),
        ]
        edges += [EdgeInfo(f"{room}.power", f"{room}.flow[{i}]") for i in range(8)]
        edges += [EdgeInfo("weather.air", f"{room}.flow[0]")]
        edges += [EdgeInfo(f"{room}.flow[{i}]", f"{room}.loss") for i in range(8)]
        edges += [EdgeInfo("stage Position", f"{room}.flow[1]", EdgeKind.STAGE)]
        edges += [
            EdgeInfo(f"{room}.loss", f"{room}.realize_dynamics", EdgeKind.READ),
            EdgeInfo(f"{room}.realize_dynamics", f"{room}.heat", EdgeKind.WRITE),
        ]
    for i in range(8):
        flow_path = f"room_0.flow[{i}]"
        text = f"{flow_path} is stale: room_0.power was written <b>after</b> it was computed."
        way = ("room_0.power", flow_path)
        reasons[flow_path] = Reason(text, way, way[0], "house.py", 12, 0.25)
    loss_path = "room_0.loss"
    longer = ("room_0.power", "room_0.flow[3]", loss_path)
    reasons[loss_path] = Reason(f"{loss_path} is not computed.", longer, longer[0])
    return GraphView(nodes, edges, "house", find_reasons=lambda: reasons), reasons
