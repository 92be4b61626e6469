"""Run tests against mutants of sources, and print a score and the survivors.

``python -m tests.mutation src/graph`` uses the tests of the mirrored folder, `tests/graph`, and
some of rooms above (`ALSO`). What is found is kept in `build/mutation`, and a second run goes on
where the first one ended: it leaves out what was killed, as long as the mutant reads the same.
"""

import argparse
import json
import sys
import tomllib
from collections import Counter, defaultdict
from functools import partial
from hashlib import sha256
from pathlib import Path

import click
import pytest
from attrs import asdict

from tests.mutation.mutants import ROOT, Mutant, mutants_of
from tests.mutation.running import MutationRun, Outcome

FOLDER = ROOT / "build" / "mutation"
EXPLAINED = Path(__file__).with_name("explained.toml")

ALSO = {
    "graph": (
        "inspection/trace/test_trace_graphs.py",
        "inspection/trace/test_trace.py",
        "inspection/strict/test_strict_graphs.py",
        "inspection/strict/test_uncached_graphs.py",
        "display/test_notebook_reprs.py",
        "sharing/test_entries.py",
        "state/test_checkpoint.py",
        "system/test_cutoff.py",
    ),
    "state": (
        "display/test_notebook_reprs.py",
        "inspection/explain/test_explain.py",
        "inspection/trace/test_trace.py",
        "inspection/strict/test_strict.py",
        "inspection/strict/test_uncached.py",
        "inspection/test_graph_view.py",
        "inspection/test_hook_graph.py",
        "inspection/test_reads.py",
        "system/declare/test_declarations.py",
        "system/declare/test_named_items.py",
        "system/declare/test_rows.py",
        "system/core/test_realize.py",
        "system/core/test_state_file.py",
        "system/core/test_topology.py",
        "system/core/test_transport.py",
        "system/declare/test_ports.py",
        "system/motion/test_paired.py",
    ),
    "system/core": (
        "inspection/test_hook_graph.py",
        "display/test_notebook_reprs.py",
        "sharing/test_entries.py",
        "system/declare/test_ports.py",
        "system/declare/test_bad_declarations.py",
        "system/declare/test_prescribed.py",
        "system/events/test_events.py",
        "system/events/test_handling.py",
        "system/motion/test_paired.py",
        "system/projection/test_projection.py",
        "system/saved/test_fingerprints.py",
        "system/test_graph.py",
    ),
    "system/events": ("study/test_declared_events.py", "study/test_simulate.py"),
    "inspection/strict": ("system/declare/test_groups.py",),
}
"""Tests of rooms above, by room: of what a room tells observers, explains, or does for a System."""


def parse() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    add = parser.add_argument
    add("sources", nargs="+", metavar="SOURCE", help="file or folder below src")
    add("--tests", nargs="+", metavar="PATH", help="tests instead of the mirrored folder")
    add("--sample", type=int, metavar="N", help="take N mutants at random (default: all)")
    add("--seed", type=int, default=0, help="of the sample (default: 0)")
    add("--match", default="", metavar="TEXT", help="take those whose name contains this")
    add("--survivors", action="store_true", help="leave out what was not tried before")
    add("--seconds", type=float, default=60.0, help="limit for the tests of a mutant (default: 60)")
    add("--report", action="store_true", help="run nothing, and print what is known")
    return parser.parse_args()


def main() -> int:
    """Run the command; return 1 if mutants survived that are not explained."""
    arguments = parse()
    mutants = [mutant for file in files(arguments.sources) for mutant in mutants_of(file)]
    mutants = [mutant for mutant in mutants if arguments.match in mutant.name]
    if arguments.sample is not None:
        drawn = sorted(mutants, key=partial(lot, arguments.seed))[: arguments.sample]
        mutants = [mutant for mutant in mutants if mutant in drawn]
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "outcomes.jsonl").open("a+", encoding="utf-8") as log:
        log.seek(0)
        outcomes = {known["mutant"]: Outcome(**known) for known in map(json.loads, log)}
        if arguments.survivors:
            mutants = [m for m in mutants if m.name in outcomes]
        reasons = explained()
        due = [m for m in mutants if not is_settled(m, outcomes) and m.name not in reasons]

        def note(outcome: Outcome) -> None:
            outcomes[outcome.mutant] = outcome
            log.write(json.dumps(asdict(outcome)) + "\n")
            log.flush()
            click.echo(f"{outcome.fate:9}  {outcome.mutant}  {outcome.by}")

        if due and not arguments.report:
            tests = arguments.tests or [path for s in arguments.sources for path in tests_of(s)]
            options = ["-q", "-s", "-p", "no:cacheprovider", "--hypothesis-profile=mutation"]
            options += ["-k", "not by_a_timer"]  # which strikes coverage, too
            run = MutationRun(due, FOLDER, arguments.seconds, note)
            if code := pytest.main([*options, *tests], plugins=[run]):
                return int(code)
    return report(mutants, outcomes)


def files(sources: list[str]) -> list[str]:
    """Return the files of folders, by path from the root."""
    paths = [path for source in sources for path in [ROOT / source, *(ROOT / source).rglob("*.py")]]
    return sorted(str(path.relative_to(ROOT)) for path in paths if path.is_file())


def tests_of(source: str) -> list[str]:
    """Return the folder of the tests of a source, and tests of rooms above."""
    below = Path(source).relative_to("src")
    path = ROOT / "tests" / below
    folder = path if path.is_dir() else path.parent
    names = [name for room in ALSO if below.is_relative_to(room) for name in ALSO[room]]
    return [str(path) for path in (folder, *(ROOT / "tests" / name for name in names))]


def lot(seed: int, mutant: Mutant) -> bytes:
    """Return a random number, which stays that of the mutant when others come and go."""
    return sha256(f"{seed} {mutant.name}".encode()).digest()


def is_settled(mutant: Mutant, outcomes: dict[str, Outcome]) -> bool:
    """Return whether a mutant need not be tried again."""
    known = outcomes.get(mutant.name)
    return known is not None and known.fate in ("killed", "not valid")


def explained() -> dict[str, str]:
    """Return the names of mutants that nothing can or should notice, with the reasons."""
    entries = tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))["mutant"]
    return {f"{e['file']}: {e['function']}: {e['mutation']}": e["why"] for e in entries}


def report(mutants: list[Mutant], outcomes: dict[str, Outcome]) -> int:
    """Print survivors, and a score for each file; return 1 if there are survivors."""
    reasons = explained()
    fates: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for mutant in mutants:
        outcome = outcomes.get(mutant.name, Outcome(mutant.name, "not tried"))
        fate = "explained" if mutant.name in reasons and outcome.fate != "killed" else outcome.fate
        fates[mutant.file][fate] += 1
        fates["all"][fate] += 1
        if fate in ("survived", "not run"):
            before, after = mutant.before_and_after()
            click.echo(
                f"\n{fate}: {mutant.file}:{mutant.line}, {mutant.function}\n- {before}\n+ {after}"
            )
    click.echo(f"\n{'':40} killed survived not run explained not tried  score")
    for file, counts in sorted(fates.items()):
        killed = counts["killed"]
        missed = counts["survived"] + counts["not run"]
        score = 100 * killed / max(killed + missed, 1)
        click.echo(
            f"{file:40} {killed:6} {counts['survived']:8} {counts['not run']:7} "
            f"{counts['explained']:9} {counts['not tried']:9} {score:5.1f}%"
        )
    return int(bool(fates["all"]["survived"] + fates["all"]["not run"]))


if __name__ == "__main__":
    sys.exit(main())
