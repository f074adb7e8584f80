"""No frame of a dealt round reveals more than its visible cards do.

Each test deals two rounds whose cards are the same up to one. Until that card falls, both rounds
must look the same to every caller at the table: screens, status lines and bells.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

import pytest

from door.games.blackjack.kind import BlackJackKind
from door.games.engine.cards import parse_cards
from door.tables.reel import THINK_SECONDS, Reel, replay_hand
from door.tables.vegas.film import film
from door.tables.vegas.seat import BEAT_SECONDS
from tests.door.playing import PAST_HEADER
from tests.door.riding import Rider
from tests.door.session.test_watching import reader
from tests.door.vegas_callers import AT_TABLE, Player, player, table_toml
from tests.door.visiting import MENU
from tests.terminal import MODERN, REFUSING, SYNCTERM
from tests.world import World, world
from timebank.language import speaking_to
from timebank.wagers import journal

ANIMATED = table_toml(minutes=90).replace('"off"', '"normal"')
STEP = 0.05  # seconds between two frames
NARROW = replace(MODERN, columns=40)
Meanwhile = Callable[[dict[str, Player]], object]


async def guest_by_door(board: World, rider: Rider) -> Player:
    """Seat the caller of another board, who comes by a door."""
    await rider.comes_in()
    guest = Player(board, rider.name)
    guest.terminal = rider.terminal
    await guest.presses("n").goes_on_to(MENU)
    await guest.sits_down()
    return guest


async def everybody(board: World, rider: Rider) -> dict[str, Player]:
    """Seat Ada, Bob and a guest by door, and put two watchers behind Ada; Eve is at the menu."""
    here = {"Ada": await player(board, "Ada")}
    board.enter("Bob")
    here["Bob"] = Player(board, "Bob")
    await here["Bob"].visits(NARROW)
    await here["Bob"].presses(f"v{PAST_HEADER}").sees("Tal<k>")
    here["Moth"] = await guest_by_door(board, rider)
    for name, profile in (("Cyd", SYNCTERM), ("Dan", REFUSING)):
        here[name] = await reader(board, name, profile)  # type: ignore[assignment]
        await here[name].presses("w").is_asked("Behind whose chair?")
        await here[name].presses("Ada\r").sees("Behind Ada, at ")
    board.enter("Eve")
    here["Eve"] = Player(board, "Eve")
    await here["Eve"].visits()
    return here


async def settles(board: World) -> None:
    for _round in range(12):
        await board.at_rest()
        await asyncio.sleep(0)


def frame(who: Player) -> tuple[str, int]:
    """The screen, or all lines of a terminal that scrolls, and the number of bells."""
    scrolls = who.terminal.profile == REFUSING
    return who.terminal.transcript if scrolls else who.terminal.picture, who.terminal.wire.count(7)


async def frames(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    cards: str,
    stands: int,
    meanwhile: Meanwhile | None,
) -> dict[str, list[tuple[str, int]]]:
    """Return each viewer's frames from the first card after the deal or the last of `stands`."""
    deck = (*parse_cards(cards), *parse_cards("2C " * 60))
    monkeypatch.setattr(BlackJackKind, "cards", lambda *_asked: deck)
    seen: dict[str, list[tuple[str, int]]] = {}
    async with world(folder, toml=ANIMATED) as board:
        rider = Rider(board)
        here = await everybody(board, rider)
        for name in ("Ada", "Bob", "Moth"):
            here[name].presses("b2\r")
            await settles(board)
        for name in ("Ada", "Bob", "Moth")[:stands]:
            await board.pass_time(8 * BEAT_SECONDS)
            await here[name].sees("You have")
            here[name].presses("s")
            await settles(board)
        for number in range(60):
            if meanwhile is not None and number == 4:
                meanwhile(here)
            await settles(board)
            for name, each in here.items():
                seen.setdefault(name, []).append(frame(each))
            await board.pass_time(STEP)
        assert AT_TABLE in here["Ada"].prompt
        await rider.leaves()
        seen["a film"] = film_of(board)
    return seen


def film_of(board: World) -> list[tuple[str, int]]:
    """The frames of a film of the round, as many as there are cards and the empty table."""
    with board.books() as desk:
        stored = journal.stored_round(desk, 1)
    assert stored is not None
    reel = Reel()
    with speaking_to(reel.viewer):
        film(reel, replay_hand(stored))
    return [(letters, 0) for second, letters in reel.frames if second >= THINK_SECONDS]


def bets_again(here: dict[str, Player]) -> None:
    """Moth, who sees no cards fall, bets as soon as the round is over."""
    here["Moth"].presses("q" if "leave" in here["Moth"].prompt else "a")


def joins(here: dict[str, Player]) -> None:
    here["Eve"].presses(f"v{PAST_HEADER}")


def goes_away(here: dict[str, Player]) -> None:
    here["Moth"].presses("qy")


# The cards of three seats, the dealer's, the seats' second, the dealer's second, and the draws.
PAIRS = {
    "the dealer's blackjack": ("9S 8S 7S TD 9H 8H 7H", "AC", "9C", 0),
    "insurance": ("9S 8S 7S", "AD 9H 8H 7H 9C", "TD 9H 8H 7H 9C", 0),
    "the last natural": ("AS AH AC 7D KS KH", "KC TC", "8C TC", 0),
    "the first natural": ("AS 8S 7S 7D", "KH 8H 7H TC", "9H 8H 7H TC", 0),
    "the dealer's draw": ("TS TH TC 6D 9S 9H 9C 2D 5D", "8D", "TD", 3),
    "the dealer's second draw": ("TS TH TC 6D 9S 9H 9C 2D", "2S 2H TD", "3S 6H TD", 3),
}


@pytest.mark.parametrize("pair", PAIRS)
async def test_no_frame_tells_the_next_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pair: str
) -> None:
    await alike(tmp_path, monkeypatch, pair, None)


@pytest.mark.parametrize("meanwhile", [bets_again, goes_away, joins])
async def test_no_frame_tells_it_when_another_caller_acts_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meanwhile: Meanwhile
) -> None:
    await alike(tmp_path, monkeypatch, "the dealer's blackjack", meanwhile, without={"Moth", "Eve"})


def part(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


async def alike(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    pair: str,
    meanwhile: Meanwhile | None,
    *,
    without: Collection[str] = (),
) -> None:
    same, one, other, stands = PAIRS[pair]
    first = await frames(part(folder, "1"), monkeypatch, f"{same} {one}", stands, meanwhile)
    second = await frames(part(folder, "2"), monkeypatch, f"{same} {other}", stands, meanwhile)
    fallen = len(same.split()) - (7 if stands else 0)
    until = round(fallen * BEAT_SECONDS / STEP)
    for name in first.keys() - set(without):
        for number in range(fallen if name == "a film" else until):
            (screen, bells), (other_screen, other_bells) = first[name][number], second[name][number]
            assert screen.split("\n") == other_screen.split("\n"), f"{name}, frame {number}"
            assert bells == other_bells, f"{name}, frame {number}"
        assert first[name] != second[name] or name == "Eve"
