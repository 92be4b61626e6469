"""Settings of the driver process: what a worker installs before members run.

::

    driver    Settings.here()   ->  travels with the study
    worker    with settings.installed():  members run

Members then run on each worker as they would in the driver process. A further setting is one more
field, taken in `here` and installed in `installed`.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import Any, Final, Self, final

import numpy as np
from attrs import frozen

from stagecache.sharing.results import SharedResults, results_in_use


@final
@frozen(eq=False)
class Settings:
    """Settings of a process that members run with.

    Attributes
    ----------
    floating_point : dict of str to str
        Treatment of floating-point errors by NumPy, as `numpy.errstate` takes it.
    shared : SharedResults
        Values of shared entries. Values in memory do not travel; a folder serves all workers.
    """

    floating_point: Mapping[str, Any]
    shared: SharedResults

    @classmethod
    def here(cls) -> Self:
        """Return the settings of this process and thread."""
        return cls(dict(np.geterr()), results_in_use())

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Install the settings in this thread, as long as a ``with`` block runs."""
        with np.errstate(**self.floating_point), INSTALLED.using(self.shared):
            yield


@final
class _Installed:
    """Shared results that threads of this process have installed.

    The results in use belong to the whole process. The previous ones are installed again when the
    last thread leaves; if an earlier thread did it, the others would lose theirs.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._stack = ExitStack()

    @contextmanager
    def using(self, shared: SharedResults) -> Iterator[None]:
        """Install results, as long as a ``with`` block runs in some thread."""
        with self._lock:
            self._users += 1
            if results_in_use() is not shared:
                self._stack.enter_context(shared)
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    self._stack.close()


INSTALLED: Final = _Installed()
"""Module-level state, since the results in use are state of the process, too."""
