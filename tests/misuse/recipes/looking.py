"""Valid calls of what looks at models: traces, views, pictures, shared results, the testing kit."""

from functools import wraps
from typing import Any, Final

from attrs import evolve
from hypothesis import settings

import stagecache.testing
from stagecache import (
    DecorativeBrick,
    DecorativeCylinder,
    DecorativeFrame,
    DecorativeLine,
    DecorativeMesh,
    DecorativePoint,
    DecorativeSphere,
    DecorativeText,
    GraphView,
    animate,
    compare,
    draw,
    register_value,
    shared_results,
    strict,
    verify,
    watch,
)
from stagecache.inspection import uncached
from stagecache.views import EdgeInfo, NodeInfo
from tests.misuse.recipe import Call, Recipe, Recipes, call, item
from tests.misuse.world import World

X: Final = (1.0, 0.0, 0.0)


def view(w: World) -> Any:
    """Return the view of a graph."""
    return w.keep("view", lambda: w.graph.view)


def trace(w: World) -> Any:
    """Return a trace of a graph."""

    def make() -> Any:
        with w.graph.trace() as made:
            w.graph["angle"].set(3.0)
            w.graph["tip"]()
        return made

    return w.keep("trace", make)


def of_path(name: str) -> Recipe:
    """Return a recipe of a method of a view that takes the path of a node."""
    return lambda w: call(getattr(view(w), name), "tip").but(
        path=["nonsense", "", 3, None], depth=[-1, 1.5, "x"]
    )


def drawn(name: str) -> Recipe:
    """Return a recipe of a method of a view without parameters that matter."""
    return lambda w: call(getattr(view(w), name))


def exported(name: str) -> Recipe:
    """Return a recipe of an export of a trace."""
    return lambda w: call(getattr(trace(w), name), w.folder / "trace")


def check(name: str) -> Recipe:
    """Return a recipe of a check of the testing kit, which runs one program only."""
    few = settings(max_examples=1, deadline=None, database=None)
    function = getattr(stagecache.testing, name)
    made = Call(function, named={"settings": few}, only=frozenset({"system", *KIT}))
    return lambda w: evolve(made, positional=(w.system,)).but(strategies=[{3: 4}], settings=3)


def strategy(name: str) -> Recipe:
    """Return a recipe of a strategy for a System."""
    function = getattr(stagecache.testing, name)
    return lambda w: Call(function, (w.system,), only=frozenset({"system", "strategies"}))


def listed(w: World) -> Call:
    """Return the checks one after the other, as a list."""
    run = stagecache.testing.run_checks
    return Call(
        lambda system, checks, **options: list(run(system, checks, **options)),
        (w.system, ()),
        only=frozenset({"checks", "budget"}),
    ).but(checks=[["nonsense"]], budget=[-1.0, 0.0])


@wraps(shared_results)
def shared_in_a_block(*args: Any, **named: Any) -> None:
    """Share results in a block, so that the setting ends with it."""
    with shared_results(*args, **named):
        pass


KIT: Final = ("strategies", "settings")
CHECKS: Final = (
    *("check_all", "check_coherence", "check_pickle", "check_precision"),
    *("check_strict", "check_threads", "over_declared"),
)
DRAWN: Final = (*("to_dot", "to_html", "to_json", "to_mermaid", "to_networkx", "to_svg"), "draw")

