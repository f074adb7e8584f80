"""Every word in a column of fixed width has room for it, in each language."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from ansi.canvas import Canvas
from door.call.markup import plain
from door.call.scene import Area
from door.games.baccarat.events import Side
from door.games.registry import GAMES
from door.lobby.fame import AWARD_CELLS
from door.session.duels import DuelScene
from door.session.menu import NARROW_INDENT
from door.session.shared_hands import DealScene
from door.session.tour import PracticeScene
from door.session.tournament import TournamentScene
from door.tables.baccarat.scene import BaccaratScene
from door.tables.baccarat.words import point_name
from door.tables.black_jack_for_time import scene as black_jack
from door.tables.black_jack_for_time.scene import BlackJackScene
from door.tables.red_dog import scene as red_dog
from door.tables.red_dog.scene import RedDogScene
from door.tables.scene import PANEL_COLUMNS, TableScene
from timebank.callers.award_names import all_awards, name_of
from timebank.language import LANGUAGES, N_, Viewer, _, speaking_to

COLUMNS, ROWS = 80, 24
EACH_LANGUAGE = pytest.mark.parametrize("language", LANGUAGES)


def panel_of(scene: TableScene) -> list[str]:
    """Paint a table, and return the rows of its panel without the frame."""
    canvas = Canvas(COLUMNS, ROWS)
    scene.paint(canvas, Area(0, COLUMNS - 1, ROWS - 5))
    rows = [canvas.text(row).rstrip()[-PANEL_COLUMNS:] for row in range(2, ROWS - 6)]
    assert all(row[0] == row[-1] == "│" for row in rows), rows
    return [row[1:-1].strip() for row in rows]


@EACH_LANGUAGE
@pytest.mark.parametrize(
    ("scene", "endings"),
    [(BlackJackScene, black_jack.ENDINGS.values()), (RedDogScene, red_dog.ENDINGS.values())],
)
def test_the_last_hands_say_their_ends_whole(
    language: str, scene: type[TableScene], endings: Iterable[str]
) -> None:
    with speaking_to(Viewer(language)):
        for ending in endings:
            table = scene(coin=60, turns_limit=20)
            table.end(_(ending), -1200)
            words, amount = panel_of(table)[-1 - ROWS :], "-20"
            assert any(row.startswith(_(ending)) and row.endswith(amount) for row in words), ending


@EACH_LANGUAGE
@pytest.mark.parametrize(
    "scene", [BlackJackScene, RedDogScene, DealScene, TournamentScene, DuelScene]
)
def test_every_figure_of_a_panel_stands_apart_from_its_name(
    language: str, scene: type[TableScene]
) -> None:
    with speaking_to(Viewer(language)):
        table = scene(coin=15 * 60, turns_limit=20, pot=99, bet=9900, seed="ab" * 32)
        table.tally.turns, table.tally.net = 3, -86_399
        table.switches = {N_("Cut"): True, N_("Tutor"): False}
        for raised in ("insured", "raised"):
            if hasattr(table, raised):
                setattr(table, raised, 4500)
        rows = panel_of(table)
        for name, value in table._figures():
            assert any(row.startswith(f"{name} ") and row.endswith(f" {value}") for row in rows), (
                name,
                value,
                rows,
            )


@EACH_LANGUAGE
def test_the_words_about_a_game_take_one_row_of_forty_columns(language: str) -> None:
    """A second row would leave the menu no room for the tournament."""
    room = Area(0, 39, 20).columns - 2 - len(NARROW_INDENT)
    with speaking_to(Viewer(language)):
        assert [_(game.about) for game in GAMES.values() if len(_(game.about)) > room] == []


@EACH_LANGUAGE
def test_the_title_of_the_practice_hand_fits_forty_columns(language: str) -> None:
    with speaking_to(Viewer(language)):
        assert len(_(PracticeScene.title)) <= 38


@EACH_LANGUAGE
def test_the_plate_at_baccarat_stays_in_its_panel(language: str) -> None:
    with speaking_to(Viewer(language)):
        canvas = Canvas(COLUMNS, ROWS)
        BaccaratScene(plate=["Ada"]).paint(canvas, Area(0, COLUMNS - 1, ROWS - 5))
        (row,) = (
            text for text in map(canvas.text, range(ROWS)) if _("They broke the bank") in text
        )
        assert row.endswith(" │")


@EACH_LANGUAGE
def test_the_points_at_baccarat_stay_apart_on_forty_columns(language: str) -> None:
    with speaking_to(Viewer(language)):
        for points in ((3, 0), (8, 4)):
            canvas = Canvas(40, 25)
            scene = BaccaratScene(points=dict(zip(Side, points, strict=True)))
            scene.paint(canvas, Area(0, 39, 19))
            said = re.split("  +", canvas.text(10).strip())
            assert said == [point_name(point).capitalize() for point in points]


@EACH_LANGUAGE
def test_the_name_of_an_award_leaves_a_gap(language: str) -> None:
    with speaking_to(Viewer(language)):
        names = [plain(name_of(word)) for word in all_awards(GAMES)]
        assert [name for name in names if len(name) > AWARD_CELLS - 2] == []
