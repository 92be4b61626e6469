"""The process that runs below valgrind: `python -m benchmarks.instructions.counted LIBRARY`.

Each operation runs n times, and then 2n times. Before each of the two, counts are set to zero;
after it, they are dumped with a label. The difference is what n repetitions take.
"""

import ctypes
import gc
import sys
from timeit import Timer

from benchmarks.instructions.operations import OPERATIONS


def main(library: str) -> None:
    """Run all operations, with requests to callgrind around each."""
    requests = ctypes.CDLL(library)
    timers = [Timer(one.statement, globals=dict(one.make())) for one in OPERATIONS]
    for timer in timers:
        timer.timeit(20)  # what is made at first use, is made; what CPython specializes, is special
    gc.collect()
    gc.freeze()
    gc.disable()
    requests.start()
    for number, (one, timer) in enumerate(zip(OPERATIONS, timers, strict=True)):
        timer.timeit(1)
        for times in (1, 2):
            label = f"{number} {times}".encode()
            requests.zero()
            timer.timeit(times * one.repetitions)
            requests.dump(label)


if __name__ == "__main__":
    main(sys.argv[1])
