"""States in files and in bytes: without pickle, and matched with the model by name.

::

    State  ->  snapshot  ->  content as JSON and blobs  ->  envelope  ->  bytes  ->  a file
    bytes  ->  envelope  ->  content  ->  snapshot  ->  Restoring, by name  ->  State, LoadReport
"""

import os
from collections.abc import Mapping
from typing import Any, Final, Literal, overload

from attrs import evolve

from stagecache.checks import require_bool, require_path, require_type
from stagecache.errors import FileFormatError, StagecacheError, WrongTypeError, short_repr
from stagecache.files.envelope import pack, unpack, write_atomically
from stagecache.files.report import LoadReport
from stagecache.files.values import Blobs
from stagecache.inspection.node_paths import NodePaths
from stagecache.state.stage import Stage
from stagecache.state.state import State
from stagecache.system.core.system import System
from stagecache.system.saved.cache import cache_content, restore_cache
from stagecache.system.saved.content import STAGES, content_snapshot, snapshot_content
from stagecache.system.saved.fingerprints import layout_hash
from stagecache.system.saved.restoring import Restoring
from stagecache.system.saved.snapshot import snapshot

KIND: Final = "State"


def state_bytes(state: State, *, cache: bool) -> bytes:
    """Return a State in the form of its file; `State.to_bytes` says what is in it."""
    require_bool(cache, "cache=...")
    system = state.system
    if system is None:
        raise WrongTypeError(
            f"{state!r}: cannot be saved",
            "a State of a System, which says what is in it",
            "a State that was made by hand",
            "write the model as Subsystems of a System",
        )
    blobs: Blobs = []
    contents = system._require_own(state)._contents
    content: dict[str, Any] = {
        "system": system.name,
        "layout": layout_hash(contents, NodePaths(contents)),
    }
    content |= snapshot_content(snapshot(state), blobs)
    if cache:
        content["cache"] = cache_content(state, blobs)
    return pack(KIND, content, blobs)


@overload
def state_of_bytes(
    data: bytes,
    system: System,
    *,
    strict: Literal[True] = True,
    renamed: Mapping[str, str] | None = None,
    where: str = "",
) -> State: ...
@overload
def state_of_bytes(
    data: bytes,
    system: System,
    *,
    strict: bool,
    renamed: Mapping[str, str] | None = None,
    where: str = "",
) -> State | tuple[State, LoadReport]: ...
def state_of_bytes(
    data: bytes,
    system: System,
    *,
    strict: bool = True,
    renamed: Mapping[str, str] | None = None,
    where: str = "these bytes",
) -> State | tuple[State, LoadReport]:
    """Return the State that `state_bytes` has saved; `load_state` says how."""
    state, report = restored_state(data, system, strict=strict, renamed=renamed, where=where)
    return state if strict else (state, report)


def restored_state(
    data: bytes, system: System, *, strict: bool, renamed: Mapping[str, str] | None, where: str
) -> tuple[State, LoadReport]:
    """Return the State that bytes describe, and what of it fits the model."""
    require_type(data, bytes, f"{where}: are not bytes", "bytes", "pass what to_bytes() returned")
    require_type(system, System, "the model of a State", "a System", "pass the System of the State")
    require_bool(strict, "strict=...")
    content, blobs = unpack(data, KIND, where)
    taken = content_snapshot(content, blobs, where)
    try:
        restoring = Restoring(system, taken, where, is_strict=strict, renamed=renamed)
        state, report = restoring.state, restoring.report
        cache = content.get("cache")
        if cache is not None:
            stage = _stage_of(cache, taken.stage)
            is_same = report.is_complete and not report.renamed
            layout = content.get("layout") if is_same else None
            again = restore_cache(state, stage, layout, cache, blobs, where)
            report = evolve(report, computed_again=again)
    except StagecacheError:
        raise
    except Exception as error:  # of a hook, or a value of a wrong type
        raise FileFormatError(
            f"{where}: its values raise an exception in {system.name}",
            "values with which the model can be realized",
            f"{type(error).__name__}: {short_repr(str(error))}",
            "correct the model if the values are right, or take an undamaged copy of the file",
        ) from error
    return state, report


def _stage_of(cache: Any, stage: Stage) -> Stage:
    """Return the stage up to which the entries of a file were computed."""
    found = cache.get("stage") if isinstance(cache, dict) else None
    return STAGES.get(found, stage) if isinstance(found, str) else stage


Name = str | os.PathLike[str]


def save_state(state: State, path: Name, *, cache: bool) -> None:
    """Write a State into a file, which replaces an older one of that name at once."""
    file = require_path(path, "State.save(path)")
    write_atomically(file, state_bytes(state, cache=cache))


@overload
def load_state(
    path: Name,
    system: System,
    *,
    strict: Literal[True] = True,
    renamed: Mapping[str, str] | None = None,
) -> State: ...
@overload
def load_state(
    path: Name,
    system: System,
    *,
    strict: Literal[False],
    renamed: Mapping[str, str] | None = None,
) -> tuple[State, LoadReport]: ...
def load_state(
    path: Name,
    system: System,
    *,
    strict: bool = True,
    renamed: Mapping[str, str] | None = None,
) -> State | tuple[State, LoadReport]:
    """Load a State from a file that `State.save` has written.

    Each value goes to the variable of its name, wherever the model declares that now; never to
    another one. Nothing in a file is executed, and no module is imported. Cost O(items).

    Parameters
    ----------
    path : str or os.PathLike
    system : System
        Model of the State: the same, or a later version of it.
    strict : bool
        True to refuse a file that does not fit the model. False to take what fits; variables that
        are not in the file, or have another form, keep their first values.
    renamed : dict of str to str, optional
        Path that a variable had when it was saved, and its path in the model now; or the names of
        a family or a subsystem then and now, for all its variables; or {"*.length": "*.size"}, for
        variables of all subsystems.

    Returns
    -------
    State
        At the stage at which it was saved, but at Instance at most. If its cache was saved, at the
        stage at which it was saved; entries that would be computed the same are valid.
    LoadReport
        What was taken, and each difference; only if `strict` is False.

    Raises
    ------
    OSError
    FileFormatError
        The file is damaged, cut short, of another kind, or of a newer version; or a hook of the
        model, or the function of a registered class, raises an exception, which is its cause.
    LayoutMismatchError
        The model has other subsystems, versions or variables; its `report` lists them.
    UnknownPathError
        `renamed` names something that was not saved.
    WrongTypeError

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from stagecache import Subsystem, System, load_state, parameter, q_variable
    >>> class Pendulum(Subsystem):
    ...     length = parameter(1.0)
    ...     angle = q_variable(0.1)
    >>> system = System(Pendulum())
    >>> state = system.new_state()
    >>> system.subsystem("pendulum").length.set(state, 2.5)
    >>> path = Path(mkdtemp(), "start.state")
    >>> state.save(path)
    >>> loaded = load_state(path, system)
    >>> system.subsystem("pendulum").length(loaded)
    2.5
    """
    file = require_path(path, "load_state(path)")
    return state_of_bytes(
        file.read_bytes(), system, strict=strict, renamed=renamed, where=str(file)
    )
