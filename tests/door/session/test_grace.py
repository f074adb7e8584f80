"""Out of time: some free minutes a day, announced by the board and counted in the books."""

from datetime import timedelta
from pathlib import Path

from sqlalchemy import select

from door.call.arrivals import BATCH_SECONDS
from tests.door.visiting import MENU, MINUTE, Guest, event, sysop_toml, visitor
from tests.world import NOON, World, world
from timebank.callers import callers, messages
from timebank.callers.messages import Limits
from timebank.ledger.schema import days
from timebank.settings.settings import LAST_SECONDS

CALLS = 4
SENT_OFF = 2  # seconds until a call without any time ends
FREE = "<W>ho is on"  # the last row of the prompt during grace


def toml(grace: int = 5, *, minutes: int = 7, events: str = "") -> str:
    return sysop_toml(events=events, minutes_per_day=minutes, grace_minutes=grace)


async def out_of_time(board: World, *, saved: int = 0) -> Guest:
    ada = await visitor(board, "Ada", saved=saved)
    await board.pass_time(board.config.bank.minutes_per_day * MINUTE)
    return ada


def counted(board: World) -> list[int]:
    """The seconds of grace that the books have counted of each day."""
    with board.books() as desk:
        return list(desk.connection.execute(select(days.c.grace).order_by(days.c.day)).scalars())


def shown(ada: Guest) -> str:
    return ada.status.split("│")[1].strip()


async def test_a_caller_out_of_time_may_look_around_without_charge(tmp_path: Path) -> None:
    async with world(tmp_path, toml=toml()) as board:
        ada = await out_of_time(board)
        await ada.is_asked(FREE)
        await ada.sees("you can still look around.")
        assert shown(ada) == "Grace 5:00"
        await ada.presses("n").sees("News")
        await board.pass_time(48)
        assert shown(ada) == "Grace 4:12"
        ada.presses(" ")
        await ada.presses("h").sees("Hall of fame")
        await ada.presses("q").is_asked(FREE)
        await board.pass_time(5 * MINUTE - 48 - 60)
        await ada.sees("1 minute left.")
        await board.pass_time(60)
        await ada.is_sent_off("You're out of time. Fresh minutes at midnight.")
        assert counted(board) == [5 * MINUTE]
        assert ada.ledger == [("grant", 7 * MINUTE), *[("elapsed", MINUTE)] * 7]


async def test_the_goodbye_shows_the_grace_left_and_no_arrivals(tmp_path: Path) -> None:
    async with world(tmp_path, toml=toml()) as board:
        ada = await out_of_time(board)
        await ada.is_asked(FREE)
        await visitor(board, "Bob")
        await board.pass_time(BATCH_SECONDS)
        await ada.sees("Bob logs on.")
        await board.pass_time(48)
        ada.presses("g")
        await ada.is_sent_off(
            "Fresh minutes at midnight. You can look around for 4 minutes 11 seconds more today."
        )
        assert "Bob" not in ada.screen
        await ada.calls()
        await ada.is_asked(FREE)
        await visitor(board, "Cyd")
        await board.pass_time(BATCH_SECONDS)
        await ada.sees("Cyd logs on.")
        await board.pass_time(4 * MINUTE + 11)
        await ada.is_sent_off("Fresh minutes at midnight.")
        assert "Cyd" not in ada.screen
        assert "look around" not in ada.screen


async def test_grace_opens_no_table_and_allows_only_withdrawals(tmp_path: Path) -> None:
    async with world(tmp_path, toml=toml()) as board:
        ada = await out_of_time(board, saved=10 * MINUTE)
        await ada.is_asked("<W>ithdraw")
        await ada.presses("q").is_asked(FREE)
        await ada.presses("b").sees("B does nothing here")
        await ada.presses("t").is_asked("<W>ithdraw (Enter)")
        await ada.withdraws(4)
        await ada.is_asked(MENU)
        await ada.sees_time_left(4 * MINUTE)
        assert counted(board) == [0]
        await board.pass_time(4 * MINUTE)
        await ada.is_asked(FREE)
        assert shown(ada) == "Grace 5:00"


