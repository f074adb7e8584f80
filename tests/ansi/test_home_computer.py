"""PETSCII and ATASCII: the codes of glyphs, colours and keys, and screens by the fewest of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyte.screens import Char

from ansi import keys
from ansi.canvas import Canvas
from ansi.cards import paint_hand
from ansi.charset import UNREADABLE, Charset
from ansi.home_computer import HomeKeys
from ansi.home_screen import HomeScreen
from ansi.keys import BACKSPACE, ENTER, ESCAPE, F1, F8, INTERRUPT, RUBOUT
from ansi.style import Colour, Style
from tests.home_computer import PALETTE, SCREENS, Commodore
from tests.home_computer import HomeScreen as Model

Written = list[tuple[int, int, str, Style]]
SETS = [charset for charset in Charset if charset.is_of_home_computer]
STYLES = st.builds(
    Style,
    st.sampled_from([None, *Colour]),
    st.sampled_from([None, *Colour]),
    st.booleans(),
    reverse=st.booleans(),
)
TEXTS = st.text(st.sampled_from('aZ"0 ♥♠│█▀▓─é✓日\\~`'), min_size=1, max_size=12)
WRITTEN = st.lists(
    st.tuples(st.integers(0, 23), st.integers(0, 38), TEXTS, STYLES), min_size=1, max_size=8
)


def model(charset: Charset) -> Model:
    screen: Model = SCREENS[charset.value]()
    return screen


def pair(charset: Charset) -> tuple[HomeScreen, Model]:
    shown = model(charset)
    return HomeScreen(charset, shown.columns, shown.lines), shown


def sees(charset: Charset, text: str) -> str:
    writer, shown = pair(charset)
    shown.feed(writer.feed(text))
    return shown.display[0].rstrip()


@pytest.mark.parametrize(
    ("charset", "text", "seen"),
    [
        (Charset.PETSCII, "Ace of A♠ ┌─┐ 50%", "Ace of AS ┌─┐ 50%"),
        (Charset.PETSCII_SUITS, "Ace A♠ ♥♦♣ ┌─┐", "ACE A♠ ♥♦♣ ┌─┐"),
        (Charset.ATASCII, "Ace A♠ ♦♣ ┌─┐", "Ace A♠ ♦♣ ┌─┐"),
        (Charset.PETSCII, "été «bœuf» ╔═╗║", "ete 'bouf' ┌─┐│"),
        (Charset.ATASCII, "«été» {1} ╔═╗║", '"ete" (1) ┌─┐|'),
        (Charset.PETSCII, 'say "hello" ~\\', "say 'hello' -/"),
        (Charset.PETSCII, "← goes back, _|^", "← goes back, ▁│↑"),
    ],
)
def test_a_text_is_shown_in_the_set_s_own_glyphs(charset: Charset, text: str, seen: str) -> None:
    assert sees(charset, text) == seen


@pytest.mark.parametrize("charset", SETS)
def test_all_four_suits_can_be_told_apart(charset: Charset) -> None:
    assert len(set(sees(charset, "♠♥♦♣"))) == 4


@pytest.mark.parametrize("charset", SETS)
@given(first=WRITTEN, then=WRITTEN)
def test_a_change_shows_the_same_as_the_whole_screen(
    charset: Charset, first: Written, then: Written
) -> None:
    writer, shown = pair(charset)
    canvas = Canvas(shown.columns, shown.lines)
    for written in (first, then):
        for row, column, text, style in written:
            canvas.put(row, column, text, style)
        canvas.cursor = (written[0][0], 3)
        shown.feed(writer.feed(canvas.update()))
        whole, fresh = pair(charset)
        fresh.feed(whole.feed(canvas.render()))
        assert shown.display == fresh.display
        assert [visible(row) for row in shown.buffer] == [visible(row) for row in fresh.buffer]
        assert (shown.cursor.y, shown.cursor.x) == canvas.cursor
        assert shown.scrolled == 0
        assert not shown.joined


def visible(row: list[Char]) -> list[Char]:
    """Return the cells of a row, without the colour of blanks."""
    return [cell._replace(fg="") if cell.data == " " and not cell.reverse else cell for cell in row]


@pytest.mark.parametrize("charset", SETS)
@given(st.lists(st.text(st.sampled_from("ab♥"), max_size=50), max_size=60))
def test_lines_scroll_one_by_one(charset: Charset, lines: list[str]) -> None:
    writer, shown = pair(charset)
    for line in lines:
        shown.feed(writer.feed(f"{line}\r\n"))
    width = shown.columns - 1
    rows = [line[at : at + width] for line in lines for at in range(0, len(line) or 1, width)]
    seen = [row.rstrip() for row in shown.display]
    expected = [sees(charset, row) for row in rows][-(shown.lines - 1) :]
    assert seen[: len(expected)] == expected
    assert not shown.joined


PIECES = st.sampled_from(
    [
        "\x1b",
        "\x1b[",
        "9",
        "99999",
        ";",
        *"HCDKJm",
        "?25l",
        *"\r\n\b\a\x0e\x93\x9b",
        "a",
        "é",
        "日",
        '"',
    ]
)


@pytest.mark.parametrize("charset", SETS)
@given(st.lists(PIECES, max_size=60))
def test_no_text_sends_a_code_that_the_board_never_means(
    charset: Charset, pieces: list[str]
) -> None:
    writer, shown = pair(charset)
    shown.feed(writer.feed("".join(pieces)))  # which raises at such a code
    assert not shown.joined


@pytest.mark.parametrize("charset", SETS)
def test_quotation_marks_never_begin_the_quote_mode(charset: Charset) -> None:
    writer, shown = pair(charset)
    shown.feed(writer.feed('one " mark\x1b[5;5H\x1b[31mred'))
    assert shown.display[4].strip().casefold() == "red"


def test_colours_are_the_nearest_of_sixteen_and_backgrounds_are_reversed() -> None:
    writer, shown = pair(Charset.PETSCII)
    shown.feed(writer.feed("\x1b[1;31mred\x1b[0;37;44m bar \x1b[0mplain"))
    cells = shown.buffer[0]
    assert cells[0].fg == PALETTE[150]
    assert (cells[4].fg, cells[4].reverse) == (PALETTE[154], True)
    assert (cells[8].fg, cells[8].reverse) == (PALETTE[155], False)


@pytest.mark.parametrize(
    ("style", "block", "seen"),
    [
        ("93;44", "▀", ("▄", True)),  # the brighter part, above
        ("34;103", "▀", ("▄", False)),  # the brighter part, below
        ("93;43", "▀", (" ", True)),  # both are bright: whole
        ("93;43", "▓", (" ", True)),
        ("33;40", "▐", ("▌", True)),
    ],
)
def test_a_block_keeps_its_brighter_colour(style: str, block: str, seen: tuple[str, bool]) -> None:
    writer, shown = pair(Charset.PETSCII)
    shown.feed(writer.feed(f"\x1b[{style}m{block}"))
    cell = shown.buffer[0][0]
    assert (cell.data, cell.reverse) == seen
    assert cell.fg == PALETTE[129 if style == "33;40" else 158]


def test_a_row_after_a_return_is_not_taken_for_reversed() -> None:
    writer, shown = pair(Charset.PETSCII)
    shown.feed(writer.feed("\x1b[44mone\r\ntwo"))
    assert shown.buffer[1][0].reverse


def test_a_capital_set_is_selected_once() -> None:
    shown = Commodore(has_lower_case=True)
    writer = HomeScreen(Charset.PETSCII_SUITS, 40, 25)
    shown.feed(writer.feed("a"))
    assert not shown.has_lower_case
    assert writer.feed("b") == b"\x42"


def test_the_clock_takes_few_bytes_and_a_new_scene_no_more_than_its_glyphs() -> None:
    writer, shown = pair(Charset.PETSCII)
    canvas = Canvas(40, 25)
    canvas.put_pipe(24, 1, "|17|11Time |1559:59")
    canvas.put_pipe(23, 1, "|15H|07it, |15S|07tay?")
    canvas.cursor = (23, 13)
    paint_hand(canvas, 2, 1, ["AS", "TH", None], 38)
    whole = writer.feed(canvas.update())
    shown.feed(whole)
    canvas.put_clock(24, 6, "|17|1559:58")
    tick = writer.feed(canvas.update())
    shown.feed(tick)
    assert "59:58" in shown.display[24]
    assert len(tick) <= 12
    assert len(whole) < 330


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\x41\xc1\x61\x30\xa0", ["a", "A", "A", "0", " "]),
        (b"\r\x8d\r\n\r\0", [ENTER] * 4),
        (b"\x14\x5f\x1b\x03", [RUBOUT, ESCAPE, ESCAPE, INTERRUPT]),
        (b"\x91\x11\x9d\x1d\x13", [keys.UP, keys.DOWN, keys.LEFT, keys.RIGHT, keys.HOME]),
        (bytes((133, 140)), [F1, F8]),
        (b"\xb1\xff", [UNREADABLE, UNREADABLE]),
        (b"?!=/@[]", list("?!=/@[]")),
        (b"\x00\x05\x12", []),
    ],
)
def test_the_keys_of_a_commodore(data: bytes, expected: list[str]) -> None:
    assert HomeKeys(Charset.PETSCII).feed(data) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"aA1\xe1\xb1", ["a", "A", "1", "a", "1"]),
        (b"\x9b\r", [ENTER, ENTER]),
        (b"\x7e\x1b\x08", [RUBOUT, ESCAPE, BACKSPACE]),
        (b"\x1c\x1d\x1e\x1f", [keys.UP, keys.DOWN, keys.LEFT, keys.RIGHT]),
    ],
)
def test_the_keys_of_an_atari(data: bytes, expected: list[str]) -> None:
    assert HomeKeys(Charset.ATASCII).feed(data) == expected


@given(st.binary(), st.sampled_from(SETS))
def test_every_key_is_one_printable_character_or_a_constant(data: bytes, charset: Charset) -> None:
    constants = {name for name in vars(keys).values() if isinstance(name, keys.Key)}
    for key in HomeKeys(charset).feed(data):
        assert key in constants or (len(key) == 1 and key.isprintable())


@pytest.mark.parametrize("charset", SETS)
def test_each_letter_typed_is_shown_as_that_letter(charset: Charset) -> None:
    """Echo what each key sends; the computer must show that letter."""
    decoder = HomeKeys(charset)
    for code in range(256):
        for key in decoder.feed(bytes((code,))):
            if len(key) == 1 and key.isalnum() and key.isascii():
                assert sees(charset, key).casefold() == key.casefold()
