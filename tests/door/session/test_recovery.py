"""A recovery code works until its owner has a new one, and for one call alone."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.door.defence.test_locked_out import code_in, code_on, registers
from tests.door.shell import Shell
from tests.door.strangers import CAFE, HOME, VILLAIN, Stranger, defended
from tests.door.visiting import MENU, visitor
from tests.terminal import MODERN, REFUSING, Profile
from tests.world import PASSWORD, World, world
from timebank.callers import callers, recovery
from timebank.errors import BooksUnavailable, OutcomeUnknown

QUESTION = "Choose a new password?"
SHOWN = "It is valid as soon as you go on"
REFUSED = "Wrong name or"
NEW_PASSWORD = "close sesame"
MEANWHILE = "That recovery code was used or replaced while you were here."
TOML = defended(wrong_passwords=9, new_names_per_day=9)


async def calls_with(board: World, code: str, address: str = CAFE) -> Stranger:
    """Ada types a code in place of her password."""
    ada = Stranger(board, "Ada", address)
    await ada.connects()
    await ada.tries(code)
    return ada


async def gets_to(board: World, code: str, where: str) -> Stranger:
    """Bring Ada with her code to the question, to a password, or to the new code."""
    ada = await calls_with(board, code)
    await ada.is_asked(QUESTION)
    if where == "a password":
        await ada.presses("y").is_asked("A password (at least 6 characters):")
    elif where == "the new code":
        await ada.presses("n").is_asked(SHOWN)
    return ada


@asynccontextmanager
async def ada_registered(folder: Path) -> AsyncIterator[tuple[World, str]]:
    """A board that Ada has registered at, and her code."""
    async with world(folder, toml=TOML) as board:
        yield board, await registers(board, "Ada", HOME)


async def loses_the_line(ada: Stranger) -> None:
    """Her line is gone, and the board has noticed."""
    ada.terminal.abort()
    await nobody_is_there(ada.board)


async def nobody_is_there(board: World) -> None:
    while board.server.board.consoles:
        await board.settled()


async def is_refused(board: World, code: str) -> None:
    ada = await calls_with(board, code, VILLAIN)
    await ada.sees(REFUSED)
    await ada.terminal.close()


def has_code(board: World) -> bool:
    with board.books() as desk:
        number = callers.number_named(desk, "Ada")
        return recovery.has_one(desk, number)


# Before the new code.


@pytest.mark.parametrize("where", ["the question", "a password", "the new code"])
async def test_a_code_is_not_lost_with_the_line(tmp_path: Path, where: str) -> None:
    """Seen live: after a hang-up at the question no code worked any more."""
    async with ada_registered(tmp_path) as (board, code):
        ada = await gets_to(board, code, where)
        never = code_on(ada) if where == "the new code" else None
        assert has_code(board)  # also for a reader of the books after a kill
        await loses_the_line(ada)
        if never is not None:
            await is_refused(board, never)
        ada = await gets_to(board, code, "the new code")
        await ada.presses(" ").goes_on_to(MENU)


async def test_a_code_is_not_lost_when_the_time_to_log_on_is_over(tmp_path: Path) -> None:
    async with ada_registered(tmp_path) as (board, code):
        ada = await gets_to(board, code, "the new code")
        await board.clock.advance(180)
        await ada.is_told("Logging on took too long.")
        await gets_to(board, code, "the question")


async def test_the_screen_says_which_code_works(tmp_path: Path) -> None:
    async with ada_registered(tmp_path) as (board, code):
        ada = await gets_to(board, code, "the question")
        await ada.sees(
            "That's your recovery code. It works until you get another, or a new password."
        )
        await ada.presses("n").is_asked(SHOWN)
        await ada.sees("Until then your old code works")
        another = code_on(ada)
        await ada.presses(" ").sees("Your new recovery code works now; no earlier one does.")
        await ada.goes_on_to(MENU)
        await ada.logs_off()
        await is_refused(board, code)
        await gets_to(board, another, "the question")


async def test_a_key_that_was_typed_ahead_is_none_under_the_new_code(tmp_path: Path) -> None:
    async with ada_registered(tmp_path) as (board, code):
        ada = await gets_to(board, code, "the question")
        await ada.presses("n   ").is_asked(SHOWN)
        await loses_the_line(ada)
        await gets_to(board, code, "the question")


# For one call.


@pytest.mark.parametrize("where", ["the question", "the new code"])
async def test_one_code_opens_no_two_calls(tmp_path: Path, where: str) -> None:
    async with ada_registered(tmp_path) as (board, code):
        first, second = [await gets_to(board, code, where) for _ in range(2)]
        if where == "the question":
            await first.presses("n").is_asked(SHOWN)
        another = code_on(first)
        await first.presses(" ").goes_on_to(MENU)
        if where == "the question":
            await second.presses("n").is_asked(SHOWN)
        never = code_on(second)
        assert never != another
        await second.presses(" ").is_told(MEANWHILE)
        with board.books() as desk:
            made = desk.connection.exec_driver_sql("SELECT count(*) FROM calls").scalar_one()
        assert made == 2  # the one at which she registered, and one
        await first.logs_off()
        await is_refused(board, never)
        await is_refused(board, code)
        await gets_to(board, another, "the question")


async def test_one_code_sets_no_two_passwords(tmp_path: Path) -> None:
    async with ada_registered(tmp_path) as (board, code):
        first, second = [await gets_to(board, code, "a password") for _ in range(2)]
        await first.presses(f"{NEW_PASSWORD}\r{NEW_PASSWORD}\r").is_asked(SHOWN)
        await second.presses("another one\ranother one\r").is_told(MEANWHILE)
        await first.presses(" ").goes_on_to(MENU)
        await first.logs_off()
        ada = await calls_with(board, NEW_PASSWORD)
        await ada.goes_on_to(MENU)


@pytest.mark.parametrize("where", ["the question", "the new code"])
async def test_a_password_that_the_sysop_sets_meanwhile_voids_the_code(
    tmp_path: Path, where: str
) -> None:
    async with ada_registered(tmp_path) as (board, code):
        thief = await gets_to(board, code, where)
        typed = "a third one\n"
        result = Shell(board.config.path)("callers", "password", "Ada", "--stdin", typed=typed)
        assert result.status == 0
        if where == "the question":
            await thief.presses("n").is_asked(SHOWN)
        await thief.presses(" ").is_told(MEANWHILE)
        assert not has_code(board)


async def test_a_password_set_by_the_sysop_voids_the_code_of_an_earlier_new_one(
    board: World,
) -> None:
    thief = await gets_to(board, await registers(board, "Ada", HOME), "a password")
    await thief.presses(f"{NEW_PASSWORD}\r{NEW_PASSWORD}\r").is_asked(SHOWN)
    Shell(board.config.path)("callers", "password", "Ada", "--stdin", typed="a third one\n")
    await thief.presses(" ").is_told("Your password was changed again while you were here.")
    assert not has_code(board)


# With a new password.


async def test_a_new_password_applies_at_once_and_voids_the_code(tmp_path: Path) -> None:
    async with ada_registered(tmp_path) as (board, code):
        ada = await gets_to(board, code, "a password")
        await ada.presses(f"{NEW_PASSWORD}\r{NEW_PASSWORD}\r").is_asked(SHOWN)
        await ada.sees("Your password is changed. The code you used is void.")
        never = code_on(ada)
        await loses_the_line(ada)
        for each in (code, never, PASSWORD):
            await is_refused(board, each)
        assert not has_code(board)
        ada = await calls_with(board, NEW_PASSWORD)
        await ada.goes_on_to(MENU)
        await ada.presses("y").sees("none: type R to make one")


async def test_abandoning_a_new_password_gives_a_new_code(tmp_path: Path) -> None:
    async with ada_registered(tmp_path) as (board, code):
        ada = await gets_to(board, code, "a password")
        await ada.presses("\x1b").is_asked(SHOWN)
        await ada.sees("Until then your old code works")
        await ada.presses(" ").goes_on_to(MENU)
        await ada.logs_off()
        await is_refused(board, code)
        ada = await calls_with(board, PASSWORD)
        await ada.goes_on_to(MENU)


# Wherever else a code is made.


async def test_a_hang_up_under_the_first_code_leaves_no_code(board: World) -> None:
    ada = Stranger(board, "Ada", HOME)
    await ada.connects()
    await ada.is_asked("Name:")
    await ada.presses(f"new\rAda\r{PASSWORD}\r{PASSWORD}\r").is_asked(SHOWN)
    assert "the one you had" not in ada.screen
    assert not has_code(board)
    never = code_on(ada)
    await loses_the_line(ada)
    await is_refused(board, never)
    await ada.connects()
    await ada.tries(PASSWORD)
    await ada.is_asked("Your choice")


async def test_the_code_of_the_settings_works_when_a_key_was_pressed_under_it(
    tmp_path: Path,
) -> None:
    async with ada_registered(tmp_path) as (board, code):
        ada = Stranger(board, "Ada", CAFE)
        await ada.is_let_in()
        await ada.presses("y").is_asked("<Q>uit")
        await ada.presses(f"r{PASSWORD}\r").is_asked(SHOWN)
        await ada.sees("Until then your old code works")
        never = code_on(ada)
        await loses_the_line(ada)
        await is_refused(board, never)
        await gets_to(board, code, "the question")


async def test_a_changed_password_voids_the_code_before_the_next_is_shown(
    tmp_path: Path,
) -> None:
    async with ada_registered(tmp_path) as (board, code):
        ada = Stranger(board, "Ada", CAFE)
        await ada.is_let_in()
        await ada.presses("y").is_asked("<Q>uit")
        ada.presses(f"p{PASSWORD}\r{NEW_PASSWORD}\r{NEW_PASSWORD}\r")
        await ada.reads_that("Your password is changed. Your old recovery code is void.")
        await ada.is_asked(SHOWN)
        assert "the one you had" not in ada.screen
        never = code_on(ada)
        await loses_the_line(ada)
        assert not has_code(board)
        for each in (code, never):
            await is_refused(board, each)
        ada = await calls_with(board, NEW_PASSWORD)
        await ada.goes_on_to(MENU)


async def test_a_password_set_by_the_sysop_voids_a_code_made_at_the_settings(
    board: World,
) -> None:
    await registers(board, "Ada", HOME)
    thief = Stranger(board, "Ada", VILLAIN)
    await thief.is_let_in()
    await thief.presses("y").is_asked("<Q>uit")
    await thief.presses(f"r{PASSWORD}\r").is_asked(SHOWN)
    Shell(board.config.path)("callers", "password", "Ada", "--stdin", typed="a third one\n")
    thief.presses(" ")
    await thief.reads_that("Your password or code was changed from elsewhere meanwhile.")
    assert not has_code(board)


# When the books cannot be written.


def cannot_be_written(*_: object) -> bool:
    raise BooksUnavailable("The books can't be written right now (disk full).")


async def test_a_code_that_cannot_be_stored_is_announced_as_void(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ada_registered(tmp_path) as (board, code):
        ada = await gets_to(board, code, "the new code")
        never = code_on(ada)
        with monkeypatch.context() as patch:
            patch.setattr(recovery, "replace", cannot_be_written)
            await ada.presses(" ").is_told("The new code couldn't be stored and doesn't work.")
            await ada.is_told("Please call again later.")
        await nobody_is_there(board)
        await is_refused(board, never)
        await gets_to(board, code, "the question")


async def test_a_code_with_a_doubtful_write_is_announced_as_uncertain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody_knows(*_: object) -> bool:
        raise OutcomeUnknown("It could not be found out whether the entry counts.")

    async with world(tmp_path, toml=TOML) as board:
        ada = await gets_to(board, await registers(board, "Ada", HOME), "the new code")
        monkeypatch.setattr(recovery, "replace", nobody_knows)
        ada.presses(" ")
        await ada.is_told("Something has failed. The new code may or may not work: keep both.")


# After a restore.


async def test_a_restore_brings_no_code_back(tmp_path: Path) -> None:
    """Seen live: a used and void code let in its owner again."""
    copy = tmp_path / "kept.sqlite3"
    async with world(tmp_path, toml=TOML) as board:
        books = board.config.database
        code = await registers(board, "Ada", HOME)
    shutil.copy(books, copy)
    async with world(tmp_path, toml=TOML) as board:
        ada = await gets_to(board, code, "the new code")
        another = code_on(ada)
        await ada.presses(" ").goes_on_to(MENU)
        await ada.logs_off()
    shutil.copy(copy, books)
    async with world(tmp_path, toml=TOML) as board:
        for each in (code, another):
            await is_refused(board, each)
        ada = await calls_with(board, PASSWORD)
        await ada.sees("The board was restored from a backup, so your recovery code is void.")
        await ada.goes_on_to(MENU)
        await ada.presses("y").sees("none: type R to make one")


@pytest.mark.parametrize("profile", [MODERN, REFUSING])
async def test_help_and_commands_leave_a_code_on_the_screen(board: World, profile: Profile) -> None:
    ada = await visitor(board, "Ada", profile=profile)
    await ada.presses("yr").is_asked("Your current password:")
    await ada.presses(f"{PASSWORD}\r").is_asked(SHOWN)
    code = code_in(ada.terminal.transcript)
    for keys, expected in (("?", "There is nothing to choose here."), ("/w\r", "Ada")):
        await ada.presses(keys).sees(expected)
        await ada.is_asked(SHOWN)
        assert code in ada.screen, keys
    await ada.presses(" ").sees("made, not used yet")
