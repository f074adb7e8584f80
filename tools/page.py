"""The page of settings at the top of the repository: `python -m tools.page` writes it."""

from __future__ import annotations

from pathlib import Path

from door.setup import new_board
from door.setup.answers import BoardAnswers

PAGE = Path(__file__).parent.parent / new_board.SETTINGS


def text() -> str:
    """Return the page that `door init` writes for the default answers, in UTC."""
    return new_board.settings(BoardAnswers("Black Jack For Time", "UTC", 2323, "Sysop"))


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
