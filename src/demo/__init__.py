"""The demonstration: a four-bar linkage that is assembled and turned."""

from stagecache.demo.screen import show

__all__ = ["show"]
