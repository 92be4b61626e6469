"""Write the files of the format version in use into a folder.

Run it, once for each format version: python -m tests.files.fixtures tests/files/data/v1
"""

from pathlib import Path

import click

from tests.files.models import STATES, chain_state, write_trajectory


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
def main(folder: Path) -> None:
    """Write States and a trajectory into a folder; files that are there are left as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in STATES.items():
        if not (folder / f"{name}.state").exists():
            make().save(folder / f"{name}.state")
    if not (folder / "cached.state").exists():
        chain_state().save(folder / "cached.state", cache=True)
    if not (folder / "chain.arrows").exists():
        write_trajectory(folder / "chain.arrows")


if __name__ == "__main__":
    main()
