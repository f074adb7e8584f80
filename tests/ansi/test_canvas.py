import operator
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ansi.canvas import DOUBLE, Canvas, _overlaid_cached
from ansi.charset import Charset, encode
from ansi.style import PLAIN, Colour, Style
from tests.ansi.terminal import Terminal, shown

YELLOW_ON_BLUE = Style(Colour.YELLOW, Colour.BLUE)
RED = Style(Colour.RED)
REVERSE = Style(reverse=True)

Paint = Callable[[Canvas], object]

TEXTS = st.text(alphabet="ab  ♥─é漢字👍אz\u0301\u200b\x1b\n\x9b", max_size=14)
PLACES = st.integers(-3, 14)
STYLES = st.sampled_from([PLAIN, YELLOW_ON_BLUE, RED, REVERSE, Style(bold=True, blink=True)])


def paint_put(row: int, column: int, text: str, style: Style) -> Paint:
    return lambda canvas: canvas.put(row, column, text, style)


def paint_blank(row: int, column: int, width: int, style: Style) -> Paint:
    return lambda canvas: canvas.blank(row, column, width, 2, style)


def paint_box(row: int, column: int, width: int, style: Style) -> Paint:
    return lambda canvas: canvas.box(row, column, width, 3, style, frame=DOUBLE)


def paste(row: int, text: str, style: Style) -> Paint:
    """Paint a row on another canvas and paste it."""

    def pasted(canvas: Canvas) -> None:
        sketch = Canvas(canvas.columns, canvas.rows, colour=canvas.colour)
        sketch.put(row, 0, text, style)
        canvas.paste(row, sketch.copy(row, 2))

    return pasted


def stamp(row: int, column: int, text: str, style: Style) -> Paint:
    """Paint on a small canvas and stamp it on this one at any place."""

    def stamped(canvas: Canvas) -> None:
        sketch = Canvas(6, 2, colour=canvas.colour)
        sketch.put(0, 0, text, style)
        canvas.stamp(row, column, sketch.copy(0, 2))

    return stamped


def set_cursor(cursor: tuple[int, int] | None) -> Paint:
    return lambda canvas: setattr(canvas, "cursor", cursor)


PAINTS = st.lists(
    st.one_of(
        st.builds(paint_put, PLACES, PLACES, TEXTS, STYLES),
        st.builds(paint_put, st.just(1), PLACES, TEXTS, STYLES),
        st.builds(paint_blank, PLACES, PLACES, st.integers(0, 14), STYLES),
        st.builds(paint_box, PLACES, PLACES, st.integers(2, 14), STYLES),
        st.builds(paste, st.integers(0, 3), TEXTS, STYLES),
        st.builds(stamp, PLACES, PLACES, TEXTS, STYLES),
        st.builds(set_cursor, st.none() | st.tuples(PLACES, PLACES)),
        st.builds(lambda style: lambda canvas: canvas.blank(0, 0, 80, 24, style), STYLES),
        st.just(lambda canvas: canvas.blank(0, 0, 80, 24)),
    ),
    max_size=6,
)


@given(st.lists(PAINTS, min_size=1, max_size=6), st.booleans())
@example([[paint_put(1, 0, "漢字", PLAIN)], [paint_put(1, 1, "ab", PLAIN)]], True)
@example([[paint_put(1, 0, "ab", RED)], [paint_put(1, 0, "漢", RED)]], True)
def test_updates_lead_to_the_same_screen_as_a_whole_render(
    frames: list[list[Paint]], colour: bool
) -> None:
    canvas = Canvas(12, 5, colour=colour)
    terminal = Terminal(12, 5)
    for paints in frames:
        for paint in paints:
            paint(canvas)
        terminal.read(canvas.update())
    afresh = shown(canvas)
    assert terminal.picture() == afresh.picture()
    assert terminal.stand() == afresh.stand()


@given(PAINTS)
def test_an_update_without_a_change_sends_nothing(paints: list[Paint]) -> None:
    canvas = Canvas(12, 5)
    for paint in paints:
        paint(canvas)
    canvas.update()
    assert canvas.update() == ""


@given(PAINTS)
def test_only_our_own_escapes_and_moves_are_controls(paints: list[Paint]) -> None:
    canvas = Canvas(12, 5)
    for paint in paints:
        paint(canvas)
    controls = [character for character in canvas.render() if not character.isprintable()]
    assert set(controls) <= {"\x1b", "\b", "\r"}


def test_the_last_column_is_never_drawn_however_long_the_text() -> None:
    canvas = Canvas(20, 3)
    canvas.put(1, 15, "0123456789")
    assert shown(canvas).display[1] == " " * 15 + "0123" + " "


