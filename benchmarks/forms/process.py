"""A second process, which imports the other form, and takes samples of it when it is asked to.

::

    here                      ["build", heading, row, budget]     there
    a cell of the table  ------------------------------------->  the probe of that row
                         <-------------------------------------
                                   [note, enough]

So samples of both forms are taken in turns, as those of all other columns are.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final, final

from benchmarks.forms.folders import ROOT
from benchmarks.probes import MANY, AbstractProbe

Answer = list[object]


@final
class OtherForm:
    """The other form, in its process.

    Parameters
    ----------
    folder : Path
        The folder that has it.
    """

    def __init__(self, folder: Path) -> None:
        paths = [str(folder), str(ROOT)]
        self._process: Final = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.forms.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            cwd=ROOT,
            text=True,
        )

    def probe(self, heading: str, row: str) -> AbstractProbe:
        """Return the probe of a row in the section of that heading."""
        return _Remote(self, heading, row)

    def forget(self) -> None:
        """Forget all probes."""
        self.ask("forget")

    def ask(self, *request: object) -> Answer:
        """Return the answer to a request.

        Raises
        ------
        RuntimeError
            The process has ended; its own error is on stderr.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps(request)}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process of the other form has ended, asked for {request}")
        answer: Answer = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


@final
class _Remote(AbstractProbe):
    """A probe in the other process."""

    def __init__(self, form: OtherForm, heading: str, row: str) -> None:
        self.note = ""
        self.enough = MANY
        self._form = form
        self._row = (heading, row)

    def calibrate(self, budget: float) -> None:
        note, enough = self._form.ask("build", *self._row, budget)
        self.note, self.enough = str(note), int(str(enough))

    def sample(self) -> float:
        (figure,) = self._form.ask("sample", *self._row)
        return float(str(figure))
