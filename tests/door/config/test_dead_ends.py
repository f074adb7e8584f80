"""Settings that are right one by one, and together leave a table or a service without callers."""

from __future__ import annotations

from pathlib import Path

import pytest

from door.config import config, dead_ends
from tests.door.visiting import sysop_toml, visitor
from tests.world import world

RED_DOG = "[games.red-dog]\n"
ALL = "".join(
    f"[games.{name}]\nopen = false\n"
    for name in ("black-jack-for-time", "baccarat", "unix-bj", "vegas", "red-dog")
)


@pytest.fixture
def doubts(tmp_path: Path):
    """Return the sentences about settings."""

    def of(text: str) -> list[str]:
        path = tmp_path / "sysop.toml"
        path.write_text(text, encoding="utf-8")
        return list(dead_ends.doubts(config.load(path)))

    return of


CASES = [
    (
        f"{RED_DOG}coin_minutes = 60",
        f"{RED_DOG}coin_minutes = 29",
        "Nobody can bet time at Red Dog: the smallest bet and the coin that stays are 120 minutes,"
        " and callers have less than 60 at a time. Set coin_minutes of [games.red-dog] to 29 at"
        " most.",
    ),
    (
        f"{RED_DOG}smallest_bet = 59\nlargest_bet = 60",
        f"{RED_DOG}smallest_bet = 58\nlargest_bet = 60",
        "Nobody can bet time at Red Dog: the smallest bet and the coin that stays are 60 minutes,"
        " and callers have less than 60 at a time. Callers need 61 minutes a day, before the next"
        " event.",
    ),
    (
        '[games.unix-bj]\nstakes = "minutes"\ncoin_minutes = 20',
        '[games.unix-bj]\nstakes = "minutes"\ncoin_minutes = 19',
        "Nobody can bet time at UNIX bj: the smallest bet and the coin that stays are 60 minutes,"
        " and callers have less than 60 at a time. Set coin_minutes of [games.unix-bj] to 19 at"
        " most.",
    ),
    (
        '[[events]]\nname = "Mail"\ntime = "00:20"\nminutes = 1430\n'
        "[games.vegas]\ncoin_minutes = 5",
        '[[events]]\nname = "Mail"\ntime = "00:20"\nminutes = 1420\n'
        "[games.vegas]\ncoin_minutes = 5",
        "Nobody can bet time at Vegas: the smallest bet and the coin that stays are 10 minutes,"
        " and callers have less than 10 at a time. Set coin_minutes of [games.vegas] to 4 at most.",
    ),
    (ALL, ALL[: -len("open = false\n")], "No table is open: set open = true under one of "),
    (
        "[timebank]\nkeep_minutes = 60",
        "[timebank]\nkeep_minutes = 59",
        "Nobody can deposit minutes of a day: keep_minutes of [timebank] keeps all 60. Set it to 59"
        " at most.",
    ),
    (
        "[timebank]\nlargest_balance = 0",
        "[timebank]\nlargest_balance = 1",
        "Nobody can deposit or send minutes: largest_balance of [timebank] is 0, so that no account"
        " may hold any.",
    ),
    (
        "[timebank]\nlargest_transfer = 0",
        "[timebank]\nlargest_transfer = 0\n[duels]\nmost_minutes = 0",
        "Nobody can stake minutes in a duel: largest_transfer of [timebank] is 0. Allow some, or"
        " set most_minutes of [duels] to 0.",
    ),
    (
        '[timebank]\nhours = ["daily 03:10-04:00"]',
        '[timebank]\nhours = ["daily 03:10-04:01"]',
        "The bank never opens: all hours of [timebank] are within events.",
    ),
    (
        "[tournament]\nhour = 3\nhours = 1",
        "[tournament]\nhour = 3\nhours = 2",
        "Nobody can play the tournament: it opens and ends within an event.",
    ),
    (
        '[tournament]\nday = "sun"\nhour = 20\nhours = 8\n'
        '[[events]]\nname = "Night"\ntime = "19:00"\nminutes = 600\ndays = "sun"',
        '[tournament]\nday = "sun"\nhour = 20\nhours = 10\n'
        '[[events]]\nname = "Night"\ntime = "19:00"\nminutes = 600\ndays = "sun"',
        "Nobody can play the tournament: it opens and ends within an event.",
    ),
    (
        "[tournament]\nentry_minutes = 60",
        "[tournament]\nentry_minutes = 59",
        "Nobody can enter the tournament for a prize: entry_minutes is 60 of the 60 that callers"
        " have. Set it to 59 at most.",
    ),
    (
        "[calls]\nlogon_seconds = 9",
        "[calls]\nlogon_seconds = 10",
        "Nobody can answer a question in time: logon_seconds of [calls] is 9. Set it to 10 at"
        " least.",
    ),
    (
        "[calls]\nidle_warning_seconds = 1\nidle_limit_seconds = 2",
        "[calls]\nidle_warning_seconds = 1\nidle_limit_seconds = 10",
        "Nobody can answer a question in time: idle_limit_seconds of [calls] is 2. Set it to 10 at"
        " least.",
    ),
    (
        '[defence]\nblock = ["0.0.0.0/0"]',
        '[defence]\nblock = ["128.0.0.0/1"]',
        "Nobody can call: block of [defence] has 0.0.0.0/0, which is every address.",
    ),
    (
        '[[listeners]]\nkind = "rlogin"',
        '[[listeners]]\nkind = "rlogin"\n[boards.Xibalba]\naddresses = ["192.0.2.7"]',
        "Nobody can call by rlogin: no table [boards.NAME] has addresses.",
    ),
    (
        "[boards.Xibalba]\nminutes = 1",
        "[boards.Xibalba]\nminutes = 3",
        "Callers of Xibalba bring 1 minute, and no table takes a bet of so few: set minutes of"
        " [boards.Xibalba] to 3 at least.",
    ),
]


@pytest.mark.parametrize(("closes", "opens", "sentence"), CASES)
def test_a_combination_that_leaves_nobody_is_named_with_what_to_do(
    doubts, closes: str, opens: str, sentence: str
) -> None:
    (found,) = doubts(closes)
    assert found.startswith(sentence)
    assert doubts(opens) == []


def test_play_money_and_closed_tables_need_no_minutes(doubts) -> None:
    assert doubts("") == []
    assert doubts("[games.unix-bj]\ncoin_minutes = 60") == []
    assert doubts(f"{RED_DOG}coin_minutes = 60\nopen = false") == []


@pytest.mark.parametrize("coin", [29, 30])
async def test_a_table_that_is_named_takes_no_bet_of_a_caller(tmp_path: Path, coin: int) -> None:
    toml = f"{sysop_toml(events='')}\n{RED_DOG}coin_minutes = {coin}\n"
    async with world(tmp_path, toml=toml) as board:
        ada = await visitor(board, "Ada")
        await board.pass_time(1)
        assert bool([*dead_ends.doubts(board.config)]) == (coin == 30)
        ada.presses("r")
        if coin == 30:
            await ada.sees("your last coin can't be bet")
        else:
            await ada.is_asked("<B>et")
