"""The goodbye that banks: what it asks, explains and moves, and how else a call may end."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.door.visiting import MENU, MINUTE, Guest, event, seated, sysop_toml, visitor
from tests.terminal import MODERN, SILENT, SYNCTERM, Profile
from tests.world import NOON, World, world
from timebank.errors import BooksUnavailable

TOML = sysop_toml(events="")
BANKED = "54 minutes deposited at log-off."
OFFER = "With A, the bank takes what it can whenever a call of yours ends"
EXPIRE = "Unless you use or bank them, 59 minutes 59 seconds expire at midnight."
SCREENS = {
    "80x24": SYNCTERM,
    "40x22": replace(MODERN, columns=40, rows=22),
    "lines": SILENT,
}


async def asked(board: World, name: str = "Ada", profile: Profile = MODERN) -> Guest:
    """Bring a caller to the question about their minutes."""
    guest = await visitor(board, name, profile=profile)
    await guest.presses("g").sees("Bank your 54 minutes, and keep 5?")
    return guest


@pytest.mark.parametrize("profile", SCREENS.values(), ids=SCREENS.keys())
async def test_enter_banks_what_the_bank_takes(board: World, profile: Profile) -> None:
    ada = await asked(board, profile=profile)
    text = " ".join(ada.screen.split())
    assert "must stay on your clock" not in text, "the question says it"
    assert EXPIRE in text
    ada.presses("\r")
    await ada.is_sent_off("Goodbye, Ada. Call again!")
    await board.settled()
    assert BANKED in ada.screen
    assert ada.ledger == [("grant", 60 * MINUTE), ("elapsed", 1), ("deposit", 54 * MINUTE)]


async def test_the_rank_counts_the_deposit_just_made(board: World) -> None:
    bob = await visitor(board, "Bob", saved=30 * MINUTE)
    await bob.logs_off()
    ada = await asked(board)
    ada.presses("\r")
    await ada.is_sent_off("Goodbye, Ada. Call again!")
    assert BANKED in ada.screen
    assert "You're the richest caller." in ada.screen


async def test_without_minutes_for_the_bank_no_rule_of_it_is_told(board: World) -> None:
    ada = await visitor(board, "Ada")
    await board.pass_time(56 * MINUTE + 15)
    await ada.presses("g").sees("Unless you use them, 3 minutes")
    await ada.sees("Leave the board?")
    assert "must stay on your clock" not in ada.screen


async def test_no_leaves_without_a_deposit_and_escape_stays(board: World) -> None:
    ada = await asked(board)
    await ada.presses("\x1b").is_asked(MENU)
    await ada.presses("g").sees("Bank your 54 minutes, and keep 5?")
    await ada.presses("s").is_asked(MENU)
    await ada.logs_off()
    await board.settled()
    assert "deposited" not in ada.screen
    assert ada.has["bank"] == 0


async def test_the_first_goodbye_offers_auto_deposit_and_later_ones_do_not(board: World) -> None:
    ada = await asked(board)
    assert OFFER in ada.screen
    ada.presses("n")
    await ada.is_sent_off("Goodbye, Ada.")
    ada = Guest(board, "Ada")
    await ada.visits()
    await ada.presses("g").sees("Bank your 5")
    assert OFFER not in ada.screen
    assert "<A>lways" not in ada.screen


async def test_always_banks_now_and_when_the_line_drops(board: World) -> None:
    ada = await asked(board)
    ada.presses("a")
    await ada.is_sent_off(BANKED)
    await board.settled()
    assert ada.has["bank"] == 54 * MINUTE
    board.clock.suspend(24 * 60 * MINUTE)
    ada = Guest(board, "Ada")
    await ada.visits()
    await ada.drops_carrier()
    await board.settled()
    assert ada.has["bank"] == 108 * MINUTE


async def test_with_auto_deposit_nothing_is_asked(board: World) -> None:
    ada = await visitor(board, "Ada")
    await ada.caller.remember({"auto_deposit": True})
    await ada.presses("g").is_asked("Leave the board?")
    ada.presses("y")
    await ada.is_sent_off(BANKED)
    await board.settled()
    assert [row for row in ada.ledger if row[0] == "deposit"] == [("deposit", 54 * MINUTE)]


async def test_with_auto_deposit_the_rest_is_said_to_expire(board: World) -> None:
    ada = await visitor(board, "Ada")
    await ada.caller.remember({"auto_deposit": True})
    await ada.presses("g").is_asked("Leave the board?")
    text = " ".join(ada.screen.split())
    rest = (
        "The bank takes 54 minutes. Unless you use them, 5 minutes 59 seconds expire at midnight."
    )
    assert rest in text


async def test_a_line_lost_at_the_question_banks_nothing(board: World) -> None:
    ada = await asked(board)
    await ada.drops_carrier()
    await board.settled()
    assert ada.has["bank"] == 0


async def test_the_board_that_closes_at_the_question_banks_nothing(tmp_path: Path) -> None:
    async with world(tmp_path, toml=TOML) as board:
        ada = await asked(board)
        await board.server.stop("The board is closing.")
        await ada.is_sent_off("The board is closing.", "You have 60 minutes left, until midnight.")
        assert ada.has["bank"] == 0


async def test_idleness_at_the_question_banks_nothing_and_says_what_is_left(
    tmp_path: Path,
) -> None:
    toml = sysop_toml(events="", idle_warning_seconds=240, idle_limit_seconds=300)
    async with world(tmp_path, toml=toml) as board:
        ada = await asked(board)
        await board.pass_time(5 * MINUTE)
        await ada.is_sent_off("You have 55 minutes left, until midnight.")
        assert ada.has["bank"] == 0


async def test_an_event_at_the_question_leaves_nothing_to_bank(tmp_path: Path) -> None:
    toml = sysop_toml(events=event("Mail hour", "12:12"))
    async with world(tmp_path, toml=toml) as board:
        ada = await visitor(board, "Ada")
        await ada.presses("g").sees("Bank your 6 minutes, and keep 5?")
        await board.pass_time(12 * MINUTE)
        await ada.is_sent_off("Mail hour has begun.")
        await board.settled()
        assert ada.has["bank"] == ada.has["online"] == 0


async def test_less_is_banked_where_time_ran_while_the_question_stood(board: World) -> None:
    ada = await asked(board)
    await board.pass_time(3 * MINUTE)
    ada.presses("\r")
    await ada.is_sent_off("52 minutes deposited at log-off.")
    await board.settled()
    assert ada.has["bank"] == 52 * MINUTE


async def test_midnight_at_the_question_asks_again_about_the_new_day(tmp_path: Path) -> None:
    midnight = NOON.replace(hour=23, minute=59)
    async with world(tmp_path, toml=TOML, now=midnight) as board:
        ada = await asked(board)
        await board.pass_time(2 * MINUTE)
        ada.presses("\r")
        await ada.sees("Bank your 54 minutes, and keep 5?")
        assert ada.has["bank"] == 0
        ada.presses("\r")
        await ada.is_sent_off("54 minutes deposited at log-off.")


async def test_agreed_minutes_are_banked_once_though_the_goodbye_failed(board: World) -> None:
    """The end of the call makes the deposit that the goodbye could not make."""
    ada = await asked(board)
    caller, post = ada.caller, ada.caller.post
    tries = []

    async def refused(*asked, **more):
        tries.append(asked)
        if len(tries) == 1:
            raise BooksUnavailable
        return await post(*asked, **more)

    caller.post = refused
    ada.presses("\r")
    await ada.is_sent_off("Goodbye, Ada.")
    await board.settled()
    assert len(tries) == 2
    assert [row for row in ada.ledger if row[0] == "deposit"] == [("deposit", 54 * MINUTE)]


@pytest.mark.parametrize(
    ("bank", "why"),
    [
        ("largest_deposit = 0", "Nobody can deposit minutes on this board."),
        ("largest_balance = 0", "An account holds 0 seconds at most; yours has room for nothing."),
        ('barred = ["Ada"]', "The sysop has closed the bank to you."),
    ],
)
async def test_what_cannot_be_banked_is_said_to_expire(tmp_path: Path, bank: str, why: str) -> None:
    async with world(tmp_path, toml=sysop_toml(events="", timebank=bank)) as board:
        ada = await visitor(board, "Ada")
        await ada.presses("g").is_asked("Leave the board?")
        assert why in ada.screen
        assert "Unless you use them, 59 minutes 59 seconds expire at midnight." in ada.screen


async def test_a_frozen_account_reads_why(board: World) -> None:
    ada = await visitor(board, "Ada")
    with board.books() as desk:
        desk.connection.exec_driver_sql("UPDATE callers SET frozen = 1")
    await ada.presses("g").is_asked("Leave the board?")
    assert "The sysop has frozen your account; ask them why." in ada.screen
    ada.presses("y")
    await ada.is_sent_off("Goodbye, Ada.")


@pytest.mark.parametrize("mode", ["none", "external"])
async def test_a_board_without_a_bank_says_what_expires(tmp_path: Path, mode: str) -> None:
    async with world(
        tmp_path,
        toml=sysop_toml(events="", timebank=f'mode = "{mode}"\nthebank_ext = "THEBANK.EXT"'),
    ) as board:
        ada = await visitor(board, "Ada")
        await ada.presses("g").is_asked("Leave the board?")
        assert "Unless you use them, 59 minutes 59 seconds expire" in ada.screen
        assert "use or bank" not in ada.screen


async def test_winnings_do_not_expire(tmp_path: Path) -> None:
    async with world(tmp_path, toml=sysop_toml(events="", minutes_per_day=10)) as board:
        ada = await seated(board, "Ada")
        for coins in (5, 5):
            await ada.bets(coins, "stay", ends="win")
            await ada.stays()
        await board.pass_time(10 * MINUTE)
        await ada.presses("q").is_asked(MENU)
        await ada.presses("g").sees("What you have left came from wins or from the bank")
        assert "expire" not in ada.screen


async def test_books_that_cannot_be_read_delay_no_goodbye(board: World) -> None:
    ada = await visitor(board, "Ada")

    async def unavailable(*_asked, **_more):
        raise BooksUnavailable

    ada.caller.look_up = unavailable
    await ada.presses("g").is_asked("Leave the board?")
    ada.presses("y")
    await ada.is_sent_off("Goodbye, Ada. Call again!")


# The first log-on.


async def test_a_caller_reads_once_when_minutes_expire(board: World) -> None:
    told = "Today's minutes are gone at midnight unless you use or bank them."
    ada = Guest(board, "Ada")
    board.enter("Ada")
    await ada.calls()
    await ada.sees(told)
    await ada.presses(" ").is_asked(MENU)
    await ada.logs_off()
    board.clock.suspend(24 * 60 * MINUTE)
    ada = Guest(board, "Ada")
    await ada.calls()
    await ada.sees("minutes today.")
    assert told not in ada.screen


async def test_a_board_without_a_bank_names_none(tmp_path: Path) -> None:
    async with world(tmp_path, toml=sysop_toml(events="", timebank='mode = "none"')) as board:
        board.enter("Ada")
        ada = Guest(board, "Ada")
        await ada.calls()
        await ada.sees("Today's minutes are gone at midnight unless you use them.")


async def test_minutes_from_the_bank_are_not_called_won(tmp_path: Path) -> None:
    toml = sysop_toml(events="", minutes_per_day=10)
    async with world(tmp_path, toml=toml) as board:
        ada = await visitor(board, "Ada", saved=15 * MINUTE)
        await ada.presses("tw15\ry").sees("withdrawn")
        await ada.presses("qg").sees("Bank your")
        text = " ".join(ada.screen.split())
        assert "Unless you use or bank them, 9 minutes 59 seconds expire at midnight." in text
        assert (
            "The other 15 minutes came from wins or from the bank, which takes them at midnight."
        ) in text
        await board.pass_time(10 * MINUTE)
        await ada.presses("sg").sees("Bank your 10 minutes")
        text = " ".join(ada.screen.split())
        assert "What you have left came from wins or from the bank, which takes it" in text
