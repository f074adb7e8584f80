"""The guest of a door call, their board and their time, from drop files and sysop.toml.

Nothing here opens the books or a line.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from ansi.charset import Charset
from door.call.guest import Guest
from door.call.markup import literal
from door.clock import seconds_begun
from door.config.boards import NAMES, HostBoard, board_named, board_of, is_name, unlisted
from door.dropfiles.disk import HostFiles
from door.dropfiles.dropfile import (
    LONGEST_SECONDS,
    HostIdentity,
    HostSettings,
    Limit,
    without_version,
)
from door.dropfiles.interpretation import GiveBack, HostScreen, Understood, Way, understand
from door.dropfiles.search import find
from door.errors import AmbiguousBoard, DropFileRefused
from door.lines.host.host import Introduction, with_environment
from door.lines.line import MAX_ROWS, USUAL_ROWS, Hints, printable
from door.lobby.looks import look_by_host
from timebank.language import N_

NAME_KEY = "name:"  # begins the key of a caller whom the host knows by name alone
UNNAMED = "host"  # the board, where a drop file names none of sysop.toml
AT_HOME = ("|07The console of the sysop",)  # what the sysop reads above the log-on

log = logging.getLogger("door.run")

_SIZE = re.compile("([1-9][0-9]{0,3})[xX]([1-9][0-9]{0,3})")
_GIVE_BACK_WAYS = {"moduser": Way.MODUSER, "door.sys": Way.DOOR_SYS, "exitinfo": Way.EXITINFO}


@dataclass(frozen=True)
class DoorCall:
    """A guest, their drop files as understood, and what the line is told of them."""

    guest: Guest
    understood: Understood
    introduction: Introduction


@dataclass(frozen=True)
class DoorOptions:
    """The options of `door run` about the call.

    `charset` is the one that the host sends on to its caller. `size` is that of their window,
    such as "80x24". Both override the drop files.
    """

    dropfile: Path | None
    board: str | None
    node: int | None
    charset: str | None = None
    size: str | None = None


def arrive(
    options: DoorOptions,
    boards: Mapping[str, HostBoard],
    environment: Mapping[str, str],
    now: datetime,
    arrived: float,
    here: Path | None = None,
    at: HostFiles | None = None,
) -> DoorCall:
    """Find and read the drop files of this call; raises `DropFileRefused`.

    `now` is aware and in the zone of the host's clock. `arrived` is the same instant, monotonic.
    `here` is the folder that the door was started in, if not our own; `at` are the files read
    there.
    """
    if options.board is not None and not is_name(options.board):
        what = f"the name of a board must have {NAMES}"
        raise DropFileRefused(Path(f"--board {options.board}"), None, what, "Name another.")
    files = find(options.dropfile, environment, options.node, here, at)
    understood = understand(files, HostSettings(now, "auto", "auto"))
    board, formerly = _board(options.board, understood, boards)
    settings = HostSettings(
        now,
        board.door32_time,
        "ignored" if board.event == "ignore" else "auto",
        names=(board.name, *board.aliases),
    )
    understood = understand(files, settings)
    charset = _charset(understood.screen, options.charset)
    emulation = understood.screen.emulation or (options.charset and "ansi")
    guest = Guest(
        board=board,
        key=key_of(understood.who),
        name=literal(understood.name),
        node=understood.node,
        arrived=arrived,
        seconds=_seconds(understood, board),
        until=_until(understood, now),
        way=_way(understood, board),
        look=look_by_host(emulation, charset),
        formerly=formerly,
    )
    introduction = _introduction(guest, understood, charset, environment)
    size = _size(options.size)
    if size is not None:
        columns, rows = size
        introduction = replace(introduction, columns=columns, rows=rows, size_is_certain=True)
    return DoorCall(guest, understood, introduction)


def _size(asked: str | None) -> tuple[int, int] | None:
    """Read columns and rows of the command line.

    Return None for anything else, such as a placeholder that the host has not replaced: the
    terminal is asked then.

    >>> _size("132x40"), _size("{termWidth}x{termHeight}")
    ((132, 40), None)
    """
    if asked is None:
        return None
    match = _SIZE.fullmatch(asked)
    if match is None:
        log.warning("--size takes columns and rows, such as 80x24, not %r", asked)
        return None
    return int(match[1]), int(match[2])


def at_home(environment: Mapping[str, str]) -> Introduction:
    """Introduce the sysop at the machine itself."""
    return Introduction("the console", with_environment(Hints(), environment), 0, 0)


# At most as wide as the greeting's picture leaves room for.
WENT_ON = N_("You go on where you were. The server was restarted.")


def note(arrival: DoorCall) -> None:
    """Log who is handed over, and what their drop files leave in doubt."""
    understood, guest = arrival.understood, arrival.guest
    left = "no limit" if guest.seconds is None else f"{guest.seconds} seconds left"
    log.info(
        "%s hands over %s with %s (%s)", guest.board.name, guest.key, left, understood.chosen.path
    )
    for doubt in understood.doubts:
        log.warning("%s", doubt)
    if guest.board.name == UNNAMED and understood.board:
        log.warning(
            "sysop.toml has no table [boards.NAME] for %s: its callers count as callers of %s",
            understood.board,
            UNNAMED,
        )


def welcome(guest: Guest) -> list[str]:
    """Return the lines that greet a guest before the books have been asked for them."""
    return [f"|07Welcome from |15{guest.board.name}|07. One moment, please."]


def continued_call(arrival: DoorCall, now: float) -> DoorCall:
    """Take off the time that a guest spent at a server that has ended and has charged for it.

    `now` is the monotonic instant from which the next server counts.
    """
    guest = arrival.guest
    seconds = guest.seconds
    if seconds is not None:
        seconds = max(0, seconds - seconds_begun(now - guest.arrived))
    return replace(arrival, guest=replace(guest, seconds=seconds, arrived=now, is_continued=True))


def key_of(who: HostIdentity) -> str:
    """Return the key of a caller on their board; a name is marked as rlogin's names are.

    >>> [key_of(HostIdentity("xibalba", caller)) for caller in ("number 42", "name moth")]
    ['number 42', 'name:moth']
    """
    name = who.caller.removeprefix("name ")
    return who.caller if name == who.caller else f"{NAME_KEY}{name}"


def _charset(screen: HostScreen, asked: str | None) -> str | None:
    """Return the charset of the command line, else that of the files.

    ENiGMA turns CP437 into Unicode itself, and takes the pictures below 20h for controls.
    """
    if asked is None and screen.drops_low_bytes and screen.charset in (None, "cp437"):
        return Charset.CP437_TEXT.value
    return asked or screen.charset


def _board(
    named: str | None, understood: Understood, boards: Mapping[str, HostBoard]
) -> tuple[HostBoard, str | None]:
    """Find the board by the command line, else by the files, else take the only one, else `host`.

    Return it with the board that earlier releases entered its callers under, which compared names
    to the letter; None where that is the same.
    """
    if named is not None:
        return board_named(boards, named) or unlisted(named), None
    for name in understood.names:
        try:
            board = board_of(boards, name)
        except AmbiguousBoard as boards_that_fit:
            what = f"the board that it names could be {boards_that_fit}"
            remedy = "Give them different aliases in sysop.toml, or say --board."
            raise DropFileRefused(understood.chosen.path, None, what, remedy) from None
        if board is not None:
            return board, _formerly(understood, boards)
    return next(iter(boards.values())) if len(boards) == 1 else unlisted(UNNAMED), None


def _formerly(understood: Understood, boards: Mapping[str, HostBoard]) -> str | None:
    """Return the board that callers counted as when an alias had to be the whole name."""
    known = {name.casefold() for board in boards.values() for name in (board.name, *board.aliases)}
    names = {understood.board.casefold(), without_version(understood.board)}
    return UNNAMED if len(boards) > 1 and known.isdisjoint(names) else None


def _seconds(understood: Understood, board: HostBoard) -> int | None:
    """Return the seconds left; None for a board without limit.

    Raises `DropFileRefused` where the files do not say how much is left, which `minutes` and
    `share` do not replace, or where the host writes a constant and no setting gives its meaning.
    """
    time = understood.known_time()
    if time.written is None or "minutes" in board.agreed:
        return time.seconds
    if "share" in board.agreed:
        return min(time.written, LONGEST_SECONDS)
    if time.limit is Limit.UNLIMITED:
        return None
    what = f"{time.place} is what ENiGMA writes for every caller, so it counts as none"
    remedy = f"Say minutes = 60 in [boards.{board.name}] of sysop.toml, or as many as you agree on."
    raise DropFileRefused(understood.chosen.path, None, what, remedy)


def _until(understood: Understood, now: datetime) -> datetime | None:
    """Return when the host's next event begins, or the deadline it set, whichever is first."""
    ahead = understood.event.seconds_from(now)
    ends = [] if ahead is None else [now + timedelta(seconds=ahead)]
    if understood.time.deadline is not None:
        ends.append(understood.time.deadline)
    return min(ends, default=None)