def test_the_first_update_is_a_whole_render() -> None:
    canvas = Canvas(20, 3)
    canvas.put(0, 0, "hello")
    assert Canvas(20, 3).update() == Canvas(20, 3).render()
    assert Terminal(20, 3).read("old\r\nstuff" + canvas.update()).display[:2] == [
        "hello".ljust(20),
        " " * 20,
    ]


def test_a_key_typed_at_the_cursor_sends_that_key_alone() -> None:
    canvas = Canvas(80, 24)
    canvas.put(12, 2, "Bet:", YELLOW_ON_BLUE)
    canvas.cursor = (12, 7)
    canvas.put(12, 7, "   ", YELLOW_ON_BLUE)
    canvas.render()
    canvas.put(12, 7, "1", YELLOW_ON_BLUE)
    canvas.cursor = (12, 8)
    assert canvas.update().removeprefix("\x1b[1;33;44m") == "1"
    canvas.put(12, 8, "5", YELLOW_ON_BLUE)
    canvas.cursor = (12, 9)
    assert canvas.update() == "5"


def test_painting_the_same_again_sends_nothing() -> None:
    canvas = Canvas(80, 24)
    canvas.box(0, 0, 79, 24)
    canvas.render()
    canvas.blank(0, 0, canvas.width, canvas.rows)
    canvas.box(0, 0, 79, 24)
    assert canvas.update() == ""


def test_an_update_skips_the_unchanged_part_of_a_row() -> None:
    canvas = Canvas(80, 24)
    canvas.put(3, 0, "left" + "=" * 60 + "right")
    canvas.render()
    canvas.put(3, 0, "LEFT" + "=" * 60 + "RIGHT")
    assert canvas.update() == "\rLEFT\x1b[60CRIGHT"


def test_a_row_that_becomes_blank_is_erased_and_not_overwritten() -> None:
    canvas = Canvas(80, 24)
    canvas.put(3, 0, "x" * 79, YELLOW_ON_BLUE)
    canvas.render()
    canvas.blank(3, 4, 75, 1)
    assert canvas.update() == "\x1b[75D\x1b[m\x1b[K"


def test_a_short_stretch_before_the_blanks_at_the_end_is_sent_again() -> None:
    canvas = Canvas(80, 24)
    canvas.put(3, 0, "ab  c" + "x" * 74)
    canvas.render()
    canvas.put(3, 0, "Ab  c" + " " * 74)
    assert canvas.update() == "\rAb  c\x1b[K"


def test_equal_rows_are_stored_once_for_all_canvases() -> None:
    first, second = Canvas(80, 24), Canvas(80, 24)
    for canvas in (first, second):
        canvas.update()
        canvas.put_pipe(3, 2, "|14the same words")
        canvas.update()
    assert all(map(operator.is_, first.copy(0, 24), second.copy(0, 24)))


def test_a_stamp_leaves_its_neighbours() -> None:
    canvas, card = Canvas(10, 3), Canvas(4, 2)
    canvas.put(1, 0, "abcdefghi", RED)
    card.put(0, 0, "x z")
    canvas.stamp(1, 2, card.copy(0, 2))
    assert [canvas.text(row) for row in range(3)] == ["", "abx zfghi", ""]
    assert canvas.style_at(1, 3) == PLAIN
    canvas.stamp(2, 7, card.copy(0, 2))
    assert canvas.text(2) == "       x", "what lies outside is clipped"


def test_rows_pasted_stand_where_others_stood() -> None:
    canvas = Canvas(20, 4)
    canvas.put(1, 0, "page", RED)
    page = canvas.copy(1, 2)
    canvas.blank(0, 0, canvas.width, canvas.rows)
    canvas.put(2, 0, "under the page")
    canvas.paste(2, page)
    assert [canvas.text(row) for row in range(4)] == ["", "", "page", ""]
    assert canvas.style_at(2, 0) == RED


def test_a_canvas_without_colour_sends_no_styles() -> None:
    canvas = Canvas(80, 24, colour=False)
    canvas.put(3, 0, "x" * 79, YELLOW_ON_BLUE)
    canvas.put(4, 0, "y", REVERSE)
    first = canvas.render()
    canvas.put(3, 0, "z" * 79, RED)
    assert "x" * 79 in first
    assert "m" not in first + canvas.update()


def test_the_cursor_is_hidden_unless_it_has_a_place() -> None:
    canvas = Canvas(20, 3)
    terminal = shown(canvas)
    assert terminal.stand() is None
    canvas.cursor = (1, 7)
    assert terminal.read(canvas.update()).stand() == (1, 7)
    canvas.cursor = None
    assert terminal.read(canvas.update()).stand() is None


