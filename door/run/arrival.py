"""Who is handed over, by which board, for how long: the drop files in the light of sysop.toml.

Nothing here opens the books or a line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from door.config_boards import NAMES, HostBoard, board_of, is_name, unlisted
from door.display import literal
from door.dropfiles import (
    Connection,
    DropFileRefused,
    GiveBack,
    Identity,
    Limit,
    Reading,
    Screen,
    Understood,
    Way,
    find,
    understand,
)
from door.lines.host import Introduction, with_environment
from door.lines.line import Hints, printable
from door.lobby.looks import said_by_host
from door.run.guest import Guest

NAME_KEY = "name:"  # what the key of a caller begins with of whom only the name is known
UNNAMED = "host"  # the board of a drop file that names none we know

_WAYS = {"moduser": Way.MODUSER, "door.sys": Way.DOOR_SYS, "exitinfo": Way.EXITINFO}


@dataclass(frozen=True)
class Arrival:
    """A guest, what his drop files said, and how he is to be met."""

    guest: Guest
    understood: Understood
    introduction: Introduction

    @property
    def connection(self) -> Connection:
        """How his bytes arrive, as the files say."""
        return self.understood.connection


@dataclass(frozen=True)
class Asked:
    """What the command line says of the call: the drop file or its folder, the board, the node."""

    dropfile: Path | None
    board: str | None
    node: int | None


def arrive(
    asked: Asked,
    boards: Mapping[str, HostBoard],
    environment: Mapping[str, str],
    now: datetime,
    arrived: float,
) -> Arrival:
    """Find and read the drop files of this call; raises `DropFileRefused`.

    `now` is aware, in the zone of the host's clock; `arrived` the same instant, monotonic.
    """
    if asked.board is not None and not is_name(asked.board):
        what = f"no board can be called so: {NAMES}"
        raise DropFileRefused(Path(f"--board {asked.board}"), None, what, "Name another.")
    found = find(asked.dropfile, environment, asked.node)
    understood = understand(found, Reading(now, "auto", "auto"))
    board = _board(asked.board, understood, boards)
    said = Reading(now, board.door32_time, "ignored" if board.event == "ignore" else "auto")
    if said != Reading(now, "auto", "auto"):
        understood = understand(found, said)
    guest = Guest(
        board=board,
        key=key_of(understood.who),
        name=literal(understood.name),
        node=understood.node,
        arrived=arrived,
        seconds=_seconds(understood, board, boards),
        until=_until(understood, now),
        way=_way(understood, board),
        look=said_by_host(understood.screen.emulation, understood.screen.charset),
    )
    return Arrival(guest, understood, _introduction(guest, understood, environment))


def key_of(who: Identity) -> str:
    """Return the key of a caller on his board; one that is only a name says so as rlogin's do.

    >>> key_of(Identity("xibalba", "number 42")), key_of(Identity("xibalba", "name moth"))
    ('number 42', 'name:moth')
    """
    name = who.caller.removeprefix("name ")
    return who.caller if name == who.caller else f"{NAME_KEY}{name}"


def _board(named: str | None, understood: Understood, boards: Mapping[str, HostBoard]) -> HostBoard:
    """Find the board: as the command line says, as the files say, the only one, or just a host."""
    if named is not None:
        return board_of(boards, named) or unlisted(named)
    for name in (understood.board, understood.who.board):
        found = board_of(boards, name) if name else None
        if found is not None:
            return found
    return next(iter(boards.values())) if len(boards) == 1 else unlisted(UNNAMED)


def _seconds(
    understood: Understood, board: HostBoard, boards: Mapping[str, HostBoard]
) -> int | None:
    """Return the time left; None for a board without limit, or one of which sysop.toml says how
    much its callers bring when it does not say so itself."""
    if understood.time.limit is Limit.UNKNOWN and board.name in boards:
        return None
    return understood.known_time().seconds


def _until(understood: Understood, now: datetime) -> datetime | None:
    """Return when the host's next event begins, or the deadline it set, whichever is first."""
    ahead = understood.event.seconds_from(now)
    ends = [] if ahead is None else [now + timedelta(seconds=ahead)]
    if understood.time.deadline is not None:
        ends.append(understood.time.deadline)
    return min(ends, default=None)


def _way(understood: Understood, board: HostBoard) -> GiveBack | None:
    """Choose among the ways that the files leave open.

    "auto" takes Synchronet's alone: whether other boards read their files back only their sysops
    can say, and minutes in a file that nobody reads are lost.
    """
    wanted = Way.MODUSER if board.give_back == "auto" else _WAYS.get(board.give_back)
    return next((way for way in understood.gives if way.way is wanted), None)


def _introduction(
    guest: Guest, understood: Understood, environment: Mapping[str, str]
) -> Introduction:
    screen = understood.screen
    hints = with_environment(_hints(screen), environment)
    node = "" if guest.node is None else f", node {guest.node}"
    return Introduction(
        address=printable(f"{guest.board.name}{node}"),
        hints=hints,
        columns=screen.columns or 0,
        rows=screen.rows or 0,
    )


def _hints(screen: Screen) -> Hints:
    """Put what a host says of a screen as a terminal's own words; its look is remembered by it."""
    kind = "/".join(printable(said) for said in (screen.emulation, screen.charset) if said)
    return Hints(
        terminal_types=(kind,) if kind else (),
        language=printable(screen.language or ""),
        charset=printable(screen.charset or ""),
    )
