"""The process of the other form: `python -m benchmarks.forms.server`; see `process.py`."""

import gc
import json
import os
import sys
from collections.abc import Iterable
from typing import TextIO, final

import benchmarks.rows
from benchmarks.forms.process import Answer
from benchmarks.peers import OWN, load_peer
from benchmarks.probes import AbstractProbe
from benchmarks.rows import Row, Section


@final
class Server:
    """Probes of the rows of some sections, by heading and name."""

    def __init__(self, sections: Iterable[Section]) -> None:
        self._rows: dict[tuple[str, str], Row] = {
            (section.heading, row.name): row
            for section in sections
            for group in section.groups
            for row in group
        }
        self._probes: dict[tuple[str, str], AbstractProbe] = {}

    def serve(self, requests: TextIO, answers: TextIO) -> None:
        """Answer requests until there are no more."""
        gc.disable()
        for line in requests:
            action, *arguments = json.loads(line)
            print(json.dumps(getattr(self, action)(*arguments)), file=answers, flush=True)

    def build(self, heading: str, name: str, budget: float) -> Answer:
        """Build a probe, and return its note and how many samples are enough."""
        probe = self._rows[heading, name].build(load_peer(OWN))
        probe.calibrate(budget)
        self._probes[heading, name] = probe
        gc.collect()
        gc.freeze()
        return [probe.note, probe.enough]

    def sample(self, heading: str, name: str) -> Answer:
        """Take a sample."""
        gc.collect()
        return [self._probes[heading, name].sample()]

    def forget(self) -> Answer:
        """Forget all probes."""
        self._probes.clear()
        gc.unfreeze()
        gc.collect()
        return []


def main() -> None:
    """Serve all rows that there are; what anything else prints goes to stderr."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)
        sections = [one for one in vars(benchmarks.rows).values() if isinstance(one, Section)]
        Server([*benchmarks.rows.SECTIONS, *sections]).serve(sys.stdin, answers)


if __name__ == "__main__":
    main()
