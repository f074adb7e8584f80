"""The baccarat table as it looks: on a wide screen, in plain lines, while it is resized."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ansi.canvas import Canvas
from door.call.scene import Area
from door.games.baccarat.events import BaccaratOutcome, Side
from door.games.baccarat.round import BaccaratAction, start
from door.games.baccarat.rules import BACCARAT
from door.tables.baccarat import words
from door.tables.baccarat.scene import BaccaratScene
from tests.door.games.baccarat.coups import play, shoe_of_points
from tests.door.punting import at_baccarat, ends, on_5, punter_of, seed_where
from tests.terminal import REFUSING
from tests.world import world
from timebank.language import Viewer, speaking_to


def scene_after(*shoes) -> BaccaratScene:
    """A scene on which these coups were dealt, one after the other."""
    scene = BaccaratScene(played="Played in dollars")
    for shoe in shoes:
        scene.clear()
        for event in play(shoe).events:
            scene.follow(event)
    return scene


def canvas_of(scene: BaccaratScene, columns: int = 80, rows: int = 19) -> Canvas:
    canvas = Canvas(columns, rows)
    scene.paint(canvas, Area(0, columns - 1, rows))
    return canvas


def rows_of(scene: BaccaratScene, columns: int = 80, rows: int = 19) -> list[str]:
    canvas = canvas_of(scene, columns, rows)
    return [canvas.text(row) for row in range(rows)]


@pytest.mark.parametrize(
    ("language", "names"),
    [("en", ("Player", "Bank", "Tie")), ("fr", ("Joueur", "Banque", "Égalité"))],
)
def test_the_scoreboard_holds_the_last_twenty_coups(
    language: str, names: tuple[str, str, str]
) -> None:
    shoes = (
        [shoe_of_points(7, 6)] * 3
        + [shoe_of_points(6, 7), shoe_of_points(9, 9)]
        + [shoe_of_points(8, 0)] * 18
    )
    with speaking_to(Viewer(language)):
        rows = rows_of(scene_after(*shoes))
    player, bank, stand_off = (row[:55].split() for row in rows[13:16])
    assert (player[0], bank[0], stand_off[0]) == names
    assert player[1:] == ["·"] * 2 + ["8"] * 18
    assert bank[1:] == ["7"] + ["·"] * 19
    assert stand_off[1:] == ["·", "9"] + ["·"] * 18


def test_the_chandelier_sparkles_for_a_winner() -> None:
    def light(shoe) -> object:
        canvas = canvas_of(scene_after(shoe))
        return canvas.style_at(1, canvas.text(1).index("*"))

    assert light(shoe_of_points(7, 6)) != light(shoe_of_points(6, 7))
    assert light(shoe_of_points(6, 7)) == light(shoe_of_points(7, 7))


def test_a_coup_that_is_laid_out_again_looks_as_it_did_when_it_was_dealt() -> None:
    for shoe in (shoe_of_points(5, 7), shoe_of_points(7, 6), shoe_of_points(0, 0, 5, 1)):
        coup, events = start(BACCARAT, shoe, 100)
        dealt, laid = BaccaratScene(), BaccaratScene()
        for event in events:
            dealt.follow(event)
        laid.lay(coup)
        assert rows_of(laid)[4:11] == rows_of(dealt)[4:11]


def test_a_bankroll_of_millions_stays_in_its_frame() -> None:
    scene = scene_after(shoe_of_points(7, 6))
    scene.figures = [("Capital", "12 345 678 F"), ("Banque", "1 000 000 F")]
    rows = rows_of(scene)
    assert rows[5].endswith("│ Capital 12 345 678 F │")
    assert rows[6].endswith("│ Banque   1 000 000 F │")


@pytest.mark.parametrize(("language", "score"), [("en", "T9 P5"), ("fr", "É9 J5")])
def test_plain_lines_say_the_same_as_the_screen(language: str, score: str) -> None:
    with speaking_to(Viewer(language)):
        scene = scene_after(shoe_of_points(9, 9), shoe_of_points(0, 0, 5, 1))
        words_shown = " ".join((*scene.lines(), scene.pot_words()))
        assert words_shown.count(scene.played) == 1
        sides = words.name_of(Side.PLAYER), words.name_of(Side.BANK)
        for word in (words.point_name(5), words.point_name(1), *sides):
            assert word in words_shown
        assert scene.score_line() == score


async def test_a_window_that_grows_and_shrinks_keeps_the_coup(tmp_path: Path) -> None:
    async with at_baccarat(tmp_path, seed_where(on_5(BaccaratAction.CARD))) as ada:
        await ada.wagers_on_5(1000)
        cards = ada.terminal.lines[5:10]
        ada.terminal.resize(120, 40)
        await ada.terminal.wait_for(
            lambda terminal: "┌─────────┐" in terminal.row(9) and "Card?" in terminal.row(38),
            "the table on the larger screen",
        )
        ada.terminal.resize(40, 12)
        await ada.terminal.until("Card?")
        ada.terminal.resize(80, 24)
        await ada.is_asked("Card?")
        assert ada.terminal.lines[5:10] == cards
        await ada.answers("y")


async def test_plain_lines_hold_the_whole_evening_and_the_ceremony(tmp_path: Path) -> None:
    wins = ends(BaccaratOutcome.PLAYER)
    async with world(tmp_path) as board:
        ada = await punter_of(board, "Ada", REFUSING)
        board.seeds = [seed_where(wins, wins, wins, wins)]
        ada.presses("c")
        await ada.terminal.until("Play for time or play money?")
        ada.presses("d")
        await ada.terminal.until("Bankroll: $100,000, The bank: $1,000,000. Played in dollars.")
        assert not re.search("[0-9a-f]{64}", ada.terminal.heard)
        for wager in ("100000", "200 000", "400,000"):
            ada.presses("b")
            await ada.terminal.until_heard("Place your bets")
            ada.presses(f"{wager}\r")
            await ada.terminal.until_heard("All keys (?)")
            assert "Player wins" in ada.terminal.heard
        ada.presses("b")
        await ada.terminal.until_heard("Place your bets")
        ada.presses("300000\r")
        await ada.terminal.until_heard("Press any key")
        output = ada.terminal.heard
        for line in (
            "Banco!",
            "Ladies and gentlemen, the bank is broken!",
            "Ada",
            "and leaves with $1,100,000.",
            "Champagne!",
        ):
            assert line in output
        ada.presses(" ")
        await ada.terminal.until_heard("The last 20 coups: P")
        ada.presses("l")
        await ada.terminal.until_heard("Capital : 1 100 000 $")
        assert b"\x1b" not in ada.terminal.received
