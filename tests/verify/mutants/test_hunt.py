"""The command on a toy program: a fault that is caught, one that survives, one that hangs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from verify.mutants import looks
from verify.mutants.__main__ import hunt
from verify.mutants.looks import stages
from verify.mutants.mutant import Mutant
from verify.mutants.tree import copied

pytestmark = pytest.mark.long

PROGRAM = """
def seconds(minutes):
    return minutes * 60


def wait(done):
    while not done:
        pass


def name():
    return "toy"
"""
TESTS = """
from toy.clock import seconds, wait


def test_seconds():
    assert seconds(2) == 120


def test_it_waits_for_nothing():
    wait(True)
"""
CAUGHT = Mutant("A minute has 59 seconds.", "toy/clock.py", "minutes * 60", "minutes * 59")
SURVIVOR = Mutant("The program has no name.", "toy/clock.py", '"toy"', '""')
HANGS = Mutant("It waits for ever.", "toy/clock.py", "while not done:", "while True:")
STALE = Mutant("An hour has 59 minutes.", "toy/clock.py", "hours * 60", "hours * 59")
BY_TEST = "tests/test_clock.py::test_seconds"


@pytest.fixture(scope="module")
def toy(tmp_path_factory) -> Path:
    """A program of one file with its tests, as git knows it."""
    root = tmp_path_factory.mktemp("toy")
    for name, text in {
        "toy/__init__.py": "",
        "toy/clock.py": PROGRAM,
        "tests/__init__.py": "",
        "tests/test_clock.py": TESTS,
        "tests/verify/test_nothing.py": "",
        "ignored.txt": "",
        ".gitignore": "ignored.txt\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    subprocess.run(["git", "init", "-q", root], check=True)
    return root


@pytest.fixture(autouse=True)
def _asked(monkeypatch) -> None:
    """Have all tests of the toy run at once."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # the toy needs none of them
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p xdist.plugin")
    monkeypatch.setattr(looks, "stages", lambda *_: [["tests"]])
    monkeypatch.setattr(looks, "HANGS", 2)


@pytest.mark.parametrize(
    ("mutant", "expected"),
    [
        (CAUGHT, f"caught by {BY_TEST}"),
        (SURVIVOR, "survived"),
        (STALE, 'stale: toy/clock.py: "An hour has 59 minutes." wants this text once'),
        (HANGS, "caught by the run itself"),
    ],
)
def test_a_fault_is_caught_or_survives(toy, capsys, mutant, expected):
    assert hunt(toy, [mutant], jobs=1, workers=0) == expected.startswith("caught")
    assert f"{mutant.file}: {mutant.name}\n    {expected}" in capsys.readouterr().out
    assert (toy / "toy/clock.py").read_text() == PROGRAM


def test_a_test_that_fails_without_the_fault_catches_nothing(toy, tmp_path, capsys):
    root = tmp_path / "toy"
    shutil.copytree(toy, root)
    (root / "tests/test_clock.py").write_text("def test_never():\n    assert False\n")
    assert not hunt(root, [SURVIVOR], jobs=1, workers=0)
    assert "not every time: tests/test_clock.py::test_never\n" in capsys.readouterr().out


def test_a_copy_has_the_files_of_git_and_is_removed(toy):
    with copied(toy) as root:
        assert (root / "toy/clock.py").read_text() == PROGRAM
        assert not (root / "ignored.txt").exists()
    assert not root.exists()


def test_tests_of_the_same_name_come_first_and_long_tools_last(tmp_path):
    folder = "tests/door/games/vegas"
    (tmp_path / folder).mkdir(parents=True)
    for name in ("test_round.py", "test_rounds_of_two.py", "test_shoe.py"):
        (tmp_path / folder / name).touch()
    file = "door/games/vegas/rounds.py"
    alike, room, rest, last = stages(file, tmp_path, False)
    names = [f"{folder}/test_round.py", f"{folder}/test_rounds_of_two.py"]
    assert alike == [*names, "-n", "0", "-m", "not long"]
    assert room == [folder]
    assert rest == ["tests", "--ignore=tests/verify", f"--ignore={folder}"]
    assert last == ["tests/verify"]
    assert stages(file, tmp_path, True) == [alike, room]
    # A file at the top of a package has no room, and tests elsewhere may share its name.
    assert stages("door/shoe.py", tmp_path, True)[0][0] == f"{folder}/test_shoe.py"
    assert stages("door/clock.py", tmp_path, False)[0][0] == "tests"
