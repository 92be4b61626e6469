"""Save States and a trajectory, or open those that another version of Python has saved.

Run it: python -m tests.files.exchange (save | open) FOLDER
"""

from pathlib import Path

import click

from stagecache import compare, load_state, load_trajectory
from tests.files.models import STATES, chain_state, chain_trajectory, write_trajectory


def save(folder: Path) -> None:
    """Save what `open_all` opens."""
    for name, make in STATES.items():
        make().save(folder / name, cache=True)
    write_trajectory(folder / "trajectory")


def open_all(folder: Path) -> None:
    """Open all files, and compare them with what was saved."""
    for name, make in STATES.items():
        state = make()
        assert state.system is not None
        loaded, report = load_state(folder / name, state.system, strict=False)
        assert report.is_complete, report
        state.system.realize(loaded, state.stage)
        wrong = [d for d in compare(loaded, state).differences if d.what == "value"]
        assert not wrong, wrong
    trajectory = load_trajectory(folder / "trajectory", chain_state().system)
    expected = chain_trajectory(rows=24)
    for column in ("time", *expected.columns):
        assert (trajectory[column] == expected[column]).all(), column
    assert not compare(trajectory.state(-1), expected.state(-1))


@click.command()
@click.argument("what", type=click.Choice(["save", "open"]))
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
def main(what: str, folder: Path) -> None:
    """Save files into a folder, or open those that are there."""
    if what == "save":
        save(folder)
    else:
        open_all(folder)


if __name__ == "__main__":
    main()
