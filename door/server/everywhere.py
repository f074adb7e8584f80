"""A sysop's command to all servers of the board, or to one of them, and one answer made of theirs.

The books say who is on and which servers there are; each server says what it alone knows, and what
it did. Nobody is waited for longer than a moment: whoever is silent is named in a sentence, with
what is not known because of that.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from door.defence.counts import digest_of, kept_of, key_of
from door.errors import CommandRefused, Unanswered, Unreachable
from timebank.callers import page_tries
from timebank.calls.calls import open_calls
from timebank.errors import BooksFailed
from timebank.keeping import events
from timebank.names import names
from timebank.servers import registry
from timebank.words import span

if TYPE_CHECKING:
    from door.call.board import Board
    from door.lines.link import Said
    from door.servers.peers import Peer
    from timebank.calls.calls import OpenCall
    from timebank.ledger.database import Desk
    from timebank.servers.registry import ServerRecord

COMMAND = "control"  # the word in a header that makes it the sysop's
ALONE = "alone"  # set where another server asks, which makes one answer of ours and others
SERVER = "server"  # the name of the one server that is to do it
LONGEST = 200  # characters that are said at once
MOST_SHOWN = 100  # addresses that are held back
BOOKS_SECONDS = 4.0  # that the books may take to say who is on
UNKNOWN = "This server does not know that command. Is it of another version?"
STRANGE = "Server {name} answers what this one does not understand. Is it of another version?"

log = logging.getLogger("door.control")

Part = Mapping[str, Any]  # what one server says
Do = Callable[["Said"], Part]  # does a command on this server


@dataclass(frozen=True)
class Node:
    """Somebody who is on, as `door nodes` shows them; spans are seconds.

    `server` is empty for who is on a door process. `idle` and `left` are None for them, whose
    process alone knows, and for callers of a server that does not answer. `since` is None where the
    books did not say it.
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
    """What the books say at this moment: the calls that live, and servers silent for too long."""

    calls: list[OpenCall]
    lost: list[tuple[ServerRecord, int]]
    event: str  # a sentence about one that was started early; "" without

    def on(self, node: int) -> OpenCall | None:
        return next((call for call in self.calls if call.node == node), None)


@dataclass
class Answers:
    """What servers say, by their names; and sentences of those that say nothing."""

    parts: dict[str, Part] = field(default_factory=dict)
    silent: dict[str, str] = field(default_factory=dict)

    def heard(self, calls: Iterable[OpenCall]) -> list[OpenCall]:
        """Return whose callers some server says it has reached; nobody else is believed in."""
        named = {call for part in self.parts.values() for call in part["callers"]}
        return [call for call in calls if str(call.call_id) in named]


async def by_all(board: Board, said: Said, do: Do) -> Part:
    """Have all servers do a command, or the one that it names, and make one answer of theirs.

    Raises `CommandRefused`.
    """
    command = {key: value for key, value in said.items() if key != SERVER}
    _check(command)
    everyone = _Everyone(board, do, said.get(SERVER))
    books = await everyone.look()
    answer = await _carry_out(everyone, command, books)
    return {**answer, "silent": sorted(everyone.answers.silent.values())}


def _check(command: Said) -> None:
    """Refuse what no server could do, before any is asked."""
    match command:
        case {"control": "here" | "look" | "nodes" | "tally" | "refused" | "drain" | "stop"}:
            return
        case {"control": "kick", "node": int(), "why": str()}:
            return
        case {"control": "forgive", "who": str()}:
            return
        case {"control": "say", "node": int() | None, "text": str(text)}:
            if len(text) > LONGEST:
                raise CommandRefused(
                    f"A line has {LONGEST} characters at most, this one has {len(text)}."
                )
            if not clean(text):
                raise CommandRefused("There is nothing to say.")
            return
    raise CommandRefused(UNKNOWN)


