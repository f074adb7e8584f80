"""Our own screens: the shipped files match the drawings, and every editor opens them."""

import struct

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


def rows(name: str) -> int:
    return art.read(FILES[name]).text.count("\r\n")


LAST = [
    each for each in sorted(FILES) if each.startswith(("goodbye", "time-up")) and ".40." in each
]


@pytest.mark.parametrize("name", LAST)
def test_a_narrow_last_screen_leaves_room_for_the_last_words(name: str) -> None:
    """Half of GOODBYE scrolled away on 40x25: the words about call and day take twelve rows."""
    assert rows(name) + 1 + 12 + 1 <= 24


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_drawn_file_names_its_source(name: str) -> None:
    title = name.partition(".")[0].replace("-", " ").capitalize().encode()
    columns = 40 if ".40." in name else 80
    author = b"Black Jack For Time".ljust(20)
    record = FILES[name][-128:]
    assert FILES[name][-129:-121] == b"\x1aSAUCE00"
    assert record[7:90] == title.ljust(35) + author * 2 + b"20261123"
    numbers = struct.unpack("<IBBHHHHBB", record[90:106])
    assert numbers[1:] == (1, int(name.endswith("ans")), columns, rows(name), 0, 0, 0, 0)
    assert numbers[0] == len(FILES[name]) - 129
    assert record[106:] == b"IBM VGA".ljust(22, b"\0")
    assert art.read(FILES[name]).columns == columns


@pytest.mark.parametrize("name", sorted(FILES))
def test_no_line_reaches_the_last_column_or_leaves_a_colour_behind(name: str) -> None:
    picture = art.read(FILES[name])
    canvas = Canvas(picture.columns + 2, rows(name) + 2)
    art.paint(canvas, picture, 0, 0)
    for row in range(canvas.rows):
        assert len(canvas.text(row)) < picture.columns
    for line in picture.text.split("\r\n"):
        assert "\x1b" not in line or line.endswith("\x1b[0m")


@pytest.mark.parametrize("name", sorted(FILES))
def test_screens_fit_where_they_are_shown(name: str) -> None:
    assert rows(name) <= (5 if name.partition(".")[0] in HEADERS else 20)


@pytest.mark.parametrize("name", sorted(name for name in FILES if name.endswith("asc")))
def test_plain_letters_are_plain(name: str) -> None:
    assert all(
        0x20 <= byte < 0x7F or byte in b"\r\n" for byte in art.read(FILES[name]).text.encode()
    )
