"""A caller's keyboard and screen: the only way rooms and tables meet a line.

A `Console` takes bytes from its line, turns them into keys, and lets a coroutine read top to
bottom: `choice = await console.ask(...)`. Whatever ends a call (the carrier is lost, the time is
up, another call took over) arrives as an `Interruption` raised from the same `await`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from itertools import accumulate
from typing import Protocol

from ansi.charset import READ_ALOUD, UNREADABLE, Charset, encode, reread, spelling
from ansi.keys import (
    BACKSPACE,
    DOWN,
    END,
    ENTER,
    ESCAPE,
    F1,
    HOME,
    INTERRUPT,
    LEFT,
    PAGE_DOWN,
    PAGE_UP,
    RIGHT,
    RUBOUT,
    UP,
    Key,
    KeyDecoder,
)
from door.call.display import CanvasDisplay, Display, LinesDisplay, resume
from door.call.markup import lit, literal, plain, wrap
from door.call.page import MARGIN, TITLE_ROWS, Page, page_columns, pages_of
from door.call.scene import LAYOUT_COLUMNS, Explained, ExplainedInLines, Scene, View
from door.clock import Clock, Timer
from door.errors import CarrierLost, Hangup, Interruption, TakenOver
from door.lines.line import MIN_COLUMNS, MIN_ROWS, Ask, Line, OpenKeys, bounded_size
from timebank.language import N_, Viewer, _, speaking_to

# A word for those who wait longer than one should: another program has the books, say.

PATIENCE_SECONDS = 3  # who waits so long is told why
LONGEST_WAIT = 24.0  # seconds that a caller waits for an answer, whatever has to be waited for
LAST_SECONDS = 2.5  # for what follows once so long was waited


@contextmanager
def patience(clock: Clock, say: Callable[[], None]) -> Iterator[None]:
    """Call `say` once if what is done inside is not done after `PATIENCE_SECONDS`."""
    timer = clock.call_later(PATIENCE_SECONDS, say)
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def at_the_door(clock: Clock, console: Console) -> Iterator[None]:
    """Tell a caller who is not on a call yet, with no clock of theirs, that they have to wait."""
    with patience(clock, lambda: console.say(f"|14{_('The board is busy. Please wait.')}")):
        yield


COMMAND = "/"
_COMMANDS = re.compile(r"/(?:[pr?](?: |$)|[wo] *$)", re.IGNORECASE)
HELP_KEYS = ("?", F1)
UNDER_COVER = OpenKeys("text")  # whatever is typed goes to what covers the screen
UNREAD = N_(
    "A letter that you typed can't be read here. Type this again without it, or set your terminal"
    " to UTF-8."
)
ESCAPE_SECONDS = 0.35  # a lone ESC is a key when nothing has followed it for this long
KEYS_WAITING = 512  # typed ahead; more than this stays in the socket
KEYS_ON_END = 32  # of a paste are given before it is somebody else's turn
SERVED_WITHIN = 0.05  # seconds; a key that takes longer to serve is echoed before
MOST_KEPT = 4096  # characters that are told in lines below a cover, and shown after it
PARTING_SECONDS = 2.0  # how long the last words may take to leave
CANVAS_COLUMNS, CANVAS_ROWS = 40, 22  # the smallest screen that is painted

# Where a text is read: what each key does, as those who read on a Unix machine know them too.
NEXT, PREVIOUS, FIRST, LAST, LEAVE = "NPFLQ"
RELAID = "relaid"  # no key: the window has changed, and the text has to be laid out anew
_PAGING = {
    **dict.fromkeys((" ", ENTER, PAGE_DOWN, DOWN, RIGHT), NEXT),
    **dict.fromkeys(("B", "-", PAGE_UP, UP, LEFT, BACKSPACE), PREVIOUS),
    **dict.fromkeys((HOME, "<"), FIRST),
    **dict.fromkeys((END, ">"), LAST),
    **dict.fromkeys((ESCAPE, INTERRUPT, "X"), LEAVE),
}

# The cursor goes to the far corner, as far as the terminal lets it, says where that is, and goes
# back. SyncTERM knows these, and so does every terminal that calls itself ANSI.
ASK_SIZE = b"\x1b[s\x1b[255;255H\x1b[6n\x1b[u"
# One letter of UTF-8 is three of any other set, so where the cursor stands behind it tells which.
ASK_LETTERS = b"\r" + "─".encode() + b"\x1b[6n\r   \r"


class Paint(Enum):
    COLOUR = "colour"
    MONO = "mono"  # positions and cleared screens, no colours
    LINES = "lines"  # text alone: not a single escape sequence


@dataclass(frozen=True)
class Look:
    charset: Charset
    paint: Paint

    @property
    def has_shapes(self) -> bool:
        """Whether lines, blocks and suits can be drawn: never where the text is read aloud."""
        return self.charset.has_shapes and self.paint is not Paint.LINES

    def encode(self, text: str) -> bytes:
        is_drawn = text.isascii() or self.paint is not Paint.LINES
        return encode(text if is_drawn else text.translate(READ_ALOUD), self.charset)


_UNKNOWN = Look(Charset.ASCII, Paint.LINES)  # of a terminal that has said nothing


class CommandLine(Protocol):
    """What does lines that begin with a slash."""

    async def command(self, typed: str) -> None:
        """Do one that begins so, or that is whole."""

    def meaning(self) -> str:
        """Say what can be done so."""


class Cover(Protocol):
    """What lies over a caller's screen for a while, and takes their keys: the sysop's chat."""

    display: Display

    def typed(self, keys: Sequence[str]) -> None:
        """Take keys that the room below does not get."""

    def said(self, text: str) -> None:
        """Hear what the room below says meanwhile."""

    def fit(self) -> None:
        """Follow a window that has another size."""

    def lifted(self) -> None:
        """Know that it lies there no more."""


class Console:
    # Beyond thirty attributes an object has a table of names of its own, which takes 1.3 kB.
    __slots__ = (
        "_asked",
        "_decoder",
        "_echo",
        "_fit_is_due",
        "_flush",
        "_heard",
        "_is_relaid",
        "_kept",
        "_keys",
        "_keys_on_end",
        "_loop",
        "_offered",
        "_painted",
        "_paused",
        "_reads",
        "_shows_offers",
        "_waiter",
        "clock",
        "commands",
        "cover",
        "display",
        "interruption",
        "is_look_chosen",
        "keys_heard",
        "last_key",
        "line",
        "look",
        "on_clear",
        "on_key",
        "on_redraw",
        "on_shown",
        "on_unread",
        "onlookers",
        "pace",
        "rubout",
        "viewer",
        "waits_from",
        "wants_lines",
    )

    def __init__(self, line: Line, look: Look, clock: Clock) -> None:
        """Take over `line`; the display is plain lines until `paint_screens`."""
        self.line = line
        self.viewer = Viewer(spelling=spelling(look.charset))  # who reads here
        self.wants_lines = False  # whether they asked for plain lines, or their terminal did
        self.is_look_chosen = False  # by the caller, or for their call
        self.on_unread: Callable[[Console], Awaitable[None]] = refuse_letters
        self.pace = 1.0  # how long a moment lasts at a table; 0 for none
        self.clock: Clock = clock
        self.look = look
        self.last_key = clock.monotonic()
        self.waits_from = self.last_key  # since when they wait for an answer, while they do
        self.keys_heard = 0  # so far on this line
        self._loop = asyncio.get_running_loop()
        self._decoder = KeyDecoder(look.charset)
        self._heard = self.last_key  # when something arrived last, a key or not
        self._asked: list[Callable[[int, int], None]] = []  # who waits for a position
        self._keys: list[str] = []
        self.rubout: Key = BACKSPACE  # what byte 7F means in the room they are in
        self._keys_on_end = 0  # given since the loop had a turn
        self._paused = False
        self._waiter: asyncio.Future[None] | None = None
        self.interruption: Interruption | None = None  # raised at the next wait for a key
        self._flush: asyncio.TimerHandle | None = None
        self._echo: asyncio.TimerHandle | None = None  # sends what a slow answer keeps back
        self._painted = False
        self._fit_is_due = False
        self._reads = False  # whether a text is on the screen, page by page
        self._is_relaid = False  # whether its page has to be shown anew
        self.display: Display = self._lines()
        self.on_clear = ""  # what the next painted screen, or the end, takes back
        self.on_key: Callable[[], None] = _nothing
        self.on_redraw: Callable[[], None] = _nothing
        self.on_shown: Callable[[], None] = _nothing  # all that was said, and a key is awaited
        # Does a line that begins with a slash, whatever is asked just then; None where nobody does.
        self.commands: CommandLine | None = None
        # Where the other end shows what can be pressed now: what that is, once it is not shown yet.
        self._shows_offers: Callable[[OpenKeys, str], None] | None = getattr(line, "offers", None)
        self._offered = OpenKeys("any")  # what can be pressed now or at the next wait for a key
        self.cover: Cover | None = None
        self._kept = ""  # lines that were told below a cover
        self.onlookers: tuple[Callable[[str], None], ...] = ()  # hear all text that is sent
        line.attach(self)

    # What the line tells us.

    def received(self, data: bytes) -> None:
        now = self.clock.monotonic()
        self._decoder.settle(now - self._heard)
        self._heard = now
        keys = self._decoder.feed(data)
        if not data.isascii() and self.look == _UNKNOWN and any(map(_is_foreign, keys)):
            self._speak_unicode()
        if self._asked:
            self._take_positions()
        if keys:
            self._typed(keys)
        if self._decoder.pending_escape:
            if self._flush is not None:
                self._flush.cancel()
            self._flush = self._loop.call_later(ESCAPE_SECONDS, self._flush_escape)

    def _speak_unicode(self) -> None:
        """Answer an unknown terminal in UTF-8, because its caller types UTF-8."""
        self.line.hints = replace(self.line.hints, typed=Charset.UTF8.value)
        self.look = replace(self.look, charset=Charset.UTF8)
        self.viewer.spelling = spelling(self.look.charset)

    def hung_up(self, reason: str) -> None:
        self.interrupt(CarrierLost(reason))

    def resized(self, columns: int, rows: int) -> None:
        """The screen follows in the loop's next step: a packet has room for hundreds of sizes, and
        every one of them would be a whole screen."""
        if not self._fit_is_due:
            self._fit_is_due = True
            self._loop.call_soon(self._fit)

    # Interruptions.

    def interrupt(self, interruption: Interruption) -> None:
        """Raise `interruption` from the wait for a key, now or at the next one; a cover ends."""
        self.uncover()
        standing = self.interruption
        if standing is None or interruption.rank > standing.rank:
            self.interruption = interruption
            self.nudge()

    def lift(self, kind: type[Interruption]) -> None:
        if isinstance(self.interruption, kind):
            self.interruption = None

    @property
    def is_waiting(self) -> bool:
        """Whether the caller is waited for."""
        return self._waiter is not None

    @property
    def is_lost(self) -> bool:
        """Whether nobody sees what is shown from now on: no line, or another call took over."""
        return isinstance(self.interruption, CarrierLost | TakenOver)

    def answer_by(self) -> float | None:
        """Until when they are to be answered, by the clock; None while it is they who are waited
        for. All that is waited for in turn has one end, and a moment more for what comes then."""
        if self._waiter is not None:
            return None
        return max(self.waits_from + LONGEST_WAIT, self.clock.monotonic() + LAST_SECONDS)

    @property
    def is_slow(self) -> bool:
        """Whether the other end has yet to take what was sent last."""
        return getattr(self.line, "is_blocked", False)

    # Keys.

    async def key(self, *, takes_slash: bool = False) -> str:
        """Return the next key; raise the `Interruption` that came instead of one.

        A slash begins a command, unless it is a key like any other for who `takes_slash`.
        """
        while (key := await self._next_key()) == COMMAND and not takes_slash:
            if self.commands is None:
                break
            await self._command(COMMAND)
        return key

    async def does_command(self) -> bool:
        """Do the command that the next key begins, if it begins one; for who waits for something
        else as well, and would miss that in `key`, which waits for another key."""
        if self.commands is None or self.next_key() != COMMAND or self.interruption is not None:
            return False
        await self._next_key()
        await self._command(COMMAND)
        return True

    async def _command(self, typed: str) -> None:
        """Have a command done, and show again what it has interrupted."""
        commands, self.commands = self.commands, None
        assert commands is not None  # who calls has asked
        before, offered, reads = self.display.view(), self._offered, self._reads
        size = self.line.columns, self.line.rows
        self._reads = False
        try:
            if not self.is_painted and before.prompt:
                self.display.answered()
            await commands.command(typed)
        finally:
            self.commands, self._reads = commands, reads
        if reads and size != (self.line.columns, self.line.rows):
            self._is_relaid = True
            self._keys[:0] = [RELAID]
        if before.prompt:
            self.display.prompt(before.prompt, before.room)
            if before.typed:
                self.display.typed(before.typed)
        self._offered = offered

    async def _next_key(self) -> str:
        while self.interruption is None:
            if self._keys and self._keys_on_end == KEYS_ON_END:
                self._keys_on_end = 0
                await asyncio.sleep(0)
            elif self._keys:
                self._keys_on_end += 1
                key = self._keys.pop(0)
                if self._paused and not self._keys:
                    self._paused = False
                    self.line.resume()
                self.waits_from = self.clock.monotonic()
                return self._meant(key)
            else:
                self._show()
                self.on_shown()
                self.show_offer()
                self._keys_on_end = 0
                await self._until_nudged()
        self.waits_from = self.clock.monotonic()
        raise self.interruption

    def next_key(self) -> str | None:
        """Return the key that `key` would give at once, `None` when none was typed ahead."""
        return self._meant(self._keys[0]) if self._keys else None

    async def pause(self, seconds: float) -> None:
        """Let the caller look for `seconds`. A key, typed ahead or now, or an interruption ends it
        at once, and stays for the next question."""
        if self._keys or self.interruption is not None:
            return
        self._show()
        await self._until_nudged(self.clock.call_later(seconds, self.nudge))
        self.waits_from = self.clock.monotonic()

    def forget_keys(self) -> None:
        """Drop what was typed ahead, before a question that deserves a fresh answer."""
        self._keys.clear()
        if self._paused:
            self._paused = False
            self.line.resume()

    async def beat(self, seconds: float) -> None:
        """Let the caller look for a moment, at the pace that they like. Lines do not wait: each
        thing is told as it happens."""
        if self.pace and self.is_painted:
            await self.pause(seconds * self.pace)

    def offer(
        self,
        ask: Ask,
        choices: Mapping[str, str] | None = None,
        default: str | None = None,
        typed: Mapping[str, str] | None = None,
    ) -> None:
        """Note what can be pressed now, or at the next wait for a key, for lines that show it;
        `typed` is what a key types in place of itself."""
        if self._shows_offers is not None:
            keys = ((letter, plain(label)) for letter, label in (choices or {}).items())
            types = tuple((typed or {}).items())
            self._offered = OpenKeys(ask, tuple(keys), default or "", types)
            if self._waiter is not None:
                self.show_offer()

    def show_offer(self) -> None:
        """Show what can be pressed now, without a wait for a key. The line shows an offer once, and
        again after each of its keys that was pressed."""
        if self._shows_offers is not None:
            offered = self._offered if self.cover is None else UNDER_COVER
            self._shows_offers(offered, self.viewer.language)

    def _offer_no_more(self) -> None:
        self._offered = OpenKeys("any")

    async def ask(
        self,
        choices: Mapping[str, str],
        *,
        question: str = "",
        menu: str = "",
        default: str | None = None,
        cancel: str | None = None,
        meanings: Mapping[str, str] | None = None,
        turns_page: bool = False,
        also: Mapping[str, str] | None = None,
    ) -> str:
        """Show the choices with their letters lit and return the letter that was pressed.

        `choices` maps upper-case letters to labels; Enter gives `default`, which is named, Esc and
        Ctrl-C give `cancel`, where they are given. `?` explains every key, in the words of
        `meanings`, which are translated then, or else by its label. Another key is told once that
        it does nothing. `menu` stands in place of the labels where the choices are on the screen
        already; it names what Enter gives too. Where the default `turns_page`, the space bar gives
        it as well. `also` has letters that are not shown, and what each of them gives.
        """
        prompt = menu or lit(choices, default)
        if question:
            prompt = f"|15{question}|07  {prompt}"
        self.display.prompt(prompt)
        self.offer("keys", choices, default)
        is_told = False
        while True:
            key = await self.key()
            letter: str | None = (also or {}).get(key.upper(), key.upper())
            if key == ENTER or (turns_page and key == " "):
                letter = default
            elif key in (ESCAPE, INTERRUPT):
                letter = cancel
            if letter is not None and letter in choices:
                self.display.typed(letter)
                self.display.answered()
                self._offer_no_more()
                return letter
            if key in HELP_KEYS:
                await self.explain(choices, meanings or {}, default, cancel)
                self.display.prompt(prompt)
                self.offer("keys", choices, default)
            elif key != " " and not is_told:  # the space bar is pressed to cut a wait short
                is_told = True
                self.say(f"|07{_does_nothing(key)}")

    async def agrees(self, question: str, default: str = "Y") -> bool:
        """Ask for a yes, which is Y in every language and the first letter of its word too, or a
        no."""
        choices = {"Y": _("Yes"), "N": _("No")}
        yes = {choices["Y"][0].upper(): "Y"}
        answer = await self.ask(choices, question=question, default=default, cancel="N", also=yes)
        return answer == "Y"

    async def entry(
        self,
        prompt: str,
        *,
        longest: int,
        accept: Callable[[str], bool] = str.isprintable,
        secret: bool = False,
        changed: Callable[[str], None] | None = None,
        meaning: str = "",
        typed: str = "",
        answers: Mapping[str, str] | None = None,
    ) -> str | None:
        """Let the caller type up to `longest` characters; return them at Enter, `None` at Esc.

        The field begins with `typed`. `accept` says which characters count; `secret` shows stars;
        `changed` hears every change. `answers` are texts that a page may show as keys, each with
        its meaning. F1 explains the field by `meaning`; so does `?` while it is empty.

        A text with letters that cannot be read is refused by `on_unread`, and typed again.
        """
        kind: Ask = "number" if accept("1") and not accept("x") else "text"

        def show() -> None:
            self.display.prompt(prompt, longest + 1)
            entered = {each: f"{each}\r" for each in answers or ()}
            self.offer("secret" if secret else kind, answers, typed=entered)

        show()
        self.display.typed(typed)
        text, is_full = typed, False
        while True:
            key = await self.key(takes_slash=accept(COMMAND))
            if key in (ESCAPE, INTERRUPT):
                given = None
                break
            if key == ENTER:
                text = reread(text, self.look.charset)
                if UNREADABLE in text:
                    self.display.answered()
                    self.forget_keys()  # they were typed for what would have come next
                    await self.on_unread(self)
                    show()
                elif secret or self.commands is None or not is_command(text):
                    given = text
                    break
                else:
                    self.display.typed("")
                    await self._command(text)
                text = ""
            elif key == F1 or (key == "?" and not text and not secret):
                await self._explain(_field_explained(meaning, longest))
                show()
            elif key == BACKSPACE and text:
                text = text[:-1]
            elif len(key) == 1 and accept(key):
                if len(text) < longest:
                    text += key
                elif not is_full:
                    is_full = True
                    self.say(f"|07{_up_to(longest)}")
            else:
                continue
            self.display.typed("*" * len(text) if secret else text)
            if changed is not None:
                changed(text)
        self.display.answered()
        self._offer_no_more()
        return given

    async def any_key(self, prompt: str = "") -> None:
        """Wait for a key. One for help takes nothing away: what is shown may be shown only once."""
        self.display.prompt(f"|07{prompt or _('Press any key')}")
        await self._any_key()
        self.display.answered()

    async def _any_key(self) -> str:
        while (key := await self.key()) in HELP_KEYS:
            self.say(f"|07{_('Any other key goes on from here.')}")
        return key

    async def read(self, title: str, text: str, *, leads_on: bool = False) -> bool:
        """Let the caller read a text of any length, page by page; pipe codes allowed. Return
        whether they went on past its end, rather than out of it.

        A text that `leads_on` to another says so on its last page; one that does not, and is but a
        page, is left with any key. When the window changes, the text is laid out anew.
        """
        read = 0  # letters of it, before the page that is shown
        self._reads = True
        try:
            while True:
                pages = self._pages(text)
                number = _page_with(pages, read) if read else 0
                while (key := await self._read_page(title, pages, number, leads_on)) != RELAID:
                    last = len(pages) - 1
                    if key == LEAVE or (key == NEXT and number == last):
                        return key == NEXT
                    number = {NEXT: number + 1, PREVIOUS: number - 1, FIRST: 0, LAST: last}[key]
                    read = sum(map(_letters, pages[:number]))
        finally:
            self._reads = False
            self._keys[:] = [key for key in self._keys if key != RELAID]

    def holds(self, text: str) -> bool:
        """Return whether a text is one page."""
        return len(self._pages(text)) == 1

    def _pages(self, text: str) -> tuple[tuple[str, ...], ...]:
        return pages_of(text, self.page_columns - MARGIN, self.page_rows - TITLE_ROWS)

    async def _read_page(
        self, title: str, pages: Sequence[Sequence[str]], number: int, leads_on: bool
    ) -> str:
        """Show a page, and return where to go from it."""
        said = self.display.view().said if self._is_relaid and self.is_painted else ()
        self._is_relaid = False
        if len(pages) > 1:
            title = self._numbered(title, number + 1, len(pages))
        self.stage(Page(title, pages[number]))
        for each in said:
            self.say(each)
        if len(pages) > 1 or leads_on:
            return await self._page_key(number, len(pages) - 1, leads_on)
        self.display.prompt(f"|07{_('Press any key')}")
        key = await self._any_key()
        if key != RELAID:
            self.display.answered()
        return key if key == RELAID else LEAVE

    def _numbered(self, title: str, number: int, pages: int) -> str:
        """Return the title of a page, its number in short where a narrow screen has less room."""
        of = _("{number} of {pages}").format(number=number, pages=pages)
        long, short = f"{title} ({of})", f" {number}/{pages}"
        room = self.page_columns - MARGIN
        return long if len(long) <= room else f"{wrap(title, room - len(short))[0]}{short}"

    async def _page_key(self, number: int, last: int, leads_on: bool) -> str:
        """Ask where to go from a page; past the last one, back to where they came from."""
        shown = {NEXT: leads_on or number < last, PREVIOUS: number > 0, LEAVE: True}
        labels = {NEXT: _("Next"), PREVIOUS: _("Previous"), LEAVE: _("Quit")}
        default = NEXT if shown[NEXT] else LEAVE
        choices = {letter: label for letter, label in labels.items() if shown[letter]}
        self.display.prompt(lit(choices, default))
        self.offer("keys", choices, default)
        leads = {**shown, FIRST: number > 0, LAST: number < last}
        while True:
            key = await self.key()
            if key == RELAID:
                return key
            folded = key.upper() if len(key) == 1 else key
            letter = _PAGING.get(folded, folded)
            if letter == NEXT:
                letter = default
            if leads.get(letter):
                self.display.answered()
                self._offer_no_more()
                return letter
            if key in HELP_KEYS:
                self.say(f"|07{_('Space and Page Down turn the page, B and Page Up go back.')}")

    async def explain(
        self,
        choices: Mapping[str, str],
        meanings: Mapping[str, str],
        default: str | None = None,
        cancel: str | None = None,
    ) -> None:
        """Show what keys mean, for those who read them with `key`; the prompt is theirs to ask."""
        told = _keys_explained(choices, meanings, default, cancel)
        if self.commands is not None:
            told.append(f"|15{COMMAND}|07  {self.commands.meaning()}")
        await self._explain(told)

    def puzzled(self, key: str) -> None:
        """Say of a key that it means nothing."""
        self.say(f"|07{_does_nothing(key)}")

    async def _explain(self, paragraphs: Sequence[str]) -> None:
        """Show what the keys and the fields of the screen mean, and then the screen again."""
        before = self.display.view()
        scene = before.scene
        fields = scene.explain() if isinstance(scene, Explained) else ()
        if isinstance(scene, ExplainedInLines) and not self.is_painted:
            fields = scene.explain_lines()
        if not self.is_painted:
            self.display.answered()
        await self.read(_("Help"), "\n".join((*paragraphs, *([""] if fields else []), *fields)))
        if isinstance(self.display, CanvasDisplay):
            meanwhile = self.display.view()
            if scene is not None:
                self.stage(scene)
                self.display.take_back((*before.said, *meanwhile.said))
            for text in (*before.said, *meanwhile.said):
                self.say(text)
        else:
            self.display.go_back_to(scene)

    # Screens.

    def paint_screens(self) -> None:
        """Use painted screens where the terminal can show them, lines where it cannot."""
        self._painted = True
        self._take_back()
        if self.can_paint:
            colour = self.look.paint is Paint.COLOUR
            columns, rows = self.line.columns, self.line.rows
            self.display = CanvasDisplay(
                self.send, self._soon, self.viewer, columns, rows, colour=colour
            )
        else:
            self.display = self._lines()

    def scroll_lines(self) -> None:
        self.display.close()
        self._painted = False
        self.display = self._lines()

    def use_look(self, look: Look) -> None:
        self.display.close()
        self.look = look
        self.viewer.spelling = spelling(look.charset)
        self._decoder = KeyDecoder(look.charset)
        if self._painted:
            self.paint_screens()
        else:
            self.display = self._lines()

    @property
    def can_paint(self) -> bool:
        large = self.line.columns >= CANVAS_COLUMNS and self.line.rows >= CANVAS_ROWS
        return large and self.look.paint is not Paint.LINES

    @property
    def is_painted(self) -> bool:
        return isinstance(self.display, CanvasDisplay)

    @property
    def page_rows(self) -> int:
        display = self.display
        return display.page_rows if isinstance(display, CanvasDisplay) else self.line.rows - 4

    @property
    def page_columns(self) -> int:
        display = self.display
        if isinstance(display, CanvasDisplay):
            return page_columns(display.whole_area.columns)
        return min(self.line.columns - 1, LAYOUT_COLUMNS)

    def ask_size(self) -> None:
        """Have the terminal say its size, unless it has; the answer lays the screen out anew."""
        if self.look.paint is not Paint.LINES and not self.line.size_is_known:
            self._ask_terminal(ASK_SIZE, self._take_corner)

    async def probe(self, seconds: float) -> Look | None:
        """Find out what a terminal is of which nothing is known; None where it does not answer.

        One that says where its cursor is takes ANSI, and is then asked for its size too. It is
        waited for until it has answered, for `seconds` at most. What that leaves on a terminal
        without ANSI is a few odd characters on one line.
        """
        found: list[Look] = []

        def take(_row: int, column: int) -> None:
            charset = Charset.UTF8 if column == 2 else Charset.CP437
            found.append(Look(charset, Paint.COLOUR))
            self.nudge()

        self._ask_terminal(ASK_LETTERS, take)
        if not self.line.size_is_known:
            self._ask_terminal(ASK_SIZE, self._take_corner)
        if not self._keys and self.interruption is None:
            await self._until_nudged(self._loop.call_later(seconds, self.nudge))
        return found[0] if found else None

    async def _until_nudged(self, timer: Timer | None = None) -> None:
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()

    def _ask_terminal(self, question: bytes, take: Callable[[int, int], None]) -> None:
        if not self._asked:
            self._decoder.positions()  # those that nobody has asked for
        self._asked.append(take)
        self.line.write(question)

    def _take_positions(self) -> None:
        for row, column in self._decoder.positions():
            if self._asked:
                self._asked.pop(0)(row, column)

    def _take_corner(self, row: int, column: int) -> None:
        """Take the far corner for the size; one that no screen has is a key of some other kind."""
        if row >= MIN_ROWS // 2 and column >= MIN_COLUMNS // 2:
            self.line.resize(*bounded_size(column, row))

    def stage(self, scene: Scene) -> None:
        self.display.stage(scene)

    def indent_lines(self, indent: int) -> None:
        """Have lines begin in that column, below a picture in the middle of the screen."""
        if isinstance(self.display, LinesDisplay):
            self.display.indent = indent

    @property
    def indent(self) -> int:
        return self.display.indent if isinstance(self.display, LinesDisplay) else 0

    def forget(self) -> None:
        """Forget what was said in the room that is left; what was not shown yet stays."""
        if isinstance(self.display, CanvasDisplay):
            self.display.forget()

    def say(self, text: str) -> None:
        self.display.say(text)
        if self.cover is not None:
            self.cover.said(text)

    def status(self, pieces: Sequence[str], clock: str) -> None:
        """Show a status line, over a cover as well."""
        self.display.status(pieces, clock)
        if self.cover is not None:
            self.cover.display.status(pieces, clock)

    def bell(self) -> None:
        self.display.flush()
        self.line.write(b"\a")

    def send(self, text: str) -> None:
        self.display.flush()
        if self.cover is None:
            self.send_now(text)
        elif isinstance(self.display, LinesDisplay):
            self._kept = (self._kept + text)[-MOST_KEPT:]

    def send_now(self, text: str) -> None:
        """Send text whatever covers the screen; nobody but what covers it needs this."""
        self.line.write(self.look.encode(text))
        for hear in self.onlookers:
            hear(text)

    def put_on(self, cover: Cover) -> None:
        """Cover the screen until `uncover`, or until something ends the wait for a key.

        The room goes on below and notices nothing: its screen is shown again as it is by then.
        """
        self._show()
        self.cover, self._kept = cover, ""
        self.show_offer()

    def uncover(self) -> None:
        cover, display = self.cover, self.display
        if cover is None:
            return
        cover.lifted()
        display.flush()  # what was told below it goes nowhere
        self.cover, kept = None, self._kept
        if isinstance(display, LinesDisplay):
            view = display.view()
            self.send_now(f"\r\n{kept}")
            if view.prompt and not kept:
                display.prompt(view.prompt, view.room)
                display.typed(view.typed)
        else:
            self._lay_out_anew(display.view())
        self.show_offer()

    async def part(self) -> None:
        """Let the last words leave, then hang up; what is said later is not heard."""
        self.uncover()
        self.display.flush()
        self._take_back()
        try:
            await self.line.drain(PARTING_SECONDS)
            self.line.hang_up()
        except Hangup:
            pass
        finally:
            self.let_go()

    def let_go(self) -> None:
        """Hold nothing that holds the console: a call that is over is then gone at once. Left to
        the collector, hundreds of them lie about before it looks at what is so old."""
        self.on_key = self.on_redraw = self.on_shown = _nothing
        self.commands = None
        self.display = LinesDisplay(_unheard, self.line.columns, colour=False)
        if self.interruption is not None:
            self.interruption = self.interruption.with_traceback(None)

    def _take_back(self) -> None:
        if self.on_clear:
            self.line.write(self.on_clear.encode("ascii"))
            self.on_clear = ""

    def _soon(self, flush: Callable[[], None]) -> None:
        """Flush in the loop's next step, or a moment later while the caller is being served.

        The wait for the next key flushes in any case; so the echo of a key goes out together with
        what it brings, unless that takes its time.
        """
        if self._waiter is not None:
            self._loop.call_soon(flush)
        elif self._echo is None:
            self._echo = self._loop.call_later(SERVED_WITHIN, self._send_echo)

    def _send_echo(self) -> None:
        self._echo = None
        self.display.flush()

    def _show(self) -> None:
        """Send all that the caller has been told before they are waited for."""
        if self._echo is not None:
            self._echo.cancel()
            self._echo = None
        self.display.flush()

    def _lines(self) -> LinesDisplay:
        return LinesDisplay(self.send, self.line.columns, colour=self.look.paint is Paint.COLOUR)

    def _typed(self, keys: Sequence[str]) -> None:
        self.last_key = self.clock.monotonic()
        self.keys_heard += len(keys)
        if self.cover is not None:
            self.cover.typed(keys)
            self.show_offer()
            return
        self._keys.extend(keys)
        if len(self._keys) > KEYS_WAITING and not self._paused:
            self._paused = True
            self.line.pause()
        self.on_key()
        self.nudge()

    def _meant(self, key: str) -> str:
        return self.rubout if key == RUBOUT else key

    def _flush_escape(self) -> None:
        self._flush = None
        keys = self._decoder.flush()
        if keys:
            self._typed(keys)

    def _fit(self) -> None:
        self._fit_is_due = False
        before = self.display
        if isinstance(before, LinesDisplay) and not (self._painted and self.can_paint):
            before.fit(self.line.columns)
            if self.cover is not None:
                self.cover.fit()
            return
        before.close()
        self._lay_out_anew(before.view())
        if self.cover is not None:
            self.cover.fit()

    def _lay_out_anew(self, view: View) -> None:
        self.paint_screens()
        if self._reads:  # the reader shows its page itself
            view = replace(view, scene=None, prompt="")
            self._is_relaid = True
            self._keys[:0] = [RELAID]
            self.nudge()
        with speaking_to(self.viewer):
            resume(self.display, view)
            self.on_redraw()

    def nudge(self) -> None:
        """End the wait for a key, or a `pause`, now: what was waited for has come."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


