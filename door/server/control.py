"""The sysop's hand on the running server: what is asked through the socket in the data folder.

It is the socket by which door processes bring their callers (`lines.link`), so one thing is to be
guarded and one to be looked for: a header that names a command is the sysop's. Who may open the
socket may do all of this, so it is its owner's alone.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, Protocol

from door.call.display import literal
from door.errors import CommandRefused, Kicked
from timebank.calls.calls import open_calls
from timebank.language import N_, Phrase, _, speaking_to

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.lines.link import LinkConnection, Said
    from timebank.calls.calls import OpenCall

COMMAND = "control"  # the word in a header that makes it the sysop's
LONGEST = 200  # characters that are said at once
MOST_SHOWN = 100  # addresses that are held back
KICKED = N_("The sysop ended this call.")

log = logging.getLogger("door.control")


class Served(Protocol):
    """What commands ask of the server."""

    board: Board
    ended: asyncio.Event  # set when the board is to close

    def drain(self) -> str:
        """Take no more calls, and close when the last caller has gone; say so to the sysop."""


@dataclass(frozen=True)
class Node:
    """Somebody who is on, as `door nodes` shows them; spans are seconds.

    `idle` and `left` are None for who is on a door process, which alone knows them.
    """

    node: int
    name: str
    where: str
    since: str  # an instant in ISO 8601
    idle: int | None
    left: int | None
    address: str


async def answer_control(server: Served, connection: LinkConnection, said: Said) -> None:
    line = connection.line
    try:
        answer = await _do(server, said)
    except CommandRefused as impossible:
        answer = {"error": str(impossible)}
    line.write(json.dumps(answer).encode())
    line.end({"how": "done"})


async def _do(server: Served, said: Said) -> Mapping[str, Any]:
    match said:
        case {"control": "nodes"}:
            return await _nodes(server)
        case {"control": "kick", "node": int(node), "why": str(why)}:
            return {"words": _kick(server.board, node, clean(why))}
        case {"control": "say", "node": int() | None as node, "text": str(text)}:
            return {"words": _say(server.board, node, text)}
        case {"control": "refused"}:
            return _refused(server.board)
        case {"control": "forgive", "who": str(who)}:
            return {"words": _forgive(server.board, clean(who))}
        case {"control": "drain"}:
            log.warning("the sysop takes the board out of service")
            return {"words": server.drain()}
        case {"control": "stop"}:
            log.warning("the sysop stops the board")
            server.ended.set()
            return {"words": "The board is closing."}
    raise CommandRefused("This server does not know that command. Is it of another version?")


async def _nodes(server: Served) -> Mapping[str, Any]:
    board = server.board
    here = {caller.call_id: caller for caller in board.callers()}
    calls = await board.books.run(open_calls)
    nodes = [asdict(_node(board, call, here.get(call.call_id))) for call in calls if call.live]
    log_ons = len(board.consoles) - len(here)
    return {"nodes": nodes, "log_ons": max(0, log_ons), "draining": board.draining}


def _node(board: Board, call: OpenCall, caller: Caller | None) -> Node:
    idle = left = None
    where = "door process"
    if caller is not None:
        idle = int(board.clock.monotonic() - caller.console.last_key)
        left = caller.purse.time_left()
        where = caller.place
    since = call.since.isoformat()
    return Node(call.node, clean(call.name), where, since, idle, left, clean(call.address))


def _kick(board: Board, node: int, why: str) -> str:
    kicked = _on(board, node)
    for caller in kicked:
        log.warning("the sysop ends the call of %s on node %d", caller.record.name, node)
        caller.console.interrupt(Kicked(literal(why) if why else Phrase(KICKED)))
    return f"{_names(kicked)} on node {node} is told and hung up."


def _say(board: Board, node: int | None, text: str) -> str:
    if len(text) > LONGEST:
        raise CommandRefused(f"A line has {LONGEST} characters at most, this one has {len(text)}.")
    text = clean(text)
    if not text:
        raise CommandRefused("There is nothing to say.")
    heard = board.callers() if node is None else _on(board, node)
    if not heard:
        raise CommandRefused("Nobody is online.")
    for caller in heard:
        caller.console.bell()
        with speaking_to(caller.console.viewer):
            caller.console.say(f"|14{_('The sysop:')} {literal(text)}")
    return f"{_names(heard)} can read it."


def _refused(board: Board) -> Mapping[str, Any]:
    held, count = board.reception.held(MOST_SHOWN)
    shown = [asdict(each) | {"wait": ceil(each.wait)} for each in held]
    names = board.reception.names_held()
    return {"held": shown, "more": max(0, count - MOST_SHOWN), "names": names}


def _forgive(board: Board, who: str) -> str:
    if not board.reception.forgive(who):
        raise CommandRefused(f"Nothing is held against {who}.")
    log.warning("the sysop forgives %s", who)
    return f"Nothing is held against {who} any more."


def _on(board: Board, node: int) -> list[Caller]:
    found = [caller for caller in board.callers() if caller.node == node]
    if not found:
        raise CommandRefused(f"Nobody whom this server can reach is on node {node}.")
    return found


def _names(callers: list[Caller]) -> str:
    if len(callers) > 1:
        return f"{len(callers)} callers"
    return clean(callers[0].record.name)


def clean(text: str) -> str:
    """Return what may be shown of a text: no more than LONGEST characters, none of them a control.

    >>> clean("Back in\\t5\\x1b[2J minutes  ")
    'Back in 5[2J minutes'
    """
    shown = "".join(mark for mark in re.sub(r"[\t\r\n]+", " ", text) if mark.isprintable())
    return shown.strip()[:LONGEST]
