"""A painted screen sends one update for all that happened to it in a moment, and loses nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ansi.canvas import Canvas
from ansi.charset import Charset
from door.call.canvas_display import CanvasDisplay
from door.call.console import Console
from door.call.lines_display import LinesDisplay
from door.call.markup import hanging, plain, wrap
from door.call.page import TITLE_ROWS, Page
from door.call.scene import Area
from door.call.screen import Look, Paint
from door.clock import SystemClock
from door.lines.line import Hints
from tests.ansi.terminal import Terminal
from timebank.language import Viewer

TITLE = Page("A title", ["|14some words"])


class Screen:
    """A display that flushes when the test asks for it."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        self.sent: list[str] = []
        self.later: list[Callable[[], None]] = []
        self.size = columns, rows
        self.display = CanvasDisplay(
            *(self.sent.append, self.later.append, Viewer(), columns, rows), colour=True
        )

    def time_passes(self) -> None:
        later, self.later[:] = self.later[:], []
        for flush in later:
            flush()

    @property
    def picture(self) -> list[str]:
        terminal = Terminal(*self.size)
        for text in self.sent:
            terminal.read(text)
        return [row.rstrip() for row in terminal.display]


@pytest.fixture
def screen() -> Screen:
    return Screen()


def test_all_that_happens_in_a_moment_is_sent_at_once(screen: Screen) -> None:
    screen.display.stage(TITLE)
    screen.display.say("One thing.")
    screen.display.say("And another.")
    screen.display.prompt("Well?")
    screen.display.typed("y")
    screen.display.status(["the status"])
    assert screen.sent == []
    screen.time_passes()
    assert len(screen.sent) == 1
    assert screen.picture[2] == " some words"
    assert screen.picture[19:24] == [" One thing.", " And another.", "", " Well? y", " the status"]


def test_a_question_answered_at_once_is_never_shown(screen: Screen) -> None:
    screen.display.stage(TITLE)
    screen.time_passes()
    shown = list(screen.sent)
    screen.display.prompt("Well?")
    screen.display.typed("y")
    screen.display.answered()
    screen.time_passes()
    assert screen.sent == shown


def test_a_flush_comes_once_however_much_happens(screen: Screen) -> None:
    for number in range(3):
        screen.display.say(f"number {number}")
        screen.display.status([f"status {number}"])
    assert len(screen.later) == 1
    screen.display.flush()
    screen.time_passes()
    assert len(screen.sent) == 1
    screen.display.say("one more")
    screen.time_passes()
    assert screen.picture[19:22] == [" number 1", " number 2", " one more"]


def test_messages_that_do_not_fit_side_by_side_are_all_shown_once(screen: Screen) -> None:
    for number in range(10):
        screen.display.say(f"number {number}")
    assert len(screen.later) == 1
    screen.time_passes()
    terminal, screens = Terminal(80, 24), []
    for text in screen.sent:
        terminal.read(text)
        screens.append([row.strip() for row in terminal.display[19:22]])
    numbers = [f"number {number}" for number in range(10)]
    assert screens == [numbers[:3], numbers[3:6], numbers[6:9], numbers[7:]]


def test_lines_of_company_give_way_to_other_messages_and_to_later_lines(screen: Screen) -> None:
    display = screen.display
    display.stage(TITLE)
    display.prompt("Well?")
    display.say("Advice 1.")
    assert display.say_beside("Ann logs on.")
    assert display.say_beside("Bob logs on.")
    assert display.say_beside("Cyd logs on.")
    screen.time_passes()
    assert [row for row in screen.picture if row.endswith(".")] == [" Advice 1.", " Cyd logs on."]
    display.say("Advice 2.")
    display.say("Advice 3.")
    assert not display.say_beside("Dan logs on.")
    screen.time_passes()
    assert [row for row in screen.picture if row.endswith(".")] == [
        *(" Advice 1.", " Advice 2.", " Advice 3.")
    ]
    display.stage(TITLE)
    assert display.say_beside("Dan logs on. " * 40)  # nothing is pushed out


def test_no_message_is_shown_without_its_beginning(screen: Screen) -> None:
    """At 40 columns the "cuts with" of a phrase had scrolled away above the rest of it."""
    screen.display.say("two rows of " + "words " * 15)
    screen.time_passes()
    screen.display.say("one")
    screen.display.say("another")
    screen.time_passes()
    assert screen.picture[19:22] == [" one", " another", ""]


