"""Compile hot modules by mypyc, and kernels in C, where possible; all else is in pyproject.toml.

The modules are plain Python and work as such, with the same results. They stay plain in editable
installs, so that an edit is never hidden by what was compiled before; in Python without the lock of
the interpreter, since compiled reads and writes count on it; and where STAGECACHE_PURE=1 is set,
mypyc is missing, or the compilation of any of them fails.

A kernel is written in C, in the stable ABI, beside NumPy that does the same. It is built in
editable installs, too, where a change of its source needs the install again; not in Python without
that lock, where STAGECACHE_PURE=1 is set, or where its compilation fails.
"""

import os
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HOT = [
    *("graph/releasing", "graph/structure", "graph/store"),
    *("graph/rollback", "graph/evaluation", "graph/handles"),
    *("state/stage", "state/vectors/vectors", "state/values/values", "state/handles"),
    *("state/items/layout", "state/items/stage_machine", "state/items/realization"),
    *("state/contents/guards", "state/contents/pools", "state/contents/contents"),
    *("state/allocation", "state/partition", "state/subsystem_state"),
    *("system/motion/paired", "system/declare/trigger_rows", "system/core/realizing"),
    *("inspection/subject", "inspection/trace/tracer"),
    "study/methods/derivatives",
]


KERNELS = ["multibody/tree/kernel"]

BUILDS_NOTHING = {"editable_wheel", "dist_info", "egg_info"}
"""The commands of setuptools that need no module compiled by mypyc."""


class AllOrNothing(build_ext):
    """Build all modules of mypyc or none: a part of them cannot be imported. Kernels may fail."""

    def build_extensions(self) -> None:
        """Build them; where one of mypyc fails, remove the others of mypyc."""
        try:
            super().build_extensions()
        except Exception as error:  # whatever the compiler does: plain Python is installed
            print(f"not compiled, stagecache is installed as plain Python: {error}")  # noqa: T201
            for extension in self.extensions:
                if not extension.optional:
                    Path(self.get_ext_fullpath(extension.name)).unlink(missing_ok=True)
            self.extensions = [extension for extension in self.extensions if extension.optional]
            super().build_extensions()


def extensions() -> list[Extension]:
    """Return the compiled forms of the hot modules, and the kernels."""
    is_free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    if is_free_threaded or os.environ.get("STAGECACHE_PURE") == "1":
        return []
    return [*kernels(), *hot_modules()]


def kernels() -> list[Extension]:
    """Return the modules in C."""
    return [
        Extension(
            f"stagecache.{name.replace('/', '.')}",
            [f"src/{name}.c"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
            optional=True,
        )
        for name in KERNELS
    ]


def hot_modules() -> list[Extension]:
    """Return the compiled forms of the hot modules."""
    if not BUILDS_NOTHING.isdisjoint(sys.argv):
        return []
    try:
        from mypyc.build import mypycify  # noqa: PLC0415
    except ImportError:
        return []
    sources = sources_under_their_name()
    settings = sources.with_name("mypy.ini")
    settings.write_text("[mypy]\nplugins = ../../mypyc_plugin.py\n", encoding="utf-8")
    options = [f"--config-file={settings}", "--follow-imports=silent"]
    paths = [str(sources / f"{name}.py") for name in HOT]
    try:
        return list(mypycify([*options, *paths], group_name="stagecache"))
    except (Exception, SystemExit) as error:  # this mypyc does not take the sources
        print(f"not compiled, stagecache is installed as plain Python: {error!r}")  # noqa: T201
        return []


def sources_under_their_name() -> Path:
    """A folder `stagecache` of the sources: mypyc derives the names of modules from paths."""
    package = Path("build", "mypyc", "stagecache")
    package.parent.mkdir(parents=True, exist_ok=True)
    if package.is_symlink():
        package.unlink()
    elif package.exists():
        shutil.rmtree(package)
    try:
        package.symlink_to(Path("..", "..", "src"), target_is_directory=True)
    except OSError:  # not allowed everywhere
        shutil.copytree("src", package)
    return package


setup(cmdclass={"build_ext": AllOrNothing}, ext_modules=extensions())
