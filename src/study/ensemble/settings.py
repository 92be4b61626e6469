"""Settings of the driver process: what a worker installs before members run.

::

    driver    Settings.here()   ->  travels with the study
    worker    with settings.installed():  members run

Members then run on each worker as they would in the driver process. A further setting is one more
field, taken in `here` and installed in `installed`.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, Self, final

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
        Values of shared entries. Those in memory do not travel; a folder is the same one.
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
        with ExitStack() as stack:
            stack.enter_context(np.errstate(**self.floating_point))
            if results_in_use() is not self.shared:
                stack.enter_context(self.shared.in_use())
            yield
