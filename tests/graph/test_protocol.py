"""The proof about the invalidation protocol, `protocol.v`, is checked by machine."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.profiles import is_nightly

PROOF = Path(__file__).with_name("protocol.v")
COQC = shutil.which("coqc")

pytestmark = [
    pytest.mark.coq,
    pytest.mark.skipif(COQC is None, reason="needs coqc, of Debian's package coq"),
]

FAULTS = {
    "a write leaves gates as they are": (
        "then S (clock s) else gate s n",
        "then gate s n else gate s n",
    ),
    "a gate is lowered whatever compared values are": (
        "then valid s p /\\ changed s p <= t else",
        "then valid s p else",
    ),
    "an invalidation spares dependents": ("if reaches x n then None", "if x =? n then None"),
    "a rollback sets the clock back": (
        "clock := S (clock s);\n  content := content saved",
        "clock := clock saved;\n  content := content saved",
    ),
}
"""Changes of the model, each of which makes the theorem wrong."""


def checked(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Let coqc check a proof, in a folder for what it writes."""
    file = folder / "protocol.v"
    file.write_text(text, encoding="utf-8")
    command = [str(COQC), "-q", file.name]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )


def test_the_proof_is_complete_and_uses_no_axiom(tmp_path: Path) -> None:
    text = PROOF.read_text(encoding="utf-8")
    result = checked(text, tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split("\n") == ["Closed under the global context"] * 2 + [""]
    for theorem in ("valid_entries_are_right", "versions_are_new"):
        assert f"Theorem {theorem} " in text
        assert f"Print Assumptions {theorem}." in text


@pytest.mark.parametrize("fault", FAULTS if is_nightly() else list(FAULTS)[1:2])
def test_there_is_no_proof_of_a_wrong_protocol(fault: str, tmp_path: Path) -> None:
    """The theorem is about the protocol: with a fault planted in it, the proof fails."""
    old, new = FAULTS[fault]
    text = PROOF.read_text(encoding="utf-8")
    assert text.count(old) == 1
    result = checked(text.replace(old, new), tmp_path)
    assert result.returncode == 1
    assert "Error" in result.stderr
