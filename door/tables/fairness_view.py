"""The screens behind <F>airness at every table: seal and seed, and how to check the last hand whose
seed is open on a page in the caller's browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ansi.canvas import Hyperlink
from door.call.markup import wrap
from door.call.page import MARGIN
from door.call.scene import WholeScreen
from door.config.config import CHECK_PAGE
from door.games import proofs
from door.lobby import looks
from timebank.errors import BooksFailed, JournalDamaged
from timebank.language import _
from timebank.wagers import journal

if TYPE_CHECKING:
    from ansi.canvas import Canvas
    from door.call.caller import Caller
    from door.call.scene import Area
    from door.tables.fairness import Fairness
    from timebank.ledger.database import Desk

HERE = ("localhost", "127.0.0.1", "::1")  # hosts where browsers check a hand without TLS


@dataclass(frozen=True)
class Checkable:
    """A hand to check: its number, and the address of its check, "" where the board has none."""

    number: int
    address: str = ""


async def read_fairness(caller: Caller, game: str, fairness: Fairness) -> None:
    """Show seal and seed, and then how to check the caller's last hand."""
    console, text = caller.console, fairness.text()
    hand = await _last_hand(caller, game)
    if hand is None or not (hand.address and console.screen.is_painted):
        more = () if hand is None else _words(hand, caller.config.board.sysop)
        await console.pager.read(_("Fairness"), "\n\n".join((text, *more)))
    elif await console.pager.read(_("Fairness"), text, leads_on=True):
        await _show(caller, hand)


def page_for(caller: Caller) -> str:
    """Return the address of the page that checks hands, "" for none.

    A caller on the board's own web page uses that, unless the browser would refuse to check there.
    """
    public, own = caller.config.check_page, caller.console.line.hints.page
    if own and (not public or own.startswith("https:") or urlsplit(own).hostname in HERE):
        return f"{own}/{CHECK_PAGE}"
    return public


async def _last_hand(caller: Caller, game: str) -> Checkable | None:
    """Return the last hand of a game whose seed is open; None for none, or for unreadable books."""
    caller_id, page = caller.record.id, page_for(caller)

    def find(desk: Desk) -> Checkable | None:
        stored = journal.last_revealed_round(desk, caller_id, game)
        digits = "" if stored is None else proofs.packed(stored)
        if stored is None or not digits:
            return None
        return Checkable(stored.id, f"{page}#{digits}" if page else "")

    try:
        return await caller.look_up(find)
    except (BooksFailed, JournalDamaged):
        return None


async def _show(caller: Caller, hand: Checkable) -> None:
    console = caller.console
    is_linked = looks.has_links(console.line.hints)
    console.display.stage(CheckScene(hand, caller.config.board.sysop, is_linked=is_linked))
    await console.pager.any_key()


def _words(hand: Checkable, sysop: str) -> tuple[str, ...]:
    """Return in paragraphs how to check a hand, for a screen without a link."""
    if not hand.address:
        by_hand = _(
            "To check hand {number} whole, ask {sysop} for its proof (door hand {number} --proof). "
            "The page check.html, which comes with the program, checks it in your browser."
        )
        return (f"|07{by_hand.format(number=hand.number, sysop=sysop)}",)
    heading = _("Check hand {number} in a browser:").format(number=hand.number)
    return (f"|14{heading}\n|15{hand.address}",)


class CheckScene(WholeScreen):
    """A link to the page that checks a hand; its address where the terminal shows no links."""

    def __init__(self, hand: Checkable, sysop: str, *, is_linked: bool) -> None:
        self._hand = hand
        self._sysop = sysop
        self._is_linked = is_linked

    def paint(self, canvas: Canvas, area: Area) -> None:
        width, row = area.columns - MARGIN, 1
        for paragraph in self._paragraphs():
            for line in wrap(paragraph, width):
                canvas.put_pipe(row, 1, line)
                row += 1
            row += 1
        words = _("Open the page that checks it") if self._is_linked else self._hand.address
        links = []
        for line in wrap(words, width):
            end = canvas.put_pipe(row, 1, f"|11{line}")
            links.append(Hyperlink(row, 1, min(end, canvas.width), self._hand.address))
            row += 1
        if self._is_linked:
            canvas.links = tuple(links)

    def _paragraphs(self) -> Sequence[str]:
        heading = _("Check hand {number}").format(number=self._hand.number)
        does = _(
            "A page in your browser works out seal, cards and payment by itself. It sends nothing. "
            "Compare its seal with the one that you saw before you bet."
        )
        if self._is_linked:
            return f"|15{heading}", f"|07{does}"
        return f"|15{heading}", f"|07{does}", f"|14{_('Open this link:')}"

    def lines(self) -> Sequence[str]:
        return _words(self._hand, self._sysop)
