"""The numbers that OpenSim finds for small models: python -m tests.models.opensim_results.

It needs the package opensim (the extra `oracles`), and writes `opensim_results.json`: for each
model some random values of the coordinates, and the poses of bodies, positions of markers, and
errors of constraints there.
"""

import json
import random
import tempfile
from contextlib import chdir
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from tests.models.small_models import SMALL

RESULTS: Final = Path(__file__).with_name("opensim_results.json")
POSES: Final = 4


def imported() -> Any:
    """Return the package opensim, which writes a log into the folder where it is imported."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        opensim = import_module("opensim")
        opensim.Logger.removeFileSink()
    opensim.Logger.setLevelString("off")
    return opensim


def results_of(text: str, seed: int) -> dict[str, Any]:
    """Return what OpenSim finds for a model."""
    opensim = imported()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.osim"
        path.write_text(text, encoding="utf-8")
        model = opensim.Model(str(path))
        state = model.initSystem()
    random.seed(seed)
    names = [c.getName() for c in each(model.getCoordinateSet())]
    found: dict[str, Any] = {
        "coordinates": names,
        "q": [],
        "bodies": [],
        "markers": [],
        "errors": [],
    }
    for _ in range(POSES):
        q = [round(random.uniform(-1.4, 1.4), 3) for _ in names]
        found |= {"q": [*found["q"], q]}
        for coordinate, value in zip(each(model.getCoordinateSet()), q, strict=True):
            coordinate.setValue(state, value, False)
        model.realizeVelocity(state)
        bodies = {
            b.getName(): matrix_of(b.getTransformInGround(state)) for b in each(model.getBodySet())
        }
        markers = {
            m.getName(): vector_of(m.getLocationInGround(state)) for m in each(model.getMarkerSet())
        }
        errors = state.getQErr()
        found["bodies"].append(bodies)
        found["markers"].append(markers)
        found["errors"].append([errors.get(i) for i in range(errors.size())])
    return found


def each(a_set: Any) -> list[Any]:
    """Return the parts of a set."""
    return [a_set.get(i) for i in range(a_set.getSize())]


def vector_of(v: Any) -> list[float]:
    """Return three numbers."""
    return [v.get(i) for i in range(3)]


def matrix_of(x: Any) -> list[list[float]]:
    """Return [R p]."""
    return [[*(x.R().get(i, j) for j in range(3)), x.p().get(i)] for i in range(3)]


def main() -> None:
    """Write the file."""
    opensim = imported()
    found = {name: results_of(text, seed) for seed, (name, text) in enumerate(SMALL.items())}
    content = {"made by": f"OpenSim {opensim.GetVersion()}", "models": found}
    RESULTS.write_text(
        json.dumps(content, indent=None, separators=(",", ":")) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
