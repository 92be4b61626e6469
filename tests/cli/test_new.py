"""`stagecache new`: what it writes works."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stagecache.cli.main import main


def new(*args: str) -> Result:
    return CliRunner().invoke(main, ["new", *args], prog_name="stagecache")


def test_every_command_of_the_readme_runs(tmp_path: Path) -> None:
    result = new("two_tanks", "-o", str(tmp_path / "models"))
    folder = tmp_path / "models" / "two_tanks"
    assert (result.exit_code, result.stderr) == (0, "")
    written = sorted(path.name for path in folder.iterdir())
    assert written == ["README.md", "test_two_tanks.py", "two_tanks.py"]
    assert all(f"wrote {folder / name}\n" in result.output for name in written)
    texts = [path.read_text(encoding="utf-8") for path in folder.iterdir()]
    assert not any("mymodel" in text or "template" in text for text in texts)

    commands = re.findall(r"^\| `([^`]+)` \|", (folder / "README.md").read_text("utf-8"), re.M)
    assert len(commands) == 6
    for command in commands:
        program, *args = shlex.split(command)
        start = args if program == "python" else ["-m", program, *args]
        if program == "pytest":
            start += ["-p", "no:cacheprovider", "--rootdir", "."]
        ended = subprocess.run(
            [sys.executable, *start],
            cwd=folder,
            env=os.environ | {"PYTHONUTF8": "1"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert ended.returncode == 0, (command, ended.stdout, ended.stderr)


@pytest.mark.parametrize("name", ["my-model", "2tanks", "class", "json", "stagecache", ""])
def test_a_name_that_cannot_be_a_module_is_refused(name: str, tmp_path: Path) -> None:
    result = new(name, "-o", str(tmp_path))
    assert result.exit_code == 2
    assert "two_tanks" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "tank").mkdir()
    result = new("tank", "-o", str(tmp_path))
    assert result.exit_code == 1
    assert "exists already" in result.stderr
    assert list((tmp_path / "tank").iterdir()) == []
