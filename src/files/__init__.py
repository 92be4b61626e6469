"""Files: values without pickle, and the frame that holds them.

::

    value  ->  encode  ->  JSON and blobs  ->  pack  ->  bytes  ->  write_atomically  ->  a file

Nothing in a file is executed: no module is imported, and no class is called but the functions that
the program itself has registered.
"""

from stagecache.files.report import DifferenceKind, LayoutDifference, LoadReport
from stagecache.files.values import register_value

__all__ = ["DifferenceKind", "LayoutDifference", "LoadReport", "register_value"]
