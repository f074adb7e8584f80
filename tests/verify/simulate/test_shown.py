"""Seals and seeds on a screen of the simulation, held against shoes in the books."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from types import SimpleNamespace
from unittest import mock

import pytest

from ansi.charset import Charset
from door.call.console import SERVED_WITHIN, Console, Look, Paint
from tests.clock import FakeClock
from tests.door.wall import Told
from tests.world import NOON
from verify.simulate import shown
from verify.simulate.wrong import Wrong

LAST = b"\x07" * 32  # of a chain of three links, each the digest of the next
MIDDLE = sha256(LAST).digest()
FIRST = sha256(MIDDLE).digest()
STRANGER = "0123abcd"


def seal(seed: bytes) -> str:
    return sha256(seed).hexdigest()


@pytest.fixture
def books() -> Iterator[sqlite3.Connection]:
    """Books of a chain whose first shoe is closed and whose second is open."""
    with closing(sqlite3.connect(":memory:")) as file:
        for table in ("shoes", "deals"):
            file.execute(f"CREATE TABLE {table} (seal, seed, closed, link, cut, anchor)")
        file.execute("CREATE TABLE chains (anchor)")
        file.execute("CREATE TABLE callers (preferences)")
        shoes = [(seal(FIRST), FIRST, 1), (seal(MIDDLE), MIDDLE, 2), (seal(LAST), LAST, None)]
        file.executemany("INSERT INTO shoes (seal, seed, closed) VALUES (?, ?, ?)", shoes)
        yield file


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        ([f"Seed {FIRST.hex()[:8]}"], None),
        ([f"Seed {FIRST.hex()[:8]}", f"Seal {seal(MIDDLE)[:8]}"], None),
        ([f"Seal {seal(LAST)[:8]}"], None),
        ([f"Seed {LAST.hex()[:8]}"], "is shown of a shoe that is open"),
        ([f"Seal {STRANGER}"], "is shown, and in no book"),
        ([f"Seed {STRANGER}"], "is shown, and in no book"),
        ([f"Seed {STRANGER}", f"Seal {STRANGER}"], "is shown, and in no book"),
    ],
)
def test_a_seed_may_be_the_seal_of_the_next_shoe_of_its_chain(
    books: sqlite3.Connection, lines: list[str], wrong: str | None
) -> None:
    screen = SimpleNamespace(memory="\n".join(lines))
    if wrong is None:
        assert shown.seals_are_kept(screen, books, paints=False)
    else:
        with pytest.raises(Wrong, match=wrong):
            shown.seals_are_kept(screen, books, paints=False)


async def test_a_screen_is_old_for_no_longer_than_an_answer_may_take() -> None:
    """A figure that has changed while its caller is served is sent together with the answer."""
    wall, now = Told(), asyncio.get_running_loop().time
    console = Console(wall, Look(Charset.UTF8, Paint.COLOUR), FakeClock(NOON))
    console.paint_screens()
    with mock.patch.object(Console, "_send_echo"):  # it is never sent
        console.display.status(["29:55"])
        assert shown.is_on_its_way(console, now())
        assert not shown.is_on_its_way(console, now() + SERVED_WITHIN + 2 * shown.TIMERS_LATE)
    console._show()
    assert not shown.is_on_its_way(console, now())
