"""The sysop's commands to the running server, through the socket in the data folder.

Only the server's user and root may give commands (`door_calls`). Other users may at most hand
callers over.

Commands about callers apply to the whole board (`board_commands`), all others to this server.
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
from timebank.errors import SettingsError

if TYPE_CHECKING:
    from door.call.board import Board
    from door.lines.commands import Message, SysopCommand

MOST_SHOWN = 100  # refused addresses in one answer
UNKNOWN = "This server does not know that command. Is it of another version?"

log = logging.getLogger("door.control")


class Served(Protocol):
    """The server, as commands see it."""

    board: Board
    ended: asyncio.Event  # set when the server must close

    @property
    def stays(self) -> int | None:
        """Minutes that the server stays without callers; None if it stays until it is stopped."""

    def drain(self, by: str) -> str:
        """Take no more calls, and close when the last caller has gone; a second drain closes at
        once. Return a sentence about a problem, or ""."""

    def shut(self, by: str) -> str:
        """Close the board now, for doors as well, until the sysop opens it. Return a sentence about
        a problem, or ""."""

    def look_now(self) -> None:
        """Read at once the changes that a command has written into the books."""

    async def tell_reload(self) -> list[str]:
        """Read sysop.toml again and return sentences about what changes; raise `SettingsError` if
        it is wrong."""

    async def give_way(self) -> bool:
        """End for another server if a door has started this one; return whether it ends."""


async def answer_control(server: Served, command: SysopCommand) -> None:
    """Run a command and send its answer; raise `OSError` if the asker is gone."""
    answer: Part
    try:
        if command.request.get(COMMAND) == ATTEND:
            await attend(server.board, command)
            return
        answer = await carry_out(server, command.request)
    except CommandRefused as refusal:
        answer = {"error": str(refusal)}
    await command.answer(answer)


async def carry_out(server: Served, fields: Message) -> Part:
    """Run a command and return its answer; raise `CommandRefused` if it cannot run."""
    board = server.board
    by = clean(str(fields.get("by") or "")) or "the sysop"  # commands from the browser have no name
    match fields:
        case {"control": "here"}:
            return {}
        case {"control": "look"}:
            server.look_now()
            return {}
        case {"control": "nodes"}:
            return await board_commands.nodes(board, server.stays)
        case {"control": "kick", "node": int(node), "why": str(why)}:
            return await board_commands.kick(board, node, clean(why), by, _call(fields))
        case {"control": "say", "node": int() | None as node, "text": str(text)}:
            return await board_commands.say(board, node, _line(text), _call(fields))
        case {"control": "refused"}:
            return _refused(board)
        case {"control": "forgive", "who": str(who)}:
            return _forgive(board, clean(who), by)
        case {"control": "reload"}:
            return await _reload(server, by)
        case {"control": "drain"}:
            return _drain(server, by)
        case {"control": "stop"}:
            log.warning("%s stops the board", by)
            return {"words": f"{_closing(board)} {server.shut(by)}".rstrip()}
        case {"control": control} if control == GIVE_WAY:
            return {"gives_way": await server.give_way()}
    raise CommandRefused(UNKNOWN)


def _call(fields: Message) -> int | None:
    """Return the number of the call, if the command names one next to its node."""
    call = fields.get("call")
    return call if isinstance(call, int) else None


def _line(text: str) -> str:
    if len(text) > LONGEST:
        raise CommandRefused(f"A line has {LONGEST} characters at most, this one has {len(text)}.")
    if not (line := clean(text)):
        raise CommandRefused("There is nothing to say.")
    return line


def _refused(board: Board) -> Part:
    held, count = board.reception.held(MOST_SHOWN)
    shown = [asdict(address) | {"wait": ceil(address.wait)} for address in held]
    names = board.reception.names_held()
    return {"held": shown, "more": max(0, count - MOST_SHOWN), "names": names}


def _forgive(board: Board, who: str, by: str) -> Part:
    if not board.reception.forgive(who):
        raise CommandRefused(f"Nothing is held against {who}.")
    log.warning("%s forgives %s", by, who)
    return {"words": f"Nothing is held against {who} any more."}


async def _reload(server: Served, by: str) -> Part:
    log.warning("%s has the settings read again", by)
    try:
        return {"words": "\n".join(await server.tell_reload())}
    except SettingsError as error:
        raise CommandRefused(f"The old settings stay in force:\n{error}") from error


# Commands that end this server. Other servers of the board go on.


def _drain(server: Served, by: str) -> Part:
    """Drain the server, or close it if it drains already; return the answer."""
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
    """Return this server's name if the board has other servers, else ""."""
    return clean(board.peers.own_name) if board.peers.others else ""
