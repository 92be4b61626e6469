"""Live views: the page of a graph follows a State while something runs."""

from stagecache.live.watch import LiveView, watch

__all__ = ["LiveView", "watch"]