async def refuse_letters(console: Console) -> None:
    """Say that a text was not taken, because some of its letters cannot be read."""
    console.say(f"|12{_(UNREAD)}")


def _is_foreign(key: str) -> bool:
    return not key.isascii() and key != UNREADABLE


def is_command(text: str) -> bool:
    """Tell whether a line is one that is done wherever it is typed (door/call/talk.py). At a table
    that several share, any other that begins with a slash is whispered.

    >>> is_command("/p Ada hello"), is_command("/path")
    (True, False)
    >>> is_command("/w"), is_command("/w hello Walter")
    (True, False)
    """
    return _COMMANDS.match(text) is not None


def _letters(page: Sequence[str]) -> int:
    """Count what is to be read on a page: blanks come and go with the width of lines."""
    return sum(len(word) for line in page for word in plain(line).split())


def _page_with(pages: Sequence[Sequence[str]], read: int) -> int:
    """Return the number of the page that goes on behind so many letters of a text."""
    ends = accumulate(map(_letters, pages))
    return next((number for number, end in enumerate(ends) if end > read), len(pages) - 1)


def _keys_explained(
    choices: Mapping[str, str],
    meanings: Mapping[str, str],
    default: str | None,
    cancel: str | None,
) -> list[str]:
    told = [
        f"|15{letter}|07  {_(words) if (words := meanings.get(letter)) else label}"
        for letter, label in choices.items()
        if label
    ]
    if default is not None and choices.get(default):
        told.append(f"|15{_('Enter')}|07  {choices[default]}")
    if cancel is not None and choices.get(cancel):
        told.append(f"|15{_('Esc')}|07  {choices[cancel]}")
    return told


def _field_explained(meaning: str, longest: int) -> list[str]:
    told = [f"|07{meaning}", ""] if meaning else []
    keys = _("Enter sends them, Backspace rubs out, Esc goes back.")
    return [*told, f"|07{_up_to(longest)} {keys}"]


def _up_to(longest: int) -> str:
    return _("Type up to {longest} characters.").format(longest=longest)


def _does_nothing(key: str) -> str:
    if len(key) == 1 and key != UNREADABLE:
        return _("{key} does nothing here. Press ? for the keys that do.").format(
            key=literal(key.upper())
        )
    if key == ENTER:
        return _("Enter does nothing here. Press ? for the keys that do.")
    return _("That key does nothing here. Press ? for those that do.")


def _unheard(_text: str) -> None:
    """Send what is said to somebody who has gone."""


def _nothing() -> None:
    """Be the callback of those who asked for none."""
