"""Standings of callers: their own page, the hall of fame, the brass plate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ansi.width import text_width
from door.call.markup import plain, wrap
from door.lobby.bulletins import list_of
from door.lobby.fame import _award, _plate
from tests.door.playing import at_the_table, hand
from tests.terminal import REFUSING
from tests.world import register
from timebank.callers import callers, fame
from timebank.callers.award_names import all_awards, wish_of
from timebank.callers.standings import NAMED_AS_LOSER
from timebank.language import Viewer, speaking_to


def words(text: str) -> str:
    return " ".join(text.split())


async def test_a_caller_sees_their_own_rank_and_the_first(tmp_path: Path) -> None:
    async with at_the_table(tmp_path) as ada:
        terminal = ada.terminal
        await ada.bets(4, hand(ends="natural"))
        await ada.bets(2, hand("stay", ends="lose"))
        await ada.does("stay")
        await ada.gets_up()
        await terminal.send("s").until("Your table is")
        shown = words(terminal.picture)
        assert "Hands 2 Won 1 Pushes 0 Lost 1 Blackjacks 1 Charlies 0" in shown
        assert "Most in a row at one game: 1 won, 1 lost. Your best hand won 8 minutes." in shown
        assert (
            "At the tables you're up 6 minutes. Your table is Black Jack For Time: 2 hands."
            in shown
        )
        assert "Fri 20 Nov +6:00 ███" in shown
        await terminal.send("a").until("Your awards")
        shown = words(terminal.picture)
        assert "3 of 20 earned" in shown
        assert "First hand Play a hand to its end. 20 November 2026" in shown
        assert "Charlie Hold five cards without going bust." in shown
        await terminal.send("q").until("Your table is")
        await terminal.send("l").until("Your luck")
        terminal.send("   q")
        await ada.prompt("oodbye")
        await terminal.send("h").until("Hall of fame: Today")
        assert "1 Ada 6:00 1 Ada 8:00" in words(terminal.picture)
        await terminal.send("e").until("Hands won in a row")
        await terminal.send("b").until("Nobody has broken the bank yet.")

        bob = await ada.board.call(replace(REFUSING, columns=40))
        await register(bob, "Bob")
        with ada.board.books() as desk:
            loser, winner = (callers.number_named(desk, name) for name in ("Bob", "Ada"))
            desk.connection.exec_driver_sql(
                "INSERT INTO results_ever"
                " SELECT ?, game, unit, 4, 900, 60, 1, 0, 0, 0, 60, -3, 1, 3 FROM results_ever"
                " WHERE caller_id = ?",
                (loser, winner),
            )
            assert fame.record(desk, winner, 7).named == []
            assert fame.hall(desk, None, 5).losers == []
            callers.change_preferences(desk, loser, {NAMED_AS_LOSER: True})
            assert fame.record(desk, winner, 7).named == ["Bob"]
        await bob.send("h").until("Hall of fame: Today")
        await bob.send("e").until("Lost most, and admit it")
        assert "1 Ada 6:00 Best hand" in words(bob.heard)
        await bob.send("qs").until("Nobody is behind you yet.")
        with ada.board.books() as desk:  # totals without hands
            desk.connection.exec_driver_sql(
                "DELETE FROM results_ever WHERE caller_id = ?", (loser,)
            )


def test_the_plate_is_a_box_on_a_painted_screen_and_a_list_in_lines() -> None:
    painted = _plate(["Ada", "Bob"], painted=True)
    assert [len(row) for row in (painted[0], painted[-1])] == [37, 37]
    assert "Ada" in painted[3]
    assert _plate(["Ada", "Bob"], painted=False) == ["They broke the bank", "Ada", "Bob"]


def test_the_longest_name_leaves_the_lists_in_line() -> None:
    places = [("Wolfeschlegelsteinhausen", "1:00:00"), ("Bob", "5:00")]
    _heading, *rows = map(plain, list_of("Won most", places))
    assert {len(row) for row in rows} == {36}, rows


def test_an_award_on_a_narrow_screen_is_indented_under_its_name() -> None:
    name, *rows = [plain(row) for each in _award("company", "", 38) for row in wrap(each, 38)]
    assert not name.startswith(" ")
    assert len(rows) == 2
    assert all(row.startswith("  ") for row in rows), rows


def test_conditions_of_awards_share_a_column_whether_earned_or_not() -> None:
    earned, *_ = _award("company", "20 November 2026", 78)
    lacked, *_ = _award("company", "", 78)
    wish = wish_of("company")[:8]
    assert plain(earned).index(wish) == plain(lacked).index(wish)


@pytest.mark.parametrize("columns", [0, 38, 78])
@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_earned_award_keeps_its_condition(columns: int, language: str) -> None:
    with speaking_to(Viewer(language)):
        for word in all_awards(["black-jack-for-time"]):
            rows = _award(word, "20 November 2026", columns)
            assert wish_of(word) in words(plain(" ".join(rows))), rows
            assert not columns or len(rows) < 2 or all(text_width(plain(x)) <= 78 for x in rows)


async def test_hall_and_news_are_painted_below_a_header_where_there_is_room(
    tmp_path: Path,
) -> None:
    async with at_the_table(tmp_path) as ada:
        await ada.bets(4, hand(ends="natural"))
        await ada.gets_up()
        for key, title in (("h", "Hall of fame: Today"), ("n", "News")):
            await ada.terminal.send(key).until(f" {title}")
            assert "▓▒░" in ada.terminal.row(0) + ada.terminal.row(4)
            assert title in ada.terminal.row(6)
            await ada.terminal.send("q").until("oodbye")