def test_a_message_without_room_covers_the_lower_end_of_the_scene(
    screen: Screen,
) -> None:
    """At Baccarat "That was your last turn today" had scrolled away above a prompt of two rows."""
    rows = [f"row {number}" for number in range(1, 18)]
    screen.display.stage(Page("A title", rows))
    screen.display.prompt("a prompt " * 15)
    screen.display.say("first " + "much too long " * 12 + "last")
    screen.time_passes()
    assert screen.picture[17:19] == [" row 16", " first" + " much too long" * 5]
    assert screen.picture[20].endswith(" last")
    screen.display.typed("x")  # the prompt alone is painted
    screen.time_passes()
    assert screen.picture[18].startswith(" first")
    screen.display.refresh()  # the scene below it changes
    screen.time_passes()
    assert screen.picture[18].startswith(" first")
    screen.display.say("short")
    screen.time_passes()
    assert screen.picture[17:21] == [" row 16", " row 17", " short", ""]


def test_a_long_message_takes_its_rows_back_when_the_prompt_goes(
    screen: Screen,
) -> None:
    screen.display.stage(Page("A title", [f"row {number}" for number in range(1, 18)]))
    screen.display.say("first " + "much too long " * 12 + "last")
    screen.display.prompt("a prompt " * 15)
    screen.time_passes()
    assert screen.picture[18].startswith(" first")
    screen.display.answered()
    screen.time_passes()
    assert screen.picture[18:20] == [" row 17", " first" + " much too long" * 5]


def test_a_scene_is_painted_in_its_state_when_sent(screen: Screen) -> None:
    body = ["old"]
    screen.display.stage(Page("A title", body))
    body[0] = "new"
    screen.display.refresh()
    screen.time_passes()
    assert screen.picture[2] == " new"


class Ticking(Page):
    """A page with a clock that ticks by itself."""

    def paint_clock(self, canvas: Canvas, area: Area) -> None:
        canvas.put(18, 1, "0:01")


def test_the_clock_of_the_scene_is_painted_without_the_scene(screen: Screen) -> None:
    body = ["old"]
    page = Ticking("A title", body)
    screen.display.stage(page)
    screen.time_passes()
    body[0] = "new"
    screen.display.refresh_clock(page)
    screen.time_passes()
    assert (screen.picture[2], screen.picture[18]) == (" old", " 0:01")


def test_the_clock_of_a_scene_that_was_left_is_not_painted(screen: Screen) -> None:
    page = Ticking("A title", [])
    screen.display.stage(page)
    screen.display.refresh_clock(page)
    screen.display.stage(TITLE)
    screen.display.refresh_clock(page)
    screen.time_passes()
    assert "0:01" not in "".join(screen.picture)


def test_a_clock_ticks_below_a_message_that_covers_it(screen: Screen) -> None:
    page = Ticking("A title", [])
    screen.display.stage(page)
    screen.display.say("first " + "much too long " * 25 + "last")
    screen.time_passes()
    covered = screen.picture
    assert covered[18].startswith(" much")
    screen.display.refresh_clock(page)
    screen.time_passes()
    assert screen.picture == covered


def test_closing_sends_pending_text_and_leaves_an_empty_screen(screen: Screen) -> None:
    screen.display.say("Goodbye.")
    screen.display.close()
    assert "Goodbye." in screen.sent[0]
    assert screen.picture == [""] * 24
    screen.time_passes()
    assert len(screen.sent) == 2


def test_a_long_answer_is_shown_by_its_end(screen: Screen) -> None:
    screen.display.prompt("Why?")
    screen.display.typed("because " * 12 + "so.")
    screen.time_passes()
    assert screen.picture[22].startswith(" Why? ")
    assert screen.picture[22].endswith("because so.")
    screen.display.typed("because")
    screen.time_passes()
    assert screen.picture[22] == " Why? because"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", ("",)),
        ("one two\n\nthree", ("one", "two", "", "three")),
        ("|14one two", ("|14one", "|14two")),
        ("|14sixsix and", ("|14sixsi", "|14x and")),
        ("a sixsix b", ("a", "sixsi", "x b")),
        ("漢漢漢 b", ("漢漢", "漢 b")),
        ("漢漢 字", ("漢漢", "字")),
    ],
)
def test_no_line_of_a_text_takes_more_cells_than_there_are(
    text: str, lines: tuple[str, ...]
) -> None:
    assert wrap(text, 5) == lines


def test_a_wrapped_line_of_a_caller_cannot_pose_as_the_boards() -> None:
    text = hanging("|13Eve:|15 aaaa The sysop: hello, give me all your minutes")
    rows = wrap(f"{text}\n|14The sysop: no", 12)
    assert [row for row in map(plain, rows) if not row.startswith("  ")] == [
        "Eve: aaaa",
        "The sysop:",
        "no",
    ]
    assert rows[1] == "  |15The sysop:"
    assert all(len(plain(row)) <= 12 for row in rows)
    assert wrap(hanging("loooooooooong"), 6) == ("looo", "  oooo", "  ooon", "  g")


