"""`stagecache explain`: the reason why an entry of a model is stale or not computed."""

import re
from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from stagecache.cli.loading import load_system
from stagecache.cli.output import print_json, print_text
from stagecache.cli.state import make_state, traced_run

STYLES: Final = {
    r"is stale|is not computed|: stale\b.*$|: not computed\b.*$": "bold red",
    r"is valid|: valid$": "green",
    r": changed, now version \d+$|: not reached$|: changed$": "yellow",
    r"[│├└]─*": "dim",
}


def show_explanation(
    model: str,
    entry: str,
    stage: str | None,
    writes: Sequence[str],
    run: str | None,
    *,
    as_json: bool,
) -> None:
    """Load a System, make a State of it, and print an explanation of an entry.

    Parameters
    ----------
    model : str
        In a form that `load_system` accepts.
    entry : str
        Its path.
    stage : str or None
        Stage to realize first. None stands for Report if there are writes, else for no stage.
    writes : sequence of str
        Writes such as "pendulum.angle=0.3", made in this order after all entries are computed.
    run : str or None
        A function to call with the State then, as `load_function` takes it. It is traced, so the
        explanation has the places of writes.
    as_json : bool
        True to print JSON, for programs.

    Raises
    ------
    UnknownPathError, NodeKindError
        The entry does not exist.
    ModelError
        The model, or the function, raises.
    """
    system = load_system(model)
    reached = stage or ("Report" if writes else None)
    state = make_state(system, reached, writes, is_read=bool(writes))
    if run is None:
        explanation = state.explain(entry)
    else:
        with traced_run(state, model, run):
            explanation = state.explain(entry)
    if as_json:
        print_json(explanation.as_dict())
        return
    text = Text(f"{explanation.text}\n\n{explanation.tree}")
    for pattern, style in STYLES.items():
        text.highlight_regex(re.compile(pattern, re.MULTILINE), style)
    print_text(Console(highlight=False), text)
