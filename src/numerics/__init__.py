"""Linear algebra and optimization that know no State."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stagecache.numerics.constrained_dynamics import solve_constrained
else:

    def __getattr__(name: str) -> object:
        """Look up what needs SciPy when it is first asked for."""
        if name == "solve_constrained":
            from stagecache.numerics.constrained_dynamics import solve_constrained  # noqa: PLC0415

            return globals().setdefault(name, solve_constrained)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "solve_constrained",
]
