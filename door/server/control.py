"""The sysop's hand on the running servers: what is asked through the socket in the data folder.

It is the socket by which door processes bring their callers (`lines.link`), so one thing is to be
guarded and one to be looked for: a header that names a command is the sysop's. Who may open the
socket may do all of this, so it is its owner's alone.

The server that is asked has the others do it too (`server.everywhere`). Here is what each does.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Protocol

from door.call.display import literal
from door.errors import CommandRefused, Kicked
from door.server.attending import ATTEND, attend
from door.server.everywhere import ALONE, COMMAND, MOST_SHOWN, UNKNOWN, Part, by_all, clean
from door.server.for_doors import GIVE_WAY
from door.server.tally import LoopLag, tally
from timebank.language import N_, Phrase, _, speaking_to

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.lines.link import LinkConnection, Said

KICKED = N_("The sysop ended this call.")

log = logging.getLogger("door.control")


class Served(Protocol):
    """What commands ask of the server."""

    board: Board
    ended: asyncio.Event  # set when the board is to close
    lag: LoopLag

    @property
    def stays(self) -> int | None:
        """For how many minutes it stays without callers; None if it does not end by itself."""

    def drain(self) -> None:
        """Take no more calls, and close when the last caller has gone, or now if asked again."""

    def look_now(self) -> None:
        """See at once what a command has written into the books."""

    async def give_way(self) -> bool:
        """Make room for another server, if a door has started this one; tell whether it does."""


async def answer_control(server: Served, connection: LinkConnection, said: Said) -> None:
    """Do a command and answer, unless nobody waits for the answer any more.

    Whoever was kept waiting too long has gone, and was told that nothing is known. The caller who
    was meant may have gone too, and another be on their node.
    """
    if connection.has_been_left():
        log.warning("a command came too late, whoever gave it has gone: %s", said.get(COMMAND))
        return
    if said.get(COMMAND) == ATTEND:
        await attend(server.board, connection, said)
        return
    line = connection.line
    try:
        answer: Part
        if said.get(COMMAND) == GIVE_WAY:
            answer = {"gives_way": await server.give_way()}
        elif said.get(ALONE):
            answer = do(server, said)
        else:
            answer = await by_all(server.board, said, partial(do, server))
    except CommandRefused as impossible:
        answer = {"error": str(impossible)}
    line.write(json.dumps(answer).encode())
    line.end({"how": "done"})


def do(server: Served, said: Said) -> Part:
    """Do a command here, and nowhere else; raises `CommandRefused`."""
    board = server.board
    by = clean(str(said.get("by") or "")) or "the sysop"  # in the browser nobody says it
    match said:
        case {"control": "here"}:
            return {}
        case {"control": "nodes"}:
            return {**_on_here(board), "stays": server.stays}
        case {"control": "kick", "call": int(call), "why": str(why)}:
            return {"callers": _kick(board, call, clean(why), by)}
        case {"control": "say", "call": int() | None as call, "text": str(text)}:
            return {"callers": _say(board, call, clean(text))}
        case {"control": "refused"}:
            return _refused(board)
        case {"control": "forgive", "who": str(who)}:
            return {"forgiven": _forgive(board, clean(who), by)}
        case {"control": "tally"}:
            return tally(board, server.lag)
        case {"control": "look"}:
            server.look_now()
            return {}
        case {"control": "drain", "again": bool(again)}:
            return _drain(server, by, again=again)
        case {"control": "stop"}:
            log.warning("%s stops the board", by)
            server.ended.set()
            return {}
    raise CommandRefused(UNKNOWN)


def _on_here(board: Board) -> Part:
    """Say of each call here what its server alone knows."""
    calls = {str(caller.call_id): _seen(board, caller) for caller in board.callers()}
    log_ons = max(0, len(board.consoles) - len(calls))
    return {"calls": calls, "log_ons": log_ons, "draining": board.draining}


def _seen(board: Board, caller: Caller) -> Part:
    return {
        "node": caller.node,
        "name": caller.record.name,
        "address": caller.console.line.address,
        "where": caller.place,
        "idle": int(board.clock.monotonic() - caller.console.last_key),
        "left": caller.purse.time_left(),
        "away": caller.is_away,  # at a table of another server, which knows better
    }


def _kick(board: Board, call: int, why: str, by: str) -> dict[str, str]:
    kicked = _on(board, call)
    for caller in kicked:
        log.warning("%s ends the call of %s on node %d", by, caller.record.name, caller.node)
        caller.console.interrupt(Kicked(literal(why) if why else Phrase(KICKED)))
    return _names(kicked)


def _say(board: Board, call: int | None, text: str) -> dict[str, str]:
    heard = [caller for caller in _on(board, call) if not caller.is_away]
    for caller in heard:
        caller.console.bell()
        with speaking_to(caller.console.viewer):
            caller.console.say(f"|14{_('The sysop:')} {literal(text)}")
    return _names(heard)


def _refused(board: Board) -> Part:
    held, count = board.reception.held(MOST_SHOWN)
    shown = [asdict(each) | {"wait": ceil(each.wait)} for each in held]
    names = board.reception.names_held()
    return {"held": shown, "more": max(0, count - MOST_SHOWN), "names": names}


def _forgive(board: Board, who: str, by: str) -> bool:
    forgiven = board.reception.forgive(who)
    if forgiven:
        log.warning("%s forgives %s", by, who)
    return forgiven


def _drain(server: Served, by: str, *, again: bool) -> Part:
    """Drain; a server that drains already goes on, or closes if this is said `again`."""
    before = server.board.draining
    if again or not before:
        log.warning("%s takes the board out of service", by)
        server.drain()
    callers = server.board.callers()
    return {"before": before, "callers": len(callers), "closing": server.ended.is_set()}


def _on(board: Board, call: int | None) -> list[Caller]:
    """Return who is here: by a call, which may have come from another server, or all."""
    return [caller for caller in board.callers() if call in (None, caller.call_id)]


def _names(callers: Sequence[Caller]) -> dict[str, str]:
    return {str(caller.call_id): clean(caller.record.name) for caller in callers}
