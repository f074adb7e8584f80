"""The page at log-on: what is new since the caller's last call, in pictures and in lines."""

from dataclasses import replace
from pathlib import Path

import pytest

from door.session.while_away import AwayNews, few_lines
from tests.door.session.test_letters import writes
from tests.door.visiting import MENU, MINUTE, Guest, known, seated, sysop_toml
from tests.terminal import MODERN, SILENT, SYNCTERM, Profile
from tests.world import PASSWORD, World, world
from timebank.callers import awards, callers
from timebank.errors import BooksUnavailable

TOML = sysop_toml(events="")
DAY = 24 * 60 * MINUTE
SCREENS = {
    "100x30": replace(MODERN, columns=100, rows=30),
    "80x24": SYNCTERM,
    "40x22": replace(MODERN, columns=40, rows=22),
    "lines": SILENT,
}
AWAY = "While you were away, Ada"


async def plays(board: World, name: str, ends: str, coins: int = 5) -> None:
    """Have a caller play a hand and leave."""
    guest = await seated(board, name)
    await guest.bets(coins, "stay", ends=ends)
    await guest.stays()
    await guest.presses("q").is_asked(MENU)
    await guest.logs_off()
    await board.pass_time(MINUTE)


async def returns(board: World, profile: Profile = MODERN) -> Guest:
    ada = Guest(board, "Ada")
    await ada.calls(profile)
    await ada.is_asked("tatement" if profile.columns < 80 else "Press any key")
    return ada


def text_of(guest: Guest) -> str:
    return " ".join(guest.screen.split())


@pytest.fixture
async def absent(board: World) -> World:
    """Ada has won a little and left; then Bob wins, passes her and writes; a day goes by."""
    await plays(board, "Ada", "win", 2)
    await plays(board, "Bob", "win")
    writes(board, "Bob", "Ada", "Vegas at nine?")
    board.clock.suspend(DAY)
    return board


@pytest.mark.parametrize("profile", SCREENS.values(), ids=SCREENS.keys())
async def test_a_page_tells_what_happened(absent: World, profile: Profile) -> None:
    ada = await returns(absent, profile)
    pages = text_of(ada)
    if "<N>ext" in ada.prompt:
        await ada.presses("n").sees("(2 of 2)")
        pages += " " + text_of(ada)
    for words in (
        AWAY,
        "Vegas at nine?",
        "Biggest win: Bob, 5 minutes with one hand.",
        "Bob has passed you.",
        "By all that you've won, you're number 2 of 2.",
        "Today's deal: nobody has played it yet.",
        "2 minutes earned on 20 November went to your bank. You have 60 minutes today.",
    ):
        assert words in pages, pages


def test_plain_lines_tell_it_in_at_most_eight() -> None:
    """Letters and notices are all shown, as they count as read afterwards."""
    news = AwayNews(
        own=["a"] * 3, board=["b"] * 3, waiting=["c"] * 4, minutes=["d", "e"], standing="f"
    )
    assert few_lines(news) == [*"aaabbbc", "|07d e"]
    crowded = replace(news, own=["a"] * 9)
    assert few_lines(crowded) == [*"a" * 9, "|07d e"]


async def test_only_what_is_new_is_told(absent: World) -> None:
    ada = await returns(absent)
    await ada.presses(" ").is_asked(MENU)
    await ada.logs_off()
    ada = Guest(absent, "Ada")
    await ada.calls()
    await ada.is_asked(MENU)
    assert AWAY not in ada.screen
    await ada.logs_off()
    await absent.pass_time(MINUTE)
    await plays(absent, "Cyd", "win", 7)
    ada = await returns(absent)
    assert "Biggest win: Cyd, 7 minutes with one hand." in ada.screen
    assert "Cyd has passed you." in ada.screen
    assert "Bob" not in ada.screen


async def test_keys_typed_ahead_of_the_page_do_not_dismiss_it(absent: World) -> None:
    ada = Guest(absent, "Ada")
    ada.terminal = await absent.call(SILENT)
    await ada.terminal.until("Name:")
    await ada.terminal.send("Ada\r").until("Password:")
    await ada.presses(f"{PASSWORD}\r\r  ").sees("Vegas at nine?")
    await ada.is_asked("Press any key")
    await ada.presses(" ").is_asked(MENU)


async def test_the_statement_is_one_key_away(absent: World) -> None:
    ada = await returns(absent)
    await ada.presses("s").sees("Your history")
    await ada.presses("q").sees(AWAY)
    await ada.presses(" ").is_asked(MENU)


async def test_days_in_a_row_are_told_once_a_day(board: World) -> None:
    ada = known(board, "Ada")
    await ada.visits()
    await ada.logs_off()
    board.clock.suspend(DAY)
    ada = await returns(board)
    assert "You've called 2 days in a row." in ada.screen
    await ada.presses(" ").is_asked(MENU)
    await ada.logs_off()
    await board.pass_time(MINUTE)
    await plays(board, "Bob", "win")
    ada = await returns(board)
    assert "days in a row" not in ada.screen


async def test_awards_on_the_page_are_not_told_again(absent: World) -> None:
    with absent.books() as desk:
        number = callers.number_named(desk, "Ada")
        awards.earn(desk, number, "natural")
    ada = await returns(absent)
    assert "Award: A blackjack!" in ada.screen
    await ada.presses(" ").is_asked(MENU)
    await absent.pass_time(10)
    assert "Award" not in ada.screen
    with absent.books() as desk:
        assert awards.untold(desk, [number]) == {}


async def test_losers_are_named_only_if_they_agreed(board: World) -> None:
    """A caller may pass another and still have lost more than they won."""
    await plays(board, "Ada", "lose", 5)
    await plays(board, "Bob", "lose", 6)
    ada = Guest(board, "Ada")
    await ada.visits()
    await ada.logs_off()
    await board.pass_time(MINUTE)
    guest = Guest(board, "Bob")
    await guest.visits()
    await guest.sits_down()
    await guest.bets(2, "stay", ends="win")
    await guest.stays()
    await guest.presses("q").is_asked(MENU)
    await guest.logs_off()
    ada = await returns(board)
    assert "Biggest win: Bob, 2 minutes" in ada.screen
    assert "passed you" not in ada.screen
    assert "you're number 2 of 2." in ada.screen


async def test_without_the_boards_news_the_minutes_are_told(absent: World) -> None:
    read = absent.server.books.read

    async def unavailable(operation, *more):
        if "while_away" in getattr(getattr(operation, "func", None), "__module__", ""):
            raise BooksUnavailable
        return await read(operation, *more)

    absent.server.books.read = unavailable
    ada = await returns(absent)
    assert "Vegas at nine?" in ada.screen
    assert "You have 60 minutes today." in ada.screen
    assert "Biggest win" not in ada.screen


async def test_french(tmp_path: Path) -> None:
    async with world(tmp_path, toml=TOML) as board:
        await plays(board, "Ada", "win", 2)
        await plays(board, "Bob", "win")
        with board.books() as desk:
            desk.connection.exec_driver_sql(
                "UPDATE callers SET preferences = json_set(preferences, '$.language', 'fr')"
            )
        board.clock.suspend(DAY)
        ada = await returns_in_french(board)
        assert "Bob vous a dépassé." in text_of(ada)


async def returns_in_french(board: World) -> Guest:
    ada = Guest(board, "Ada")
    await ada.calls()
    await ada.sees("En votre absence, Ada")
    return ada
