"""The sysop's hand on the running server: what is asked through the socket in the data folder.

Only the user of the server and root may (`door_calls`), whoever else may hand callers over.

Commands about callers are for the whole board (`server.everywhere`). All others are for the server
that is asked.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import asdict
from math import ceil
from typing import TYPE_CHECKING, Protocol

from door.errors import CommandRefused
from door.server import board_commands
from door.server.board_commands import COMMAND, LONGEST, Part, clean
from door.server.for_doors import GIVE_WAY
from door.server.sysop_visit import ATTEND, attend
from door.server.tally import LoopLag, tally

if TYPE_CHECKING:
    from door.call.board import Board
    from door.lines.commands import Said, SysopCommand

MOST_SHOWN = 100  # addresses that are held back
UNKNOWN = "This server does not know that command. Is it of another version?"

log = logging.getLogger("door.control")


class Served(Protocol):
    """What commands ask of the server."""

    board: Board
    ended: asyncio.Event  # set when the board is to close
    lag: LoopLag

    @property
    def stays(self) -> int | None:
        """For how many minutes it stays without callers; None if it does not end by itself."""

    def drain(self, by: str) -> str:
        """Take no more calls, and close when the last caller has gone, or now if asked again;
        return what is wrong with that."""

    def shut(self, by: str) -> str:
        """Close the board now, for doors as well, until the sysop opens it; return what is wrong
        with that."""

    def look_now(self) -> None:
        """See at once what a command has written into the books."""

    async def give_way(self) -> bool:
        """Make room for another server, if a door has started this one; tell whether it does."""


async def answer_control(server: Served, command: SysopCommand) -> None:
    """Do a command and answer; OSError where nobody takes the answer."""
    answer: Part
    try:
        if command.said.get(COMMAND) == ATTEND:
            await attend(server.board, command)
            return
        answer = await carry_out(server, command.said)
    except CommandRefused as impossible:
        answer = {"error": str(impossible)}
    await command.answer(answer)


async def carry_out(server: Served, said: Said) -> Part:
    """Do a command, and return the answer; raises `CommandRefused`."""
    board = server.board
    by = clean(str(said.get("by") or "")) or "the sysop"  # in the browser nobody says it
    match said:
        case {"control": "here"}:
            return {}
        case {"control": "look"}:
            server.look_now()
            return {}
        case {"control": "nodes"}:
            return await board_commands.nodes(board, server.stays)
        case {"control": "kick", "node": int(node), "why": str(why)}:
            return await board_commands.kick(board, node, clean(why), by, _call(said))
        case {"control": "say", "node": int() | None as node, "text": str(text)}:
            return await board_commands.say(board, node, _line(text), _call(said))
        case {"control": "tally"}:
            name = clean(board.peers.own_name)
            return {"servers": [{**tally(board, server.lag), "name": name}]}
        case {"control": "refused"}:
            return _refused(board)
        case {"control": "forgive", "who": str(who)}:
            return await _forgive(board, clean(who), by)
        case {"control": "drain"}:
            return _drain(server, by)
        case {"control": "stop"}:
            log.warning("%s stops the board", by)
            return {"words": f"{_closing(board)} {server.shut(by)}".rstrip()}
        case {"control": control} if control == GIVE_WAY:
            return {"gives_way": await server.give_way()}
    raise CommandRefused(UNKNOWN)


def _call(said: Said) -> int | None:
    """Return the call that the sysop means, where they name it as well as its node."""
    call = said.get("call")
    return call if isinstance(call, int) else None


def _line(text: str) -> str:
    if len(text) > LONGEST:
        raise CommandRefused(f"A line has {LONGEST} characters at most, this one has {len(text)}.")
    if not (line := clean(text)):
        raise CommandRefused("There is nothing to say.")
    return line


def _refused(board: Board) -> Part:
    held, count = board.reception.held(MOST_SHOWN)
    shown = [asdict(each) | {"wait": ceil(each.wait)} for each in held]
    names = board.reception.names_held()
    return {"held": shown, "more": max(0, count - MOST_SHOWN), "names": names}


async def _forgive(board: Board, who: str, by: str) -> Part:
    at_pages = await board_commands.forgive_at_pages(board, who)
    if board.reception.forgive(who):
        log.warning("%s forgives %s", by, who)
    elif not at_pages:
        raise CommandRefused(f"Nothing is held against {who}.")
    return {"words": f"Nothing is held against {who} any more."}


# The end of this server. The others of the board go on.


def _drain(server: Served, by: str) -> Part:
    """Drain; a server that drains already closes."""
    board = server.board
    log.warning("%s takes the board out of service", by)
    problem = server.drain(by)
    if server.ended.is_set():
        return {"words": f"{_closing(board)} {problem}".rstrip()}
    on = "1 caller is" if len(board.callers()) == 1 else f"{len(board.callers())} callers are"
    if name := _one_of_several(board):
        words = f"Server {name} takes no more calls; {on} on. It closes when the last has gone."
    else:
        words = f"No more calls are taken; {on} on. The board closes when the last has gone."
    return {"words": f"{words} {problem}".rstrip()}


def _closing(board: Board) -> str:
    name = _one_of_several(board)
    return f"Server {name} is closing." if name else "The board is closing."


def _one_of_several(board: Board) -> str:
    """Return this server's name; empty where the board has no other."""
    return clean(board.peers.own_name) if board.peers.others else ""
