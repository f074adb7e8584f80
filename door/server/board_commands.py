"""The sysop's commands about the callers of the whole board.

Servers give each other no orders. The books list the calls. For a caller of another server, a
command ends the call in its row, or leaves a notice with the sysop's text. The other server finds
both at its next look at the books.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from door.call.caller import kicked
from door.call.markup import literal
from door.errors import CommandRefused
from timebank.callers.notices import add_notice
from timebank.calls.calls import end_call, open_calls
from timebank.errors import BooksFailed
from timebank.keeping import events
from timebank.language import N_, _, speaking_to
from timebank.servers import registry
from timebank.words import clean as clean_line
from timebank.words import span

if TYPE_CHECKING:
    from collections.abc import Collection

    from door.call.board import Board
    from door.call.caller import Caller
    from timebank.calls.calls import OpenCall
    from timebank.ledger.database import Desk
    from timebank.servers.registry import ServerRecord

COMMAND = "control"  # the key of a command in a message
LONGEST = 200  # characters in one text
clean = partial(clean_line, longest=LONGEST)
BOOKS_SECONDS = 4.0  # for the books to list the calls
SAYS = N_("The sysop: {text}")

log = logging.getLogger("door.control")

Part = Mapping[str, Any]  # an answer, or a part of one


@dataclass(frozen=True)
class Node:
    """A caller online, as `door nodes` shows them; spans are in seconds.

    `server` is "" if the caller's server is gone. `idle` and `left` are None for callers of other
    servers, because only their server knows them. `since` is None if the books did not answer.
    """

    node: int
    name: str
    where: str
    since: str | None  # an instant in ISO 8601
    idle: int | None
    left: int | None
    address: str
    server: str


@dataclass(frozen=True)
class Moment:
    """The books at one moment: live calls, lost servers with their seconds of silence, event."""

    calls: list[OpenCall]
    lost: list[tuple[ServerRecord, int]]
    event: str  # a sentence about the event that was started early, or ""

    def on(self, node: int) -> OpenCall | None:
        return next((call for call in self.calls if call.node == node), None)


async def look_into(board: Board) -> Moment:
    """Read the calls and the servers from the books; raise `TimeoutError` without an answer, and
    `BooksFailed`."""
    async with asyncio.timeout(BOOKS_SECONDS):
        living, moment = await board.books.run(_look)
    board.peers.adopt(living)
    return moment


def _look(desk: Desk) -> tuple[list[ServerRecord], Moment]:
    local = desk.settings.schedule.local
    calls = [replace(call, since=local(call.since)) for call in open_calls(desk) if call.live]
    event = "" if events.early_event(desk) is None else events.next_words(desk)
    return registry.living_servers(desk), Moment(calls, registry.silent_servers(desk), event)


async def _who_is_on(board: Board) -> list[OpenCall]:
    try:
        return (await look_into(board)).calls
    except (TimeoutError, BooksFailed) as error:
        log.warning("a command is refused because the books do not answer: %s", error)
        raise CommandRefused("The books do not say now who is on. Nothing was done.") from error


async def _on(board: Board, node: int, call: int | None) -> OpenCall:
    """Return the call on a node; refuse if `call`, the number the sysop expects, is another."""
    call_there = next((each for each in await _who_is_on(board) if each.node == node), None)
    if call_there is None:
        raise CommandRefused(f"Node {node} is empty.")
    if call not in (None, call_there.call_id):
        raise CommandRefused(f"Another call is on node {node} by now. Nothing was done.")
    return call_there


def _here(board: Board, calls: Collection[OpenCall]) -> list[Caller]:
    wanted = {call.call_id for call in calls}
    return [caller for caller in board.callers() if caller.call_id in wanted]


# Ending calls, and texts to callers.


async def kick(board: Board, node: int, why: str, by: str, call: int | None) -> Part:
    """End the call on a node; raise `CommandRefused` if the node is empty."""
    online = await _on(board, node, call)
    name, here = clean(online.name), _here(board, [online])
    log.warning("%s ends the call of %s on node %d", by, name, node)
    if here:
        here[0].console.keyboard.interrupt(kicked(why))
        return {"words": f"{name} on node {node} sees why and is disconnected."}
    try:
        is_ended = await board.books.run(partial(end_call, call_id=online.call_id, why=why))
    except BooksFailed as error:
        raise CommandRefused(str(error)) from error
    if not is_ended:
        raise CommandRefused(f"Node {node} is empty.")
    place = place_of(online)
    return {
        "words": f"{name} on node {node}, on {place}, sees why and is disconnected in a moment."
    }


async def say(board: Board, node: int | None, text: str, call: int | None) -> Part:
    """Show a text to the caller on a node, or to all; raise `CommandRefused` without callers."""
    calls = [await _on(board, node, call)] if node is not None else await _who_is_on(board)
    if not calls:
        raise CommandRefused("Nobody is online.")
    here = _here(board, calls)
    own_calls = {caller.call_id for caller in here}
    if elsewhere := [each.caller_id for each in calls if each.call_id not in own_calls]:
        try:
            await board.books.run(partial(_leave_words, caller_ids=elsewhere, text=text))
        except BooksFailed as error:
            raise CommandRefused(str(error)) from error
        board.books.notices_wait.set()
    for caller in here:
        caller.console.screen.bell()
        with speaking_to(caller.console.viewer):
            caller.console.screen.say(f"|14{_(SAYS).format(text=literal(text))}")
    readers = clean(calls[0].name) if len(calls) == 1 else f"{len(calls)} callers"
    return {"words": f"{readers} can read it."}


def _leave_words(desk: Desk, caller_ids: Collection[int], text: str) -> None:
    for caller_id in caller_ids:
        add_notice(desk, caller_id, SAYS, text=text)


# The list of callers.


async def nodes(board: Board, stays: int | None) -> Part:
    """Return the callers online: this server's in full, others as far as the books have them."""
    here = {caller.call_id: caller for caller in board.callers()}
    own = board.peers.own_name
    log_ons = max(0, len(board.consoles) - len(here))
    server: dict[str, Any] = {"name": clean(own), "log_ons": log_ons, "draining": board.draining}
    if stays is not None:  # minutes; a door has started the server, which ends by itself
        server["stays"] = stays
    event, silent = "", []
    try:
        moment = await look_into(board)
    except (TimeoutError, BooksFailed) as error:
        log.warning("callers of other servers are not known: %s", error)
        silent.append("The books do not answer: callers of other servers are missing here.")
        shown = [_own_node(board, caller, None, own) for caller in here.values()]
    else:
        event = moment.event
        shown = [_node(board, call, here.get(call.call_id)) for call in moment.calls]
        silent += [
            clean(f"Server {row.name} is silent: nothing was heard of it for {span(seconds)}.")
            for row, seconds in moment.lost
            if row.id != board.peers.own_id
        ]
    others = [
        {"name": clean(peer.name), "draining": bool(peer.draining)} for peer in board.peers.others
    ]
    servers = sorted([server, *others], key=lambda each: str(each["name"]))
    return {
        "nodes": [asdict(node) for node in sorted(shown, key=lambda node: node.node)],
        "servers": servers,
        "log_ons": log_ons,
        "draining": all(each["draining"] for each in servers),
        "event": event,
        "silent": sorted(silent),
    }


def _node(board: Board, call: OpenCall, caller: Caller | None) -> Node:
    since = call.since.isoformat()
    if caller is not None:
        return _own_node(board, caller, since, board.peers.own_name)
    return Node(
        *(call.node, clean(call.name), "-", since, None, None),
        *(clean(call.address), clean(call.server)),
    )


def _own_node(board: Board, caller: Caller, since: str | None, server: str) -> Node:
    idle = int(board.clock.monotonic() - caller.console.keyboard.last_key)
    return Node(
        *(caller.node, clean(caller.record.name), clean(caller.place), since, idle),
        *(caller.purse.time_left(), clean(caller.console.line.address), clean(server)),
    )


def place_of(call: OpenCall) -> str:
    """Return the words for the server of a call."""
    return f"server {clean(call.server)}" if call.server else "a server that is gone"
