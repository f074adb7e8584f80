"""The strategy card as callers read it at the tables: on a screen, in lines, in French."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from door import helper
from door.call.markup import plain
from door.call.page import MARGIN
from door.errors import HelperUnavailable
from door.games.baccarat.rules import BACCARAT
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, UNIX_BJ, VEGAS
from door.games.registry import GAMES
from door.games.solver import cache
from door.games.solver.strategy_card import Section, StrategyCard
from door.lobby.sums import Sums
from door.tables.strategy import UNAVAILABLE, card_text
from tests.door.at_the_teletype import at_the_teletype
from tests.door.playing import PLACE_BET, Table, at_the_table, hand
from tests.door.punting import at_baccarat, on_5, seed_where
from tests.door.vegas_callers import vegas_callers
from tests.terminal import Terminal
from tests.world import World
from timebank.language import Viewer, speaking_to

BJFT = "black-jack-for-time"
CARD = StrategyCard(
    "Any table",
    (
        Section(
            "You have",
            ("2", "3", "4", "5", "6", "7", "8", "9", "10", "A"),
            (("5-8", tuple("HHHHHHHHHH")), ("12", tuple("HHSSSHHHHH"))),
        ),
        Section("An ace as 11", ("2", "3"), (("soft 18", ("S", "Ds")),)),
        Section("A pair of", ("2", "3"), (("8 8", ("P", "P")),)),
    ),
    (),
    {"played": 0.0012, "careful": 0.0097, "insurance": -0.0588},
)


class Ready(Sums):
    """Cards that are there, or are not: a test says which."""

    def __init__(self, *cards: StrategyCard | None) -> None:
        super().__init__()
        self.asked: list[tuple[str, Any]] = []
        self.owed: list[asyncio.Future[StrategyCard]] = []
        self._ready = list(cards)

    def card(self, game: str, rules: Any) -> asyncio.Future[StrategyCard]:
        self.asked.append((game, rules))
        answer: asyncio.Future[StrategyCard] = asyncio.get_running_loop().create_future()
        card = self._ready.pop(0)
        if card is None:
            self.owed.append(answer)
        else:
            answer.set_result(card)
        return answer


def shelf(board: World, *cards: StrategyCard | None) -> Ready:
    board.server.board.shared["sums"] = ready = Ready(*cards)
    return ready


async def sees(terminal: Terminal, *texts: str) -> None:
    for text in texts:
        await terminal.wait_for(lambda _, text=text: text in terminal.picture, text)


async def test_g_shows_it_between_hands_and_in_a_hand(ada: Table) -> None:
    cards = shelf(ada.board, CARD, CARD)
    ada.terminal.send("g")
    await sees(
        ada.terminal,
        "Black Jack For Time: what to do",
        "  12           H    H    S    S    S    H    H    H    H    H",
        "  18           S   Ds",
    )
    ada.terminal.send(" ")
    await sees(
        ada.terminal,
        "Ds double or else stand",
        "Played like this, you win 0.12% of your bets on average.",
        "Counting every card in sight, as the tutor does, you win 0.97%.",
        "Never buy insurance: on average it loses 5.88% of what it costs.",
    )
    assert cards.asked == [(BJFT, BLACK_JACK_FOR_TIME)]
    ada.terminal.send("q")
    await ada.prompt(PLACE_BET)
    await ada.bets(2, hand(holding=12))
    ada.terminal.send("g")
    await sees(ada.terminal, "  12           H    H    S")
    ada.terminal.send("q")
    await ada.sees_hand()
    await ada.does("hit")


async def test_an_impatient_caller_leaves_and_an_error_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(helper, "COMMAND", ("/no/such/program",))
    async with at_the_table(tmp_path) as ada:
        shelf(ada.board, None)
        ada.terminal.send("g")
        await sees(ada.terminal, "Working it out: this can take half a minute.")
        ada.terminal.send(" ")
        await ada.prompt(PLACE_BET)
        ada.board.server.board.shared["sums"] = Sums()
        ada.terminal.send("g")
        await sees(ada.terminal, UNAVAILABLE)


async def test_at_vegas_and_at_the_teletype(tmp_path: Path) -> None:
    for table in ("vegas", "bj"):
        (tmp_path / table).mkdir()
    async with vegas_callers(tmp_path / "vegas", "Ada") as (ada,):
        cards = shelf(ada.board, CARD)
        await ada.presses("?").sees("See the strategy card")
        await ada.presses("q").is_asked("<B>et (Enter)")
        await ada.presses("g").sees("Vegas: what to do")
        assert cards.asked == [("vegas", VEGAS)]
    async with at_the_teletype(tmp_path / "bj") as bob:
        cards = shelf(bob.board, CARD)
        bob.terminal.send("g")
        await sees(bob.terminal, "UNIX bj: what to do")
        assert cards.asked == [("unix-bj", UNIX_BJ)]


async def test_at_baccarat_on_a_5(tmp_path: Path) -> None:
    async with at_baccarat(tmp_path, seed_where(on_5())) as ada:
        game = GAMES["baccarat"]
        shelf(ada.board, cache.card_of(game, BACCARAT))
        await ada.wagers_on_5(100)
        ada.terminal.send("g")
        await sees(
            ada.terminal,
            "C  take a card",
            "Played like this, you lose 1.24% of your bets on average.",
            "You have nothing else to decide.",
        )
        ada.terminal.send("q")
        await ada.answers("y")


@pytest.mark.parametrize("columns", [39, 80, 132])
def test_it_fits_every_screen(columns: int) -> None:
    screen: Any = SimpleNamespace(is_painted=True, page_columns=columns)
    text = card_text(CARD, screen)
    grids = [line for line in map(plain, text.splitlines()) if line.startswith("  ")][:-5]
    assert all(len(line) <= columns - MARGIN for line in grids)
    head = next(line for line in grids if "A" in line)
    twelve = next(line for line in grids if line.startswith("  12"))
    assert twelve[head.index("4")] == "S"
    assert twelve[head.index("A")] == "H"


@pytest.mark.parametrize("is_painted", [True, False])
@pytest.mark.parametrize(("careful", "is_said"), [(0.0097, True), (0.0012, False)])
def test_a_card_says_that_it_goes_by_totals_where_cards_matter(
    is_painted: bool, careful: float, is_said: bool
) -> None:
    screen: Any = SimpleNamespace(is_painted=is_painted, page_columns=80)
    card = replace(CARD, gains={"played": 0.0012, "careful": careful})
    assert ("The tutor and the review weigh your very cards" in card_text(card, screen)) is is_said


def test_in_lines_each_hand_is_a_sentence_and_in_french_too() -> None:
    screen: Any = SimpleNamespace(is_painted=False)
    text = plain(card_text(CARD, screen))
    assert "In brackets are the dealer's cards." in text
    assert "  12: hit (2, 3, 7 to A), stand (4 to 6)\n" in text
    assert "  5-8: hit\n" in text
    assert text.startswith("This card goes by totals.")
    with speaking_to(Viewer("fr")):
        text = plain(card_text(CARD, screen))
    assert "12 : tirer (2, 3, 7 à A), rester (4 à 6)" in text
    assert "vous gagnez en moyenne 0,12 % de vos mises" in text


async def test_a_process_makes_the_card_once() -> None:
    cards = Sums()
    first = cards.card("baccarat", BACCARAT)
    assert cards.card("baccarat", BACCARAT) is first
    made = await first
    assert made == cache.card_of(GAMES["baccarat"], BACCARAT)
    await cards.close()


async def test_a_card_that_could_not_be_made_is_made_when_asked_again() -> None:
    cards = Sums()
    with pytest.raises(HelperUnavailable):
        await cards.card("baccarat", None)
    first = cards.card("baccarat", None)
    with pytest.raises(HelperUnavailable):
        await first
    assert cards.card("baccarat", None) is not first
    await cards.close()


async def test_a_message_sent_while_it_is_worked_out_does_not_lose_it(ada: Table) -> None:
    ready = shelf(ada.board, None)
    ada.terminal.send("g")
    await sees(ada.terminal, "Working it out: this can take half a minute.")
    ada.terminal.send("/w\r")
    await sees(ada.terminal, "On now: Ada", "Working it out: this can take half a minute.")
    ready.owed.pop().set_result(CARD)
    await sees(ada.terminal, "  12           H    H    S    S    S    H    H    H    H    H")
