"""The command `stagecache new`: a folder with a model, its tests, and a README."""

import sys
from importlib.resources import files
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from typing import Final

import click

from stagecache.cli import template

TEMPLATE: Final = "mymodel"
NAMES: Final = ("mymodel.py", "test_mymodel.py", "README.md")


def write_model(name: str, parent: Path) -> list[Path]:
    """Write the files of a new model into a new folder of its name.

    Parameters
    ----------
    name : str
        Name of the folder and of the module.
    parent : Path
        Folder of the new folder; it is made if needed.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    click.UsageError
        The name does not suit a new module.
    click.FileError
        The folder exists, or cannot be written.
    """
    if not name.isidentifier() or iskeyword(name):
        raise click.UsageError(
            f"{name!r} cannot be the name of a module. Use letters, digits and underscores, "
            "for instance: stagecache new two_tanks"
        )
    folder = parent / name
    is_known = name in sys.stdlib_module_names or find_spec(name) is not None
    if is_known and not folder.exists():
        raise click.UsageError(
            f"a module named {name!r} is installed already, and one would hide the other. "
            "Choose another name, for instance: stagecache new two_tanks"
        )
    try:
        parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
        return [_write(folder, source, name) for source in NAMES]
    except FileExistsError as error:
        raise click.FileError(str(folder), "exists already; choose another name") from error
    except OSError as error:
        raise click.FileError(str(folder), error.strerror or str(error)) from error


def _write(folder: Path, source: str, name: str) -> Path:
    text = files(template).joinpath(source).read_text(encoding="utf-8")
    text = text.replace(f"{template.__name__}.{TEMPLATE}", name).replace(TEMPLATE, name)
    path = folder / source.replace(TEMPLATE, name)
    path.write_text(text, encoding="utf-8")
    return path
