"""The screens behind <F>airness at every table: seal and seed, and how to check the last hand whose
seed is open on a page in the caller's browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
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

# The modules of a QR code by rows, True for dark.
Code = tuple[tuple[bool, ...], ...]

HERE = ("localhost", "127.0.0.1", "::1")  # hosts where browsers check a hand without TLS
WIDEST_MARGIN, LEAST_MARGIN = 2, 1  # light modules around a code
MIN_WORDS_COLUMNS = 26  # words next to a code
GAP = 2
_BLOCKS = {(True, True): " ", (True, False): "▄", (False, True): "▀", (False, False): "█"}


@dataclass(frozen=True)
class Checkable:
    """A hand to check: its number, and the address of its check with the QR code of it.

    `address` is "" and `code` is () where the board has none.
    """

    number: int
    address: str = ""
    code: Code = ()


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
        return _checkable(stored.id, page, digits)

    try:
        return await caller.look_up(find)
    except (BooksFailed, JournalDamaged):
        return None


def _checkable(number: int, page: str, digits: str) -> Checkable:
    if not page:
        return Checkable(number)
    # Digits in a segment of their own take less room in a QR code than letters.
    return Checkable(number, f"{page}#{digits}", code_of(f"{page}#", digits))


def code_of(*parts: str) -> Code:
    """Return a QR code with the lowest error correction; () without the library, or when the text
    is too long."""
    try:
        segno = import_module("segno")
    except ImportError:  # an older installation without it
        return ()
    try:
        drawn = segno.make(list(parts), error="l", micro=False, boost_error=False)
    except segno.DataOverflowError:
        return ()
    return tuple(tuple(bool(module) for module in row) for row in drawn.matrix)


async def _show(caller: Caller, hand: Checkable) -> None:
    console = caller.console
    has_blocks = console.screen.look.has_shapes
    scene = CheckScene(
        hand,
        hand.code if has_blocks else (),
        caller.config.board.sysop,
        is_linked=looks.has_links(console.line.hints),
    )
    console.display.stage(scene)
    if scene.has_two_screens(console.line.columns - 1, console.line.rows - 2):
        await console.pager.any_key(_("Press any key for the code"))
        scene.shows_code = True
        console.display.refresh()
    await console.pager.any_key()


def _words(hand: Checkable, sysop: str) -> tuple[str, ...]:
    """Return in paragraphs how to check a hand, for a screen without code and link."""
    if not hand.address:
        by_hand = _(
            "To check hand {number} whole, ask {sysop} for its proof (door hand {number} --proof). "
            "The page check.html, which comes with the program, checks it in your browser."
        )
        return (f"|07{by_hand.format(number=hand.number, sysop=sysop)}",)
    heading = _("Check hand {number} in a browser:").format(number=hand.number)
    return (f"|14{heading}\n|15{hand.address}",)


class CheckScene(WholeScreen):
    """A link to the page that checks a hand, and its QR code for a phone.

    On a small screen the code comes on a second screen.
    """

    def __init__(self, hand: Checkable, code: Code, sysop: str, *, is_linked: bool) -> None:
        self._hand = hand
        self._code = code
        self._sysop = sysop
        self._is_linked = is_linked
        self.shows_code = False

    def has_two_screens(self, columns: int, rows: int) -> bool:
        return bool(self._margin(columns, rows)) and not self._fits_one_screen(columns, rows)

    def _margin(self, columns: int, rows: int) -> int:
        """Return the width of the margin around the code; 0 where the code does not fit."""
        for margin in range(WIDEST_MARGIN, LEAST_MARGIN - 1, -1):
            side = len(self._code) + 2 * margin
            if self._code and side <= columns and (side + 1) // 2 <= rows:
                return margin
        return 0

    def _fits_one_screen(self, columns: int, rows: int) -> bool:
        side = len(self._code) + 2 * self._margin(columns, rows)
        return columns - side - GAP >= MIN_WORDS_COLUMNS

    def paint(self, canvas: Canvas, area: Area) -> None:
        size = area.columns, area.rows
        margin = self._margin(*size)
        if not margin:
            instruction = _("This screen can't show the code. Open this link:")
            self._paint_words(canvas, 1, area.columns - MARGIN, instruction)
        elif self._fits_one_screen(*size):
            column = len(self._code) + 2 * margin + GAP
            self._paint_code(canvas, 0, margin)
            instruction = _("Scan the code with a phone, or open this link:")
            self._paint_words(canvas, column, area.columns - column - 1, instruction)
        elif self.shows_code:
            side = len(self._code) + 2 * margin
            self._paint_code(canvas, (area.columns - side) // 2, margin)
        else:
            instruction = _("Open this link, or scan the code that comes next with a phone:")
            self._paint_words(canvas, 1, area.columns - MARGIN, instruction)

    def _paint_code(self, canvas: Canvas, column: int, margin: int) -> None:
        for row, line in enumerate(half_blocks(self._code, margin)):
            canvas.put_pipe(row, column, f"|16|15{line}")

    def _paint_words(self, canvas: Canvas, column: int, width: int, instruction: str) -> None:
        row = 1
        for paragraph in self._paragraphs(instruction):
            for line in wrap(paragraph, width):
                canvas.put_pipe(row, column, line)
                row += 1
            row += 1
        lines = (
            wrap(_("Open the page that checks it"), width)
            if self._is_linked
            else wrap(self._hand.address, width)
        )
        links = []
        for line in lines:
            end = canvas.put_pipe(row, column, f"|11{line}")
            links.append(Hyperlink(row, column, min(end, canvas.width), self._hand.address))
            row += 1
        if self._is_linked:
            canvas.links = tuple(links)

    def _paragraphs(self, instruction: str) -> Sequence[str]:
        heading = _("Check hand {number}").format(number=self._hand.number)
        does = _(
            "A page in your browser works out seal, cards and payment by itself. It sends nothing. "
            "Compare its seal with the one that you saw before you bet."
        )
        return (f"|15{heading}", f"|07{does}", f"|14{instruction}")

    def lines(self) -> Sequence[str]:
        return _words(self._hand, self._sysop)


def half_blocks(code: Code, margin: int) -> list[str]:
    """Return the lines of a code with its margin, two rows in each; only light modules are drawn.

    >>> half_blocks(((True, False), (False, True), (True, True)), 1)
    ['█▀██', '█▀ █', '▀▀▀▀']
    """
    side = len(code[0]) + 2 * margin
    edge = [(False,) * side] * margin
    sides = (False,) * margin
    rows = [*edge, *((*sides, *row, *sides) for row in code), *edge]
    if len(rows) % 2:
        rows.append((True,) * side)  # the lower half of the last line is dark
    return [
        "".join(_BLOCKS[pair] for pair in zip(upper, lower, strict=True))
        for upper, lower in zip(rows[::2], rows[1::2], strict=True)
    ]