RECIPES: Final[Recipes] = {
    "compare": lambda w: call(compare, w.state, w.second_state),
    "Comparison.of": lambda w: call(compare(w.state, w.second_state).of, "versions").but(
        what="nonsense"
    ),
    "strict": lambda w: call(strict, w.state),
    "uncached": lambda w: call(uncached, w.state, w.cart.force).but(
        entries=["force", w.cart.stiffness, None]
    ),
    "verify": lambda w: call(verify, w.state),
    "watch": lambda w: call(watch, w.state).but(every=[-1.0]),
    "Trace.summary": lambda w: call(trace(w).summary),
    "Trace.to_csv": exported("to_csv"),
    "Trace.to_chrome": exported("to_chrome"),
    "TraceSummary[...]": lambda w: item(trace(w).summary(), "tip").but(entry=["nonsense", 3, None]),
    "register_value": lambda _: Call(
        register_value,
        (_Own,),
        {"to": lambda own: own.number, "of": _Own},
        only=frozenset({"cls", "to", "of"}),
    ),
    "shared_results": lambda w: call(shared_in_a_block, "1 MB", path=w.folder / "shared").but(
        limit=[-1.0, "many", "1 XB", None], path_limit=[-1.0, "many"]
    ),
    # ------------------------------------------------------------------ views
    "GraphView": lambda _: call(GraphView, [NodeInfo("a", "variable")], []).but(
        nodes=[[3], 3, [NodeInfo("a", "variable")] * 2], edges=[[3], [EdgeInfo("a", "b")]]
    ),
    "GraphView[...]": lambda w: item(view(w), "tip").but(path=["nonsense", 3, None]),
    "GraphView.find": lambda w: call(view(w).find, "t*"),
    "GraphView.select": lambda w: call(view(w).select, kind="entry").but(
        kind="nonsense", status="nonsense"
    ),
    "GraphView.upstream_of": of_path("upstream_of"),
    "GraphView.downstream_of": of_path("downstream_of"),
    "GraphView.around": of_path("around"),
    "GraphView.path_between": lambda w: call(view(w).path_between, "angle", "tip").but(
        source=["nonsense", 3], target=["nonsense", 3]
    ),
    "GraphView.with_costs": lambda w: call(view(w).with_costs, trace(w).summary().rows).but(
        rows=[3, [3]]
    ),
    "GraphView.from_json": lambda w: call(GraphView.from_json, view(w).to_json()).but(
        text=["", "{}", "[]", "{", '{"version": 999}']
    ),
    "GraphView.from_networkx": lambda w: call(GraphView.from_networkx, view(w).to_networkx()).but(
        graph=[3, None, "x"]
    ),
    **{f"GraphView.{name}": drawn(name) for name in DRAWN},
    # ------------------------------------------------------------------ pictures
    "draw": lambda w: call(draw, w.multibody, w.pose),
    "animate": lambda w: call(animate, w.multibody, [w.pose], w.folder / "film.gif").but(
        path="film.nonsense", states=[[3], [], [w.foreign.state], w.pose]
    ),
    "DecorativePoint": lambda _: call(DecorativePoint, X).but(scale=-1.0, opacity=[-1.0, 2.0]),
    "DecorativeLine": lambda _: call(DecorativeLine, X, (0.0, 0.0, 0.0)),
    "DecorativeSphere": lambda _: call(DecorativeSphere, 0.5).but(
        radius=-1.0, color=["nonsense", (1.0,), (2.0, 0.0, 0.0), 3]
    ),
    "DecorativeBrick": lambda _: call(DecorativeBrick, (1.0, 1.0, 1.0)),
    "DecorativeCylinder": lambda _: call(DecorativeCylinder, 0.5, 0.5).but(radius=-1.0),
    "DecorativeFrame": lambda _: call(DecorativeFrame, 0.5).but(axis_length=-1.0),
    "DecorativeMesh": lambda _: call(
        DecorativeMesh, [X, (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)], [(0, 1, 2)]
    ).but(faces=[[(0, 1, 3)], [(0, 1, -1)], [(0, 1)]]),
    "DecorativeText": lambda _: call(DecorativeText, "text"),
    # ------------------------------------------------------------------ the testing kit
    **{name: check(name) for name in CHECKS},
    "run_checks": listed,
    **{name: strategy(name) for name in ("operations", "states")},
}


class _Own:
    def __init__(self, number: float) -> None:
        self.number = number
