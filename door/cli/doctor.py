"""`door doctor`: explains what a drop file says, and what would happen to its caller here.

The caller is let in for a trial, in a transaction that is rolled back. So the command shows what
would happen, and changes nothing.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import click

from door import closed
from door.call.guest import THEBANK_EXT
from door.call.guest_caller import brought_by
from door.cli.common import config_option, dropfile_option, load_config, node_option
from door.config.boards import board_named, board_of
from door.dropfiles.dropfile import (
    SYSOP_LEVEL,
    ConnectionKind,
    EventKind,
    HostSettings,
    Limit,
    TimeLeft,
)
from door.dropfiles.interpretation import GiveBack, Understood, Way, understand
from door.dropfiles.search import find
from door.errors import AmbiguousBoard, DropFileRefused, SetupRefused
from door.session.arrival import DoorCall, DoorOptions, arrive
from door.setup import host_boards
from door.setup.host_boards import DROP_FILE, HostKind, HostSetup
from timebank.calls.arrival import host_caller, open_host_call
from timebank.cli.common import say
from timebank.cli.errors import UserError, refusing
from timebank.errors import BooksFailed, DatabaseRefused, Refused
from timebank.ledger.engines import books_of
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.words import MINUTE, clean, span

if TYPE_CHECKING:
    from door.config.config import Config
    from timebank.callers.callers import CallerRecord
    from timebank.calls.calls import OpenedCall
    from timebank.ledger.database import Database, Desk

GIVEN = {
    "moduser": "by MODUSER.DAT, into their own Synchronet account",
    "door.sys": "by the line of time credits in DOOR.SYS",
    "exitinfo": "by the TimeLimit in EXITINFO.BBS, which shows losses as well",
    THEBANK_EXT: "through your THEBANK.EXT",
}

NOTHING_BACK = (
    "Nothing can be given back to this board: what is won goes into the caller's account "
    "in our own time bank."
)
_LONGEST_KEY = 80


class _TakenBack(Exception):
    """Ends the trial, so that the transaction is rolled back."""


def examine(config: Config, asked: DoorOptions) -> list[str]:
    """Return what was understood and what would happen; raise `DropFileRefused`.

    Also raises the errors of books that exist and cannot be opened.
    """
    now = datetime.now(UTC)
    arrival = arrive(asked, config.boards, os.environ, now.astimezone(), time.monotonic())
    report = sentences(arrival.understood)
    report += ["", _board(arrival, config)]
    is_listed = arrival.guest.board.name in config.boards
    advice = [] if is_listed else _to_paste(arrival.understood, config)
    with _books(config) as database:
        try:
            record, opened = _trial(database, config, arrival, now)
        except Refused as refused:
            return [*report, f"They would not be let in: {refused}", *advice]
    if shut := closed.sentence(str(config.board.data)):
        report.append(f"Doors let nobody in now. {shut}")
    report.append(
        f"Here the caller is {record.name}, with {span(opened.receipt.purse.bank)} in the bank."
    )
    if "#" in record.name:  # the number that tells equal aliases apart
        report.append(
            f"Another caller of {arrival.guest.board.name} has that alias. If all of them have it,"
            " the board writes no alias: have it write DOOR32.SYS."
        )
    report += _time(config, arrival, opened, now)
    return [*report, _gains(config, arrival), *advice]


def _board(arrival: DoorCall, config: Config) -> str:
    board = arrival.guest.board
    if board.name in config.boards:
        return f"This board is {board.name}, by the table [boards.{board.name}] of {config.path}."
    return f"This board has no table [boards.NAME] in {config.path}: it counts as {board.name}."


def remedy(config: Config, asked: DoorOptions) -> list[str]:
    """Return the lines to paste into the settings that let the callers in, or none."""
    reading = HostSettings(datetime.now(UTC).astimezone(), "auto", "auto")
    try:
        understood = understand(find(asked.dropfile, os.environ, asked.node), reading)
    except DropFileRefused:
        return []
    if understood.time.limit is not Limit.CONSTANT or _has_table(understood, config):
        return []
    return _to_paste(understood, config)


def _has_table(understood: Understood, config: Config) -> bool:
    try:
        return any(board_of(config.boards, name) for name in understood.names)
    except AmbiguousBoard:
        return True  # two tables match; the settings must decide


def _to_paste(understood: Understood, config: Config) -> list[str]:
    """Return how to start the door, and at the end the lines that the settings need."""
    kind = _kind(understood, config)
    setup = HostSetup(kind, kind.name, Path(kind.root), says_board=not kind.alias)
    advice = _how_to_start(setup, config)
    if board_named(config.boards, kind.name) is not None:
        return [f"The files do not say that the board is {kind.name} of {config.path}.", *advice]
    refused = host_boards.no_room(config.path.read_text(encoding="utf-8-sig"))
    advice += [refused] if refused else []
    lines = (f"    {line}" for line in host_boards.lines(setup))
    return [*advice, f"Paste this at the end of {config.path}:", *lines]


def _how_to_start(setup: HostSetup, config: Config) -> list[str]:
    kind = setup.kind
    if not kind.key:
        advice = [f"With its table, the callers are called Alias@{kind.name}."]
        if setup.says_board:
            advice.append(
                f"Its files do not name the board, so add --board {kind.name} to the line that"
                " starts the door."
            )
        return advice
    told = [f"`door setup {kind.key}` does this, and writes what {kind.name} needs."]
    if kind.is_wrapped:
        return told
    try:
        line = host_boards.command(config, setup)
    except SetupRefused as refused:
        return [*told, str(refused)]
    return [*told, f"The command line for {kind.name} is:", f"    {line}"]


def _kind(understood: Understood, config: Config) -> HostKind:
    """Return the software of a board that the settings lack, or a kind made of its files."""
    kinds = [host_boards.recognized(name) for name in understood.names]
    if any(file.enigma for file in understood.files):
        kinds = [host_boards.KINDS["enigma"]]
    kind = next(filter(None, kinds), None)
    if kind is None:
        names = (f"YourBoard{number or ''}" for number in count())
        name = next(name for name in names if board_named(config.boards, name) is None)
        kind = HostKind("", name, understood.board, "", macro=DROP_FILE)
    if understood.time.limit is Limit.UNLIMITED:
        kind = replace(kind, table={"minutes": host_boards.NO_LIMIT, **kind.table})
    return kind


@contextmanager
def _books(config: Config) -> Iterator[Database]:
    """Open the books, or new ones for the trial if there are none."""
    with tempfile.TemporaryDirectory() as folder:
        there = config.database.is_file() or config.bank.server is not None
        trial = Path(folder) / "trial.sqlite3"
        with closing(books_of(config.bank) if there else SqliteDatabase(trial)) as database:
            database.open()
            yield database


def _trial(
    database: Database, config: Config, arrival: DoorCall, now: datetime
) -> tuple[CallerRecord, OpenedCall]:
    with suppress(_TakenBack), database.transaction(config.bank, now) as desk:
        trial = _let_in(desk, arrival)
        raise _TakenBack
    return trial


def _let_in(desk: Desk, arrival: DoorCall) -> tuple[CallerRecord, OpenedCall]:
    guest = arrival.guest
    record = host_caller(desk, guest.board.name, guest.key, guest.name, guest.formerly)
    brought = brought_by(guest, guest.arrived)
    return record, open_host_call(desk, record.id, 0, "door doctor", "", brought, True)


def _time(config: Config, arrival: DoorCall, opened: OpenedCall, now: datetime) -> list[str]:
    """Return what time the caller would bring, why not more, and when the call would end."""
    brought, guest = opened.arrival, arrival.guest
    assert brought is not None  # callers of other boards always bring time
    if not brought.brought:
        facts = ["They would bring no time at all."]
    else:
        facts = [f"They would bring {span(brought.brought)}."]
    if brought.shown is None:
        minutes = span(guest.board.minutes * MINUTE)
        facts.append(f"Their board sets no limit: {minutes} a day, less what they have used.")
    elif guest.board.share < 100:
        facts.append(f"That is {guest.board.share} percent of what they have left there.")
    if brought.debt:
        facts.append(f"Taken off it: {span(brought.debt)} lost here today.")
    if brought.host_stake:
        facts.append(f"Taken off it: {span(brought.host_stake)} on the table.")
    schedule = config.bank.schedule
    ends = [] if brought.shown is None else [now + timedelta(seconds=brought.shown)]
    closing = opened.receipt.purse.closing
    if closing is not None:
        ends.append(closing.start)
    if ends:
        end = schedule.local(min(ends))
        facts.append(f"The call would end at {end:%H:%M} ({end:%Z}) at the latest.")
    if brought.owed:
        owed = span(brought.owed * MINUTE)
        facts.append(f"Given back with it, from earlier sessions: {owed}.")
    return facts


def _gains(config: Config, arrival: DoorCall) -> str:
    way = arrival.guest.takes_gains
    if way is None or (way == THEBANK_EXT and config.bank.thebank_ext is None):
        asked = arrival.guest.board.give_back
        wanted = f' (give_back = "{asked}" finds no such file)' if asked in GIVEN else ""
        return f"What they win would stay in their account in the bank here{wanted}."
    return f"What they win would be given back {GIVEN[way]}."


# What was understood, as sentences.


def sentences(understood: Understood) -> list[str]:
    """Return what was understood of a call."""
    facts = [
        _files(understood),
        *_caller(understood),
        _time_left(understood.time),
        _event(understood),
    ]
    facts += [_line(understood), _screen(understood)]
    facts += [f"Not certain: {doubt}" for doubt in understood.doubts]
    facts += [f"Left alone: {left.path}: {left.why}." for left in understood.left]
    facts += [_give(way) for way in understood.gives] or [NOTHING_BACK]
    return facts


def _files(understood: Understood) -> str:
    choice = understood.call_files
    first = f"Read: {choice.chosen} ({choice.by})"
    others = ", ".join(file.path.name for file in understood.files[1:])
    return f"{first}, and next to it {others}." if others else f"{first}."


def _caller(understood: Understood) -> list[str]:
    who = understood.who
    caller = clean(who.caller, _LONGEST_KEY)
    board = f'"{who.board}"' if who.board else "a board that the files do not name"
    who_called = f"The caller is {understood.name or 'without a name'}: {caller} of {board}."
    if who.caller.startswith("name "):
        more = "No file gives them a number, so their account goes by this name."
    else:
        more = "Their account goes by that, even under another name."
    facts = [f"{who_called} {more}"]
    if understood.role:
        facts.append(f"They are the board's {understood.role}.")
    if understood.level is not None:
        facts.append(f"Their security level is {understood.level}.")
    if understood.node is not None:
        facts.append(f"They are on node {understood.node}.")
    constants = ("number 1", f"number {understood.node}")
    if who.caller in constants and (understood.level or 0) < SYSOP_LEVEL:
        facts.append(
            "If the board writes that number for all its callers, or for all on this node, they "
            "share this account: have it write a file with a number for each."
        )
    return facts


def _time_left(time: TimeLeft) -> str:
    if time.limit is Limit.UNKNOWN:
        return f"How long they can stay is not known: {time.place} says nothing."
    if time.limit is Limit.UNREADABLE:
        return f"How long the caller can stay cannot be read: {time.place} {time.why}."
    if time.limit is Limit.CONSTANT:
        return (
            f"How long the caller can stay is not known: {span(time.written or 0)} ({time.place}) "
            "is what ENiGMA writes for everybody."
        )
    if time.limit is Limit.UNLIMITED and time.written is not None:
        return (
            f"They can stay as long as they like: {span(time.written)} ({time.place}) is longer "
            "than a day, so it counts as no limit."
        )
    if time.limit is Limit.UNLIMITED:
        return f"They can stay as long as they like: {time.place} sets no limit."
    seconds = time.seconds or 0
    if not seconds:
        return f"Their time is up ({time.place})."
    until = f", until {time.deadline:%Y-%m-%d %H:%M:%S} UTC" if time.deadline else ""
    return f"They can stay {span(seconds)}{until} ({time.place})."


def _event(understood: Understood) -> str:
    event = understood.event
    match event.kind:
        case EventKind.TIME:
            return f"The board's next event is at {event.clock} ({event.place})."
        case EventKind.PLACEHOLDER:
            return (
                f"{event.clock} ({event.place}) is what boards without events write, "
                "so it does not count."
            )
        case EventKind.NONE:
            return f"The board has no event ahead ({event.place})."
        case EventKind.UNKNOWN:
            return f"The board's events are not known: {event.place}."


def _line(understood: Understood) -> str:
    connection = understood.connection
    match connection.kind:
        case ConnectionKind.STDIO:
            return "Their keys and screen are standard input and output."
        case ConnectionKind.SOCKET:
            return f"Their line is a socket that the board hands down, number {connection.handle}."
        case ConnectionKind.SERIAL:
            return "Their line is a serial port or a FOSSIL driver, which this door cannot use."
        case ConnectionKind.UNKNOWN:
            return "No file says how their bytes arrive: standard input and output are used."


def _screen(understood: Understood) -> str:
    screen = understood.screen
    parts = [f"emulation {screen.emulation}"] if screen.emulation else []
    parts += [f"charset {screen.charset}"] if screen.charset else []
    parts += [f"{screen.columns} columns"] if screen.columns else []
    parts += [f"{screen.rows} rows"] if screen.rows else []
    parts += [f"language {screen.language}"] if screen.language else []
    if not parts:
        return "No file describes their screen."
    return f"The board describes their screen as: {', '.join(parts)}."


def _give(give: GiveBack) -> str:
    match give.way:
        case Way.MODUSER:
            return (
                f"Time won can be given back through {give.path}: whole minutes into their account "
                "at Synchronet, if the door is set there to modify user data."
            )
        case Way.DOOR_SYS:
            where = "on the line of time credits"
        case Way.EXITINFO:
            where = "as the TimeLimit"
    return (
        f"Time won can be given back {where} in {give.path} "
        f"(now {span((give.minutes or 0) * MINUTE)}), if the board reads it back."
    )


# The command.


@click.command()
@config_option
@dropfile_option
@click.option("--board", metavar="NAME", help="The board that starts the door, from [boards.NAME].")
@node_option
def doctor(config_path: Path, dropfile: Path | None, board: str | None, node: int | None) -> None:
    """Explain how `door run` would read a drop file. Nothing is changed."""
    config, asked = load_config(config_path), DoorOptions(dropfile, board, node)
    try:
        with refusing(DatabaseRefused, BooksFailed):
            report = examine(config, asked)
    except DropFileRefused as refused:
        reasons = (str(refused), f"The caller would be told: {refused.polite}")
        raise UserError("\n".join((*reasons, *remedy(config, asked)))) from refused
    say(report)
