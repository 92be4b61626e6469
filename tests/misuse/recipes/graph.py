"""Valid calls of graphs and their nodes."""

from typing import Final

from stagecache import Graph
from tests.misuse.recipe import Recipes, Wrong, call, item, refused

RECIPES: Final[Recipes] = {
    "Graph": lambda _: call(Graph, "pendulum"),
    "Graph.variable": lambda w: call(w.graph.variable, "new", 1.0).but(name="tip"),
    "Graph.entry": lambda w: call(
        w.graph.entry, "new", lambda angle: angle(), prerequisites=(w.graph["angle"],)
    ).but(
        name=["tip", "angle"],
        compute=lambda: 1.0,
        prerequisites=[
            (w.foreign.node,),
            (w.foreign.removed,),
            (w.graph["angle"], w.graph["angle"]),
            ("angle",),
            w.graph["angle"],
            Wrong("foreign", "a node of a copy", (w.graph.copy()["angle"],)),
        ],
        equal=["x", 3, lambda a: True],
    ),
    "Graph.remove": lambda w: call(w.graph.remove, w.graph["lazy"]).but(
        nodes=[w.graph["angle"], "angle"]
    ),
    "Graph[...]": lambda w: item(w.graph, "tip").but(key=["tipp", 3, w.foreign.node]),
    "Graph.copy": lambda w: call(w.graph.copy),
    "Graph.checkpoint": lambda w: call(w.graph.checkpoint),
    "Graph.rollback": lambda w: call(w.graph.rollback, w.graph_mark),
    "Graph.save": lambda w: call(w.graph.save, w.folder / "graph"),
    "Graph.load": lambda w: call(w.graph.load, w.file("saved", w.graph.save)).but(
        path=w.file("damaged", lambda path: path.write_bytes(b"damaged"))
    ),
    "Graph.explain": lambda w: call(w.graph.explain, "lazy").but(entry=["nonsense", "angle"]),
    "Graph.impact": lambda w: call(w.graph.impact, "angle").but(variable=["nonsense", "tip"]),
    "Graph.trace": lambda w: call(w.graph.trace),
    "Graph.strict": lambda w: call(w.graph.strict),
    "Variable(...)": lambda w: call(w.angle),
    "Variable.is_valid": lambda w: call(w.angle.is_valid),
    "Variable.set": lambda w: call(w.angle.set, 2.0),
    "Entry(...)": lambda w: call(w.tip),
    "Entry.invalidate": lambda w: call(w.tip.invalidate),
    "Entry.set": lambda w: refused(w.tip.set, 2.0),
}
