"""What the teller's window refuses on line, each time with the rule that says no."""

from pathlib import Path

import pytest

from tests.door.banking import (
    SCREENS,
    WINDOW,
    at_the_window,
    hears,
    is_refused,
    is_refused_amount,
    is_refused_at_once,
    moves,
    names_receiver,
    number,
    types_amount,
    window_toml,
)
from tests.door.visiting import MINUTE, event, sysop_toml
from tests.terminal import Profile
from tests.world import world
from timebank.window.sysop import freeze

OPEN = window_toml()
HOUR = 60 * MINUTE
painted_and_lines = pytest.mark.parametrize("profile", SCREENS.values(), ids=SCREENS.keys())


@pytest.mark.parametrize(
    ("key", "limits", "sentence"),
    [
        (
            "d",
            "largest_deposit = 9",
            "You can deposit 9 minutes a day; you have 9 minutes left today.",
        ),
        (
            "w",
            "largest_withdrawal = 9",
            "You can withdraw 9 minutes a day; you have 9 minutes left today.",
        ),
        ("b", "largest_loan = 9", "You can borrow 9 minutes a day; you have 9 minutes left today."),
        (
            "d",
            "largest_balance = 39",
            "An account holds 39 minutes at most; yours has room for 9 minutes.",
        ),
        (
            "d",
            "keep_minutes = 51",
            "51 minutes must stay on your clock, and you have 60 minutes left.",
        ),
        ("w", "largest_withdrawal = 0", "Nobody can withdraw minutes on this board."),
        ("d", "largest_deposit = 0", "Nobody can deposit minutes on this board."),
        ("b", "largest_loan = 0", "Nobody can borrow minutes on this board."),
        ("r", "", "You owe nothing."),
    ],
)
async def test_a_limit_that_stops_somebody_says_what_it_is(
    tmp_path: Path, key: str, limits: str, sentence: str
) -> None:
    async with world(tmp_path, toml=window_toml(f"known_days = 0\n{limits}")) as board:
        ada = await at_the_window(board, "Ada", saved=30)
        before = ada.has
        if limits.endswith(" 0") or not limits:
            await is_refused_at_once(ada, key, sentence)
        else:
            await is_refused(ada, key, 10, sentence)
        assert ada.has == before


async def test_a_limit_counts_what_was_moved_today(tmp_path: Path) -> None:
    async with world(tmp_path, toml=window_toml("largest_deposit = 10")) as board:
        ada = await at_the_window(board, "Ada")
        await moves(ada, "d", "9", "9 minutes")
        await is_refused(
            ada, "d", 2, "You can deposit 10 minutes a day; you have 1 minute left today."
        )
        await moves(ada, "d", "1", "1 minute")
        await is_refused_at_once(
            ada, "d", "You can deposit 10 minutes a day; you have nothing left today."
        )
        assert ada.has["bank"] == 10 * MINUTE


async def test_what_the_receivers_account_has_no_room_for_is_not_sent(tmp_path: Path) -> None:
    async with world(tmp_path, toml=window_toml("known_days = 0\nlargest_balance = 40")) as board:
        board.enter("Bob", saved=35 * MINUTE)
        ada = await at_the_window(board, "Ada", saved=30)
        await names_receiver(ada, "Bob")
        await is_refused_amount(
            ada,
            "Send",
            10,
            "An account holds 40 minutes at most; Bob's has room for 5 minutes.",
        )
        assert (ada.has["bank"], board.balances("Bob")["bank"]) == (30 * MINUTE, 35 * MINUTE)


async def test_new_callers_neither_send_nor_borrow(tmp_path: Path) -> None:
    async with world(tmp_path, toml=window_toml("known_days = 3")) as board:
        ada = await at_the_window(board, "Ada", saved=30)
        await is_refused_at_once(ada, "t", "New callers can send minutes after 22 November.")
        await is_refused_at_once(ada, "b", "New callers can borrow minutes after 22 November")
        await moves(ada, "w", "5", "5 minutes")


async def test_who_is_barred_gets_nothing_but_their_history(tmp_path: Path) -> None:
    async with world(tmp_path, toml=window_toml('barred = ["ADA"]')) as board:
        ada = await at_the_window(board, "Ada", saved=30)
        for key in "dwtbr":
            await is_refused_at_once(ada, key, "The sysop has closed the bank to you.")
            ada.presses("h")
            await ada.sees("Your history")
            ada.presses("q")
            await ada.is_asked(WINDOW)
        assert ada.has["bank"] == 30 * MINUTE


