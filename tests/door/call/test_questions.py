"""Questions and texts: Enter's default is named, `?` explains, nothing is out of reach."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from ansi.canvas import Canvas
from ansi.charset import Charset
from door.call.console import Console
from door.call.markup import plain
from door.call.page import Page, pages_of
from door.call.scene import Area
from door.call.screen import Look, Paint
from door.clock import SystemClock
from door.lines.line import OpenKeys
from tests.ansi.terminal import Terminal
from tests.door.wall import Wall
from timebank.language import Viewer, speaking_to

F1, END, HOME, PAGE_DOWN, UP = b"\x1bOP", b"\x1b[F", b"\x1b[H", b"\x1b[6~", b"\x1b[A"
CHOICES = {"B": "Bet", "R": "Rules", "Q": "Quit"}
MEANINGS = {"B": "Place a bet and get your cards."}


class Felt:
    """A scene that explains its own fields."""

    def paint(self, canvas: Canvas, area: Area) -> None:
        canvas.put(0, area.left, f"the felt, {area.columns} by {area.rows}")

    def lines(self) -> Sequence[str]:
        return ["the felt"]

    def explain(self, *, in_lines: bool = False) -> Sequence[str]:
        return ["|15Pot|07  What you can bet."]


class PageWall(Wall):
    """A line that shows the open keys."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []

    def show_keys(self, keys: OpenKeys, language: str) -> None:
        self.shown.append(keys.ask)