class _Everyone:
    """The servers that are meant."""

    def __init__(self, board: Board, do: Do, name: object) -> None:
        self._board = board
        self._do = do
        self._own = board.peers.name_of(board.peers.own_id)
        self.name = name  # of the one that is meant; None for all
        self.answers = Answers()

    async def look(self) -> Moment | None:
        """Look into the books, and up which servers there are; None where they do not answer.

        Raises `CommandRefused` where no server has the name that was given.
        """
        board = self._board
        books = None
        try:
            books = await look_into(board)
        except (TimeoutError, BooksFailed) as error:
            log.warning("a command is carried out without the books: %s", error)
        lost = [] if books is None else books.lost
        lost = [(row, seconds) for row, seconds in lost if row.id != board.peers.own_id]
        names = {self._own, *(peer.name for peer in board.peers.others)}
        if self.name is not None and self.name not in names | {row.name for row, _ in lost}:
            known = ", ".join(sorted(map(clean, names)))
            raise CommandRefused(f"There is no server {clean(str(self.name))}, but {known}.")
        for row, seconds in lost:
            if self.name in (None, row.name):
                self.answers.silent[row.name] = clean(
                    f"Server {row.name} was not asked: nothing was heard of it for {span(seconds)}."
                )
        return books

    async def ask(self, command: Said, *, acts: bool = False) -> Answers:
        """Ask others first: what is done here may end this server.

        A command that `acts` may have been done by whoever does not say so.
        """
        peers = [peer for peer in self._board.peers.others if self.name in (None, peer.name)]
        asking = [self._ask(peer, command, acts=acts) for peer in peers]
        await asyncio.gather(*asking)
        if self.name in (None, self._own):
            self.answers.parts[self._own] = self._do(command)
        return self.answers

    async def forgive_at_pages(self, who: str) -> bool:
        """Clear what the books count against an address or a name; tell if there was anything."""
        address = key_of(who.partition("/")[0])
        from_there = "" if address is None else str(address)
        about = "" if address is not None else kept_of(digest_of(names.fold(who)))
        try:
            return await self._board.books.run(
                lambda desk: page_tries.forgive(desk, from_there, about)
            )
        except BooksFailed as error:
            log.warning("what the books count of the pages stays there: %s", error)
            return False

    async def _ask(self, peer: Peer, command: Said, *, acts: bool) -> None:
        try:
            said = await self._board.peers.ask(peer.id, {**command, ALONE: True})
        except Unreachable as error:
            told = isinstance(error, Unanswered)
            sequel = " Nobody knows whether it did this." if told else " It did nothing."
            words = f"{error}{sequel if acts else ''}"
        else:
            if fits(said, _SHAPES[command[COMMAND]]):
                self.answers.parts[peer.name] = said
                return
            words = STRANGE.format(name=peer.name)
            if isinstance(said.get("error"), str):
                words = f"Server {peer.name} says: {said['error']}"
        self.answers.silent[peer.name] = clean(words)


async def look_into(board: Board) -> Moment:
    """Look up who is on, and which servers there are; TimeoutError where the books do not answer,
    and raises what they raise."""
    async with asyncio.timeout(BOOKS_SECONDS):
        living, books = await board.books.run(_look)
    board.peers.adopt(living)
    return books


def _look(desk: Desk) -> tuple[list[ServerRecord], Moment]:
    local = desk.settings.schedule.local
    calls = [replace(call, since=local(call.since)) for call in open_calls(desk) if call.live]
    event = "" if events.started(desk) is None else events.next_words(desk)
    return registry.living(desk), Moment(calls, registry.lost(desk), event)


async def _carry_out(everyone: _Everyone, command: Said, books: Moment | None) -> Part:
    match command:
        case {"control": "here"}:
            return {}
        case {"control": "look"}:
            await everyone.ask(command)
            return {}
        case {"control": "nodes"}:
            return _nodes(await everyone.ask(command), books, everyone.name)
        case {"control": "tally"}:
            answers = await everyone.ask(command)
            parts = sorted(answers.parts.items())
            return {"servers": [{**part, "name": clean(name)} for name, part in parts]}
        case {"control": "refused"}:
            return _refused(await everyone.ask(command))
        case {"control": "forgive", "who": str(who)}:
            at_pages = await everyone.forgive_at_pages(clean(who))
            answers = await everyone.ask(command, acts=True)
            return {"words": _forgiven(answers, clean(who), at_pages=at_pages)}
        case {"control": "drain"}:
            return {"words": await _drain(everyone, command)}
        case {"control": "stop"}:
            answers = await everyone.ask(command, acts=True)
            return {"words": _told(everyone.name, answers, _is_closing)}
    return {"words": await _to_callers(everyone, command, books)}


# Words to callers, and their end.


