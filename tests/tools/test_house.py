"""What `python -m tools.house` says of a house."""

from __future__ import annotations

import doctest
import subprocess
from pathlib import Path

import pytest

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
