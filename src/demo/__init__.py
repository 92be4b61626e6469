"""The model behind `stagecache demo`, what is done to it, and how that is printed."""

from stagecache.demo.screen import show

__all__ = ["show"]
