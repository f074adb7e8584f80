"""A caller's way to the Vegas tables of this server."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, TypeVar

from door.call.books import NOT_IN_TIME
from door.call.markup import wrap
from door.call.page import Page
from door.call.scene import LAYOUT_COLUMNS
from door.clock import until
from door.errors import HandElsewhere
from door.tables.vegas.room import room_of
from door.tables.vegas.seat import VegasVisit
from timebank.errors import BooksUnavailable
from timebank.language import N_, Phrase, _

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller

T = TypeVar("T")

STOOD_ELSEWHERE = N_("Your hand at Vegas is being stood for you; you'll hear how it ended.")
UNREACHED = N_(
    "The table can't be reached just now. Any open hand is kept for you: please try again in a "
    "minute."
)
TOLD_SECONDS = 30.0  # to read why there is no table; nobody is kept there until they idle out


class Company:
    """One caller's visit to Vegas."""

    def __init__(self, board: Board, caller: Caller) -> None:
        self._board = board
        self._caller = caller
        self._room = room_of(board)

    async def visit(self) -> None:
        try:
            table = await self._in_time(self._room.table_for(self._caller))
        except HandElsewhere:
            await self._tell(_(STOOD_ELSEWHERE))
            return
        except BooksUnavailable:
            await self._tell(_(UNREACHED))
            return
        await VegasVisit(self._board, self._caller, table).visit()

    async def has_open_hand(self) -> bool:
        caller_id = self._caller.record.id
        try:
            table = await self._in_time(self._room.find(caller_id))
        except HandElsewhere:
            return True
        return table is not None and table.state.place_of(caller_id) is not None

    async def stand_open_hand(self) -> None:
        try:
            table = await self._in_time(self._room.table_for(self._caller))
        except HandElsewhere:
            self._caller.console.say(f"|14{_(STOOD_ELSEWHERE)}")
        else:
            await VegasVisit(self._board, self._caller, table).stand_open_hand()

    async def _in_time(self, looking: Awaitable[T]) -> T:
        """Return what is looked for; `BooksUnavailable` where the caller has waited too long."""
        try:
            async with until(self._board.clock, self._caller.console.answer_by()):
                return await looking
        except TimeoutError as late:
            raise BooksUnavailable(Phrase(NOT_IN_TIME)) from late

    async def _tell(self, words: str) -> None:
        """Say why there is no table, and go on to the menu also without a key. What was typed for
        the table is for nothing here."""
        console = self._caller.console
        console.forget_keys()
        console.stage(Page("Vegas", wrap(words, LAYOUT_COLUMNS - 2)))
        console.display.prompt(f"|07{_('Press any key')}")
        await console.pause(TOLD_SECONDS)
        if console.next_key() is not None:
            await console.key()
        console.display.answered()