def _way(understood: Understood, board: HostBoard) -> GiveBack | None:
    """Return how to give minutes back to the host; None if the host would not read them.

    "auto" means Synchronet's MODUSER alone. Of other boards only their sysops know whether they
    read a file back, and minutes in a file that no board reads are lost.
    """
    wanted = Way.MODUSER if board.give_back == "auto" else _GIVE_BACK_WAYS.get(board.give_back)
    return next((way for way in understood.gives if way.way is wanted), None)


def _introduction(
    guest: Guest, understood: Understood, charset: str | None, environment: Mapping[str, str]
) -> Introduction:
    screen = understood.screen
    hints = with_environment(_hints(screen, charset), environment)
    # Hosts have named a page of 25 rows for windows of 24: the terminal itself is asked.
    most = USUAL_ROWS if screen.is_page_length else MAX_ROWS
    node = "" if guest.node is None else f", node {guest.node}"
    return Introduction(
        address=printable(f"{guest.board.name}{node}"),
        hints=hints,
        columns=screen.columns or 0,
        rows=min(screen.rows or 0, most),
        size_is_certain=not screen.is_page_length,
    )


def _hints(screen: HostScreen, charset: str | None) -> Hints:
    """Express a host's words about a screen as a terminal's own: looks are remembered by these."""
    kind = "/".join(printable(word) for word in (screen.emulation, charset) if word)
    return Hints(
        terminal_types=(kind,) if kind else (),
        language=printable(screen.language or ""),
        charset=printable(charset or ""),
    )
