"""What `python -m tools.house` says of a house."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tools import house


def test_the_examples_hold() -> None:
    assert doctest.testmod(house).failed == 0


@pytest.fixture
def commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small house in two commits: everything in one circle, and then a game in its own folder."""
    for name in ("GIT_DIR", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)

    def git(*words: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *identity, *words], check=True, stdout=subprocess.DEVNULL)

    def write(name: str, text: str) -> None:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    git("init", "-q")
    for package in house.PRODUCT:
        write(f"{package}/__init__.py", "")
    write("door/menu.py", "from door import baccarat\n\n\nclass Table: ...\n")
    write("door/baccarat.py", "from door import menu\n\n\nclass Table: ...\n")
    git("add", ".")
    git("commit", "-qm", "before")
    git("tag", "before")
    write("door/menu.py", "GAMES = []\n")
    write("door/tables/baccarat/table.py", "from door import menu\n\n\nclass Table: ...\n")
    git("rm", "-q", "door/baccarat.py")
    git("add", ".")
    git("commit", "-qm", "after")
    git("tag", "after")


@pytest.mark.usefixtures("commits")
def test_two_commits_stand_side_by_side() -> None:
    said = subprocess.run(
        [sys.executable, ROOT / "tools" / "house.py", "before", "after"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    rows = dict(line.strip("| ").split(" | ", 1) for line in said.splitlines()[2:])
    assert rows["modules in circles of imports"] == "2 | 0"
    assert rows["class names used twice or more"] == "1 | 0"
    assert rows["product files that name baccarat outside its folders"] == "2 | 0"
    assert rows["floors of door"] == "1 | 2"
