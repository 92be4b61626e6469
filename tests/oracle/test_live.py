"""Fresh random commands on the real library, on the model of it, and on State."""

import random
from collections.abc import Callable, Iterator

import pytest

from tests.oracle import simbody
from tests.oracle.commands import BYTES, PAUSE, Commands
from tests.oracle.model import Model
from tests.oracle.pair import LOOK, Pair
from tests.oracle.quirks import ALL
from tests.oracle.simbody import Simbody
from tests.profiles import count

pytestmark = [
    pytest.mark.simbody,
    pytest.mark.skipif(not simbody.is_available(), reason=str(simbody.reason_not_available())),
]
LONGEST = 120  # commands


@pytest.fixture(scope="module")
def real() -> Iterator[Simbody]:
    with Simbody() as process:
        yield process


def test_state_and_the_model_answer_as_the_real_library_does(
    real: Simbody, record_property: Callable[[str, object], None]
) -> None:
    """Fresh sequences in each run; a failing one is printed with its seed and its commands."""
    number = count(200)
    first = random.SystemRandom().randrange(2**32)
    compared = sum(compare(real, seed) for seed in range(first, first + number))
    record_property("sequences", number)
    record_property("commands compared", compared)
    print(f"{number} sequences from seed {first}, {compared} commands compared")  # noqa: T201 - shown by -rP
    assert compared > 10 * number


def compare(real: Simbody, seed: int) -> int:
    """Run one sequence on all three; return the number of commands compared."""
    rng = random.Random(seed)
    model, pair = Model(ALL), Pair()
    commands = Commands(model, is_live=True)
    done = ["reset_all"]
    assert real.run("reset_all") == "ok"
    for _ in range(rng.randint(10, LONGEST)):
        command = commands.next(rng.randbytes(BYTES))
        if command == PAUSE:
            continue
        done.append(command)
        failed = f"seed {seed}:\n" + "\n".join(done)
        assert real.run(command) == model.run(command), failed
        assert real.run(LOOK) == model.run(LOOK), failed
        answers = pair.run(command)
        assert not answers.differences, failed
    return 2 * (len(done) - 1)
