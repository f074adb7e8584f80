"""The cost of password hashes, and the renewal of hashes with an old cost."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from door.call import passwords
from door.call.passwords import _hasher as real_hasher  # before the tests make it cheap
from tests.door.strangers import VILLAIN, Stranger, defended
from tests.door.visiting import MENU, Guest
from tests.world import PASSWORD, World, world
from timebank.callers import callers
from timebank.errors import BooksUnavailable

OLD = PasswordHasher(time_cost=2, memory_cost=16, parallelism=2).hash(PASSWORD)


def enter(board: World, name: str = "Ada", hashed: str = OLD) -> None:
    """Register a caller with a hash of an old cost."""
    board.enter(name)
    with board.books() as desk:
        callers.set_password_hash(desk, callers.number_named(desk, name), hashed)


def stored_hash(board: World, name: str = "Ada") -> str:
    with board.books() as desk:
        record = callers.find(desk, name)
    assert record is not None
    return record.password_hash


async def test_a_new_password_hash_costs_as_much_as_owasp_asks() -> None:
    hashed = real_hasher().hash(PASSWORD)
    assert re.match(r"\$argon2id\$v=19\$m=19456,t=2,p=1\$", hashed)


async def test_an_old_hash_is_renewed_at_log_on_and_still_works(
    board: World,
) -> None:
    enter(board)
    ada = Guest(board, "Ada")
    await ada.visits()
    renewed = stored_hash(board)
    assert renewed != OLD
    assert not passwords.is_outdated(renewed)
    await ada.logs_off()
    await ada.calls()
    await ada.is_asked(MENU)
    assert stored_hash(board) == renewed


async def test_a_password_that_is_not_believed_yet_renews_nothing(tmp_path: Path) -> None:
    """A wrong password and a right one that waits take the same work; otherwise the time would
    reveal which is which.
    """
    async with world(tmp_path, toml=defended(wrong_passwords=1)) as board:
        enter(board)
        await Stranger(board, "Ada", VILLAIN).is_wrong(1)
        ada = Stranger(board, "Ada", VILLAIN)
        await ada.connects()
        await ada.tries(PASSWORD)
        await ada.sees("Yours is checked in about 30:00")
        assert stored_hash(board) == OLD
        await board.clock.advance(30 * 60)
        await ada.goes_on_to(MENU)
        assert stored_hash(board) != OLD


async def test_a_password_that_is_changed_meanwhile_stays_changed(
    board: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(board)
    changed = passwords.hash_password("close sesame")
    renewed = passwords.PasswordDesk.renewed

    async def overtaken(desk: passwords.PasswordDesk, *old: str) -> str | None:
        enter_change(board, changed)
        return await renewed(desk, *old)

    monkeypatch.setattr(passwords.PasswordDesk, "renewed", overtaken)
    await Guest(board, "Ada").visits()
    assert stored_hash(board) == changed


def enter_change(board: World, hashed: str) -> None:
    with board.books() as desk:
        callers.set_password_hash(desk, callers.number_named(desk, "Ada"), hashed)


async def test_two_log_ons_at_once_renew_it_once(board: World) -> None:
    enter(board)
    a_board = board.server.board
    record = await a_board.authenticate("Ada", PASSWORD)
    assert record is not None
    await asyncio.gather(*(a_board.renew_hash(record, PASSWORD) for _ in range(2)))
    first = stored_hash(board)
    await a_board.renew_hash(record, PASSWORD)  # with a record that was read before the change
    assert stored_hash(board) == first
    assert await a_board.authenticate("Ada", PASSWORD) is not None


async def test_a_hash_that_cannot_be_renewed_does_not_stop_a_log_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: object) -> bool:
        raise BooksUnavailable("The books can't be written right now.")

    async with world(tmp_path) as board:
        enter(board)
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(callers, "renew_password_hash", locked)
            ada = Guest(board, "Ada")
            await ada.visits()
            assert stored_hash(board) == OLD
            await ada.logs_off()
        await ada.visits()
        assert stored_hash(board) != OLD


# The order


class Held:
    """Password work that blocks until it is released."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[str] = []
        self.go_on = threading.Event()
        monkeypatch.setattr(passwords, "verify_password", self.verify)

    def verify(self, stored: str | None, password: str) -> bool:
        self.go_on.wait(10)
        self.done.append(password)
        return True


async def test_the_lowest_rank_is_checked_next_and_of_equal_ones_the_oldest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(passwords, "AT_ONCE", 1)
    held, desk = Held(monkeypatch), passwords.PasswordDesk()
    ranks = {"a": (9, 1), "b": (9, 1), "c": (2, 1), "d": (0, 1), "e": (0, 0), "f": (0, 1)}
    checks = []
    for password, rank in ranks.items():
        checks.append(asyncio.create_task(desk.verify(None, password, rank)))
        await asyncio.sleep(0)
    held.go_on.set()
    assert await asyncio.gather(*checks) == [True] * 6
    desk.close()
    assert held.done == ["a", "e", "d", "f", "c", "b"], "a came while nobody waited"


async def test_a_caller_who_stops_waiting_frees_the_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held, desk = Held(monkeypatch), passwords.PasswordDesk()
    checks = [asyncio.create_task(desk.verify(None, each)) for each in "abcde"]
    await asyncio.sleep(0)
    for given_up in checks[2:4]:
        given_up.cancel()
    held.go_on.set()
    assert await asyncio.gather(*checks[:2], checks[4]) == [True] * 3
    assert sorted(held.done) == ["a", "b", "e"]
    assert await desk.verify(None, "f")
    assert desk._at_work == 0
    desk.close()


HASHES = """
import sys
from door.call import passwords

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

passwords.verify_password(None, "guessed")
before = resident()
for _ in range(6):
    passwords.verify_password(None, "guessed")
print(resident() - before, resident())
passwords._hasher().hash("guessed")
with open("/proc/self/status") as file:
    print(next(line for line in file if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.sysconf("SC_PAGE_SIZE") != 4096,
    reason="memory is counted as Linux does",
)
def test_the_memory_of_a_password_is_given_back() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HASHES], capture_output=True, text=True, check=True, timeout=60
    )
    grown, resident, _, highest, _ = done.stdout.split()
    assert int(grown) < 2**20
    peak = int(highest) * 1024 - int(resident)
    assert 15 * 2**20 < peak < 25 * 2**20
