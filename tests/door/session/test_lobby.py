"""The main menu, the settings and the goodbye."""

import asyncio
import gc
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from door.games.registry import GAMES
from door.lobby.pulse import EVERY_SECONDS, BoardNews, MenuPulse
from door.session.menu import MenuScene
from tests.door.playing import Table
from tests.door.visiting import MENU, TABLE, Guest, seated, sysop_toml, visitor
from tests.terminal import MODERN, SYNCTERM
from tests.world import World, newcomer, world
from timebank.callers import callers

TOML = sysop_toml(events="")
ONE_TURN = f"{TOML}\n[games.black-jack-for-time]\nturns_per_day = 1\n"


async def test_the_time_in_the_menu_ticks_as_the_status_line_does(board: World) -> None:
    ada = await visitor(board, "Ada", profile=SYNCTERM)
    await board.pass_time(5)
    await ada.sees_time_left(3595)
    assert ada.screen.count("59:55") == 2
    before = len(ada.terminal.received)
    await board.pass_time(1)
    await ada.sees_time_left(3594)
    assert len(ada.terminal.received) - before < 60  # two fields only


async def test_the_menu_shows_who_is_on_line_and_the_effect_of_enter(board: World) -> None:
    await visitor(board, "Bob")
    ada = await visitor(board, "Ada")
    assert "Also on: Bob (Main menu)." in ada.screen
    assert "<B> Black Jack For Time (Enter)" in ada.screen


async def test_statistics_say_how_many_days_in_a_row_a_caller_has_called(board: World) -> None:
    board.enter("Ada")
    with board.books() as desk:
        ada = callers.number_named(desk, "Ada")
        for age in (1, 2, 4):
            day = desk.settings.schedule.day_of(desk.now) - timedelta(days=age)
            desk.connection.exec_driver_sql(
                'INSERT INTO days (caller_id, day, "after", owed) VALUES (?, ?, 0, 0)',
                (ada, day.isoformat()),
            )
    guest = Guest(board, "Ada")
    await guest.visits(MODERN)
    assert "Good to see you, Ada. You're the only one on." in guest.screen
    await guest.presses("s").sees("Days called: 4. In a row: 3 now, 3 at most.")


async def test_a_first_call_is_welcomed_and_only_a_return_is_greeted_as_one(board: World) -> None:
    ada = await newcomer(board, "Ada")
    await ada.until("Welcome, Ada. You're the only one on.")
    await ada.send("gn").until("Goodbye, Ada")
    assert "Good to see you" not in ada.transcript


async def test_escape_in_the_menu_leads_nowhere(board: World) -> None:
    ada = await visitor(board, "Ada")
    await ada.presses("\x1b\x1b").sees("That key does nothing here.")
    assert "Leave the board?" not in ada.screen


async def without_turns(board: World) -> Guest:
    """Bring a caller without turns left to the menu."""
    ada = await seated(board, "Ada")
    await ada.bets(2, "stay", ends="win")
    await ada.presses("s").goes_on_to(MENU)
    return ada


async def test_without_turns_the_menu_says_where_one_may_go_on(tmp_path: Path) -> None:
    async with world(tmp_path, toml=ONE_TURN) as board:
        ada = await without_turns(board)
        none = ("Black Jack For Time", "UNIX bj")
        others = ", ".join(game.title for game in GAMES.values() if game.title not in none)
        await ada.sees(f"Still open: {others}. For play money: UNIX bj.")
        assert "your one turn today is used" in ada.screen
        assert "<C> Baccarat (Enter)" in ada.screen


@pytest.mark.parametrize(
    ("key", "preference", "value"),
    [
        ("t", "tutor", True),
        ("c", "cut", True),
        ("d", "auto_deposit", True),
        ("a", "animation", "still"),
    ],
)
async def test_a_setting_is_switched(board: World, key: str, preference: str, value) -> None:
    ada = await visitor(board, "Ada")
    ada.presses(f"y{key}")
    await board.at_rest()
    await ada.is_asked("<Q>uit")
    await ada.presses("q").is_asked(MENU)
    assert ada.caller.record.preferences[preference] == value


async def test_a_small_screen_says_why_it_gets_lines(board: World) -> None:
    ada = await visitor(board, "Ada", profile=replace(MODERN, columns=40, rows=20))
    ada.presses("ys")
    await ada.terminal.until("Your choice")
    await ada.presses("2").sees("Your screen has 40 columns and 20 rows.")


