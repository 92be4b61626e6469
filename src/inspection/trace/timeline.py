"""When a traced State was written, realized and computed: as a page, and as a plot.

Computations are boxes, below the ones that began them; a thread comes below the other::

    stage    |  Time   |   Velocity    |      Report      |
    writes   '    '                    '
    thread 0 |--------- anchor.torque ---------|
                |- pendulum.tip -| |- weight -|
"""

import re
from collections.abc import Iterable, Iterator
from html import escape
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any, Final, final
from zlib import crc32

from stagecache.checks import require_extra
from stagecache.inspection.trace.events import (
    AbstractTraceEvent,
    ComputationEvent,
    StageEvent,
    WriteEvent,
)
from stagecache.inspection.trace.summary import duration
from stagecache.state.stage import Stage

MOST_BOXES: Final = 4000  # of each kind, in a page
MOST_IN_KEY: Final = 12
MOST_ROWS: Final = 30  # entries in a plot
WIDTH: Final = 1000
LINE: Final = 20


@final
class Timeline:
    """A picture of events over time, which shows itself in a notebook.

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
        very many computations and stages the longest are shown, and of writes some.
        """
        parts = {"@TITLE": escape(self._title()), "@KEY": self._key(), "@BODY": self._svg()}
        html = re.sub("@[A-Z]+", lambda found: parts[found[0]], _PAGE)
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
        stages = sorted(self._at_stages(), key=lambda at: at[0] - at[1])[:MOST_BOXES]
        for start, end, stage in stages:
            title = f"{stage}, from {duration(start)} to {duration(end)}"
            parts.append(self._box(start, end, 0, str(stage), title, "stage"))
        for write in self.writes[:: len(self.writes) // MOST_BOXES + 1]:
            where = f"\n{write.file}:{write.line}" if write.file else ""
            title = f"{write.variable}, version {write.before} to {write.after}{where}"
            parts.append(self._box(write.time, write.time, 1, "", title, "write"))
        lines = 2
        boxes = sorted(self.computations, key=lambda c: -c.seconds)[:MOST_BOXES]
        lanes = sorted({(c.state, c.thread) for c in boxes})
        for lane in lanes:
            if len(lanes) > 1:
                state, thread = lane
                y = lines * LINE + 14
                parts.append(f'<text class="lane" y="{y}">State {state}, thread {thread}</text>')
                lines += 1
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
        style = "" if name else f' style="fill:{_colour(text)}"'
        return (
            f'<svg class="box {name}" data-s="{start:.9f}" data-e="{end:.9f}" '
            f'x="{start * scale:.3f}" y="{line * LINE + 1}" '
            f'width="{max((end - start) * scale, 1):.3f}" height="{LINE - 2}">'
            f'<title>{escape(title)}</title><rect width="100%" height="100%"{style}/>'
            f'<text x="3" y="13">{escape(text)}</text></svg>'
        )

    def _key(self) -> str:
        """Return the legend of the entries that took the most time."""
        own = self._own_seconds()
        marks = [f'<span><i style="background:{_colour(e)}"></i>{escape(e)}</span>' for e in own]
        more = [f"<span>and {len(marks) - MOST_IN_KEY} more</span>"]
        return "".join(marks[:MOST_IN_KEY] + (more if len(marks) > MOST_IN_KEY else []))

    def _own_seconds(self) -> dict[str, float]:
        """The time that each entry took itself, the most first."""
        total: dict[str, float] = {}
        for event in self.computations:
            total[event.entry] = total.get(event.entry, 0.0) + event.own_seconds
        return dict(sorted(total.items(), key=itemgetter(1), reverse=True))

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
        names = [*self._own_seconds()][:MOST_ROWS]
        for row, name in enumerate(names):
            bars = [(e.time, e.seconds) for e in self.computations if e.entry == name]
            edge = {"edgecolors": "face", "linewidths": 0.5}  # or else the short ones vanish
            ax.broken_barh(bars, (row - 0.4, 0.8), facecolors=f"C{row % 10}", gid=name, **edge)
        times = [write.time for write in self.writes]
        whole = ax.get_xaxis_transform()
        ax.vlines(times, 0, 1, transform=whole, colors="0.7", linewidths=0.5, zorder=0)
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.set_xlim(0, self.seconds or 1.0)
        ax.set_xlabel("time [s]")
        return ax


def _nested(events: list[ComputationEvent]) -> Iterator[tuple[int, ComputationEvent]]:
    """Return the depth of each computation inside others, of one thread."""
    ends: list[float] = []
    for event in sorted(events, key=lambda e: (e.time, -e.seconds)):
        while ends and ends[-1] <= event.time:
            ends.pop()
        yield len(ends), event
        ends.append(event.time + event.seconds)


def _colour(entry: str) -> str:
    return f"hsl({crc32(entry.encode()) % 360} 60% 70%)"


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
    pyplot = require_extra("matplotlib.pyplot", "viz", "plot()", "use to_html()")
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
.stage rect, .stage i { fill: #cdd5e0; background: #cdd5e0; }
.write rect, .write i { fill: #d33; background: #d33; }
svg .lane { fill: currentColor; }
.key span { margin-right: 1em; white-space: nowrap; }
.key i { display: inline-block; width: .8em; height: .8em; margin-right: .3em; }
#all { touch-action: pan-y; }
"""

_PAGE: Final = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Timeline</title>'
    f"<style>{_STYLE}</style></head><body><p>@TITLE. Zoom by the wheel, or + and -; move by "
    f"dragging, or by the arrows; 0 shows all.</p>"
    '<p class="key"><span class="stage"><i></i>stage</span><span class="write"><i></i>write</span>'
    f"@KEY</p>@BODY<script>{_SCRIPT}</script></body></html>"
)
