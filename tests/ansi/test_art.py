import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ansi.art import Art, encode, height, paint, read
from ansi.canvas import Canvas
from ansi.style import Colour, Style
from tests.ansi.terminal import shown

PICTURES = st.text(alphabet="abc \r\n\t░█♥☺•♫é│\xa0")


def record(columns: int = 0, flags: int = 0) -> bytes:
    """A SAUCE record, texts and font filled."""
    numbers = bytes(4) + b"\x01\x01" + columns.to_bytes(2, "little") + bytes(7) + bytes((flags,))
    return b"SAUCE00" + b"Casino".ljust(75) + b"19940730" + numbers + b"IBM VGA".ljust(22, b"\0")


@given(PICTURES)
def test_a_written_picture_is_read_back(text: str) -> None:
    assert read(encode(text)) == Art(text)


@given(st.binary(max_size=300))
@example(b"\x1aSAUCE00" + b"\xff" * 121)
@example(b"COMNT" + record())
def test_any_bytes_are_a_picture_that_can_be_written_again(data: bytes) -> None:
    text = read(data).text
    assert read(encode(text)).text == text


@given(st.binary(max_size=128), st.integers(0, 127))
def test_a_false_record_leaves_the_picture(junk: bytes, length: int) -> None:
    assert read(b"picture\x1aSAUCE00" + junk.ljust(121, b"\xff")[:121]).text == "picture"
    assert read(b"picture\x1aSAUCE00"[: length + 8] + junk[:100]).text == "picture"


@pytest.mark.parametrize("comments", [b"", b"COMNT" + b"First line".ljust(64)])
def test_a_record_says_how_wide_and_how_bright_a_picture_is(comments: bytes) -> None:
    file = b"picture\x1a" + comments
    assert len(record()) == 128
    assert read(file + record(40, 1)) == Art("picture", 40, is_bright=True)
    assert read(file + record(0, 2)) == Art("picture")
    assert read(b"picture" + record(80)) == Art("picture")


def test_a_record_cut_short_is_no_part_of_the_picture() -> None:
    for length in range(7, 128):
        assert read(b"picture\x1a" + record()[:length]) == Art("picture")


def test_the_picture_ends_where_dos_ended_it() -> None:
    assert read(b"seen\x1anot seen").text == "seen"


def test_bytes_below_32_are_the_pictures_of_a_pc() -> None:
    assert read(b"\x01\x03\x07\x0e\x10\x7f\xff\x00").text == "☺♥•♫►⌂\xa0 "
    assert read(b"a\r\n\tb").text == "a\r\n\tb"


@pytest.mark.parametrize("expected", ["\x1b[0;1;31m", "\x1b[m", "\x1b[5C", "\x1b[3;4H", "\x1b[2J"])
def test_a_drawing_keeps_colours_positions_and_clears(expected: str) -> None:
    assert read(f"a{expected}b".encode()).text == f"a{expected}b"


@pytest.mark.parametrize(
    "dropped",
    [
        b"\x1b",
        b"\x1b[6n",
        b"\x1b[?1000h",
        b"\x1b[5A",
        b"\x1b[s",
        b"\x1b[0J",
        b"\x1b[!p",
        b"\x1b[>c",
        b"\x1b[=255h",
        b"\x1b[" + b"1;" * 40 + b"m",
        b'\x1b[13;"format c:";13p',
    ],
)
def test_every_other_sequence_is_dropped(dropped: bytes) -> None:
    assert read(b"a" + dropped + "é".encode("cp437")).text == "aé"


@given(st.lists(st.sampled_from(["\x1b", "[", "31", ";", "m", "n", "C", "6", "é"])).map("".join))
def test_dropping_one_sequence_never_makes_another(text: str) -> None:
    once = read(text.encode("cp437")).text
    assert read(once.encode("cp437")).text == once


