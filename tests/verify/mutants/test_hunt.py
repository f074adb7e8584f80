"""The command on a toy program: a fault that is caught, one that survives, one that hangs."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from verify.mutants import __main__ as command
from verify.mutants import looks, watch
from verify.mutants.__main__ import Hunt
from verify.mutants.looks import Bounds, Look, stages
from verify.mutants.mutant import Mutant
from verify.mutants.report import Results
from verify.mutants.tree import Tree, copied

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
        "verify/__init__.py": "",
        "verify/mutants/__init__.py": "",
        "verify/mutants/watch.py": Path(watch.__file__).read_text(),
        "ignored.txt": "",
        ".gitignore": "ignored.txt\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    subprocess.run(["git", "init", "-q", root], check=True)
    return root


@pytest.fixture
def asked(monkeypatch) -> list[str]:
    """Have all tests of the toy run at once; gives the files whose suite was asked for."""
    found: list[str] = []

    def once(file: str, root: Path, is_near: bool) -> list[list[str]]:
        found.append(file)
        return [["tests"]]

    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # the toy needs none of them
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p xdist.plugin")
    monkeypatch.setattr(looks, "stages", once)
    monkeypatch.setattr(Tree, "check", lambda self: None)
    return found


def hunted(root: Path, *mutants: Mutant) -> Hunt:
    """Hunt for mutants of the toy."""
    hunt = Hunt(root, Bounds(workers=0), Results())
    hunt.run(mutants, jobs=1)
    return hunt


def test_a_fault_is_caught_by_the_test_that_fails_or_survives(toy, asked):
    hunt = hunted(toy, CAUGHT, STALE, SURVIVOR)
    caught, survived = hunt.results.of(CAUGHT), hunt.results.of(SURVIVOR)
    assert caught is not None
    assert caught.caught == BY_TEST
    assert not hunt.results.survived(CAUGHT)
    assert survived is not None
    assert (survived.caught, survived.after) == ("", 2)
    assert hunt.results.survived(SURVIVOR)
    assert [stale.partition("\n")[0] for stale in hunt.stale] == [
        'toy/clock.py: "An hour has 59 minutes." wants this text once, which is there 0 times:'
    ]
    assert asked == ["toy/clock.py"] * 2
    assert (toy / "toy/clock.py").read_text() == PROGRAM


def test_a_test_that_hangs_is_a_catch_and_said_to_be_a_time_out(toy, asked, monkeypatch):
    test, ahead, size = "tests/test_clock.py::test_it_waits_for_nothing", [0], looks._size

    def pass_time(heard: Path, output: int) -> int:  # once the test has begun
        if heard.exists() and f"begins {test}" in heard.read_text():
            ahead[0] += 100
        return size(heard, output)

    clock = SimpleNamespace(monotonic=lambda: ahead[0], sleep=time.sleep)
    monkeypatch.setattr(looks, "_size", pass_time)
    monkeypatch.setattr(looks, "time", clock)
    look = hunted(toy, HANGS).results.of(HANGS)
    assert look is not None
    assert look.is_time_out
    assert look.caught == f"time-out in {test}"


def test_a_test_that_fails_without_the_fault_catches_nothing(toy, asked, tmp_path):
    root = tmp_path / "toy"
    shutil.copytree(toy, root)
    (root / "tests/test_clock.py").write_text("def test_never():\n    assert False\n")
    hunt = hunted(root, SURVIVOR)
    assert hunt.results.survived(SURVIVOR)
    assert hunt.unsound == {"tests/test_clock.py::test_never"}


def test_a_copy_holds_what_git_would_take_and_goes_at_the_end(toy):
    with copied(toy) as tree:
        root = tree.root
        assert (root / "toy/clock.py").read_text() == PROGRAM
        assert not (root / "ignored.txt").exists()
        with tree.with_fault(CAUGHT):
            assert "* 59" in (root / "toy/clock.py").read_text()
            with tree.without_fault():
                assert (root / "toy/clock.py").read_text() == PROGRAM
            assert "* 59" in (root / "toy/clock.py").read_text()
        assert (root / "toy/clock.py").read_text() == PROGRAM
    assert not root.exists()


def test_tests_named_alike_come_first_then_those_of_the_room_and_the_long_tools_last(tmp_path):
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
    # A file at the top of a package has no room, and the tests of others may be named like it.
    assert stages("door/shoe.py", tmp_path, True)[0][0] == f"{folder}/test_shoe.py"
    assert stages("door/clock.py", tmp_path, False)[0][0] == "tests"


@pytest.mark.parametrize(("caught", "status"), [("tests/test_toy.py::test_name", 0), ("", 1)])
def test_a_survivor_makes_the_status_1(monkeypatch, caught, status):
    mutant = Mutant("It has no name.", "toy.py", "a", "b")

    def run(self: Hunt, mutants: list[Mutant], jobs: int) -> None:
        self.results.know(mutant, Look(caught, 9, 1.0))

    monkeypatch.setattr(command, "MUTANTS", (mutant,))
    monkeypatch.setattr(Hunt, "run", run)
    ran = CliRunner().invoke(command.main, [])
    assert ran.exit_code == status
    assert ("Survived: toy.py: It has no name." in ran.output) == bool(status)
