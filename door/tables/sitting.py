"""One caller's visit to a table: what is the same at every game."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ansi.style import Colour, Style
from door.call import phrases
from door.call.chair import GOT_UP, CallersChair
from door.call.keyboard import HELP
from door.call.markup import lit, literal, without_capitals
from door.call.phrases import CutPhrase
from door.call.scene import WholeWidth
from door.errors import NotNow, TalkRefused
from door.games.engine import shuffle
from door.lobby import texts
from door.tables.scene import FELT
from door.tables.words import QUIT, insurance_rule
from timebank.errors import BooksUnavailable, CallClosed, Refused
from timebank.language import N_, _

if TYPE_CHECKING:
    from ansi.art import Art
    from ansi.canvas import Canvas
    from door.call.caller import Caller
    from door.call.chair import Watchable
    from door.call.scene import Area, Scene
    from door.games.blackjack.rules import BlackjackRules
    from door.tables.scene import TableTally
    from door.tables.strategy import TableCard
    from timebank.wagers.journal import Shoe


log = logging.getLogger("door.tables")

NO_BOOKS = N_("The books can't be written right now. Nothing has changed.")
_FRAME = Style(Colour.WHITE, Colour.BROWN)
TITLE_SECONDS = 1.0
# Of a bet of half the pot or more:
HOLD_SECONDS = 1.0  # before the cards that decide it
SLOWNESS = 2.0  # factor for the pauses between cards


@dataclass(frozen=True)
class TitleScreen(WholeWidth):
    """The drawn header of a game in the middle of the felt."""

    title: str
    header: Art

    def paint(self, canvas: Canvas, area: Area) -> None:
        canvas.blank(0, 0, canvas.columns, area.rows, FELT)
        for rail in (0, area.rows - 1):
            canvas.blank(rail, 0, canvas.columns, 1, _FRAME)
        top = max(0, area.rows - texts.header_rows(self.header)) // 2
        texts.paint_header(canvas, self.header, area, top)

    def lines(self) -> Sequence[str]:
        return [f"|15{self.title}"]


async def _show_title(caller: Caller, game: str, title: str) -> None:
    """Show the header of a game for `TITLE_SECONDS`. A key ends it, and the table reads that key.

    Plain lines, animation off or a caller who typed ahead skip the header.
    """
    console = caller.console
    if not (console.keyboard.pace and console.screen.is_painted) or console.keyboard.next_key():
        return
    header = texts.find(console, caller.config.board.texts, game)
    if header is not None:
        console.display.stage(TitleScreen(title, header))
        await console.keyboard.beat(TITLE_SECONDS)


class Sitting:
    """One caller at one table, from sitting down to getting up."""

    title: str  # shown to others as the place of the caller
    header = ""  # name of the drawn title screen; "" for none
    scene: Scene
    strategy: TableCard
    is_shared = False  # whether other callers sit at the table
    resumed = N_("The hand you left is still on the table.")
    held: tuple[type, ...] = ()  # events that turn over a card which decides the bet
    _insurance_is_explained = False
    _is_high = False  # whether half the pot or more is on the table
    _heard: Mapping[str, str] = {}  # the last menu between two hands, by letter

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.console = caller.console

    # A table overrides these.

    @property
    def coin(self) -> int:
        """Seconds that a coin is worth at this table."""
        raise NotImplementedError

    async def _run_visit(self) -> None:
        """Run the visit until the caller leaves the table."""
        raise NotImplementedError

    def _update(self) -> None:
        """Bring the figures of the scene up to date."""

    def _on_tick(self) -> None:
        """Update the table once a second."""

    def _watchable_scene(self) -> Watchable | None:
        """Return the scene that other callers may watch, `None` for none."""
        return None

    def _statement(self) -> str:
        """Return the result of the visit, for the menu and the goodbye; "" without a hand."""
        raise NotImplementedError

    # The same at all tables.

    def _set_stake(self, stake: int, pot: int) -> None:
        """Let the stake decide the pace of its cards; `pot` is what it was taken from."""
        self._is_high = 2 * stake >= pot

    @property
    def _is_slow(self) -> bool:
        """Whether the cards come slowly. Animation "fast" stays fast."""
        return self._is_high and self.console.keyboard.pace >= 1

    def _pause_before(self, event: object) -> float:
        """Return how long a card that decides a high bet is held back."""
        return HOLD_SECONDS if self._is_slow and isinstance(event, self.held) else 0.0

    def _pause_after(self, seconds: float) -> float:
        """Return the pause after a card that lasts `seconds` as a rule."""
        return seconds * SLOWNESS if self._is_slow else seconds

    def _unsay(self, text: str) -> None:
        self.console.display.unsay(text)

    def _in_brief(self, labels: Mapping[str, str], default: str | None) -> str:
        """Return what plain lines say of the menu between two hands; "" the first time.

        It names new keys, and the key of Enter or else `QUIT`. `labels` are by letter.
        """
        heard, self._heard = self._heard, labels
        if not heard:
            return ""
        new = {
            letter: label
            for letter, label in labels.items()
            if letter == (default or QUIT) or heard.get(letter) != label
        }
        return lit({**new, HELP: _("All keys")}, default)

    def _explain_insurance(self, rules: BlackjackRules) -> None:
        """Say what insurance costs and pays, the first time that it is offered."""
        if not self._insurance_is_explained:
            self._insurance_is_explained = True
            self.console.screen.say(f"|07{insurance_rule(rules)}")

    def book_line(self, text: str) -> str:
        """Return a line of the book, without capitals where they would be spelled out aloud."""
        return text if self.console.screen.can_paint else without_capitals(text)

    def _say_streak(self, tally: TableTally) -> None:
        if streak := tally.streak_words():
            self.console.screen.say(f"|14{streak}.")

    async def visit(self) -> None:
        """Run the visit until the caller leaves or the call ends."""
        self.caller.place = self.title
        self.console.display.forget()
        if self.header and self.caller.came_back_to != self.header:
            await _show_title(self.caller, self.header, self.title)
        before = self.caller.clock.on_tick
        self.caller.clock.on_tick = self._on_tick
        chair = self.caller.chair = CallersChair(
            *(self.caller, self.title, self._watchable_scene()), is_shared=self.is_shared
        )
        try:
            await self._run_visit()
            self.console.display.forget()
        finally:
            self.caller.chair = None
            chair.clear(GOT_UP)
            self.caller.clock.on_tick = before
            self.caller.statement = self._statement() or self.caller.statement

    def _come_to_table(self, known: Sequence[str] = ()) -> None:
        """Show the table; plain lines leave out the lines `known`."""
        self.caller.place, self.caller.status.coin = self.title, self.coin
        self._update()
        self.console.display.stage(self.scene, known)

    async def _read_strategy(self) -> None:
        await self._step_away(self.strategy.read(self.console))

    async def _step_away(self, to: Awaitable[object]) -> None:
        known = () if self.caller.hand_waits else self.scene.lines()
        await to
        self._come_to_table(known)

    async def attempt(self, action: Awaitable[bool]) -> bool:
        """Return the result of `action`. Tell the caller of a refusal and return `False`."""
        try:
            return await action
        except CallClosed:
            raise
        except (NotNow, TalkRefused, Refused) as refused:
            self.console.screen.say(f"|12{refused}")
        except BooksUnavailable:
            self.books_unavailable()
        return False

    async def _switch(self, preference: str, when_on: str, when_off: str) -> bool:
        await self.caller.remember({preference: not self.caller.prefers(preference)})
        self.console.screen.say(f"|07{_(when_on if self.caller.prefers(preference) else when_off)}")
        return True

    async def choose_cut(self, shoe: Shoe) -> str | None:
        """Return the words that cut a fresh shoe, `None` at Esc.

        The caller's phrase cuts it. A caller with Cut on may type another one, which becomes
        their phrase.
        """
        phrase = await phrases.phrase_of(self.caller)
        if not self.caller.prefers("cut"):
            return phrase.text
        words = await self.ask_own_phrase(phrase)
        if words == phrase.text and not phrase.proves(shoe.anchor or ""):
            self.console.screen.say(f"|07{_(phrases.KNOWN)}")
        if words is None or words in ("", phrase.text):
            return None if words is None else phrase.text
        return (await phrases.choose(self.caller, words)).text

    async def ask_own_phrase(self, phrase: CutPhrase) -> str | None:
        """Ask for a phrase in place of the one in use; `None` at Esc."""
        question = _("Your phrase (Enter: {phrase}):").format(phrase=literal(phrase.text))
        self.console.keyboard.forget_keys()  # typed for another question
        typed = await self.console.prompt.entry(
            f"|07{question}|15",
            longest=phrases.LONGEST,
            meaning=_("Any words you like. They go into the shuffle."),
        )
        return None if typed is None else shuffle.normal_cut(typed)

    def books_unavailable(self) -> None:
        log.info("books unavailable at the table of %s", self.caller.record.name)
        self.console.screen.say(f"|12{_(NO_BOOKS)}")