async def test_a_frozen_account_says_so_even_when_frozen_at_that_moment(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        ada = await at_the_window(board, "Ada", saved=30)
        ada.presses("w")
        await ada.is_asked("Withdraw how much")
        with board.books() as desk:
            freeze(desk, number(board, "Ada", desk), "a look at it", "Tester")
        await types_amount(ada, "Withdraw", "5", "5 minutes")
        await hears(ada, "The sysop has frozen your account; ask them why.")
        assert ada.has["bank"] == 30 * MINUTE


async def test_outside_its_hours_the_window_says_when_it_opens(tmp_path: Path) -> None:
    """2026-11-20 is a Friday."""
    toml = window_toml('hours = ["mon-thu 08:00-22:00", "sat 10:00-24:00"]')
    async with world(tmp_path, toml=toml) as board:
        ada = await at_the_window(board, "Ada", saved=30)
        await is_refused_at_once(ada, "w", "The window is closed. It opens on Saturday at 10:00.")
        assert ada.has["bank"] == 30 * MINUTE


async def test_the_window_that_closes_while_an_amount_is_typed_is_closed(tmp_path: Path) -> None:
    async with world(tmp_path, toml=window_toml('hours = ["fri 08:00-12:01"]')) as board:
        ada = await at_the_window(board, "Ada", saved=30)
        ada.presses("w")
        await ada.is_asked("Withdraw how much")
        await board.pass_time(MINUTE)
        await types_amount(ada, "Withdraw", "5", "5 minutes")
        await hears(ada, "The window is closed.")
        assert ada.has["bank"] == 30 * MINUTE


async def test_nothing_is_withdrawn_or_borrowed_past_an_event(tmp_path: Path) -> None:
    toml = sysop_toml(
        events=event("Mail hour", "12:30"), timebank="known_days = 0", minutes_per_day=25
    )
    async with world(tmp_path, toml=toml) as board:
        ada = await at_the_window(board, "Ada", saved=30)
        await is_refused(
            ada, "w", 6, "You could use only 5 minutes of it before Mail hour at 12:30."
        )
        await is_refused(ada, "b", 6, "You could use only 5 minutes before Mail hour at 12:30.")
        await moves(ada, "b", "5", "5 minutes")
        await is_refused_at_once(ada, "w", "You could use none of it before Mail hour at 12:30.")
        assert (ada.has["online"], ada.has["loan"]) == (30 * MINUTE, -5 * MINUTE)


# Other modes.


@painted_and_lines
@pytest.mark.parametrize(
    ("mode", "what"),
    [
        (
            "external",
            "This board has its own bank. Whole minutes you win past an event go there",
        ),
        ("none", "This board has no time bank. What you win past an event is lost."),
    ],
)
async def test_other_modes_show_history_and_say_what_they_do(
    tmp_path: Path, mode: str, what: str, profile: Profile
) -> None:
    toml = window_toml(f'mode = "{mode}"\nthebank_ext = "THEBANK.EXT"')
    async with world(tmp_path, toml=toml) as board:
        ada = await at_the_window(board, "Ada", profile=profile)
        await ada.sees(what)
        assert "<D>eposit" not in ada.screen
        ada.presses("dwtbral")
        ada.presses("h")
        await ada.sees("Granted 1:00:00 for 20 November")
        ada.presses("q")
        await ada.is_asked(WINDOW)
        assert ada.ledger == [("grant", HOUR)]


@pytest.mark.parametrize(
    ("key", "what", "minutes", "sentence"),
    [
        ("d", "Deposit", 56, "5 minutes must stay on your clock, and you have 60 minutes left."),
        ("w", "Withdraw", 31, "Your time bank holds 30 minutes."),
        ("b", "Borrow", 1000, "You can borrow"),
    ],
)
async def test_more_than_the_prompt_allows_is_refused_before_it_is_confirmed(
    tmp_path: Path, key: str, what: str, minutes: int, sentence: str
) -> None:
    toml = sysop_toml(events="", timebank="known_days = 0\nlargest_deposit = 900")
    async with world(tmp_path, toml=toml) as board:
        ada = await at_the_window(board, "Ada", saved=30)
        before = ada.has
        ada.presses(key)
        await is_refused_amount(ada, what, minutes, sentence)
        assert "?" not in ada.prompt
        assert f"{what} {minutes} minutes?" not in ada.terminal.transcript
        assert ada.has == before


async def test_more_than_is_owed_is_refused_before_it_is_confirmed(tmp_path: Path) -> None:
    async with world(tmp_path, toml=window_toml("known_days = 0")) as board:
        ada = await at_the_window(board, "Ada")
        await moves(ada, "b", "5", "5 minutes")
        ada.presses("r")
        await is_refused_amount(ada, "Repay", 6, "You owe 5 minutes.")
        await moves(ada, "r", "5", "5 minutes")


async def test_who_sends_to_themselves_is_refused_before_any_amount(tmp_path: Path) -> None:
    async with world(tmp_path, toml=window_toml("known_days = 0")) as board:
        ada = await at_the_window(board, "Ada", saved=30)
        await names_receiver(ada, "Ada")
        await hears(ada, "These minutes are yours already.")
        assert "how much" not in ada.terminal.transcript