def test_a_cursor_outside_moves_to_the_nearest_drawable_cell() -> None:
    canvas = Canvas(20, 3)
    canvas.cursor = (9, 99)
    assert shown(canvas).stand() == (2, 18)
    canvas.cursor = (-1, -1)
    assert shown(canvas).stand() == (0, 0)


def test_the_column_after_a_wide_character_is_sent_explicitly() -> None:
    canvas = Canvas(20, 3)
    canvas.put(1, 0, "漢x")
    assert "漢\x1b[2;3Hx" in canvas.render()


@pytest.mark.parametrize("charset", [Charset.CP437, Charset.UTF8, Charset.LATIN1, Charset.ASCII])
def test_a_screen_with_wide_characters_is_as_wide_in_every_charset(charset: Charset) -> None:
    canvas = Canvas(20, 3)
    canvas.put(1, 0, "漢字|")
    wire = encode(canvas.render(), charset).decode(charset.value)
    assert Terminal(20, 3).read(wire).buffer[1][4].data == "|"


@pytest.mark.parametrize(
    ("column", "left"), [(-1, " b"), (-2, "b"), (17, " " * 17 + "漢"), (18, "")]
)
def test_a_wide_character_cut_by_the_edge_is_a_blank(column: int, left: str) -> None:
    canvas = Canvas(20, 3)
    canvas.put(1, column, "漢b")
    assert canvas.text(1) == left


def test_text_over_half_a_wide_character_blanks_the_other_half() -> None:
    canvas = Canvas(20, 3)
    canvas.put(0, 0, "漢字漢字")
    canvas.put(0, 1, "abcd")
    assert canvas.text(0) == " abcd 字"


def test_accents_are_merged_and_zero_width_characters_dropped() -> None:
    canvas = Canvas(20, 3)
    assert canvas.put(0, 0, "e\u0301t\u200be\u0323\u0301\x07!") == 4
    assert canvas.text(0) == "étẹ!"


def test_text_outside_the_canvas_is_clipped_on_all_sides() -> None:
    canvas = Canvas(10, 3)
    canvas.box(-1, -1, 11, 5)
    canvas.put(7, 0, "below")
    canvas.put(-7, 0, "above")
    canvas.put(1, 40, "beside")
    canvas.put(1, -40, "beside")
    assert [canvas.text(row) for row in range(3)] == ["", "", ""]
    canvas.put(1, -2, "inside")
    assert canvas.text(1) == "side"


def test_boxes_are_drawn_around_their_content() -> None:
    canvas = Canvas(10, 3)
    canvas.put(1, 1, "in")
    canvas.box(0, 0, 4, 3)
    canvas.box(0, 4, 4, 3, frame=DOUBLE)
    assert [canvas.text(row) for row in range(3)] == ["┌──┐╔══╗", "│in│║  ║", "└──┘╚══╝"]


def test_pipe_codes_colour_the_text_and_take_no_cells() -> None:
    canvas = Canvas(20, 3)
    assert canvas.put_pipe(0, 1, "|15P|07lace") == 6
    assert canvas.text(0) == " Place"
    assert canvas.style_at(0, 1).number == Style(Colour.WHITE).number
    assert canvas.style_at(0, 2).number == Style(Colour.GREY).number


def test_blank_covers_everything_that_may_be_drawn() -> None:
    canvas = Canvas(6, 2)
    canvas.put(0, 0, "漢字")
    canvas.put(1, 0, "abcde")
    canvas.blank(0, 0, canvas.width, canvas.rows, RED)
    assert [canvas.text(0), canvas.text(1)] == [""] * 2
    assert canvas.style_at(1, 4) == RED


def test_a_bar_reaches_the_right_edge_of_the_terminal() -> None:
    canvas, terminal = Canvas(20, 3), Terminal(20, 3)
    canvas.put(1, 0, "Menu".ljust(19), YELLOW_ON_BLUE)
    terminal.read(canvas.update())
    assert terminal.buffer[1][19].bg == "blue"
    canvas.put(1, 0, "Bank".ljust(19), YELLOW_ON_BLUE)
    assert canvas.update() == "\rBank"  # nothing new at the edge


@pytest.mark.parametrize("colour", [True, False])
def test_a_clock_is_an_ordinary_line_and_is_not_remembered(colour: bool) -> None:
    clock, line = (Canvas(20, 2, colour=colour) for _ in range(2))
    assert line.put_pipe(1, 15, "|14Time 1:23", RED) == 24
    remembered = _overlaid_cached.cache_info()
    assert clock.put_clock(1, 15, "|14Time 1:23", RED) == 24
    assert _overlaid_cached.cache_info() == remembered
    assert clock.render() == line.render()
