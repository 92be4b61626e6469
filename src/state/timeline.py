"""When a traced State was written, realized and computed: as a page, and as a plot.

Computations are boxes, below the ones that began them; a thread comes below the other::

    stage    |  Time   |   Velocity    |      Report      |
    writes   '    '                    '
    thread 0 |--------- anchor.torque ---------|
                |- pendulum.tip -| |- weight -|
"""

from collections.abc import Iterable, Iterator
from html import escape
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, Final, final
from zlib import crc32

from stagecache.errors import MissingExtraError
from stagecache.state.stage import Stage
from stagecache.state.trace_events import (
    AbstractTraceEvent,
    ComputationEvent,
    HitEvent,
    InvalidationEvent,
    StageEvent,
    WriteEvent,
)
from stagecache.state.trace_summary import duration

MOST_BOXES: Final = 4000
MOST_ROWS: Final = 30  # entries in a plot
WIDTH: Final = 1000
LINE: Final = 20


@final
class Timeline:
    """What happened when. It shows itself in a notebook.

    Parameters
    ----------
    events : iterable of AbstractTraceEvent
    """

    def __init__(self, events: Iterable[AbstractTraceEvent]) -> None:
        self._events = tuple(events)
        self.computations = tuple([e for e in self._events if isinstance(e, ComputationEvent)])
        self.writes = tuple([e for e in self._events if isinstance(e, WriteEvent)])
        self.stages = tuple(
            [e for e in self._events if isinstance(e, StageEvent) and not e.subsystem]
        )
        self.seconds = max([e.time + _seconds(e) for e in self._events], default=0.0)

    def __repr__(self) -> str:
        return (
            f"Timeline({duration(self.seconds)}: {len(self.computations)} computations, "
            f"{len(self.writes)} writes)"
        )

    # ------------------------------------------------------------------ a page

    def to_html(self, path: str | PathLike[str] | None = None) -> str:
        """A page that needs no network, written to a file if a path is given.

        The wheel zooms, dragging moves, and a pointer that rests on something says what it is. Of
        very many computations, the longest are shown.
        """
        html = _PAGE.replace("@TITLE", escape(self._title())).replace("@BODY", self._svg())
        if path is not None:
            Path(path).write_text(html, encoding="utf-8")
        return html

    def _repr_html_(self) -> str:
        page = escape(self.to_html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:24em;border:0"></iframe>'

    def _title(self) -> str:
        shown = min(len(self.computations), MOST_BOXES)
        most = (
            "" if shown == len(self.computations) else f", of which the {shown} longest are shown"
        )
        return (
            f"{duration(self.seconds)}: {len(self.computations)} computations{most}, "
            f"{len(self.writes)} writes"
        )

    def _svg(self) -> str:
        parts = []
        for start, end, stage in self._at_stages():
            title = f"{stage}, from {duration(start)} to {duration(end)}"
            parts.append(self._box(start, end, 0, str(stage), title, "stage"))
        for write in self.writes:
            where = f"\n{write.file}:{write.line}" if write.file else ""
            title = f"{write.variable}, version {write.before} to {write.after}{where}"
            parts.append(self._box(write.time, write.time, 1, "", title, "write"))
        lines = 2
        boxes = sorted(self.computations, key=lambda c: -c.seconds)[:MOST_BOXES]
        for lane in sorted({(c.state, c.thread) for c in boxes}):
            here = [c for c in boxes if (c.state, c.thread) == lane]
            deepest = 0
            for depth, computation in _nested(here):
                deepest = max(deepest, depth)
                end = computation.time + computation.seconds
                line = lines + depth
                title = _told(computation)
                parts.append(self._box(computation.time, end, line, computation.entry, title, ""))
            lines += deepest + 2
        height = lines * LINE
        return (
            f'<svg id="all" width="100%" height="{height}" viewBox="0 0 {WIDTH} {height}" '
            f'preserveAspectRatio="none" data-end="{self.seconds:.9f}" role="img">'
            f"{''.join(parts)}</svg>"
        )

    def _box(self, start: float, end: float, line: int, text: str, title: str, name: str) -> str:
        scale = WIDTH / (self.seconds or 1.0)
        hue = crc32(text.encode()) % 360
        style = "" if name else f' style="fill:hsl({hue} 60% 70%)"'
        return (
            f'<svg class="box {name}" data-s="{start:.9f}" data-e="{end:.9f}" '
            f'x="{start * scale:.3f}" y="{line * LINE + 1}" '
            f'width="{max((end - start) * scale, 1):.3f}" height="{LINE - 2}">'
            f'<title>{escape(title)}</title><rect width="100%" height="100%"{style}/>'
            f'<text x="3" y="13">{escape(text)}</text></svg>'
        )

    def _at_stages(self) -> Iterator[tuple[float, float, Stage]]:
        """From when to when the first State was at which stage, as far as that is known."""
        changes = [event for event in self.stages if event.state == 0]
        ends = [*[event.time for event in changes[1:]], self.seconds]
        for event, end in zip(changes, ends, strict=False):
            start = event.time + event.seconds
            yield start, max(start, end), event.after

    # ------------------------------------------------------------------ a plot

    def plot(self, ax: Any = None) -> Any:
        """Draw it on an axis of matplotlib, and return that.

        A row for each entry, those first that took the most time; a line for each write.

        Raises
        ------
        MissingExtraError
            matplotlib is not installed.
        """
        if ax is None:
            ax = _axis()
        total: dict[str, float] = {}
        for event in self.computations:
            total[event.entry] = total.get(event.entry, 0.0) + event.own_seconds
        names = sorted(total, key=lambda name: -total[name])[:MOST_ROWS]
        for row, name in enumerate(names):
            bars = [(e.time, e.seconds) for e in self.computations if e.entry == name]
            ax.broken_barh(bars, (row - 0.4, 0.8), facecolors=f"C{row % 10}", gid=name)
        for write in self.writes:
            ax.axvline(write.time, color="0.7", linewidth=0.5, zorder=0)
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.set_xlim(0, self.seconds or 1.0)
        ax.set_xlabel("time [s]")
        return ax


def chrome_events(events: Iterable[AbstractTraceEvent]) -> list[dict[str, Any]]:
    """The events as the Trace Event Format has them; times are in microseconds."""
    found: list[dict[str, Any]] = []
    lanes = set()
    told: dict[str, Any]
    common: dict[str, Any]
    for event in events:
        lanes.add((event.state, event.thread))
        common = {"pid": event.state, "tid": event.thread, "ts": event.time * 1e6}
        if isinstance(event, ComputationEvent):
            told = {"reads": list(event.reads), "changed": event.changed, "error": event.error}
            told["is_unchanged"] = event.is_unchanged
            found.append(_complete(event.entry, "computation", event.seconds, told, common))
        elif isinstance(event, StageEvent):
            told = {"before": str(event.before), "after": str(event.after), "cause": event.cause}
            name = f"{event.subsystem or 'system'} to {event.after}"
            found.append(_complete(name, "stage", event.seconds, told, common))
        elif isinstance(event, WriteEvent):
            told = {"before": event.before, "after": event.after}
            told |= {"place": f"{event.file}:{event.line}"}
            found.append(_instant(event.variable, "write", told, common))
        elif isinstance(event, InvalidationEvent):
            found.append(_instant(event.entry, "invalidation", {"cause": event.cause}, common))
        elif isinstance(event, HitEvent):
            found.append(_instant(event.entry, "hit", {"reader": event.reader}, common))
    for state, thread in sorted(lanes):
        common = {"ph": "M", "pid": state, "tid": thread}
        found.append({"name": "process_name", "args": {"name": f"State {state}"}, **common})
        found.append({"name": "thread_name", "args": {"name": f"thread {thread}"}, **common})
    return found


def _complete(
    name: str, kind: str, seconds: float, told: dict[str, Any], common: dict[str, Any]
) -> dict[str, Any]:
    return {"name": name, "cat": kind, "ph": "X", "dur": seconds * 1e6, "args": told, **common}


def _instant(name: str, kind: str, told: dict[str, Any], common: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "cat": kind, "ph": "i", "s": "t", "args": told, **common}


def _nested(events: list[ComputationEvent]) -> Iterator[tuple[int, ComputationEvent]]:
    """How deep each computation is inside of others, of one thread."""
    ends: list[float] = []
    for event in sorted(events, key=lambda e: (e.time, -e.seconds)):
        while ends and ends[-1] <= event.time:
            ends.pop()
        yield len(ends), event
        ends.append(event.time + event.seconds)


def _told(event: ComputationEvent) -> str:
    lines = [f"{event.entry}: {duration(event.seconds)}, own {duration(event.own_seconds)}"]
    lines.append("reads " + (", ".join(event.reads) or "nothing"))
    if event.changed is not None:
        lines.append("changed before: " + (", ".join(event.changed) or "nothing"))
    if event.is_unchanged:
        lines.append("the value is the same as before")
    if event.error:
        lines.append(f"raised {event.error}")
    return "\n".join(lines)


def _seconds(event: AbstractTraceEvent) -> float:
    return event.seconds if isinstance(event, ComputationEvent | StageEvent) else 0.0


def _axis() -> Any:
    try:
        pyplot = import_module("matplotlib.pyplot")
    except ImportError:
        raise MissingExtraError(
            "plot(): matplotlib is not installed",
            "the extra viz",
            "none",
            "pip install 'stagecache[viz]'; or use to_html(), which needs nothing",
        ) from None
    return pyplot.subplots(layout="constrained")[1]


_SCRIPT: Final = """
const all = document.getElementById("all"), end = +all.dataset.end || 1;
const boxes = [...all.querySelectorAll(".box")];
let from = 0, span = end;
function draw() {
  const width = all.clientWidth || 1000;
  all.setAttribute("viewBox", `0 0 ${width} ${all.getAttribute("height")}`);
  for (const box of boxes) {
    const s = (box.dataset.s - from) / span * width, e = (box.dataset.e - from) / span * width;
    const left = Math.max(s, -5), right = Math.min(e, width + 5);
    box.setAttribute("visibility", e < 0 || s > width ? "hidden" : "visible");
    box.setAttribute("x", left);
    box.setAttribute("width", Math.max(right - left, 1));
  }
}
function zoom(factor, at) {
  const next = Math.min(end, Math.max(1e-9, span * factor));
  from = Math.min(Math.max(0, from + (span - next) * at), end - next);
  span = next;
  draw();
}
all.addEventListener("wheel", event => {
  event.preventDefault();
  zoom(event.deltaY < 0 ? 0.8 : 1.25, event.offsetX / all.clientWidth);
}, {passive: false});
all.addEventListener("pointermove", event => {
  if (!event.buttons) return;
  from = Math.min(Math.max(0, from - event.movementX / all.clientWidth * span), end - span);
  draw();
});
addEventListener("keydown", event => {
  const steps = {ArrowLeft: -0.1, ArrowRight: 0.1};
  if (event.key === "+") zoom(0.8, 0.5);
  else if (event.key === "-") zoom(1.25, 0.5);
  else if (event.key === "0") { from = 0; span = end; draw(); }
  else if (event.key in steps) {
    from = Math.min(Math.max(0, from + steps[event.key] * span), end - span);
    draw();
  }
});
addEventListener("resize", draw);
draw();
"""

_STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 13px sans-serif; margin: 1em; }
svg text { font: 11px sans-serif; fill: #222; pointer-events: none; }
.box { overflow: hidden; }
.stage rect { fill: #cdd5e0; } .write rect { fill: #d33; }
#all { touch-action: none; }
"""

_PAGE: Final = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Timeline</title>'
    f"<style>{_STYLE}</style></head><body><p>@TITLE. Zoom by the wheel, or + and -; move by "
    f"dragging, or by the arrows; 0 shows all.</p>@BODY<script>{_SCRIPT}</script></body></html>"
)