async def test_the_goodbye_says_how_the_call_went(board: World) -> None:
    ada = await seated(board, "Ada", saved=300)
    await ada.bets(5, "stay", ends="win")
    await ada.stays()
    await ada.presses("q").is_asked(MENU)
    ada.presses("gy")
    await ada.is_sent_off(
        "This call: 1 hand for time. You're up 5 minutes.",
        "Best hand: 5 minutes won.",
        "You're the richest caller.",
        "Fresh minutes at midnight.",
    )
    assert "1 win, 0 losses" not in ada.screen  # as the menu showed before


async def test_a_caller_out_of_time_reads_their_result_and_when_to_return(tmp_path: Path) -> None:
    async with world(tmp_path, toml=sysop_toml(events="", minutes_per_day=10)) as board:
        ada = await seated(board, "Ada")
        await ada.bets(5, "stay", ends="lose")
        await ada.stays()
        await board.pass_time(301)
        await ada.is_sent_off(
            "This call: 1 hand for time. You're down 5 minutes.",
            "You're out of time. Fresh minutes at midnight.",
        )
        assert "Best hand" not in ada.screen


async def test_the_menu_is_freed_while_its_caller_plays(ada: Table) -> None:
    (caller,) = ada.board.server.board.callers()
    gc.collect()
    scenes = [each for each in gc.get_objects() if isinstance(each, MenuScene)]
    assert [each for each in scenes if each.purse is caller.purse] == []


@pytest.mark.parametrize(("columns", "rows"), [(100, 30), (80, 24), (40, 22)])
async def test_activity_takes_precedence_over_empty_rows(
    tmp_path: Path, columns: int, rows: int
) -> None:
    toml = f'{TOML}\n[tournament]\nday = "fri"\nhour = 0\nhours = 24\n'
    async with world(tmp_path, toml=toml) as board:
        for name in ("Bartholomew Longfellow", "Cassandra Featherstone"):
            await visitor(board, name, profile=SYNCTERM)
        ada = await visitor(board, "Ada", profile=replace(MODERN, columns=columns, rows=rows))
        lines = [row.strip() for row in ada.terminal.lines]
        greeting = next(number for number, row in enumerate(lines) if "Good to see you" in row)
        assert not lines[greeting + 1].startswith("Time left"), "it takes two rows"
        assert "Tournament (D) until 21 Nov at 00:00" in lines, ada.screen
        assert "Beat the dealer, win minutes" in ada.screen or columns < 80


async def test_messages_from_elsewhere_do_not_show_beside_a_table(board: World) -> None:
    ada = await seated(board, "Ada", profile=replace(SYNCTERM, columns=132, rows=50))
    await ada.bets(2, "stay", ends="win")
    await ada.stays()
    await ada.presses("r").sees("The rules of")
    await ada.presses("q").is_asked(TABLE)
    assert any("You win" in row[80:] for row in ada.terminal.lines[:40]), ada.screen
    await ada.presses("q").is_asked(MENU)
    await ada.presses("r").is_asked("<Q>uit")
    assert "You win" not in ada.screen


async def test_the_goodbye_counts_earlier_calls_of_the_day_and_other_players(
    board: World,
) -> None:
    for name, ends in (("Bob", "win"), ("Ada", "lose")):
        guest = await seated(board, name)
        await guest.bets(5, "stay", ends=ends)
        await guest.stays()
        await guest.presses("q").is_asked(MENU)
        await guest.logs_off()
    ada = Guest(board, "Ada")
    await ada.visits()
    ada.presses("gy")
    await ada.is_sent_off(
        "Today: 1 hand for time. You're down 5 minutes.",
        "The other caller who played today did better.",
    )
    bob = Guest(board, "Bob")
    await bob.visits()
    bob.presses("gy")
    await bob.is_sent_off("Nobody has done better today.", "Best hand today: 5 minutes won.")


async def test_a_menu_in_lines_waits_for_the_look_that_another_menu_has_begun(
    board: World,
) -> None:
    ada = await visitor(board, "Ada")
    await ada.logs_off()
    pulse = MenuPulse.among(board.server.board.shared)
    pulse.news = BoardNews()
    await board.clock.advance(EVERY_SECONDS)
    pulse.wake()
    await asyncio.sleep(0)  # it has begun
    assert pulse.news.last_callers == ()
    assert (await pulse.look()).last_callers == ("Ada",)
