"""Staging of a hand: cards one by one, banners, keys that skip; and other offers."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from ansi import art
from ansi.canvas import Canvas
from door.games.engine.descriptor import Game
from door.games.registry import GAMES
from door.lobby.texts import OURS
from tests.door.playing import PAST_HEADER, PLACE_BET, Table, at_the_table, hand
from tests.terminal import MODERN, REFUSING, Profile, Terminal
from tests.world import BOARD, World, logged_on, world

STAGED = BOARD.replace('animation = "off"', 'animation = "normal"')
SMALL = replace(MODERN, columns=40, rows=22)
LARGE = replace(MODERN, columns=132, rows=50)


@asynccontextmanager
async def staged(folder: Path, toml: str = STAGED) -> AsyncIterator[Table]:
    async with at_the_table(folder, toml=toml) as ada:
        yield ada


async def begins(ada: Table, seed: bytes, coins: int = 4) -> None:
    """Bet, and see the first card."""
    ada.board.seeds = [seed]
    await ada.asks_to_bet()
    ada.terminal.send(f"{coins}\r")
    await ada.terminal.wait_for(lambda _: bool(ada.cards("Your hand")), "the first card")


def felt(ada: Table) -> str:
    return "\n".join(ada.terminal.lines[1:19])


async def watches(ada: Table, until: str, step: float = 0.05) -> list[tuple[int, int]]:
    """Look at the cards of both, a moment after another, until the question comes."""
    screens = []
    while until not in ada.prompt_row:
        screens.append((len(ada.cards("Your hand")), len(ada.cards("Dealer"))))
        await ada.board.clock.advance(step)
        await ada.board.settled()
    return screens


async def test_cards_are_dealt_one_by_one_a_quarter_of_a_second_apart(tmp_path: Path) -> None:
    async with staged(tmp_path) as ada:
        await begins(ada, hand("hit"))
        began = ada.board.clock.monotonic()
        screens = await watches(ada, "<H>it")
        assert sorted(set(screens)) == [(1, 0), (1, 1), (2, 1), (2, 2)][: len(set(screens))]
        assert len(set(screens)) >= 3
        assert 0.7 <= ada.board.clock.monotonic() - began <= 1.6


async def test_nothing_tells_the_result_before_the_cards_lie_there(tmp_path: Path) -> None:
    async with staged(tmp_path) as ada:
        before = ada.time_left
        await begins(ada, hand(ends="natural"), coins=10)
        while "BLACKJACK!" not in ada.messages:
            assert ada.time_left <= before
            assert ada.figure("W-L-push") in ("", "0-0-0")
            await ada.board.clock.advance(0.05)
            await ada.board.settled()
        await ada.prompt(PLACE_BET)
        assert ada.time_left > before


async def test_a_key_skips_the_rest_and_is_not_eaten(tmp_path: Path) -> None:
    async with staged(tmp_path) as ada:
        began = ada.board.clock.monotonic()
        await begins(ada, hand("stay", ends="win"))
        ada.terminal.send("s ")
        await ada.prompt(PLACE_BET)
        assert ada.journal() == ["bet", "stay"]
        ada.terminal.send(" ")
        await ada.board.at_rest()
        assert "does nothing here" not in ada.messages
        assert ada.board.clock.monotonic() == began


@pytest.mark.parametrize(
    ("actions", "ends", "banner"),
    [
        ((), "natural", "B L A C K J A C K !"),
        (("double",), "twenty-one", "2 1   O N   A   D O U B L E !"),
        (("hit", "hit", "hit"), "charlie", "FIVE-CARD CHARLIE!"),
    ],
)
async def test_a_banner_waves_for_a_second_and_a_half(
    tmp_path: Path, actions: tuple[str, ...], ends: str, banner: str
) -> None:
    async with staged(tmp_path) as ada:
        await begins(ada, hand(*actions, ends=ends))
        for action in actions:
            await watches(ada, "<H>it")
            ada.terminal.send(action[0])
            await ada.board.at_rest()
        waved = 0.0
        while PLACE_BET not in ada.prompt_row:
            waved += 0.05 * (banner in felt(ada))
            await ada.board.clock.advance(0.05)
            await ada.board.settled()
        assert 0.5 < waved <= 1.6
        assert banner not in felt(ada)


def _header(name: str) -> str:
    """The middle row of the drawn header of a game, as a terminal shows it."""
    picture = art.read((OURS / f"{name}.ans").read_bytes())
    canvas = Canvas(80, art.height(picture))
    art.paint(canvas, picture, 0, 0)
    return canvas.text(2).strip()


@pytest.mark.parametrize("game", [game for name, game in GAMES.items() if name != "unix-bj"])
async def test_the_header_of_a_game_is_shown_for_a_second_before_its_table(
    tmp_path: Path, game: Game
) -> None:
    name = game.name
    async with world(tmp_path, toml=STAGED) as board:
        ada = await at_the_menu(board)
        await ada.send(game.letter.lower()).until(_header(name))
        shown = 0.0
        while _header(name) in ada.picture:
            shown += 0.05
            await board.clock.advance(0.05)
            await board.settled()
        assert 0.9 < shown <= 1.2
        await ada.wait_for(lambda _: "<B>et" in ada.picture or "<T>ime" in ada.picture, "a table")


async def test_a_key_skips_the_header_and_counts_at_the_table(tmp_path: Path) -> None:
    async with world(tmp_path, toml=STAGED) as board:
        ada = await at_the_menu(board)
        await ada.send("b").until(_header("black-jack-for-time"))
        await ada.send("b").until("Coins to bet")


@pytest.mark.parametrize("toml", [BOARD, STAGED])
async def test_there_is_no_header_with_animation_off_or_in_plain_lines(
    tmp_path: Path, toml: str
) -> None:
    profile = MODERN if toml is BOARD else REFUSING
    async with world(tmp_path, toml=toml) as board:
        ada = await at_the_menu(board, profile)
        began, start = board.clock.monotonic(), len(ada.wire)
        await ada.send("b").until("<B>et")
        assert board.clock.monotonic() == began
        assert "\N{FULL BLOCK}\N{FULL BLOCK}" not in ada.wire[start:].decode("utf-8", "replace")


async def test_a_bust_a_small_loss_and_a_large_one_look_different(ada: Table) -> None:
    looks = []
    for coins, actions, ends in (
        (1, ("hit",), "bust"),
        (1, ("stay",), "lose"),
        (10, ("stay",), "lose"),
    ):
        await ada.bets(coins, hand(*actions, ends=ends))
        await ada.does(*actions)
        looks.append(ada.terminal.row(17))
    assert [re.sub(" +│.*", "", look).split() for look in looks] == [
        ["BUST!", "-1", "■"],
        ["DEALER", "WINS", "-1", "■"],
        ["DEALER", "WINS", "-10", "■" * 10],
    ]


# Other offers of a hand


async def test_rules_fairness_tutor_and_cut_are_at_hand_in_a_hand(ada: Table) -> None:
    await ada.bets(1, hand("stay", ends="win"))
    assert "<R>" not in ada.prompt_row
    ada.terminal.send("c")
    await ada.message("Cut is on")
    assert ada.figure("Cut") == "on"
    ada.terminal.send("u")
    await ada.message("Book: ")
    assert ada.figure("Tutor") == "on"
    ada.terminal.send("u")
    await ada.message("Tutor is off.")
    await ada.terminal.send("r").until("The rules of Black Jack For Time")
    ada.terminal.send("q")
    await ada.sees_hand()
    await ada.terminal.send("f").until("Seal of this shoe")
    ada.terminal.send("q")
    await ada.sees_hand()
    ada.terminal.send("t")
    await ada.message("T does nothing here: type U for Tutor.")
    await ada.does("stay")
    assert ada.journal() == ["bet", "stay"]


# Small screens, and large ones


async def is_played_at(board: World, game: str, seed: bytes, profile: Profile) -> None:
    """Play a hand with one decision on a narrow screen, and look at it."""
    rows = profile.rows
    ada = await sits_at(game, board, profile)
    board.seeds = [seed]
    await ada.send("b").until("Coins, 1 to 10 (Enter for 1):")
    await ada.send("5\r").until("<S>ta")
    assert "Pot 55             Bet 5" in ada.row(rows - 1 - 6 - 2)
    assert ada.picture.count("┌─────┐") >= 2
    await ada.send("s").until("<B>et")
    assert re.search(r"Sitting \S+ +W-L-push \d-\d-\d", ada.picture)


async def at_the_menu(board: World, profile: Profile = MODERN) -> Terminal:
    board.enter("Ada")
    terminal = await logged_on(board, "Ada", profile)
    await terminal.until("Press any key")
    await terminal.send(" ").until("oodbye")
    return terminal


async def sits_at(game: str, board: World, profile: Profile) -> Terminal:
    terminal = await at_the_menu(board, profile)
    await terminal.send(f"{game}{PAST_HEADER}").until("<B>et")
    return terminal


async def test_the_news_of_earlier_hands_is_cleared_with_a_bet(ada: Table) -> None:
    await ada.bets(4, hand(ends="natural"))
    await ada.message("BLACKJACK!")
    await ada.bets(4, hand())
    assert "BLACKJACK! " not in ada.messages
