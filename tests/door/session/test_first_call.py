"""The first call: plain lines before any art, a name that was not typed, and the tour."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.door.visiting import MENU, Guest, sysop_toml, visitor
from tests.terminal import MODERN, SYNCTERM, Profile
from tests.world import PASSWORD, World, world

OPEN = sysop_toml(events="")
OFFER = "Using a screen reader? Press ! for plain lines."
READER = replace(MODERN, terminal_types=("MUDLET", "XTERM", "MTTS 2381"), environment={})
SIGHTED = replace(MODERN, terminal_types=("MUDLET", "XTERM", "MTTS 2317"), environment={})
DUMB = replace(MODERN, terminal_types=("dumb",))


async def registers(board: World, profile: Profile = MODERN, key: str = "") -> Guest:
    """Register as Ada and read on to the offer of the tour."""
    ada = Guest(board, "Ada")
    await ada.dials(profile)
    ada.presses(f"{key}new\rAda\r{PASSWORD}\r{PASSWORD}\r")
    await ada.is_asked("when you have written it down")
    ada.presses(" ")
    if profile is MODERN and not key:
        await ada.is_asked("Your choice")
        ada.presses("\r")
    await ada.reads_that("You have 60 minutes today.")
    await ada.is_asked("Take a one-minute tour?")
    return ada


async def test_plain_lines_are_offered_before_any_picture(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        ada = Guest(board, "Ada")
        await ada.dials(SYNCTERM)
        received = bytes(ada.terminal.received)
        assert received.index(OFFER.encode()) < received.index(b"\x1b[2J")


@pytest.mark.parametrize("profile", [READER, DUMB], ids=["mtts", "dumb"])
async def test_a_terminal_that_is_read_aloud_gets_lines_unasked(tmp_path: Path, profile) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        ada = await registers(board, profile)
        ada.presses("n")
        await ada.is_asked(MENU)
        assert b"\x1b" not in ada.terminal.received
        assert "Which of these boxes" not in ada.terminal.transcript


async def test_a_reader_that_is_off_is_asked_as_others_are(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        ada = Guest(board, "Ada")
        await ada.dials(SIGHTED)
        assert OFFER in ada.terminal.transcript


async def test_one_key_at_the_name_gives_plain_lines_now_and_next_time(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        ada = await registers(board, key="!")
        ada.presses("n")
        await ada.is_asked(MENU)
        assert "Which of these boxes" not in ada.terminal.transcript
        await ada.logs_off()
        await ada.calls()
        await ada.is_asked(MENU)
        assert not ada.caller.console.is_painted


async def test_an_empty_name_is_no_try_and_gets_a_hint(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        board.enter("Ada")
        ada = Guest(board, "Ada")
        await ada.dials()
        ada.presses("\r\r\r\r")
        await ada.sees("Type your name, then press Enter.")
        ada.presses(f"Ada\r{PASSWORD}\r")
        await ada.goes_on_to(MENU)


async def test_the_tour_ends_with_a_hand_for_nothing(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        ada = await registers(board)
        ada.presses("y")
        for title in ("Your minutes are your chips", "How a hand goes", "The clock, the event"):
            await ada.sees(title)
            await ada.is_asked("<N>ext")
            ada.presses("\r")
        await ada.sees("You have 12")
        ada.presses("h")
        await ada.sees("You have 18")
        ada.presses("s")
        await ada.sees("You win!")
        await ada.is_asked("Press any key")
        ada.presses(" ")
        await ada.is_asked(MENU)
        assert [kind for kind, _seconds in ada.ledger] == ["grant"]
        assert ada.caller.prefers("toured")


@pytest.mark.parametrize("keys", ["y\x1b", "yq", "y\r\x1b", "y\r\r\rq", "\x1b"])
async def test_the_tour_is_left_at_any_time(tmp_path: Path, keys: str) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        ada = await registers(board)
        ada.presses(keys)
        await ada.is_asked(MENU)


async def test_who_is_known_is_not_offered_the_tour_but_finds_it(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        ada = await visitor(board, "Ada")
        ada.presses("yv")
        await ada.sees("Your minutes are your chips")
