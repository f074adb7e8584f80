"""Guessing at a password from within a call that its owner has left open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from door.call.passwords import PasswordDesk
from tests.door.strangers import CAFE, HOME, Stranger, defended, refusals
from tests.world import World, world

HELD_BACK = "Too many wrong passwords."
WRONG = "Wrong password."
PROMPT, NEW_ONE = "Your setting, or ? for the list:", "A password (at least 6 characters):"


async def left_open(board: World, name: str = "Ada", address: str = HOME) -> Stranger:
    """Open the settings of a call that its owner has walked away from."""
    board.enter(name)
    somebody = Stranger(board, name, address)
    await somebody.is_let_in()
    await somebody.presses("y").is_asked("<Q>uit")
    return somebody


async def guesses(somebody: Stranger, times: int = 1) -> None:
    for _ in range(times):
        await somebody.presses("pguessed\r").reads_that(WRONG)
        await somebody.is_asked(PROMPT)


async def is_held_back(somebody: Stranger, *, wait: str) -> None:
    """They are not even asked."""
    await somebody.presses("p").reads_that(f"{HELD_BACK} Try again in {wait}.")
    await somebody.is_asked(PROMPT)


async def test_a_guesser_on_an_open_call_waits_as_at_the_log_on(tmp_path: Path) -> None:
    async with world(tmp_path, toml=defended(wrong_passwords=5)) as board:
        somebody = await left_open(board)
        await guesses(somebody, 5)
        await is_held_back(somebody, wait="30 minutes")
        await board.clock.advance(30 * 60)
        await guesses(somebody)
        await is_held_back(somebody, wait="30 minutes")


async def test_each_guess_on_an_open_call_is_logged_and_a_wait_is_not(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=defended(wrong_passwords=2)) as board:
        somebody = await left_open(board)
        await guesses(somebody, 2)
        for _ in range(3):
            await is_held_back(somebody, wait="30 minutes")
        assert refusals(board) == [f"refused {HOME}: wrong name or password"] * 2


async def test_a_waiting_caller_costs_the_board_no_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[str] = []
    verify = PasswordDesk.verify

    async def counted(desk: PasswordDesk, stored: str | None, *password: Any) -> bool:
        checked.append(password[0])
        return await verify(desk, stored, *password)

    async with world(tmp_path, toml=defended(wrong_passwords=2)) as board:
        somebody = await left_open(board)
        monkeypatch.setattr(PasswordDesk, "verify", counted)
        await guesses(somebody, 2)
        await is_held_back(somebody, wait="30 minutes")
        assert checked == ["guessed"] * 2


async def test_guesses_on_an_open_call_count_at_the_log_on_and_vice_versa(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=defended(wrong_passwords=5)) as board:
        somebody = await left_open(board)
        await Stranger(board, "Ada", HOME).is_wrong(2)
        await guesses(somebody, 3)
        villain = Stranger(board, "Ada", HOME)
        await villain.connects()
        await villain.tries("guessed")
        await villain.sees("Yours is checked in about 30:00")
        await is_held_back(somebody, wait="30 minutes")


async def test_a_call_from_elsewhere_continues_after_too_many_guesses(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=defended(wrong_passwords=1)) as board:
        somebody = await left_open(board, address=CAFE)
        await guesses(somebody)
        await is_held_back(somebody, wait="30 minutes")
        await somebody.presses("q").is_asked("<G>oodbye")
