"""Plugin of mypy for `setup.py`: compile generic classes without their base `Generic[T]`.

mypyc takes `Generic` for a base that it does not know. It would give each instance a dictionary, so
that a misspelled attribute is accepted, and 16 bytes for it. Types are checked before all the same.
"""

from collections.abc import Callable

from mypy.plugin import ClassDefContext, Plugin


class NoGenericBase(Plugin):
    """Drop `Generic[T]` from the bases of final classes, and of what they derive from."""

    def get_class_decorator_hook_2(self, fullname: str) -> Callable[[ClassDefContext], bool] | None:
        """Return the function that is called once a class with this decorator is analysed."""
        return drop_generic if fullname == "typing.final" else None


def drop_generic(context: ClassDefContext) -> bool:
    """Drop the bases that mean something to type checkers only."""
    for info in context.cls.info.mro:
        info.defn.removed_base_type_exprs.clear()
    return True


def plugin(_version: str) -> type[Plugin]:
    """Return the plugin; mypy calls this."""
    return NoGenericBase
