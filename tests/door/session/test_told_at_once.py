"""Whoever receives minutes is told: at once on line, at the next log-on else."""

import asyncio
from pathlib import Path

import pytest

from door.server.leadership import LOOK_SECONDS
from tests.door.banking import (
    SCREENS,
    WINDOW,
    at_the_window,
    gives,
    hears,
    last_column_is_empty,
    names_receiver,
    sends,
    types_amount,
)
from tests.door.processes import command
from tests.door.visiting import MENU, MINUTE, TABLE, Guest, sysop_toml, visitor
from tests.terminal import SYNCTERM, Profile
from tests.world import World, world
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.window.sysop import sysop_deposit

OPEN = sysop_toml(events="", timebank="known_days = 0")
TOLD = 'Ada sent you 10 minutes: "for the tea"'
painted_and_lines = pytest.mark.parametrize("profile", SCREENS.values(), ids=SCREENS.keys())


async def sends_ten(ada: Guest, receiver: str = "Bob", message: str = "for the tea") -> None:
    await sends(ada, receiver, 10, message)
    await hears(ada, f"10 minutes sent to {receiver}.")


async def sees_bank(guest: Guest, amount: str) -> None:
    """Wait until the status line says what the account holds."""
    await guest.terminal.wait_for(lambda _: f"Bank {amount}" in guest.status, f"Bank {amount}")


def writes_elsewhere(board: World, name: str, minutes: int, why: str) -> None:
    """Let another process, as far as the database can tell, put minutes into an account."""
    other = SqliteDatabase(board.config.database)
    other.open()
    try:
        with other.transaction(board.config.bank, board.clock.now()) as desk:
            found = desk.connection.exec_driver_sql(
                "SELECT id FROM callers WHERE name = ?", (name,)
            )
            sysop_deposit(desk, found.scalar_one(), minutes * MINUTE, why, "another program")
    finally:
        other.close()


async def has_looked(board: World) -> None:
    """Let the board look at its books once."""
    await board.pass_time(LOOK_SECONDS + 1)


# On line.


@painted_and_lines
async def test_a_receiver_on_line_is_told_at_once(tmp_path: Path, profile: Profile) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        bob = await visitor(board, "Bob", profile=profile)
        ada = await at_the_window(board, "Ada", saved=30)
        await sends_ten(ada)
        await bob.sees(TOLD)
        assert b"\a" in bob.terminal.received
        assert bob.has["bank"] == 10 * MINUTE
        await bob.is_asked(MENU)
        if profile is SCREENS["painted"]:
            await sees_bank(bob, "10:00")
        await bob.logs_off()
        await bob.visits(profile)
        assert TOLD not in bob.screen


