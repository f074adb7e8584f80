"""Callers who are on door processes, as guests at the server's Vegas table.

Their calls and leases stay those of their doors; both may post for them meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from ansi.charset import Charset
from door import errors
from door.call.caller import Caller
from door.call.console import Console, Look, Paint, at_the_door
from door.call.purse import TickingPurse
from door.clock import seconds_begun
from door.games.vegas.seat import VegasVisit
from door.games.vegas.table import table_of
from door.lines.line import CALLER_HUNG_UP, Hints
from timebank.callers import callers
from timebank.calls.calls import Opened, open_calls, touch
from timebank.errors import BooksFailed, CallClosed, Refused
from timebank.language import Phrase, _, known, speak_to

if TYPE_CHECKING:
    from door.call.board import Board
    from door.lines.link import LinkConnection, Said
    from timebank.callers.callers import CallerRecord
    from timebank.ledger.database import Desk
    from timebank.ledger.purse import Receipt

# What a door may want, and how what it wanted may have ended.
VISIT, FIND, STAND = "visit", "find", "stand"
LEFT, TIME_UP, IDLE, TAKEN_OVER = "left", "time up", "idle", "taken over"
KICKED, CLOSED, GONE, FAILED = "kicked", "closed", "gone", "failed"
# What a door says of its caller besides TAKEN_OVER: they closed their line, having seen all of it.
HUNG_UP = "hung up"

ENDS: dict[type[Exception], str] = {
    errors.TimeUp: TIME_UP,
    errors.IdledOut: IDLE,
    errors.TakenOver: TAKEN_OVER,
    CallClosed: TAKEN_OVER,
    errors.Kicked: KICKED,
    errors.Closing: CLOSED,
    errors.CarrierLost: GONE,
}

log = logging.getLogger("door.calls")


# What a header says as it is.
PLAIN = [
    "wants",
    "call_id",
    "caller_id",
    "node",
    "ticked",
    "limit",
    "address",
    "columns",
    "rows",
    "language",
]


@dataclass(frozen=True)
class Visitor:
    """A caller from a door. Times are seconds from now: `ticked` is how long they have been on;
    `limit` how long their host lets them, None for no limit; `until` when its event begins."""

    wants: str
    call_id: int
    caller_id: int
    node: int
    ticked: float
    limit: int | None
    until: datetime | None
    look: Look
    address: str
    hints: Hints
    columns: int
    rows: int
    language: str

    def said(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in PLAIN} | {
            "until": None if self.until is None else self.until.isoformat(),
            "charset": self.look.charset.value,
            "paint": self.look.paint.value,
            "terminals": self.hints.terminal_types,
        }

    @classmethod
    def read(cls, said: Said) -> Visitor:
        """Read a header; `LinkBroken` when it is that of another version."""
        try:
            return cls(
                **{name: said[name] for name in PLAIN},
                until=said["until"] and datetime.fromisoformat(said["until"]),
                look=Look(Charset(said["charset"]), Paint(said["paint"])),
                hints=Hints(terminal_types=tuple(said["terminals"])),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise errors.LinkBroken("its header is not one of this version") from error


async def answer_door(board: Board, connection: LinkConnection, said: Said) -> None:
    """Do what a door wants for its caller, and say how it ended."""
    line = connection.line
    try:
        visitor = Visitor.read(said)
        line.end(await _do(board, visitor, connection))
    except (Refused, BooksFailed, errors.LinkBroken) as refused:
        line.end({"how": FAILED, "words": str(refused)})
    except Exception:
        log.exception("a visit of %s to the Vegas table failed", line.address)
        line.end({"how": FAILED, "words": _("Something went wrong at the table.")})


async def _do(board: Board, visitor: Visitor, connection: LinkConnection) -> dict[str, Any]:
    if visitor.wants == FIND:
        return {"how": LEFT, "found": await table_of(board).find(visitor.caller_id)}
    if visitor.wants == STAND:
        await table_of(board).stand_for(visitor.caller_id)
        return {"how": LEFT}
    line = connection.line
    line.introduce(visitor.address, visitor.hints, visitor.columns, visitor.rows)
    logged_on = board.clock.monotonic() - visitor.ticked
    console = Console(line, visitor.look, board.clock)
    console.viewer.language = known(visitor.language)
    speak_to(console.viewer)  # from here on this connection's task is theirs
    with at_the_door(board.clock, console):
        record, receipt = await board.books.run(partial(_on_call, visitor=visitor))
    connection.interrupted = partial(_interrupt, console)
    limit, until = visitor.limit, visitor.until
    purse = TickingPurse(board.books, board.clock, receipt.purse, logged_on, limit, until)
    opened = Opened(visitor.call_id, visitor.node, receipt, ())
    caller = Caller(
        console, board.books, board.config, record, visitor.node, opened, purse, board.new_seed
    )
    with board.visited_by(caller):
        return await _visit(board, caller)


def _on_call(desk: Desk, visitor: Visitor) -> tuple[CallerRecord, Receipt]:
    """Find the caller of an open call, and their purse; `Refused` when it is another's, or over."""
    receipt = touch(desk, visitor.call_id, seconds_begun(visitor.ticked))
    calls = {call.call_id: call.caller_id for call in open_calls(desk)}
    if calls.get(visitor.call_id) != visitor.caller_id:
        raise Refused(Phrase("This call is another caller's."))
    return callers.get(desk, visitor.caller_id), receipt


def _interrupt(console: Console, what: str) -> None:
    if what == TAKEN_OVER:
        console.interrupt(errors.TakenOver(Phrase("You've logged on from another connection.")))
    elif what == HUNG_UP:
        console.interrupt(errors.CarrierLost(CALLER_HUNG_UP))


async def _visit(board: Board, caller: Caller) -> dict[str, Any]:
    """Let them sit at the table with their clock running; return how it ended."""
    console = caller.console
    console.paint_screens()
    console.on_redraw = caller.status.show
    caller.clock.start()
    how, words = LEFT, ""
    async with asyncio.TaskGroup() as group:
        keeper = group.create_task(caller.keep())
        try:
            await VegasVisit(board, caller).visit()
        except (errors.Interruption, Refused, BooksFailed) as ended:
            how, words = _how(ended), str(ended)
        finally:
            caller.clock.stop()
            keeper.cancel()
    await caller.note_seen()
    console.display.flush()
    console.let_go()
    if how == GONE:
        log.info("the door of %s hung up at the Vegas table", console.line.address)
    return {"how": how, "words": words, "statement": caller.statement}


def _how(ended: Exception) -> str:
    """Return how a visit was ended by what was raised: the first kind counts that it is of."""
    for kind, how in ENDS.items():
        if isinstance(ended, kind):
            return how
    return FAILED
