"""Callers of door processes and of other servers, as guests at the Vegas tables of this one.

Their calls and leases stay those of their processes; both may post for them meanwhile. Where the
table is another server's, the caller of a door is passed on to it.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from door import errors
from door.call.caller import Caller
from door.call.console import LAST_SECONDS, LONGEST_WAIT, Console, at_the_door
from door.call.purse import TickingPurse
from door.clock import seconds_begun, until
from door.games.vegas.passing import (
    CLOSED,
    COUNT,
    FAILED,
    FIND,
    GONE,
    HUNG_UP,
    IDLE,
    KICKED,
    LEFT,
    MOVED,
    STAND,
    TAKEN_OVER,
    TIME_UP,
    Visitor,
    linked,
    reach,
)
from door.games.vegas.room import Away, room_of
from door.games.vegas.seat import VegasVisit
from door.lines.line import CALLER_HUNG_UP
from timebank.callers import callers
from timebank.calls.calls import Opened, open_calls, touch
from timebank.errors import BooksFailed, CallClosed, Refused
from timebank.language import Phrase, _, known, speak_to

if TYPE_CHECKING:
    from door.call.board import Board
    from door.games.vegas.table import VegasTable
    from door.lines.link import LinkConnection, Said
    from timebank.callers.callers import CallerRecord
    from timebank.ledger.database import Desk
    from timebank.ledger.purse import Receipt

ENDS: dict[type[Exception], str] = {
    errors.TimeUp: TIME_UP,
    errors.IdledOut: IDLE,
    errors.TakenOver: TAKEN_OVER,
    CallClosed: TAKEN_OVER,
    errors.Kicked: KICKED,
    errors.Closing: CLOSED,
    errors.CarrierLost: GONE,
    errors.TableMoved: MOVED,
}

log = logging.getLogger("door.calls")


async def answer_door(board: Board, connection: LinkConnection, said: Said) -> None:
    """Do what a door or another server wants for its caller, and say how it ended."""
    line = connection.line
    try:
        line.end(await _do(board, connection, said))
    except errors.TableMoved:
        line.end({"how": MOVED})
    except (errors.NoTable, errors.NoServer):
        line.end({"how": MOVED})
    except (Refused, BooksFailed, errors.LinkBroken) as refused:
        line.end({"how": FAILED, "words": str(refused)})
    except Exception:
        log.exception("a visit of %s to the Vegas table failed", line.address)
        line.end({"how": FAILED, "words": _("Something went wrong at the table.")})


async def _do(board: Board, connection: LinkConnection, said: Said) -> Said:
    room = room_of(board)
    if said.get("wants") == COUNT:
        return {"how": LEFT, "guests": room.crowds()}
    visitor = Visitor.read(said)
    if visitor.wants == FIND:
        return {"how": LEFT, "found": await room.has_hand(visitor.caller_id)}
    if visitor.wants == STAND:
        table = await room.stand_for(visitor)
        if table is not None:
            await table.stand_for(visitor.caller_id)
        return {"how": LEFT}
    came = board.clock.monotonic()
    waits_from = came - min(visitor.waited, LONGEST_WAIT)
    try:
        async with until(board.clock, max(waits_from + LONGEST_WAIT, came + LAST_SECONDS)):
            where = await room.place_of(visitor)
    except TimeoutError as late:
        raise errors.NoTable from late
    if isinstance(where, Away):
        waited = board.clock.monotonic() - waits_from
        return await _pass_on(board, replace(visitor, waited=waited), connection, where)
    return await _seat(board, visitor, connection, where, waits_from)


async def _pass_on(board: Board, visitor: Visitor, connection: LinkConnection, away: Away) -> Said:
    """Pass the caller of a door on to the server of their table; return how it ended there."""
    header = replace(visitor, table=away.number).said()
    line = connection.line
    line.introduce(visitor.address, visitor.hints, visitor.columns, visitor.rows)
    try:
        ends = await reach(board.peers.dial(away.server))
    except errors.NoServer:
        room_of(board).is_silent(away)
        raise
    async with linked(ends, header, line) as end:
        line.attach(end)
        connection.interrupted = end.interrupted
        with room_of(board).following(away, end):
            return await end.ended()


async def _seat(
    board: Board,
    visitor: Visitor,
    connection: LinkConnection,
    table: VegasTable,
    waits_from: float,
) -> Said:
    line = connection.line
    line.introduce(visitor.address, visitor.hints, visitor.columns, visitor.rows)
    logged_on = board.clock.monotonic() - visitor.ticked
    console = Console(line, visitor.look, board.clock)
    console.waits_from = waits_from
    console.viewer.language = known(visitor.language)
    speak_to(console.viewer)  # from here on this connection's task is theirs
    with at_the_door(board.clock, console):
        record, receipt = await board.books.run(
            partial(_on_call, visitor=visitor), until=console.answer_by()
        )
    connection.interrupted = partial(_interrupt, console)
    limit, until = visitor.limit, visitor.until
    purse = TickingPurse(board.books, board.clock, receipt.purse, logged_on, limit, until)
    opened = Opened(visitor.call_id, visitor.node, receipt, ())
    caller = Caller(
        console, board.books, board.config, record, visitor.node, opened, purse, board.new_seed
    )
    visit = VegasVisit(board, caller, table, has_moved=visitor.has_moved)
    with board.visited_by(caller):
        return await _visit(caller, visit)


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


async def _visit(caller: Caller, visit: VegasVisit) -> Said:
    """Let them sit at the table with their clock running; return how it ended."""
    console = caller.console
    console.paint_screens()
    console.on_redraw = caller.status.show
    caller.clock.start()
    how, words = LEFT, ""
    async with asyncio.TaskGroup() as group:
        keeper = group.create_task(caller.keep())
        try:
            await visit.visit()
        except (errors.Interruption, Refused, BooksFailed) as ended:
            how, words = _how(ended), str(ended)
        finally:
            caller.clock.stop()
            keeper.cancel()
    waited = console.clock.monotonic() - console.waits_from
    await caller.note_seen()
    console.display.flush()
    console.let_go()
    if how == GONE:
        log.info("the door of %s hung up at the Vegas table", console.line.address)
    return {"how": how, "words": words, "statement": caller.statement, "waited": waited}


def _how(ended: Exception) -> str:
    """Return how a visit was ended by what was raised: the first kind counts that it is of."""
    for kind, how in ENDS.items():
        if isinstance(ended, kind):
            return how
    return FAILED
