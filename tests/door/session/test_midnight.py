"""Midnight for callers on line: the new grant and the lost rest."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.door.visiting import MINUTE, seated, sysop_toml, visitor
from tests.world import NOON, world

QUIET = sysop_toml(events="")
TEN_TO_MIDNIGHT = NOON + timedelta(hours=11, minutes=50)
OF_TODAY, OF_TOMORROW = "2026-11-20", "2026-11-21"


# Grants and forfeits.


async def test_midnight_brings_the_new_day_and_takes_the_rest_of_the_old_one(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=QUIET, now=TEN_TO_MIDNIGHT) as board:
        ada = await visitor(board, "Ada")
        await board.pass_time(10 * MINUTE)
        await ada.sees("50 minutes left over from 20 November expired.")
        await ada.sees("You have 60 minutes today.")
        await ada.sees_time_left(60 * MINUTE)
        assert ada.ledger[-2:] == [("forfeit", 50 * MINUTE), ("grant", 60 * MINUTE)]


@pytest.mark.parametrize(
    ("timebank", "expected_text", "expected"),
    [
        ('mode = "built-in"', "5 minutes earned on 20 November went to your bank.", 5 * MINUTE),
        (
            'mode = "external"\nthebank_ext = "THEBANK.EXT"',
            "5 minutes passed on through THEBANK.EXT",
            0,
        ),
        ('mode = "none"', "5 minutes earned on 20 November expired: this board has no", 0),
    ],
    ids=["built-in", "external", "none"],
)
async def test_winnings_at_midnight_are_treated_like_winnings_cut_by_an_event(
    tmp_path: Path, timebank: str, expected_text: str, expected: int
) -> None:
    toml = sysop_toml(events="", timebank=timebank)
    async with world(tmp_path, toml=toml, now=TEN_TO_MIDNIGHT) as board:
        ada = await seated(board, "Ada")
        await ada.bets(5, "stay", ends="win")
        await ada.stays()
        await board.pass_time(10 * MINUTE)
        await ada.sees(expected_text)
        await ada.sees_time_left(60 * MINUTE)
        assert ("carry", 5 * MINUTE) in ada.ledger
        assert ada.has["bank"] == expected


# Hands and days.


async def test_midnight_leaves_a_hand_on_the_table_but_saves_no_stake(tmp_path: Path) -> None:
    """The hand is a turn of the day of its deal, and pays into the day of its end.

    A stake from the old day's minutes ends with that day.
    """
    async with world(tmp_path, toml=QUIET, now=TEN_TO_MIDNIGHT) as board:
        ada = await seated(board, "Ada")
        await ada.bets(5, "stay", ends="win")
        await board.pass_time(10 * MINUTE)
        await ada.sees("45 minutes left over from 20 November expired.")
        await ada.sees("of your 5 minutes on the table, you keep only the winnings.")
        assert "<H>it" in ada.prompt
        assert ada.has["stake"] == 5 * MINUTE
        await ada.stays()
        await ada.sees("You win 5 coins")
        await ada.sees("5 minutes from an old bet expired.")
        assert ada.has["online"] == 65 * MINUTE
        await ada.sees_time_left(65 * MINUTE)
        assert "Turns today: 0 of 20" in ada.screen
        with board.books() as desk:
            days = desk.connection.exec_driver_sql("SELECT day FROM rounds").scalars().all()
        assert days == [OF_TODAY]
