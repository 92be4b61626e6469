"""Trajectories as datasets of xarray, and so as netCDF and Zarr.

::

    room.temperature, room_2.temperature     two subsystems of the class Room
        ->   temperature (time, room)        room: room, room_2
    house.heat[kitchen], house.heat[bath]    the items of a family
        ->   house.heat (time, house.heat.item)      house.heat.item: kitchen, bath
    chain.angles                             a vector
        ->   chain.angles (time, chain.angles.index)

A dataset that is written to a file has all columns, and beside them the header of a trajectory file
and the changes of other items.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from attrs import field, frozen

from stagecache.checks import require_extra
from stagecache.errors import FileFormatError, StagecacheError, StudyError
from stagecache.files.values import bad_file
from stagecache.state.handles import Vector
from stagecache.study.trajectory.header import Header
from stagecache.study.trajectory.imported import SUMS, ImportedFile, sums_of
from stagecache.study.trajectory.rows import AbstractRows, Array, Column
from stagecache.study.trajectory.stream import Details, columns_and_changes, header_of

ITEM: Final = re.compile(r"(.+)\[([^\[\]]+)\]")
HEADER: Final = "stagecache"
COLUMNS: Final = "stagecache_columns"
CHANGES: Final = "stagecache_changes"
LENGTHS: Final = "stagecache_lengths"
ROWS: Final = "stagecache_rows"
EXTRA: Final = "files"
INSTEAD: Final = "use save()"
LIBRARIES: Final = {"netcdf": "netCDF4", "zarr": "zarr"}


@frozen
class Place:
    """Place of a column in a dataset.

    Attributes
    ----------
    variable : str
    labels : dict of str to str
        Coordinates by dimension; none where the column is the whole variable.
    """

    variable: str
    labels: Mapping[str, str] = field(factory=dict)


Find = Callable[[Place], Place | None]


def places_of(
    columns: Sequence[Column], classes: Mapping[str, str], *, with_families: bool = True
) -> dict[str, Place]:
    """Return the place of each column, those that belong together in one variable.

    Parameters
    ----------
    columns : sequence of Column
    classes : dict of str to str
        Names of the classes of subsystems, by their names.
    with_families : bool
        False to leave the items of families apart.
    """
    places = {column.path: Place(column.path) for column in columns}
    by_class: Find = lambda place: _class_place(place, classes)  # noqa: E731  # of this call
    finders: list[Find] = [_family_place, by_class] if with_families else [by_class]
    for find in finders:
        groups: dict[Any, dict[str, Place]] = {}
        for column in columns:
            place = find(places[column.path])
            if place is not None and column.kind != "time":
                form = (column.kind, column.values.shape, column.values.dtype.str)
                key = (place.variable, tuple(place.labels), form, column.names)
                groups.setdefault(key, {})[column.path] = place
        whole = [group for group in groups.values() if _is_whole(group)]
        names = [next(iter(group.values())).variable for group in whole]
        for name, group in zip(names, whole, strict=True):
            if names.count(name) == 1:
                places |= group
    dimensions = {dimension for place in places.values() for dimension in place.labels}
    apart = {*_of_other_labels(places), *dimensions}
    return {
        path: Place(path) if place.variable in apart or "time" in place.labels else place
        for path, place in places.items()
    }


def _of_other_labels(places: Mapping[str, Place]) -> set[str]:
    """Return the variables that lack some labels of a dimension, which others have."""
    labels: dict[str, dict[str, set[str]]] = {}
    for place in places.values():
        for dimension, label in place.labels.items():
            labels.setdefault(dimension, {}).setdefault(place.variable, set()).add(label)
    return {
        variable
        for found in labels.values()
        for variable, own in found.items()
        if own != max(found.values(), key=len)
    }


def _is_whole(group: Mapping[str, Place]) -> bool:
    """Return True if a variable has several columns, one for each combination of labels."""
    labels = [tuple(place.labels.values()) for place in group.values()]
    sizes = [len(set(column)) for column in zip(*labels, strict=True)]
    return sizes[0] > 1 and len(labels) == len(set(labels)) == np.prod(sizes)


def _family_place(place: Place) -> Place | None:
    match = ITEM.fullmatch(place.variable)
    return None if match is None else Place(match[1], {f"{match[1]}.item": match[2]})


def _class_place(place: Place, classes: Mapping[str, str]) -> Place | None:
    subsystem, dot, rest = place.variable.partition(".")
    if not dot or subsystem not in classes:
        return None
    dimension = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", classes[subsystem]).lower()
    others = {d.removeprefix(f"{subsystem}."): label for d, label in place.labels.items()}
    return Place(rest, {dimension: subsystem, **others})


def xarray_dataset(
    times: Vector,
    columns: Sequence[Column],
    places: Mapping[str, Place],
    units: Mapping[str, str],
    name: str,
) -> Any:
    """Return an `xarray.Dataset` of columns, along "time"."""
    xarray = require_extra("xarray", "labels", "to_xarray()", "use to_csv()")
    coordinates: dict[str, Any] = {"time": ("time", times.copy(), {"units": "s"})}
    together: dict[str, list[Column]] = {}
    for column in columns:
        if column.kind != "time":
            together.setdefault(places[column.path].variable, []).append(column)
    variables: dict[str, Any] = {}
    known_labels: dict[str, list[str]] = {}  # of a dimension, in one order for all variables
    for variable, group in together.items():
        labels = [places[column.path].labels for column in group]
        dimensions = list(labels[0])
        for d in dimensions:
            known_labels.setdefault(d, list(dict.fromkeys(label[d] for label in labels)))
        known = {d: known_labels[d] for d in dimensions}
        shape = group[0].values.shape[1:]
        values: Array = np.empty(
            (len(times), *map(len, known.values()), *shape), group[0].values.dtype
        )
        for column, label in zip(group, labels, strict=True):
            which: list[Any] = [known[d].index(label[d]) for d in dimensions]
            values[(slice(None), *which)] = column.values
        coordinates |= {d: (d, found) for d, found in known.items()}
        inner = [f"{variable}.index", *[f"{variable}.index{n}" for n in range(1, len(shape))]]
        if len(shape) == 1:
            is_alone = variable == group[0].path
            coordinates[inner[0]] = group[0].labels if is_alone else np.arange(shape[0])
        attributes = {"kind": group[0].kind}
        found_units = {units.get(column.path, "") for column in group}
        if len(found_units) == 1 and found_units != {""}:
            attributes["units"] = found_units.pop()
        variables[variable] = (("time", *dimensions, *inner[: len(shape)]), values, attributes)
    return xarray.Dataset(variables, coordinates, {"system": name})


# ---------------------------------------------------------------------- files


def write_dataset(
    rows: AbstractRows, path: Path, record: tuple[str, ...], details: Details, form: str
) -> None:
    """Write all rows as "netcdf" or "zarr"; the file takes its name when it is whole."""
    call = f"to_{form}()"
    require_extra("xarray", EXTRA, call, INSTEAD)
    require_extra(LIBRARIES[form], EXTRA, call, INSTEAD)
    if path.exists() and not (_is_zarr(path) if form == "zarr" else path.is_file()):
        raise StudyError(
            f"{call}: would replace {path}",
            "a new name, or the name of a trajectory of this kind",
            "something else",
            "choose another name",
        )
    found = rows.in_memory(range(rows.count))
    header = header_of(found, record, details)
    numbers, packed = columns_and_changes(found, header.forms)
    columns = [Column(p, header.forms[p].kind, values) for p, (values, _) in numbers.items()]
    places = places_of(columns, header.classes)
    dataset = xarray_dataset(found.all_times, columns, places, header.units, header.system)
    with TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        beside, old = Path(folder, "new"), Path(folder, "old")
        sums = sums_of({path: values for path, (values, _) in numbers.items()})
        whole = _complete(dataset, places, header, packed).assign_attrs({SUMS: json.dumps(sums)})
        if form == "zarr":
            whole.to_zarr(beside, consolidated=True, zarr_format=2)  # 3 has no texts yet
        else:
            whole.to_netcdf(beside, engine="netcdf4")
        if path.is_dir():
            path.replace(old)
        beside.replace(path)


def _is_zarr(path: Path) -> bool:
    """Return True for a folder that `write_dataset` has written."""
    attributes = path / ".zattrs"
    return attributes.is_file() and HEADER.encode() in attributes.read_bytes()


def _complete(
    dataset: Any, places: Mapping[str, Place], header: Header, packed: Sequence[bytes | None]
) -> Any:
    """Return a dataset with all that a trajectory file has."""
    found = {path: [place.variable, dict(place.labels)] for path, place in places.items()}
    whole = dataset.assign_attrs({HEADER: header.text, COLUMNS: json.dumps(found)})
    changes = {row: data for row, data in enumerate(packed) if data is not None}
    if not changes:
        return whole
    data = np.frombuffer(b"".join(changes.values()), np.uint8)
    lengths = np.array([len(row) for row in changes.values()], np.int64)
    return whole.assign(
        {
            CHANGES: (f"{CHANGES}_byte", data),
            LENGTHS: (f"{ROWS}_index", lengths),
            ROWS: (f"{ROWS}_index", np.array(list(changes), np.int64)),
        }
    )


def read_dataset(path: Path, form: str) -> ImportedFile:
    """Return the trajectory in a file of netCDF, or a folder of Zarr.

    Raises
    ------
    FileFormatError
    MissingExtraError
    """
    call = f"load_trajectory({str(path)!r})"
    xarray = require_extra("xarray", EXTRA, call, INSTEAD)
    require_extra(LIBRARIES[form], EXTRA, call, INSTEAD)
    engine = "zarr" if form == "zarr" else "netcdf4"
    options: dict[str, Any] = {"engine": engine, "decode_times": False, "decode_timedelta": False}
    try:
        with xarray.open_dataset(path, **options) as dataset:
            return file_of_dataset(dataset.load(), path)
    except StagecacheError:
        raise
    except Exception as error:  # of the libraries: of any kind
        raise FileFormatError(
            f"{path}: is damaged, or is not a trajectory",
            f"what to_{form}() has written",
            str(error),
            "pass an undamaged file of this kind, or one that Trajectory.save() has written",
        ) from error


def file_of_dataset(dataset: Any, path: Path) -> ImportedFile:
    """Return the trajectory in a dataset that was read from a file.

    Raises
    ------
    FileFormatError
    """
    header = Header.of_text(str(dataset.attrs.get(HEADER, "")), str(path))
    columns: dict[str, Any] = {"time": dataset["time"].values}
    try:
        places = json.loads(dataset.attrs[COLUMNS])
        sums = json.loads(dataset.attrs[SUMS])
        for form in header.forms.values():
            if form.path != "time":
                variable, labels = places[form.path]
                columns[form.path] = dataset[variable].sel(labels).values
        changes = _changes_of(dataset) if CHANGES in dataset else {}
    except (KeyError, TypeError, ValueError) as error:
        raise bad_file(f"{path}: is damaged", "columns and changes", str(error)) from None
    return ImportedFile(path, header, columns, changes, sums)


def _changes_of(dataset: Any) -> dict[int, bytes]:
    """Return the packed changes by row."""
    data = dataset[CHANGES].values.tobytes()
    starts = [0, *np.cumsum(dataset[LENGTHS].values).tolist()]
    rows = dataset[ROWS].values.tolist()
    return {row: data[starts[i] : starts[i + 1]] for i, row in enumerate(rows)}