async def _to_callers(everyone: _Everyone, command: Said, books: Moment | None) -> str:
    node = command["node"]
    if books is None:
        raise CommandRefused("The books do not say now who is on. Nothing was done.")
    if node is None:
        answers = await everyone.ask({**command, "call": None}, acts=True)
        heard = answers.heard(books.calls)
        if not heard:
            raise _nobody("Nobody is online.", answers)
        who = clean(heard[0].name) if len(heard) == 1 else f"{len(heard)} callers"
        return f"{who} can read it."
    call = books.on(node)
    if call is None:
        raise CommandRefused(f"Node {node} is empty.")
    if command.get("call", call.call_id) != call.call_id:
        raise CommandRefused(f"Another call is on node {node} by now. Nothing was done.")
    answers = await everyone.ask({**command, "call": call.call_id}, acts=True)
    if not answers.heard([call]):
        raise _nobody(beyond(call), answers)
    if command[COMMAND] == "say":
        return f"{clean(call.name)} can read it."
    return f"{clean(call.name)} on node {node} is told and hung up."


def beyond(call: OpenCall) -> str:
    """Say where the caller is whom none of those servers has reached that were asked."""
    where = (
        f"server {clean(call.server)}" if call.server else "a door process, which takes no commands"
    )
    return f"{clean(call.name)} on node {call.node} was not reached: they are on {where}."


def _nobody(words: str, answers: Answers) -> CommandRefused:
    return CommandRefused(" ".join((words, *sorted(answers.silent.values()))))


# Servers.


async def _drain(everyone: _Everyone, command: Said) -> str:
    """Have servers drain; where all do so already, have them close."""
    answers = await everyone.ask({**command, "again": False}, acts=True)
    # While one is silent it may be said again for that one.
    if not answers.silent and all(part["before"] for part in answers.parts.values()):
        answers = await everyone.ask({**command, "again": True}, acts=True)
    return _told(everyone.name, answers, _drains)


def _drains(name: str, part: Part) -> str:
    if part["closing"]:
        return _is_closing(name, part)
    on = "1 caller is" if part["callers"] == 1 else f"{part['callers']} callers are"
    if name:
        return f"Server {name} takes no more calls; {on} on. It closes when the last has gone."
    return f"No more calls are taken; {on} on. The board closes when the last has gone."


def _is_closing(name: str, part: Part) -> str:
    return f"Server {name} is closing." if name else "The board is closing."


def _told(meant: object, answers: Answers, words: Callable[[str, Part], str]) -> str:
    """Say what each server did; the board has no server's name where there is but one."""
    if not answers.parts:
        raise CommandRefused(" ".join(sorted(answers.silent.values())))
    if meant is None and len(answers.parts) == 1 and not answers.silent:
        (part,) = answers.parts.values()
        return words("", part)
    return "\n".join(words(clean(name), part) for name, part in sorted(answers.parts.items()))


def _forgiven(answers: Answers, who: str, *, at_pages: bool) -> str:
    if not (at_pages or any(part["forgiven"] for part in answers.parts.values())):
        raise _nobody(f"Nothing is held against {who}.", answers)
    return f"Nothing is held against {who} any more."


# Who is on, and who has to wait.


def _nodes(answers: Answers, books: Moment | None, name: object) -> Part:
    if books is None:
        answers.silent[""] = (
            "The books do not answer: whoever is on a door process, or on a server that does not"
            " answer, is missing here."
        )
        nodes = _without_books(answers)
    else:
        nodes = [_node(call, answers) for call in books.calls if name in (None, call.server)]
    servers = [_server(name, part) for name, part in sorted(answers.parts.items())]
    return {
        "nodes": [asdict(node) for node in sorted(nodes, key=lambda node: node.node)],
        "servers": servers,
        "log_ons": sum(server["log_ons"] for server in servers),
        "draining": bool(servers) and all(server["draining"] for server in servers),
        "event": "" if books is None else books.event,
    }


def _server(name: str, part: Part) -> Part:
    said = {"name": clean(name), "log_ons": part["log_ons"], "draining": part["draining"]}
    if fits(part.get("stays"), int):  # it was started by a door, and ends by itself
        said["stays"] = part["stays"]
    return said


