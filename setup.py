"""Compile the hot modules by mypyc, where that is possible; all else is in pyproject.toml.

The modules are plain Python and work as such, with the same results. They stay plain in editable
installs, so that an edit is never hidden by what was compiled before, and where STAGECACHE_PURE=1
is set, mypyc is missing or no compiler is found.
"""

import os
import shutil
import sys
from pathlib import Path

from setuptools import Extension, setup

HOT = ["structure", "store", "evaluation", "handles"]  # of stagecache.graph


def extensions() -> list[Extension]:
    """The compiled forms of the hot modules, each of which may fail to build."""
    if os.environ.get("STAGECACHE_PURE") == "1" or "editable_wheel" in sys.argv:
        return []
    try:
        from mypyc.build import mypycify  # noqa: PLC0415
    except ImportError:
        return []
    # Module names are derived from paths, so the sources must lie in a folder of that name.
    package = Path("build", "mypyc", "stagecache")
    package.parent.mkdir(parents=True, exist_ok=True)
    if not package.exists():
        try:
            package.symlink_to(Path("src").resolve(), target_is_directory=True)
        except OSError:  # not allowed everywhere
            shutil.copytree("src", package)
    paths = [str(package / "graph" / f"{name}.py") for name in HOT]
    options = ["--config-file=", "--follow-imports=silent"]
    try:
        compiled = mypycify([*options, *paths], group_name="stagecache")
    except SystemExit:  # this mypyc does not take the sources
        return []
    for extension in compiled:
        extension.optional = True
    return list(compiled)


setup(ext_modules=extensions())