def test_a_picture_is_painted_with_its_colours_and_positions() -> None:
    canvas = Canvas(30, 6)
    art = read(b"\x1b[2J\x1b[1;33mgold\r\nnext\x1b[2Cfar\tx\x1b[4;3H\x1b[0;31mred")
    paint(canvas, art, 1, 2)
    assert [canvas.text(row) for row in range(6)] == [
        "",
        "  gold",
        "  next  far       x",
        "",
        "    red",
        "",
    ]
    assert canvas.style_at(1, 2).number == Style(Colour.BROWN, bold=True).number
    assert canvas.style_at(4, 4) == Style(Colour.RED)


def test_an_eighty_column_picture_loses_its_last_column_and_never_wraps() -> None:
    canvas = Canvas(80, 4)
    paint(canvas, Art("1" * 80 + "2" * 80 + "3"), 0, 0)
    display = shown(canvas).display
    assert display[:3] == ["1" * 79 + " ", "2" * 79 + " ", "3".ljust(80)]


def test_a_picture_wraps_at_the_width_of_its_record() -> None:
    canvas = Canvas(80, 4)
    paint(canvas, Art("12345" * 3, columns=5), 0, 10)
    assert [canvas.text(row) for row in range(3)] == [" " * 10 + "12345"] * 3


def test_clearing_in_a_picture_leaves_its_neighbours() -> None:
    canvas = Canvas(20, 3)
    for row in range(3):
        canvas.put(row, 0, "x" * 19)
    paint(canvas, Art("\x1b[2Jab", columns=4), 1, 5)
    assert [canvas.text(row) for row in range(3)] == [
        "x" * 19,
        "xxxxxab  xxxxxxxxxx",
        "xxxxx    xxxxxxxxxx",
    ]


TOKENS = ["\x1b[", "9", "99999999", ";", "m", "C", "H", "f", "2J", "\r", "\n", "\t", "a", "é"]


@given(st.lists(st.sampled_from(TOKENS)))
def test_a_hostile_picture_stays_within_the_canvas(tokens: list[str]) -> None:
    canvas = Canvas(10, 3)
    paint(canvas, read("".join(tokens).encode("cp437")), 0, 0)
    shown(canvas)


@pytest.mark.parametrize("bright", [False, True])
def test_blink_is_a_bright_background_where_the_record_says_so(bright: bool) -> None:
    canvas = Canvas(10, 2)
    paint(canvas, Art("\x1b[5;44;37mx\x1b[0;5my\x1b[0mz", is_bright=bright), 0, 0)
    styles = [canvas.style_at(0, column) for column in range(3)]
    if bright:
        assert styles[0] == Style(Colour.GREY, Colour.LIGHT_BLUE)
        assert styles[1] == Style(None, Colour.DARK_GREY)
    else:
        assert styles[0] == Style(Colour.GREY, Colour.BLUE, blink=True)
        assert styles[1] == Style(blink=True)
    assert styles[2] == Style()


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", 0),
        ("one\r\ntwo\r\n", 2),
        ("one\r\n\r\n three\r\n\r\n\x1b[0m\r\n", 3),
        ("wraps" * 32, 2),  # as pictures of 80 columns are saved: no line is ended
        ("\x1b[2J\x1b[1;1Hone\x1b[5;1Hfive\x1b[2;1Htwo", 5),
        ("gone\r\n" * 9 + "\x1b[2Jone", 1),
        ("\x1b[99999;1Hfar", 99_999),
    ],
)
def test_a_picture_is_as_high_as_its_last_row(text: str, rows: int) -> None:
    assert height(Art(text)) == rows


def test_a_cleared_picture_is_not_painted() -> None:
    class Counted(Canvas):
        cleared = 0

        def blank(self, *where: object) -> None:  # type: ignore[override]
            self.cleared += 1

    canvas = Counted(80, 24)
    paint(canvas, Art("\x1b[31mred\x1b[2J" * 60_000 + "still"), 0, 0)
    assert canvas.cleared == 1
    assert canvas.text(0) == "still"
    assert canvas.style_at(0, 0).foreground is Colour.RED
