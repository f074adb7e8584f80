"""A caller who receives minutes reads of it: at once on line, else at the next log-on."""

import pytest

from door.server.leadership import LOOK_SECONDS
from tests.door.banking import (
    SCREENS,
    at_the_window,
    hears,
    sends,
)
from tests.door.visiting import MENU, MINUTE, TABLE, Guest, seated, sysop_toml, visitor
from tests.terminal import Profile
from tests.world import World
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.window.corrections import adjust

TOML = sysop_toml(events="", timebank="known_days = 0")
TOLD = 'Ada sent you 10 minutes: "for the tea"'
painted_and_lines = pytest.mark.parametrize("profile", SCREENS.values(), ids=SCREENS.keys())


async def sends_ten(ada: Guest, receiver: str = "Bob", message: str = "for the tea") -> None:
    await sends(ada, receiver, 10, message)
    await hears(ada, f"10 minutes sent to {receiver}.")


async def sees_bank(guest: Guest, amount: str) -> None:
    """Wait until the status line shows this balance."""
    await guest.terminal.wait_for(lambda _: f"Bank {amount}" in guest.status, f"Bank {amount}")


def writes_elsewhere(board: World, name: str, minutes: int, why: str) -> None:
    """Credit an account as another process does."""
    other = SqliteDatabase(board.config.database)
    other.open()
    try:
        with other.transaction(board.config.bank, board.clock.now()) as desk:
            rows = desk.connection.exec_driver_sql("SELECT id FROM callers WHERE name = ?", (name,))
            adjust(desk, rows.scalar_one(), minutes * MINUTE, why, "another program")
    finally:
        other.close()


async def has_looked(board: World) -> None:
    """Have the board look at its books once."""
    await board.pass_time(LOOK_SECONDS + 1)


# On line.


@painted_and_lines
async def test_a_receiver_on_line_reads_it_at_once(board: World, profile: Profile) -> None:
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


async def test_no_other_caller_reads_of_a_transfer(board: World) -> None:
    bob, carl = await visitor(board, "Bob"), await visitor(board, "Carl")
    ada = await at_the_window(board, "Ada", saved=30)
    await sends_ten(ada)
    await bob.sees(TOLD)
    await has_looked(board)
    for other in (ada, carl):
        assert "has sent" not in other.screen


async def test_a_notice_from_another_process_is_shown_once(board: World) -> None:
    bob = await visitor(board, "Bob", profile=SCREENS["lines"])
    for why in ("first", "second"):
        writes_elsewhere(board, "Bob", 5, why)
        await has_looked(board)
        await bob.sees(f"5 minutes added by another program: {why}.")
    await has_looked(board)
    assert bob.terminal.transcript.count("added by another program: first.") == 1
    assert bob.terminal.transcript.count("added by another program: second.") == 1


# In the middle of something.


@painted_and_lines
async def test_a_message_keeps_a_bet_being_typed(board: World, profile: Profile) -> None:
    bob = await seated(board, "Bob", profile=profile)
    await bob.presses("b").is_asked("Coins to bet")
    await bob.presses("1").is_asked(": 1")
    ada = await at_the_window(board, "Ada", saved=30)
    await sends_ten(ada)
    await bob.sees(TOLD)
    await bob.is_asked(": 1")
    assert "Coins to bet" in bob.prompt
    await bob.presses("0").is_asked(": 10")
    await bob.presses("\x1b").is_asked(TABLE)
    assert bob.has["stake"] == 0
