"""The models behind `stagecache demo` and the documentation, and what the command does."""

from stagecache.demo.screen import show

__all__ = ["show"]
