"""The tests of the kernel are there where the kernel is: it may be left out, as mypyc's modules."""

from stagecache.multibody.tree.compiled import kernel

collect_ignore = [] if kernel is not None else ["test_kernel.py"]