class Chat:
    """Something that covers the screen and takes the keys."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def on_keys(self, keys: Sequence[str]) -> None:
        self.keys.extend(keys)

    def on_removed(self) -> None: ...


class Somebody:
    """A caller at a console, and their screen."""

    def __init__(self, columns: int = 80, rows: int = 24, paint: Paint = Paint.COLOUR) -> None:
        self.wall = Wall()
        self.wall.columns, self.wall.rows = columns, rows
        self.console = Console(self.wall, Look(Charset.UTF8, paint), SystemClock())
        self.console.screen.paint_screens()
        self.console.display.stage(Felt())

    @property
    def screen(self) -> list[str]:
        terminal = Terminal(self.wall.columns, self.wall.rows)
        terminal.read(self.wall.written.decode())
        return [row.rstrip() for row in terminal.display]

    @property
    def sees(self) -> str:
        return "\n".join(self.screen)

    async def types(self, *keys: bytes) -> None:
        for key in keys:
            self.console.received(key)
            await settle()

    @asynccontextmanager
    async def asked(self, question: Coroutine[Any, Any, Any]) -> AsyncIterator[asyncio.Task[Any]]:
        task = asyncio.create_task(question)
        await settle()
        try:
            yield task
        finally:
            task.cancel()


async def settle() -> None:
    for _ in range(6):
        await asyncio.sleep(0)


@pytest.fixture
async def caller() -> Somebody:
    return Somebody()


# Questions


async def test_enter_uses_the_default_that_the_prompt_names(caller: Somebody) -> None:
    async with caller.asked(caller.console.prompt.ask(CHOICES, default="B", cancel="Q")) as answer:
        assert caller.screen[22] == " <B>et (Enter)  <R>ules  <Q>uit"
        await caller.types(b"\r")
        assert answer.result() == "B"


async def test_a_question_mark_shows_help_and_restores_the_screen(
    caller: Somebody,
) -> None:
    caller.console.screen.say("|07Cards are on their way.")
    question = caller.console.prompt.ask(CHOICES, default="B", cancel="Q", meanings=MEANINGS)
    async with caller.asked(question) as answer:
        before = caller.screen
        await caller.types(b"?")
        assert "Help" in caller.screen[0]
        for line in (
            "B  Place a bet and get your cards.",
            "R  Rules",
            "Enter  Bet",
            "Esc  Quit",
            "Pot  What you can bet.",
        ):
            assert f"\n {line}\n" in caller.sees
        await caller.types(b" ")
        assert caller.screen == before
        assert not answer.done()
        await caller.types(F1)
        assert "Help" in caller.screen[0]


async def test_changes_behind_the_help_show_when_it_closes(caller: Somebody) -> None:
    async with caller.asked(caller.console.prompt.ask(CHOICES, meanings=MEANINGS)):
        await caller.types(b"?")
        caller.console.screen.say("Bob sits down.")
        await caller.types(b" ")
        assert "Bob sits down." in caller.sees


async def test_help_in_lines_is_shown_once_and_the_question_asked_again() -> None:
    caller = Somebody(paint=Paint.LINES)
    async with caller.asked(caller.console.prompt.ask(CHOICES, default="B")):
        await caller.types(b"?", b" ")
        output = caller.wall.written.decode()
        assert "\x1b" not in output
        assert output.count("What you can bet.") == 1
        assert output.count("the felt") == 1, "the scene stands above"
        assert output.endswith("Bet (B, Enter), Rules (R), Quit (Q) ")


async def test_each_key_without_a_meaning_says_so_in_place_of_the_last(caller: Somebody) -> None:
    async with caller.asked(caller.console.prompt.ask(CHOICES, default="B")) as answer:
        await caller.types(UP)
        assert "That key does nothing here." in caller.sees
        await caller.types(b"y", b"x")
        assert caller.sees.count("does nothing here") == 1
        assert "X does nothing here. Type ? for the keys that do." in caller.sees
        await caller.types(b"r")
        assert answer.result() == "R"


async def test_the_first_letter_of_a_label_names_the_key_of_that_label(caller: Somebody) -> None:
    french = {"H": "Tirer", "S": "Rester"}
    async with caller.asked(caller.console.prompt.ask(french)):
        await caller.types(b"t")
        assert "T does nothing here: type H for Tirer." in caller.sees


@pytest.mark.parametrize(("paint", "is_listed"), [(Paint.MONO, True), (Paint.LINES, False)])
async def test_help_names_the_key_of_plain_lines_to_callers_without_them(
    paint: Paint, is_listed: bool
) -> None:
    caller = Somebody(paint=paint)

    async def take_lines() -> None: ...

    caller.console.keyboard.on_lines = take_lines
    async with caller.asked(caller.console.prompt.ask(CHOICES)):
        await caller.types(b"?")
        written = caller.wall.written.decode()
        assert ("!  Plain lines, for a screen reader." in written) == is_listed


async def test_enter_without_a_default_says_so(caller: Somebody) -> None:
    async with caller.asked(caller.console.prompt.ask(CHOICES)):
        await caller.types(b"\r")
        assert "Enter does nothing here." in caller.sees


async def test_the_key_that_cut_a_wait_short_is_not_scolded(caller: Somebody) -> None:
    async with caller.asked(caller.console.prompt.ask(CHOICES)):
        await caller.types(b" ")
        assert "does nothing" not in caller.sees


async def test_an_unknown_key_cannot_paint(caller: Somebody) -> None:
    async with caller.asked(caller.console.prompt.ask(CHOICES)):
        await caller.types(b"|")
        assert "│ does nothing here." in caller.sees


# Pasted text

PASTED = b"\x1b[200~b5\r/q\nr\x1b[201~"


async def test_a_paste_presses_no_key_of_a_question(caller: Somebody) -> None:
    async with caller.asked(caller.console.prompt.ask(CHOICES, default="B", cancel="Q")) as answer:
        before = caller.screen
        await caller.types(PASTED)
        assert (caller.screen, answer.done()) == (before, False)
        await caller.types(PASTED, b"r")
        assert answer.result() == "R"


async def test_a_paste_turns_no_page_and_ends_no_help(caller: Somebody) -> None:
    async with caller.asked(caller.console.prompt.ask(CHOICES)):
        await caller.types(b"?", PASTED)
        assert "Help" in caller.screen[0]


async def test_a_paste_of_lines_fills_a_field_and_does_not_send_it(caller: Somebody) -> None:
    async with caller.asked(caller.console.prompt.entry("|07Say:", longest=12)) as answer:
        await caller.types(b"a ", PASTED)
        assert "Say: a b5 /q r" in caller.sees
        await caller.types(PASTED)
        assert "Type up to 12 characters." in caller.sees
        assert not answer.done()
        await caller.types(b"\r")
        assert answer.result() == "a b5 /q rb5 "


async def test_a_paste_types_only_letters_that_a_field_takes(caller: Somebody) -> None:
    question = caller.console.prompt.entry("|07Coins:", longest=4, accept=str.isdigit)
    async with caller.asked(question) as answer:
        await caller.types(PASTED)
        assert caller.screen[22] == " Coins: 5"
        await caller.types(b"\r")
        assert answer.result() == "5"


async def test_a_paste_is_letters_to_what_covers_the_screen(caller: Somebody) -> None:
    caller.console.screen.put_on(chat := Chat())  # type: ignore[arg-type]
    await caller.types(PASTED)
    assert "".join(chat.keys) == "b5 /q r"


async def test_only_painted_screens_ask_terminals_to_mark_pastes_and_stop_at_the_end() -> None:
    for paint in Paint:
        caller = Somebody(paint=paint)
        caller.console.screen.close()
        written = caller.wall.written
        marks = paint is not Paint.LINES
        assert (b"\x1b[?2004h" in written, written.endswith(b"\x1b[?2004l")) == (marks, marks)


# Fields


async def test_a_field_explains_itself_while_it_is_empty(caller: Somebody) -> None:
    question = caller.console.prompt.entry("|07Coins:|15", longest=4, meaning="Coins to bet.")
    async with caller.asked(question) as answer:
        await caller.types(b"?")
        assert "Coins to bet." in caller.sees
        assert "Type up to 4 characters." in caller.sees
        await caller.types(b" ", b"5", b"?")
        assert caller.screen[22] == " Coins: 5?"
        await caller.types(F1, b" ")
        assert caller.screen[22] == " Coins: 5?", "what was typed is still there"
        await caller.types(b"\r")
        assert answer.result() == "5?"


async def test_a_secret_may_begin_with_a_question_mark(caller: Somebody) -> None:
    async with caller.asked(
        caller.console.prompt.entry("Password:", longest=9, secret=True)
    ) as answer:
        await caller.types(b"?", b"\r")
        assert answer.result() == "?"


async def test_a_long_question_leaves_room_to_type(caller: Somebody) -> None:
    """The insurance prompt filled the row; the cursor stood on its last letter."""
    words = " ".join(["no"] * 25)
    async with caller.asked(caller.console.prompt.ask({"Y": ""}, menu=f"{words} yes")):
        assert caller.screen[21:23] == [f" {words}", " yes"]
        await caller.types(b"x")
        assert caller.screen[21] == f" {words}"


async def test_a_long_question_wraps_between_words_over_several_rows() -> None:
    caller = Somebody(40, 25)
    words = " ".join(["word"] * 20)
    async with caller.asked(caller.console.prompt.entry(words, longest=20)):
        assert caller.screen[20:24] == [
            *[f" {' '.join(['word'] * 7)}"] * 2,
            f" {' '.join(['word'] * 6)}",
            "",
        ]
        await caller.types(b"hello")
        assert caller.screen[23] == " hello"


async def test_a_field_of_wide_letters_shows_its_end() -> None:
    caller = Somebody(40, 25)
    async with caller.asked(caller.console.prompt.entry("Say:", longest=60)):
        await caller.types("漢".encode() * 30, b"end")
        row = caller.screen[23]
        assert row.endswith("漢end"), row
        await caller.types(b"\x7f" * 3)
        assert caller.screen[23].endswith("漢漢漢")


async def test_of_wide_letters_lines_show_and_rub_out_whole_ones() -> None:
    caller = Somebody(40, 25, Paint.LINES)
    async with caller.asked(caller.console.prompt.entry("Say:", longest=60)) as answer:
        caller.wall.written.clear()
        await caller.types("漢".encode() * 30)
        shown = caller.wall.written.decode()
        assert shown == "漢" * 17, "they would wrap"
        caller.wall.written.clear()
        await caller.types(b"\x7f" * 13)
        assert caller.wall.written == b""
        await caller.types(b"\x7f")
        assert caller.wall.written == b"\b\b  \b\b"
        await caller.types(b"\r")
        assert answer.result() == "漢" * 16


# Texts


TEXT = "\n".join(f"{number}. {'word ' * 20}" for number in range(1, 21))


def test_a_page_ends_between_two_paragraphs() -> None:
    pages = pages_of(TEXT, 77, 17)
    assert [page[0][:3] for page in pages] == ["1. ", "9. ", "17."]
    assert [line for page in pages for line in page] == list(pages_of(TEXT, 77, 1000)[0])


def test_a_paragraph_longer_than_a_page_is_broken() -> None:
    pages = pages_of(" ".join(["word"] * 101), 10, 5)
    assert [len(page) for page in pages] == [5] * 10 + [1]


def test_a_table_stays_with_its_heading() -> None:
    """The rules of baccarat ended a page with "The table pays" and the first of its rows."""
    text = "One\n\nThe table pays\n  Player  1 to 1\n  Tie     8 to 1\n\nTwo"
    assert pages_of(text, 20, 4) == (
        ("One", ""),
        ("The table pays", "  Player  1 to 1", "  Tie     8 to 1", ""),
        ("Two",),
    )


def test_a_heading_is_not_the_last_line_of_a_page() -> None:
    assert pages_of("One\nTwo\n\nCut with\nmy phrase", 20, 4) == (
        ("One", "Two"),
        ("Cut with", "my phrase"),
    )


def test_a_table_longer_than_a_page_is_broken_between_its_rows() -> None:
    assert pages_of("Pays\n  a\n  b\n  c", 10, 3) == (("Pays", "  a", "  b"), ("  c",))


def test_no_page_begins_with_an_empty_line() -> None:
    assert pages_of("a\nb\n\nc", 10, 2) == (("a", "b"), ("c",))


def test_an_empty_text_is_a_page() -> None:
    assert pages_of("", 10, 2) == (("",),)


async def test_the_usual_keys_scroll(caller: Somebody) -> None:
    async with caller.asked(caller.console.pager.read("Rules", TEXT)) as reading:
        called = []
        for key in (b"", b" ", b"\r", b"b", PAGE_DOWN, HOME, END, UP, b"n", b"p", b"?"):
            await caller.types(key)
            called.append(caller.screen[0].strip())
        assert called == [
            *("Rules (1 of 3)", "Rules (2 of 3)", "Rules (3 of 3)", "Rules (2 of 3)"),
            *("Rules (3 of 3)", "Rules (1 of 3)", "Rules (3 of 3)", "Rules (2 of 3)"),
            *("Rules (3 of 3)", "Rules (2 of 3)", "Rules (2 of 3)"),
        ]
        assert "Space turns the page, B goes back." in caller.sees
        await caller.types(b"q")
        assert reading.done()


async def test_a_long_title_keeps_its_number_on_a_narrow_screen() -> None:
    caller = Somebody(40, 25)
    title = "The rules of Black Jack For Time"
    async with caller.asked(caller.console.pager.read(title, TEXT)):
        assert caller.screen[0].strip().startswith(f"{title} 1/")
        assert caller.screen[0].strip()[-1].isdigit()


async def test_entering_a_room_forgets_the_messages_of_the_last() -> None:
    caller = Somebody(132, 50)
    async with caller.asked(caller.console.pager.any_key()):
        caller.console.screen.say("You sit down.")
        await caller.types(b" ")
        assert "You sit down." in caller.sees
        caller.console.display.forget()
        caller.console.screen.say("Another room.")
        caller.console.display.flush()
        assert "Another room." in caller.sees
        assert "You sit down." not in caller.sees


async def test_space_at_the_end_of_a_text_leads_out(caller: Somebody) -> None:
    async with caller.asked(caller.console.pager.read("Rules", TEXT)) as reading:
        await caller.types(b" ", b" ", b" ")
        assert reading.done()


@pytest.mark.parametrize(("columns", "rows"), [(40, 22), (160, 60), (30, 20)])
async def test_no_word_is_lost_where_the_window_changes_while_they_read(
    columns: int, rows: int
) -> None:
    words = [f"w{number}" for number in range(600)]
    caller = Somebody(100, 30)
    async with caller.asked(caller.console.pager.read("Rules", " ".join(words))) as reading:
        words_shown = caller.sees.split()
        caller.wall.written.clear()
        caller.wall.resize(columns, rows)
        while not reading.done():
            await settle()
            words_shown += (
                caller.wall.written.decode().split() if columns < 40 else caller.sees.split()
            )
            await caller.types(b" ")
        assert [word for word in words if word not in words_shown] == []
    assert caller.console.keyboard.next_key() is None


async def test_a_change_of_the_window_keeps_the_place_in_a_text(caller: Somebody) -> None:
    text = "\n".join(f"par{number} {'word ' * 20}" for number in range(60))
    async with caller.asked(caller.console.pager.read("Rules", text)):
        await caller.types(b" ", b" ")
        there = next(word for word in caller.sees.split() if word.startswith("par"))
        caller.console.screen.say("Bob sits down.")
        caller.wall.written.clear()
        caller.wall.resize(60, 24)
        await settle()
        assert f" {there} " in caller.sees
        assert "Bob sits down." in caller.sees
        assert caller.screen[-2].strip() == "<N>ext (Enter)  <P>revious  <Q>uit"
        caller.wall.written.clear()
        caller.wall.resize(80, 24)
        await settle()
        assert f" {there} " in caller.sees


async def test_a_change_of_the_window_while_reading_repeats_no_text() -> None:
    caller = Somebody(132, 24)
    async with caller.asked(caller.console.pager.read("Rules", TEXT)):
        caller.console.screen.say("Bob sits down.")
        await settle()
        caller.wall.resize(140, 24)
        await settle()
        await caller.types(b"q")
        caller.wall.written.clear()
        caller.console.display.stage(Felt())
        caller.console.display.flush()
        assert caller.sees.count("Bob sits down.") == 1


async def test_a_change_of_the_window_on_leaving_a_text_answers_no_prompt(
    caller: Somebody,
) -> None:
    async with caller.asked(caller.console.pager.read("Rules", TEXT)) as reading:
        caller.wall.resize(60, 24)
        caller.console.received(b"q")
        await settle()
        assert reading.done()
        assert caller.console.keyboard.next_key() is None


# Sizes


@pytest.mark.parametrize(
    ("columns", "rows", "area"),
    [
        (40, 22, "39 by 15"),
        (40, 25, "39 by 18"),
        (79, 24, "78 by 17"),
        (80, 24, "79 by 19"),
        (107, 24, "106 by 19"),
        (132, 50, "79 by 40"),
        (160, 60, "107 by 50"),
    ],
)
async def test_every_size_has_its_own_layout(columns: int, rows: int, area: str) -> None:
    caller = Somebody(columns, rows)
    async with caller.asked(caller.console.pager.any_key()):
        assert caller.screen[0] == f"the felt, {area}"


@pytest.mark.parametrize(("columns", "rows"), [(39, 24), (40, 21)])
async def test_a_smaller_one_has_lines(columns: int, rows: int) -> None:
    assert not Somebody(columns, rows).console.screen.is_painted


async def test_a_wide_screen_shows_earlier_messages_next_to_the_scene() -> None:
    caller = Somebody(132, 24)
    async with caller.asked(caller.console.pager.any_key()):
        for number in range(1, 7):
            caller.console.screen.say(f"Message {number}.")
        await settle()
        assert [row[:11].strip() for row in caller.screen[19:22]] == [
            f"Message {number}." for number in (4, 5, 6)
        ]
        assert [row[79:].strip("│ ") for row in caller.screen[16:19]] == [
            f"Message {number}." for number in (1, 2, 3)
        ]
        caller.console.display.stage(Felt())
        await settle()
        assert caller.screen[18].endswith("│ Message 6."), "and those of the scene before"


async def test_field_help_beside_a_scene_gives_way_to_messages() -> None:
    caller = Somebody(132, 24)
    async with caller.asked(caller.console.pager.any_key()):
        caller.console.display.stage(Felt())
        await settle()
        first, *_ = (plain(text) for text in Felt().explain())
        assert caller.screen[1][79:].strip("│ ") == first
        for number in range(1, 30):
            caller.console.screen.say(f"Message {number}.")
        await settle()
        assert first not in "\n".join(caller.screen)


async def test_messages_survive_a_change_of_size() -> None:
    caller = Somebody(132, 24)
    async with caller.asked(caller.console.pager.any_key()):
        for number in range(1, 7):
            caller.console.screen.say(f"Message {number}.")
        await settle()
        caller.wall.written.clear()
        caller.wall.resize(140, 24)
        await settle()
        assert caller.screen[18].endswith("│ Message 3.")


@pytest.mark.parametrize("size", [(40, 22), (39, 20), (160, 60)])
async def test_messages_are_whole_again_when_the_window_grows(
    caller: Somebody, size: tuple[int, int]
) -> None:
    """It was broken for the other window and stayed so, or was left behind among the lines."""
    async with caller.asked(caller.console.pager.any_key()):
        caller.console.screen.say("You bust.")
        caller.console.screen.say(
            f"|12You lose 10 coins, {'and' + ' more' * 8}, |15and that's that."
        )
        await settle()
        before = caller.screen
        caller.wall.written.clear()
        caller.wall.resize(*size)
        await settle()
        caller.wall.written.clear()
        caller.wall.resize(80, 24)
        await settle()
        assert caller.screen == before


async def test_messages_of_line_mode_are_painted_when_the_window_grows() -> None:
    caller = Somebody(39, 20)
    async with caller.asked(caller.console.pager.any_key()):
        caller.console.screen.say("You lose 10 coins.")
        await settle()
        caller.wall.written.clear()
        caller.wall.resize(80, 24)
        await settle()
        assert caller.screen[19] == " You lose 10 coins."


# Moments


async def test_a_moment_lasts_as_the_caller_likes_and_a_key_is_not_eaten() -> None:
    caller = Somebody()
    async with caller.asked(caller.console.keyboard.beat(3600)) as moment:
        assert not moment.done()
        await caller.types(b"h")
        assert moment.done()
    assert caller.console.keyboard.next_key() == "h"
    await caller.console.keyboard.beat(3600)  # a key waits: no moment at all


@pytest.mark.parametrize(("pace", "paint"), [(0.0, Paint.COLOUR), (1.0, Paint.LINES)])
async def test_pauses_off_and_line_mode_skip_the_wait_for_a_key(pace: float, paint: Paint) -> None:
    caller = Somebody(paint=paint)
    caller.console.keyboard.pace = pace
    await caller.console.keyboard.beat(3600)


async def test_yes_is_y_or_the_first_letter_of_the_local_word(caller: Somebody) -> None:
    with speaking_to(Viewer("fr")):
        for key, says in ((b"y", True), (b"o", True), (b"n", False)):
            async with caller.asked(caller.console.prompt.agrees("Vous partez ?")) as answer:
                await caller.types(key)
                assert answer.result() is says
    async with caller.asked(caller.console.prompt.agrees("Leave?")) as answer:
        await caller.types(b"o")
        assert not answer.done()


# Keys that a page shows


async def test_a_page_has_a_field_while_a_chat_covers_the_question() -> None:
    caller = Somebody()
    caller.wall = PageWall()
    caller.console = Console(caller.wall, Look(Charset.UTF8, Paint.COLOUR), SystemClock())
    async with caller.asked(caller.console.prompt.ask(CHOICES)) as answer:
        chat = Chat()
        caller.console.screen.put_on(chat)
        await caller.types(b"B", b"R")
        caller.console.screen.uncover()
        assert chat.keys == ["B", "R"]
        assert caller.wall.shown == ["keys", "text", "text", "text", "keys"]
        await caller.types(b"B")
        assert answer.result() == "B"


# A key for help does not remove a message that is shown once.


@pytest.mark.parametrize("paint", [Paint.COLOUR, Paint.LINES])
@pytest.mark.parametrize("key", [b"?", F1])
async def test_help_at_an_any_key_prompt_keeps_the_screen(paint: Paint, key: bytes) -> None:
    caller = Somebody(paint=paint)
    caller.console.display.stage(Page("Your recovery code", ["ABCD-EFGH"]))
    async with caller.asked(caller.console.pager.any_key()) as waiting:
        await caller.types(key, key)
        assert not waiting.done()
        assert "ABCD-EFGH" in caller.sees
        assert "There is nothing to choose here." in caller.sees
        await caller.types(b"x")
        assert waiting.done()


@pytest.mark.parametrize("paint", [Paint.COLOUR, Paint.LINES])
async def test_help_stays_on_a_text_of_one_page(paint: Paint) -> None:
    caller = Somebody(paint=paint)
    async with caller.asked(caller.console.pager.read("Rules", "Bet first.")) as reading:
        await caller.types(b"?")
        assert not reading.done()
        assert "Bet first." in caller.sees
        await caller.types(b"x")
        assert reading.done()
