"""What every table does between hands, whichever game it is of and however many sit there."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ansi.style import Colour, Style
from door.call import phrases
from door.call.chair import GOT_UP, CallersChair
from door.call.scene import WholeWidth
from door.errors import NotNow, NotSaid
from door.games.engine import shuffle
from door.lobby import texts
from door.tables.scene import FELT
from timebank.errors import BooksUnavailable, CallClosed, Refused
from timebank.language import N_, _

if TYPE_CHECKING:
    from ansi.art import Art
    from ansi.canvas import Canvas
    from door.call.caller import Caller
    from door.call.chair import Watchable
    from door.call.scene import Area, Scene
    from door.tables.strategy import TableCard
    from timebank.wagers.journal import Shoe


log = logging.getLogger("door.tables")

NO_BOOKS = N_("The books can't be written right now. Nothing has changed.")
_FRAME = Style(Colour.WHITE, Colour.BROWN)
TITLE_SECONDS = 1.0  # that the name of a game is shown on the way in


@dataclass(frozen=True)
class TitleScreen(WholeWidth):
    """Felt across the whole screen, with the drawn header of a game in its middle."""

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
    """Show the header of a game for a moment; any key skips it, and counts for the table.

    Nothing is shown in plain lines, with animation off, or to a caller who has typed ahead.
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

    title: str  # where others see the caller
    header = ""  # the drawn screen that is shown on the way in; "" for none
    scene: Scene
    strategy: TableCard | None = None  # the card of this table
    is_shared = False  # whether others sit at it too
    resumed = N_("The hand you left is still on the table.")

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.console = caller.console

    # For the table.

    @property
    def coin(self) -> int:
        """What a coin is worth here, in seconds."""
        raise NotImplementedError

    async def _evening(self) -> None:
        raise NotImplementedError

    def _update(self) -> None:
        """Bring the figures of the scene up to date."""

    def _follow(self) -> None:
        """Follow the clock, once a second."""

    def _seen_by_others(self) -> Watchable | None:
        """Return the scene of the table, where others may look at it."""
        return None

    def _statement(self) -> str:
        """Say how the caller did, for the menu and the goodbye; "" when they did not play."""
        raise NotImplementedError

    # For all tables.

    async def visit(self) -> None:
        """Stay until the caller gets up, or something ends the call."""
        self.caller.place = self.title
        self.console.display.forget()
        if self.header and self.caller.came_back_to != self.header:
            await _show_title(self.caller, self.header, self.title)
        before = self.caller.clock.on_tick
        self.caller.clock.on_tick = self._follow
        chair = self.caller.chair = CallersChair(
            *(self.caller, self.title, self._seen_by_others()), is_shared=self.is_shared
        )
        try:
            await self._evening()
            self.console.display.forget()
        finally:
            self.caller.chair = None
            chair.clear(GOT_UP)
            self.caller.clock.on_tick = before
            self.caller.statement = self._statement() or self.caller.statement

    def _come_to_table(self) -> None:
        self.caller.place, self.caller.status.coin = self.title, self.coin
        self._update()
        self.console.display.stage(self.scene)

    async def _read_strategy(self) -> None:
        if self.strategy is not None:
            await self._step_away(self.strategy.read(self.console))

    async def _step_away(self, to: Awaitable[object]) -> None:
        await to
        self._come_to_table()

    async def tries(self, doing: Awaitable[bool]) -> bool:
        """Do something that may be refused, and say so; `False` then: nothing has changed."""
        try:
            return await doing
        except CallClosed:
            raise
        except (NotNow, NotSaid, Refused) as refused:
            self.console.screen.say(f"|12{refused}")
        except BooksUnavailable:
            self.books_unavailable()
        return False

    async def _switch(self, preference: str, when_on: str, when_off: str) -> bool:
        await self.caller.remember({preference: not self.caller.prefers(preference)})
        self.console.screen.say(f"|07{_(when_on if self.caller.prefers(preference) else when_off)}")
        return True

    async def cut_for(self, shoe: Shoe) -> str | None:
        """Return the words that cut a fresh shoe, `None` at Esc: the caller's phrase, unless they
        are asked and type another one, which is their phrase from then on."""
        if shoe.anchor is None:
            return await self.type_cut() if self.caller.prefers("cut") else ""
        standing = await phrases.of(self.caller)
        if not self.caller.prefers("cut"):
            return standing.text
        words = await self.type_cut(_("Your phrase (Enter for the one you have):"))
        if words is None or words in ("", standing.text):
            return None if words is None else standing.text
        return (await phrases.choose(self.caller, words)).text

    async def type_cut(self, question: str = "") -> str | None:
        """Return the words that the caller cuts the cards with, `None` at Esc."""
        typed = await self.console.prompt.entry(
            f"|07{question or _('A phrase to cut the cards (Enter for none):')}|15",
            longest=phrases.LONGEST,
            meaning=_("Any words you like. They go into the shuffle."),
        )
        return None if typed is None else shuffle.normal_cut(typed)

    def books_unavailable(self) -> None:
        log.info("books unavailable at the table of %s", self.caller.record.name)
        self.console.screen.say(f"|12{_(NO_BOOKS)}")