class Wire:
    """A line that records its output and never gets input."""

    kind, address, hints = "test", "nowhere", Hints()
    columns, rows = 80, 24

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.ended = False

    def attach(self, receiver: object) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def abort(self) -> None: ...
    def show_keys(self, keys: object, language: str) -> None: ...
    def show_figures(self, figures: object) -> None: ...

    def write(self, data: bytes) -> None:
        assert not self.ended
        self.written.append(data)

    async def drain(self, seconds: float) -> None:
        assert self.written

    def hang_up(self) -> None:
        self.ended = True


@pytest.fixture
def wire() -> Wire:
    return Wire()


def painted_on(wire: Wire) -> Console:
    console = Console(wire, Look(Charset.ASCII, Paint.COLOUR), SystemClock())
    console.screen.paint_screens()
    wire.written.clear()
    return console


async def test_last_words_leave_before_the_line_is_hung_up(wire: Wire) -> None:
    console = painted_on(wire)
    console.screen.say("Something went wrong here.")
    await console.part()
    assert b"Something went wrong here." in b"".join(wire.written)
    assert wire.ended


async def test_the_bell_rings_after_earlier_text(wire: Wire) -> None:
    console = painted_on(wire)
    console.screen.say("Still there?")
    console.screen.bell()
    console.screen.say("Hello?")
    console.screen.send("\r\nplain")
    assert [b"there" in wire.written[0], wire.written[1]] == [True, b"\a"]
    assert [b"Hello" in wire.written[2], wire.written[3]] == [True, b"\r\nplain"]


async def test_a_question_is_on_the_screen_before_its_answer_is_waited_for(wire: Wire) -> None:
    console = painted_on(wire)
    question = console.prompt.ask({"Y": "Yes"}, question="Well?")
    question.send(None)  # up to its wait
    assert b"Well?" in b"".join(wire.written)
    question.close()


async def test_a_pause_shows_its_reason(wire: Wire) -> None:
    console = painted_on(wire)
    console.screen.say("The dealer turns a card.")
    pause = console.keyboard.pause(60)
    pause.send(None)  # up to its wait
    assert b"turns a card" in b"".join(wire.written)
    pause.close()


@pytest.mark.parametrize("columns", [40, 80, 132])
def test_no_title_of_a_page_is_cut(columns: int) -> None:
    canvas = Canvas(columns, 20)
    Page("The rules of Black Jack For Time, all of them (1/4)", ["the text"]).paint(
        canvas, Area(0, columns - 1, 20)
    )
    page = " ".join(" ".join(canvas.text(row) for row in range(3)).split())
    assert page == "The rules of Black Jack For Time, all of them (1/4) the text"


def test_a_page_has_the_width_of_a_large_screen_to_itself() -> None:
    sent: list[str] = []
    display = CanvasDisplay(sent.append, lambda _flush: None, Viewer(), 132, 50, colour=True)
    display.say("said before")
    display.stage(Page("A title", ["word " * 30]))
    display.flush()
    terminal = Terminal(132, 50)
    terminal.read("".join(sent))
    rows = [row.rstrip() for row in terminal.display]
    assert not any("said before" in row or "│" in row for row in rows)
    assert len(rows[2].strip()) > 90
    assert abs((len(rows[2]) - len(rows[2].lstrip())) - 16) <= 1


def test_a_page_has_the_rows_of_a_narrow_screen_that_a_short_prompt_leaves() -> None:
    screen = Screen(40, 22)
    rows = [f"line {number}" for number in range(screen.display.page_rows - TITLE_ROWS)]
    assert len(rows) == 16
    screen.display.stage(Page("A title", rows))
    screen.display.prompt("A question of two rows, which are as many as a page leaves to it")
    screen.display.say("A sentence.")
    screen.time_passes()
    assert all(f" {row}" in screen.picture for row in rows)
    assert " A sentence." in screen.picture
    screen.display.prompt("Well?")
    screen.display.say("And another one, which has two rows")
    screen.time_passes()
    assert " line 15" in screen.picture
    screen.display.stage(Page("Another", ["short"]))
    screen.time_passes()
    assert not any("line" in row for row in screen.picture)


def test_plain_lines_repeat_no_open_question() -> None:
    """A room whose page changes asks again, and the question stood twice in one line."""
    sent: list[str] = []
    display = LinesDisplay(sent.append, 80, colour=False)
    display.prompt("Well?")
    display.prompt("Well?")
    assert "".join(sent) == "Well? "
    display.prompt("And now?")
    assert "".join(sent) == "Well? \r\nAnd now? "
    display.say("News.")
    assert "".join(sent).endswith("\r\nNews.\r\nAnd now? ")
