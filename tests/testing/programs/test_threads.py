"""Reads in threads in programs of the kit."""

from stagecache.testing import Run, check_threads
from stagecache.testing.programs.operation import ReadAll, Realize
from stagecache.testing.programs.threads import ReadInThreads, read_in_threads
from stagecache.testing.programs.writes import SetTime
from tests.testing.models import Forgetful, Lever, system_of
from tests.testing.mutants.models import clock


def test_threads_read_what_one_thread_reads() -> None:
    run, alone = Run(clock()), Run(clock())
    assert run.perform([Realize(), SetTime(2.0), ReadInThreads()]) == 3
    alone.perform([Realize(), SetTime(2.0), ReadAll()])
    assert [(r.subject, str(r.outcome)) for r in run.reads] == [
        (r.subject, str(r.outcome)) for r in alone.reads
    ]
    assert run.lines[-1] == "read_in_threads(state)"
    read_in_threads(run.states[0])


def test_a_missing_prerequisite_is_not_a_fault_of_threads() -> None:
    for subsystem in (Lever(), Forgetful()):
        check_threads(system_of(subsystem), seed=2)