def _node(call: OpenCall, answers: Answers) -> Node:
    known = (call.since.isoformat(), clean(call.address), clean(call.server))
    seen = _seen(call, answers)
    if seen is None:
        where = "-" if call.server else "door process"
        return _shown(call.node, call.name, {"where": where, "idle": None, "left": None}, *known)
    return _shown(call.node, call.name, seen, *known)


def _seen(call: OpenCall, answers: Answers) -> Part | None:
    """Return what its own server says of a call; for who is away from there, what others say."""
    number = str(call.call_id)
    seen: dict[str, Part] = {
        server: part["calls"][number]
        for server, part in answers.parts.items()
        if number in part["calls"]
    }
    own = seen.get(call.server)
    if own is not None and not own["away"]:
        return own
    return next((each for each in seen.values() if not each["away"]), own)


def _without_books(answers: Answers) -> list[Node]:
    found: dict[str, Node] = {}
    for server, part in answers.parts.items():
        for call, seen in part["calls"].items():
            if call not in found or not seen["away"]:
                known = (None, clean(seen["address"]), clean(server))
                found[call] = _shown(seen["node"], seen["name"], seen, *known)
    return list(found.values())


def _shown(node: int, name: str, seen: Part, since: str | None, address: str, server: str) -> Node:
    where = clean(seen["where"])
    return Node(node, clean(name), where, since, seen["idle"], seen["left"], address, server)


def _refused(answers: Answers) -> Part:
    """Show each address once, as the server has it that keeps it waiting longest.

    Each server counts for itself: a name that waits at two of them counts twice.
    """
    parts = answers.parts.values()
    longest: dict[str, Part] = {}
    for held in (held for part in parts for held in part["held"][:MOST_SHOWN]):
        address, why, wait = clean(held["address"]), clean(held["why"]), held["wait"]
        if address not in longest or wait > longest[address]["wait"]:
            longest[address] = {"address": address, "why": why, "wait": wait}
    shown = sorted(longest.values(), key=lambda held: -held["wait"])
    more = sum(part["more"] for part in parts)
    return {
        "held": shown[:MOST_SHOWN],
        "more": more + max(0, len(shown) - MOST_SHOWN),
        "names": sum(part["names"] for part in parts),
    }


# What servers say.

_TEXTS, _NUMBERS = ("name", "address", "where"), ("node", "idle", "left")
_SEEN = {**dict.fromkeys(_TEXTS, str), **dict.fromkeys(_NUMBERS, int), "away": bool}
_TALLIED = (
    *("callers", "log_ons", "keys", "let_in", "refused", "turned_away"),
    *("queue", "groups", "operations", "writing"),
)
_SHAPES: Mapping[str, Mapping[Any, Any]] = {
    "look": {},
    "nodes": {"calls": {str: _SEEN}, "log_ons": int, "draining": bool},
    "tally": {**dict.fromkeys(_TALLIED, int), "lag": {"classes": [int], "sum": int}},
    "kick": {"callers": {str: str}},
    "say": {"callers": {str: str}},
    "refused": {"held": [{"address": str, "why": str, "wait": int}], "more": int, "names": int},
    "forgive": {"forgiven": bool},
    "drain": {"before": bool, "callers": int, "closing": bool},
    "stop": {},
}
_MOST = 2**31


def fits(said: object, shape: object) -> bool:
    """Tell whether an answer has a shape; it may have more than that.

    >>> shape = {"on": int, "names": {str: str}}
    >>> fits({"on": 1, "names": {"7": "Ada"}}, shape), fits({"on": True, "names": {}}, shape)
    (True, False)
    """
    match shape:
        case type():
            if isinstance(said, int) and not isinstance(said, bool):
                return shape is int and abs(said) < _MOST
            return shape is not int and isinstance(said, shape)
        case [inner]:
            return isinstance(said, list) and all(fits(each, inner) for each in said)
        case {}:
            if not isinstance(said, dict):
                return False
            if str in shape:
                return all(fits(each, shape[str]) for each in said.values())
            return all(key in said and fits(said[key], inner) for key, inner in shape.items())
    return False


def clean(text: str) -> str:
    """Return what may be shown of a text: no more than LONGEST characters, none of them a control.

    >>> clean("Back in\\t5\\x1b[2J minutes  ")
    'Back in 5[2J minutes'
    """
    shown = "".join(mark for mark in re.sub(r"[\t\r\n]+", " ", text) if mark.isprintable())
    return shown.strip()[:LONGEST]
