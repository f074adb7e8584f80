"""The status line of a call: node, time left, pot, bank and next event."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from ansi.width import text_width
from door import wording
from door.call.canvas_display import CLOCK
from door.call.markup import plain
from door.call.scene import LAYOUT_COLUMNS
from timebank.language import _, pgettext, reader

if TYPE_CHECKING:
    from door.call.books import Books
    from door.call.console import Console
    from door.call.grace import Grace
    from door.call.purse import TickingPurse
    from timebank.language import Phrase

SECOND = timedelta(seconds=1)
LONGEST_EVENT = 26
INDENT = 1  # column of the first character
_BAR = "|09\N{BOX DRAWINGS LIGHT VERTICAL}"
CODE_WIDTH = 3  # characters of a pipe code
_BARS = (f" {_BAR} ", _BAR)  # the usual bar, and the narrow one


def _clock(left: int) -> str:
    """Return `left` seconds as a clock, with their colour code in front."""
    colour = "12" if left <= 60 else "14" if left <= 300 else "15"
    return f"|{colour}{wording.clock_time(left)}"


@lru_cache(maxsize=1024)
def _width(piece: str) -> int:
    return text_width(plain(piece))


@dataclass(slots=True, eq=False)
class StatusLine:
    """The status line of one caller.

    The pot is in coins of `coin` seconds, those of the caller's table. While the line `waits` for
    cards that are being dealt, its clock alone goes on, as the rest would give the result away.
    `account`, with pipe codes, replaces the bank.
    """

    console: Console
    books: Books
    node: int
    purse: TickingPurse
    coin: int
    account: Phrase | None = None
    waits: bool = False
    grace: Grace | None = None  # shown in place of the time once that is used up
    # The inputs of all pieces but the clock, and the pieces: they seldom change between seconds.
    # The time of the next event depends on the date too, which each entry renews, once a minute.
    _made_of: tuple[object, ...] = ()
    _made: tuple[str, ...] = ()
    # Pieces, time left and seconds ticked before the line began to wait.
    _shown: tuple[tuple[str, ...], int, int] = ((), 0, 0)

    def show(self) -> None:
        pieces, left, since = self._shown
        clock = _clock(max(0, left - self.purse.ticked() + since))
        if not self.waits:
            pieces, clock = self.pieces()
            self._shown = pieces, self.purse.time_left(), self.purse.ticked()
        screen = self.console.screen
        screen.display.status(pieces, clock)
        if screen.cover is not None:
            screen.cover.display.status(pieces, clock)

    def show_figures(self) -> None:
        """Give the figures to a program that shows them by itself, such as Mudlet."""
        if self.waits:
            return
        figures = {"time": self.purse.time_left(), "pot": self.purse.pot(self.coin)}
        if self.account is None and self.books.settings().mode == "built-in":
            figures["bank"] = self.purse.posted.bank
        self.console.line.show_figures(figures)

    @contextlib.contextmanager
    def suspense(self) -> Iterator[None]:
        self.waits = True
        try:
            yield
        finally:
            self.waits = False
        self.show()

    def pieces(self) -> tuple[tuple[str, ...], str]:
        """Return the pieces that fit, with bars, and the clock that replaces `CLOCK`.

        No piece is cut, since a cut amount would be wrong.
        """
        left = self.purse.time_left()
        has_grace = self.grace is not None and not left
        if self.grace is not None and has_grace:
            left = self.grace.left()
        clock, pot = _clock(left), self.purse.pot(self.coin)
        viewer = reader()
        made_of = (
            len(clock),  # not the time: only its width decides what fits
            has_grace,
            pot,
            self.node,
            self.coin,
            self.console.line.columns,
            self.account,
            self.purse.posted,
            self.purse.until,
            self.books.settings(),
            viewer.language,
            viewer.spelling,
        )
        if made_of != self._made_of:
            fitted = self._fitted(len(clock), pot, has_grace=has_grace)
            self._made_of, self._made = made_of, tuple(fitted)
        return self._made, clock

    def _fitted(self, clock_width: int, pot: int, *, has_grace: bool) -> list[str]:
        """Choose the pieces and bars that fit, with the placeholder `CLOCK` for the clock."""
        parts = self._parts(pot, has_grace=has_grace)
        room = self.console.line.columns - 1 - INDENT - (clock_width - CODE_WIDTH)
        while len(parts) > 1:
            taken = sum(_width(piece) for part in parts for piece in part if piece != CLOCK)
            for bar in _BARS:
                if taken + _width(bar) * (len(parts) - 1) <= room:
                    return [piece for part in parts for piece in (bar, *part)][1:]
            parts.pop()
        return [*parts[0]]

    def _parts(self, pot: int, *, has_grace: bool) -> list[tuple[str, ...]]:
        """Return the parts of the line, the most important first."""
        # For translators: minutes that cost nothing, for a caller who is out of time.
        grace = _("Grace")
        bank = self._bank_words() if self.account is None else f"|11{self.account}"
        if self.console.line.columns - 1 < LAYOUT_COLUMNS:
            time = grace if has_grace else _("Time")
            return [(f"|11{time} ", CLOCK), (f"|11{_('Pot')} |15{pot}",), (bank,)]
        parts = [
            (f"|11{_('Node')} |15{self.node}",),
            (f"|11{grace if has_grace else _('Time left')} ", CLOCK),
            (f"|11{_('Pot')} |15{wording.coins(pot)}",),
            (bank,),
        ]
        if event := self._event_words():
            parts.append((f"|15{event}",))
        return parts

    def _bank_words(self) -> str:
        mode, bank = self.books.settings().mode, pgettext("status line", "Bank")
        if mode == "built-in":
            return f"|11{bank} |15{wording.clock_time(self.purse.posted.bank)}"
        return f"|11{bank} |15{_('elsewhere')}" if mode == "external" else f"|11{_('No bank')}"

    def _event_words(self) -> str:
        closing, until = self.purse.posted.closing, self.purse.until
        # The books keep whole seconds.
        if closing is None or until is None or abs(closing.start - until) >= SECOND:
            return self.purse.event_words(LONGEST_EVENT)
        schedule = self.books.settings().schedule
        start = wording.local_time(closing.start, schedule, self.console.clock.now())
        return _("Until {start}").format(start=start)
