"""Valid calls of all public callables, by part of the library."""

from typing import Final

from tests.misuse.recipe import Recipes
from tests.misuse.recipes import (
    assembly,
    graph,
    looking,
    models,
    multibody,
    state,
    study,
    system,
)

PARTS: Final[dict[str, Recipes]] = {
    "graph": graph.RECIPES,
    "state": state.RECIPES,
    "system": system.RECIPES,
    "study": study.RECIPES,
    "assembly": assembly.RECIPES,
    "multibody": multibody.RECIPES,
    "models": models.RECIPES,
    "looking": looking.RECIPES,
}
RECIPES: Final[Recipes] = {name: recipe for part in PARTS.values() for name, recipe in part.items()}
