"""Our own screens: the shipped files match the drawings, and every editor opens them."""

import pytest

from ansi import art
from ansi.canvas import Canvas
from door.games.registry import GAMES
from tools.draw.files import FOLDER, files

FILES = files()
NAMES = sorted({name.partition(".")[0] for name in FILES})
HEADERS = {"menu", "time-bank", "hall-of-fame", "news", *GAMES}


def test_the_files_in_the_tree_match_a_fresh_drawing() -> None:
    assert {path.name: path.read_bytes() for path in FOLDER.iterdir()} == FILES


def test_every_screen_has_all_its_forms_and_is_of_a_room() -> None:
    rooms = {*HEADERS, "welcome", "first-call", "goodbye", "time-up"}
    assert rooms - set(GAMES) <= set(NAMES) <= rooms
    endings = ("ans", "asc", "40.ans", "40.asc")
    named = {name.partition(".")[0] for name in FILES if ".fr." in name}
    assert set(FILES) == {f"{name}.{ending}" for name in NAMES for ending in endings} | {
        f"{name}.fr.{ending}" for name in named for ending in endings
    }
    # Names of games, and of the board's own game on the welcome, are the same in every language.
    assert rooms - named == {"welcome", *GAMES} - {"baccarat"}


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_drawn_file_names_its_source(name: str) -> None:
    sauce = art.read(FILES[name]).sauce
    assert sauce is not None
    assert sauce.author == sauce.group == "Black Jack For Time"
    assert sauce.title == name.partition(".")[0].replace("-", " ").capitalize()
    assert (sauce.data_type, sauce.file_type) == (1, 1 if name.endswith("ans") else 0)
    assert sauce.columns == (40 if ".40." in name else 80)
    assert sauce.lines == art.read(FILES[name]).text.count("\r\n")


@pytest.mark.parametrize("name", sorted(FILES))
def test_no_line_reaches_the_last_column_or_leaves_a_colour_behind(name: str) -> None:
    picture = art.read(FILES[name])
    assert picture.sauce is not None
    canvas = Canvas(picture.sauce.columns + 2, picture.sauce.lines + 2)
    art.paint(canvas, picture, 0, 0)
    for row in range(canvas.rows):
        assert len(canvas.text(row)) < picture.sauce.columns
    for line in picture.text.split("\r\n"):
        assert "\x1b" not in line or line.endswith("\x1b[0m")


@pytest.mark.parametrize("name", sorted(FILES))
def test_screens_fit_where_they_are_shown(name: str) -> None:
    sauce = art.read(FILES[name]).sauce
    assert sauce is not None
    assert sauce.lines <= (5 if name.partition(".")[0] in HEADERS else 20)


@pytest.mark.parametrize("name", sorted(name for name in FILES if name.endswith("asc")))
def test_plain_letters_are_plain(name: str) -> None:
    assert all(
        0x20 <= byte < 0x7F or byte in b"\r\n" for byte in art.read(FILES[name]).text.encode()
    )
