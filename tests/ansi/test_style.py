import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansi.style import PLAIN, Colour, Style, change, from_pipe, from_sgr, sgr, style_of

STYLES = st.builds(
    Style,
    st.none() | st.sampled_from(Colour),
    st.none() | st.sampled_from(Colour),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)


def pen(*sequences: str) -> object:
    screen = pyte.Screen(10, 2)
    pyte.Stream(screen).feed("".join(sequences))
    return screen.cursor.attrs


@given(STYLES, STYLES)
def test_a_change_of_style_leads_where_the_style_itself_would(before: Style, after: Style) -> None:
    expected = pen(sgr(after))
    assert pen(sgr(before), sgr(after)) == expected
    if before.number != after.number:
        assert pen(sgr(before), change(before.number, after.number)) == expected


@given(STYLES, STYLES)
def test_styles_have_the_same_number_exactly_when_they_look_the_same(a: Style, b: Style) -> None:
    assert (a.number == b.number) == (sgr(a) == sgr(b))
    assert sgr(style_of(a.number)) == sgr(a)


@given(STYLES, STYLES)
def test_a_style_is_read_back_from_its_own_sequence(style: Style, before: Style) -> None:
    assert from_sgr(sgr(style)[2:-1], before).number == style.number


def test_a_bright_colour_is_sent_as_bold_over_a_dark_background() -> None:
    assert sgr(Style(Colour.YELLOW, Colour.LIGHT_BLUE)) == "\x1b[0;1;33;44;104m"
    assert sgr(PLAIN) == "\x1b[0m"


def test_a_bright_background_is_left_by_a_reset() -> None:
    dark, bright = Style(Colour.GREY, Colour.BLUE), Style(Colour.GREY, Colour.LIGHT_BLUE)
    assert change(dark.number, bright.number) == "\x1b[104m"
    assert change(bright.number, dark.number) == "\x1b[0;37;44m"
    assert from_sgr("37;44;104", PLAIN) == bright
    assert from_sgr("97", PLAIN) == Style(Colour.WHITE)


def test_a_change_of_style_sends_only_the_difference() -> None:
    grey, blue_under = Style(Colour.GREY), Style(Colour.GREY, Colour.BLUE)
    assert change(grey.number, blue_under.number) == "\x1b[44m"
    assert change(blue_under.number, Style(Colour.RED, Colour.BLUE).number) == "\x1b[31m"
    assert change(blue_under.number, grey.number) == "\x1b[0;37m"
    assert change(blue_under.number, PLAIN.number) == "\x1b[m"


@pytest.mark.parametrize(
    ("code", "colour"),
    [
        ("|00", Colour.BLACK),
        ("|01", Colour.BLUE),
        ("|02", Colour.GREEN),
        ("|03", Colour.CYAN),
        ("|04", Colour.RED),
        ("|05", Colour.MAGENTA),
        ("|06", Colour.BROWN),
        ("|07", Colour.GREY),
        ("|08", Colour.DARK_GREY),
        ("|09", Colour.LIGHT_BLUE),
        ("|12", Colour.LIGHT_RED),
        ("|14", Colour.YELLOW),
        ("|15", Colour.WHITE),
    ],
)
def test_pipe_codes_count_colours_as_a_pc_does(code: str, colour: Colour) -> None:
    assert from_pipe(code + "x") == ((Style(colour), "x"),)


def test_pipe_codes_from_16_on_are_backgrounds_and_keep_the_text_colour() -> None:
    assert from_pipe("|14|17gold|20red|16black") == (
        (Style(Colour.YELLOW, Colour.BLUE), "gold"),
        (Style(Colour.YELLOW, Colour.RED), "red"),
        (Style(Colour.YELLOW, Colour.BLACK), "black"),
    )


def test_text_before_the_first_code_has_the_style_given() -> None:
    assert from_pipe("a|04b", Style(bold=True)) == (
        (Style(bold=True), "a"),
        (Style(Colour.RED, bold=True), "b"),
    )


@pytest.mark.parametrize("text", ["|", "a|b", "|1", "|24", "|99", "|x1", "||", "|１２", ""])
def test_an_invalid_pipe_code_is_text(text: str) -> None:
    assert "".join(piece for _, piece in from_pipe(text)) == text
    assert {style for style, _ in from_pipe(text)} <= {PLAIN}


@pytest.mark.parametrize(
    ("parameters", "before", "after"),
    [
        ("", Style(Colour.RED), PLAIN),
        ("0", Style(Colour.RED), PLAIN),
        ("1;;31", Style(blink=True), Style(Colour.RED)),
        ("22;25;27", Style(None, None, True, True, True), PLAIN),
        ("39", Style(Colour.RED, Colour.BLUE), Style(None, Colour.BLUE)),
        ("49", Style(Colour.RED, Colour.BLUE), Style(Colour.RED)),
        ("3;4;58;99999999", Style(Colour.RED), Style(Colour.RED)),
        ("38;5;5", PLAIN, PLAIN),
        ("48;2;1;5;7;31", PLAIN, Style(Colour.RED)),
        ("1;38;5;7;44", PLAIN, Style(None, Colour.BLUE, bold=True)),
    ],
)
def test_sequences_of_other_peoples_pictures(parameters: str, before: Style, after: Style) -> None:
    assert from_sgr(parameters, before) == after
