"""Texts that are read a page at a time, and the wait for any key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from ansi.keys import (
    BACKSPACE,
    DOWN,
    END,
    ENTER,
    ESCAPE,
    HOME,
    INTERRUPT,
    LEFT,
    PAGE_DOWN,
    PAGE_UP,
    RIGHT,
    UP,
)
from door.call.keyboard import HELP_KEYS, Keyboard
from door.call.markup import lit, plain, wrap
from door.call.page import MARGIN, TITLE_ROWS, Page, pages_of
from door.call.scene import Scene, View
from door.call.screen import Screen
from door.call.whole_lines import WholeLine, is_for_next_question
from timebank.language import N_, _

NO_CHOICE = N_("There is nothing to choose here.")
# What each key does in a text; Unix pagers use the same keys.
NEXT, PREVIOUS, FIRST, LAST, LEAVE = "NPFLQ"
PAGING = {
    **dict.fromkeys((" ", ENTER, PAGE_DOWN, DOWN, RIGHT), NEXT),
    **dict.fromkeys(("B", "-", PAGE_UP, UP, LEFT, BACKSPACE), PREVIOUS),
    **dict.fromkeys((HOME, "<"), FIRST),
    **dict.fromkeys((END, ">"), LAST),
    **dict.fromkeys((ESCAPE, INTERRUPT, "X"), LEAVE),
}


@dataclass(slots=True, eq=False)
class Pager:
    _keyboard: Keyboard
    _screen: Screen

    async def any_key(self, why: str = "") -> None:
        """Wait for any key but a help key, which must not end the last view of what is shown.

        A key that hurried the cards before does not count. `why` is as in `press`.
        """
        self._keyboard.forget_hurry()
        self._screen.display.prompt(self.press(why))
        while (key := self._keyboard.letter_of(await self._keyboard.key(), {})) in HELP_KEYS:
            self._screen.display.hint(f"|07{_(NO_CHOICE)}")
        self._keyboard.end_pause(key)
        self._screen.display.answered()

    def press(self, why: str = "") -> str:
        """Return what ends a wait for any key, after a sentence that says `why`."""
        words = self._keyboard.suited(_("Press any key"), _("Press Enter"))
        return f"|07{why} {words}" if why else f"|07{words}"

    async def read(self, title: str, text: str, *, leads_on: bool = False) -> bool:
        """Let the caller read a text with pipe codes, page by page.

        Return True if they went on past its end, False if they quit. A text that `leads_on` offers
        "Next" on its last page. One that does not, and has a single page, ends with any key. The
        text is laid out again when the window changes.
        """
        return await self._read(_Reading(self._screen, self.press, title, text, leads_on)) == NEXT

    async def read_or_choose(
        self, title: str, text: str, also: Mapping[str, str], dress: Callable[[Page], Scene]
    ) -> str:
        """Let the caller read a text as `read` does, or choose a letter of `also`, with labels.

        Return the letter that ended the reading. `dress` makes a scene of a text of a single page.
        """
        return await self._read(_Reading(self._screen, self.press, title, text, False, also, dress))

    async def _read(self, reading: _Reading) -> str:
        screen = self._screen
        screen.reader = reading.relaid
        try:
            while True:
                screen.display.stage(reading.page())
                screen.display.prompt(reading.prompt())
                reading.offer()
                letter = await self._letter(reading)
                if letter == LEAVE or letter in reading.also or not reading.turn(letter):
                    return letter
        finally:
            screen.reader = None

    def holds(self, text: str) -> bool:
        """Return whether a text is one page."""
        return len(_pages(self._screen, text)) == 1

    async def _letter(self, reading: _Reading) -> str:
        """Return the letter of the page, or of the exit, that the caller chooses."""
        while True:
            key = await self._keyboard.key(takes_words=True)
            key = self._keyboard.letter_of(key, {**reading.choices, **reading.also})
            if (letter := reading.letter(key)) is not None:
                break
            if isinstance(key, WholeLine) and is_for_next_question(key.text):
                letter = LEAVE
                break
            if key in HELP_KEYS or self._keyboard.sends_only_lines:
                turns = _("Space turns the page, B goes back.")
                labels = ", ".join((*reading.choices.values(), *reading.also.values()))
                words = _("You can type: {choices}.").format(choices=labels)
                words = self._keyboard.suited(turns, words) if reading.choices else _(NO_CHOICE)
                self._screen.display.hint(f"|07{words}")
        if letter == LEAVE and (not reading.choices or isinstance(key, WholeLine)):
            self._keyboard.end_pause(key)
        self._screen.display.answered()
        self._screen.offer("any")
        return letter


@dataclass(slots=True, eq=False)
class _Reading:
    """A text and its current page."""

    _screen: Screen
    _press: Callable[[], str]
    _title: str
    _text: str
    _leads_on: bool
    also: Mapping[str, str] = field(default_factory=dict)
    _dress: Callable[[Page], Scene] = lambda page: page
    _letters_before: int = 0  # letters of the text before the current page
    _pages: Sequence[Sequence[str]] = field(init=False)
    _number: int = field(init=False)
    choices: dict[str, str] = field(init=False)  # empty if any key leaves the text
    _default: str = field(init=False)

    def __post_init__(self) -> None:
        self._pages = _pages(self._screen, self._text)
        self._open(0)

    def _open(self, number: int) -> None:
        last, self._number = len(self._pages) - 1, number
        labels = {NEXT: _("Next"), PREVIOUS: _("Previous"), LEAVE: _("Quit")}
        shown = {NEXT: self._leads_on or number < last, PREVIOUS: number > 0, LEAVE: True}
        is_led = last > 0 or self._leads_on
        self.choices = {each: labels[each] for each in labels if is_led and shown[each]}
        self._default = NEXT if shown[NEXT] else LEAVE

    def page(self) -> Scene:
        page = Page(self._numbered(), self._pages[self._number])
        return self._dress(page) if len(self._pages) == 1 else page

    def prompt(self) -> str:
        if self.choices:
            return lit({**self.choices, **self.also}, self._default)
        return "  ".join((self._press(), *([lit(self.also)] if self.also else [])))

    def offer(self) -> None:
        if self.choices:
            self._screen.offer("keys", {**self.choices, **self.also}, self._default)

    def letter(self, key: str) -> str | None:
        """Return the letter that a key stands for on this page; None if it does nothing."""
        folded = key.upper() if len(key) == 1 else key
        if folded in self.also:
            return folded
        if not self.choices:
            return None if key in HELP_KEYS else LEAVE
        letter = PAGING.get(folded, folded)
        if letter == NEXT:
            return self._default
        is_open = {FIRST: self._number > 0, LAST: self._number < len(self._pages) - 1}
        return letter if is_open.get(letter, letter in self.choices) else None

    def turn(self, letter: str) -> bool:
        """Go to another page; return False past the last one."""
        last = len(self._pages) - 1
        places = {NEXT: self._number + 1, PREVIOUS: self._number - 1, FIRST: 0, LAST: last}
        if places[letter] > last:
            return False
        self._open(places[letter])
        self._letters_before = sum(map(_letters, self._pages[: self._number]))
        return True

    def relaid(self, view: View) -> View:
        """Lay the text out for a new size of screen, and return the view of the current page.

        That page begins with or contains the first letter of the page before.
        """
        self._pages = _pages(self._screen, self._text)
        ends = accumulate(map(_letters, self._pages))
        last = len(self._pages) - 1
        self._open(next((at for at, end in enumerate(ends) if end > self._letters_before), last))
        self.offer()
        return replace(view, scene=self.page(), prompt=self.prompt())

    def _numbered(self) -> str:
        """Return the title with the number of the page, in short form if there is little room."""
        if len(self._pages) == 1:
            return self._title
        number, pages = self._number + 1, len(self._pages)
        words = _("{number} of {pages}").format(number=number, pages=pages)
        long, short = f"{self._title} ({words})", f" {number}/{pages}"
        room = self._screen.page_columns - MARGIN
        return long if len(long) <= room else f"{wrap(self._title, room - len(short))[0]}{short}"


def _pages(screen: Screen, text: str) -> tuple[tuple[str, ...], ...]:
    return pages_of(text, screen.page_columns - MARGIN, screen.page_rows - TITLE_ROWS)


def _letters(page: Sequence[str]) -> int:
    """Count the letters of a page without blanks, which depend on the width of lines."""
    return sum(len(word) for line in page for word in plain(line).split())
