"""What the tests of the time bank share."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.timebank.books import Books

SHARED_MEMORY = Path("/dev/shm")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: every COMMIT waits for the disk."""
    if not os.access(SHARED_MEMORY, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY) as name:
        yield Path(name)


@pytest.fixture
def open_books(folder: Path) -> Iterator[Callable[..., Books]]:
    """Open books with settings of the test's choice."""
    opened: list[Books] = []

    def make(**changes) -> Books:
        opened.append(Books(folder, **changes))
        return opened[-1]

    yield make
    for books in opened:
        books.close()


@pytest.fixture
def books(open_books: Callable[..., Books]) -> Books:
    """The books of a board in UTC: 60 minutes a day, Mail hour at 03:00, now 12:00."""
    return open_books()