async def test_at_midnight_there_are_minutes_again(tmp_path: Path) -> None:
    late = NOON + timedelta(hours=11, minutes=52)
    async with world(tmp_path, toml=toml(), now=late) as board:
        ada = await out_of_time(board)
        await ada.is_asked(FREE)
        await board.pass_time(MINUTE)
        await ada.sees("You have 7 minutes today.")
        await board.pass_time(1)
        await ada.is_asked("You have fresh minutes.")
        await ada.sees_time_left(7 * MINUTE - 1)
        await ada.presses("g").is_asked(MENU)
        await ada.presses("n").sees("News")
        await ada.presses(" ").is_asked(MENU)
        assert counted(board) == [MINUTE + 1, 0]


async def test_a_system_event_ends_it(tmp_path: Path) -> None:
    async with world(tmp_path, toml=toml(events=event("Backup", "12:09"))) as board:
        ada = await out_of_time(board)
        await ada.is_asked(FREE)
        assert shown(ada) == "Grace 2:00"
        await board.pass_time(2 * MINUTE)
        await ada.is_sent_off("Backup has begun. Please call back at 13:09.")
        assert counted(board)[0] <= 2 * MINUTE


async def test_a_board_without_it_sends_them_off(tmp_path: Path) -> None:
    async with world(tmp_path, toml=toml(0)) as board:
        ada = await out_of_time(board)
        await ada.is_sent_off("You're out of time. Fresh minutes at midnight.")
        assert counted(board) == [0]


# One bound for all that is uncharged, over all calls of a day


def uncharged(board: World) -> int:
    """The seconds for which callers were served and not charged."""
    with board.books() as desk:
        rows: int = desk.connection.exec_driver_sql("SELECT sum(waived) FROM calls").scalar_one()
        return rows


async def calls_and_stays(ada: Guest) -> None:
    """Call, and stay until the board ends the call."""
    await ada.calls()
    await ada.board.pass_time(3 * MINUTE)
    await ada.terminal.until_closed()


def writes(board: World, text: str) -> None:
    """Have Bob leave a message for Ada."""
    with board.books() as desk:
        bob, ada = callers.number_named(desk, "Bob"), callers.find(desk, "Ada")
        assert ada is not None
        messages.send(desk, bob, ada, text, Limits())


async def test_savings_give_no_uncharged_time_beyond_the_bound(tmp_path: Path) -> None:
    async with world(tmp_path, toml=toml(0, minutes=1)) as board:
        ada = await out_of_time(board, saved=5 * MINUTE)
        for _ in range(2):
            await ada.is_asked("<W>ithdraw")
            ada.presses("/w\r")
            await board.pass_time(MINUTE)
        await ada.terminal.until_closed()
        for _ in range(CALLS):
            await calls_and_stays(ada)
        assert counted(board) == [LAST_SECONDS]
        assert uncharged(board) <= LAST_SECONDS + CALLS * SENT_OFF


async def test_new_messages_give_no_uncharged_time_beyond_the_bound(tmp_path: Path) -> None:
    async with world(tmp_path, toml=toml(0, minutes=1)) as board:
        ada = await out_of_time(board)
        await ada.is_sent_off("You're out of time.")
        board.enter("Bob")
        for number in range(CALLS):
            writes(board, f"Message {number}")
            await calls_and_stays(ada)
        assert sum(counted(board)) == LAST_SECONDS
        assert uncharged(board) <= LAST_SECONDS + CALLS * SENT_OFF


async def test_a_message_that_could_not_be_shown_waits_for_the_next_day(tmp_path: Path) -> None:
    async with world(tmp_path, toml=toml(0, minutes=1)) as board:
        ada = await out_of_time(board, saved=MINUTE)
        await ada.is_asked("<W>ithdraw")
        await board.pass_time(3 * MINUTE)
        board.enter("Bob")
        writes(board, "see you tomorrow")
        await ada.calls()
        await ada.is_sent_off("You're out of time.")
        assert "see you tomorrow" not in ada.terminal.transcript
        board.clock.suspend(timedelta(hours=12).total_seconds())
        await ada.calls()
        await ada.sees("see you tomorrow")