async def test_a_transfer_without_a_message_is_told_as_well(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        bob = await visitor(board, "Bob")
        ada = await at_the_window(board, "Ada", saved=30)
        await sends_ten(ada, message="")
        await bob.sees("Ada sent you 10 minutes.")


async def test_nobody_else_is_told(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        bob, carl = await visitor(board, "Bob"), await visitor(board, "Carl")
        ada = await at_the_window(board, "Ada", saved=30)
        await sends_ten(ada)
        await bob.sees(TOLD)
        await has_looked(board)
        for other in (ada, carl):
            assert "has sent" not in other.screen


async def test_what_a_command_deposits_is_told_within_a_look(tmp_path: Path) -> None:
    """A real process, on the same database."""
    async with world(tmp_path, toml=OPEN) as board:
        bob = await visitor(board, "Bob")
        why = "the |12game fell over"
        options = ("--config", board.config.path, "--why", why)
        process = await asyncio.create_subprocess_exec(
            *(command("timebank"), "deposit", *options, "bob", "20m")
        )
        assert await process.wait() == 0
        await has_looked(board)
        await bob.sees(
            "In your time bank: 20 minutes deposited by the sysop: the │12game fell over."
        )
        await sees_bank(bob, "20:00")
        assert bob.has["bank"] == 20 * MINUTE


async def test_what_another_process_writes_is_told_once(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        bob = await visitor(board, "Bob", profile=SCREENS["lines"])
        for why in ("first", "second"):
            writes_elsewhere(board, "Bob", 5, why)
            await has_looked(board)
            await bob.sees(f"5 minutes deposited by another program: {why}.")
        await has_looked(board)
        assert bob.terminal.transcript.count("deposited by another program: first.") == 1
        assert bob.terminal.transcript.count("deposited by another program: second.") == 1


# At the next log-on.


@painted_and_lines
async def test_who_is_not_on_line_is_told_at_the_next_log_on(
    tmp_path: Path, profile: Profile
) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        board.enter("Bob")
        ada = await at_the_window(board, "Ada", saved=30)
        await sends_ten(ada)
        bob = Guest(board, "Bob")
        await bob.calls(profile)
        await bob.reads_that(TOLD)
        await bob.is_asked(MENU)
        await bob.logs_off()
        await bob.visits(profile)
        assert "has sent" not in bob.screen


# In the middle of something.


@painted_and_lines
async def test_a_message_while_a_bet_is_typed_loses_nothing_of_it(
    tmp_path: Path, profile: Profile
) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        bob = await visitor(board, "Bob", profile=profile)
        await bob.sits_down()
        bob.presses("b")
        await bob.is_asked("Coins to bet")
        bob.presses("1")
        await bob.is_asked(": 1")
        ada = await at_the_window(board, "Ada", saved=30)
        await sends_ten(ada)
        await bob.sees(TOLD)
        await bob.is_asked(": 1")
        assert "Coins to bet" in bob.prompt
        bob.presses("0")
        await bob.is_asked(": 10")
        bob.presses("\x1b")
        await bob.is_asked(TABLE)
        assert bob.has["stake"] == 0


@painted_and_lines
async def test_a_message_in_the_middle_of_a_hand_disturbs_nothing_of_it(
    tmp_path: Path, profile: Profile
) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        bob = await visitor(board, "Bob", profile=profile)
        await bob.sits_down()
        await bob.bets(5, "stay", ends="win")
        ada = await at_the_window(board, "Ada", saved=30)
        await sends_ten(ada)
        await bob.sees(TOLD)
        await bob.is_asked("<H>it")
        await bob.stays()
        assert (bob.has["online"], bob.has["bank"]) == (65 * MINUTE, 10 * MINUTE)


async def test_a_message_at_the_window_loses_nothing_of_what_is_typed_there(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        bob = await at_the_window(board, "Bob", saved=20)
        board.enter("Carl")
        await names_receiver(bob, "Carl")
        await types_amount(bob, "Send", "5", "5 minutes to Carl")
        await bob.is_asked("Add a note")
        bob.presses("half a mess")
        await bob.is_asked("half a mess")
        ada = await at_the_window(board, "Ada", saved=30)
        await sends_ten(ada)
        await bob.sees(TOLD)
        await bob.is_asked("half a mess")
        bob.presses("age\r")
        await hears(bob, "5 minutes sent to Carl.")
        assert board.lines("Carl")[-1].why == '5 minutes sent by Bob to Carl: "half a message"'
        assert bob.has["bank"] == 25 * MINUTE


async def test_two_who_send_to_each_other_both_hear_of_it(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        ada = await at_the_window(board, "Ada", saved=30)
        bob = await at_the_window(board, "Bob", saved=30)
        await sends(bob, "Ada", 10, "there")
        await hears(bob, "10 minutes sent to Ada.")
        await hears(ada, 'Bob sent you 10 minutes: "there"')
        await sends(ada, "Bob", 10, "and back")
        await hears(bob, 'Ada sent you 10 minutes: "and back"')
        assert (ada.has["bank"], bob.has["bank"]) == (30 * MINUTE, 30 * MINUTE)


# Messages are harmless.


@painted_and_lines
async def test_pipe_codes_in_a_message_are_letters(tmp_path: Path, profile: Profile) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        bob = await visitor(board, "Bob", profile=profile)
        ada = await at_the_window(board, "Ada", saved=30, profile=profile)
        await sends_ten(ada, message="|20|15red|07 alert|")
        bar = "|" if profile.charset == "ascii" else "│"
        said = f'10 minutes: "{bar}20{bar}15red{bar}07 alert{bar}"'
        await bob.sees(f"Ada sent you {said}")
        ada.presses("h")
        await ada.sees(f'Sent 10:00 to Bob: "{bar}20{bar}15red')


async def test_a_long_message_stays_out_of_the_last_column(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        bob = await visitor(board, "Bob", profile=SYNCTERM)
        ada = await at_the_window(board, "Ada", saved=30)
        await sends_ten(ada, message="W" * 60)
        await bob.sees("W" * 60)
        await bob.is_asked(MENU)
        assert last_column_is_empty(bob)


async def test_control_characters_never_reach_the_receivers_screen(tmp_path: Path) -> None:
    """Typed ones are keys or nothing; those that a program writes are taken out."""
    async with world(tmp_path, toml=OPEN) as board:
        bob = await visitor(board, "Bob")
        top = bob.terminal.row(0)
        ada = await at_the_window(board, "Ada", saved=30)
        await sends_ten(ada, message="be\x07ll \x1b[2J\x1b[5;5H \u202egnp\u200b é\x85")
        await bob.sees('Ada sent you 10 minutes: "bell')
        writes_elsewhere(board, "Bob", 5, "a \x1b[2Jclean\x07\n sweep")
        await has_looked(board)
        await bob.sees("5 minutes deposited by another program: a [2Jclean sweep.")
        assert bob.terminal.row(0) == top
        for control in ("\u202e", "\u200b", "\x85"):
            assert control not in bob.terminal.transcript


async def test_who_has_hung_up_is_told_when_they_call_again(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        bob = await visitor(board, "Bob")
        await bob.drops_carrier()
        gives(board, "Bob", 10, "found on the floor")
        await has_looked(board)
        await bob.calls()
        await bob.reads_that("In your time bank: 10 minutes added by Tester: found")
        await bob.is_asked(MENU)


async def test_a_receiver_at_the_window_may_use_it_at_once(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        bob = await at_the_window(board, "Bob")
        ada = await at_the_window(board, "Ada", saved=30)
        await sends_ten(ada)
        await bob.sees(TOLD)
        await bob.is_asked(WINDOW)
        bob.presses("w")
        await types_amount(bob, "Withdraw", "10", "10 minutes")
        await hears(bob, "10 minutes withdrawn.")
        assert bob.has["online"] == 70 * MINUTE
