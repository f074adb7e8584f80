"""What was understood of a call, in the plain words of `door doctor`."""

from __future__ import annotations

from door.dropfiles.dropfile import SYSOP_LEVEL, ConnectionKind, EventSaid, Limit, TimeLeft
from door.dropfiles.interpretation import GiveBack, Understood, Way
from timebank.words import MINUTE, clean, span

NOTHING_BACK = (
    "Nothing can be given back to this board: what is won goes into the caller's account "
    "in our own time bank."
)
_LONGEST_KEY = 80


def sentences(understood: Understood) -> list[str]:
    told = [_files(understood), *_caller(understood), _time(understood.time), _event(understood)]
    told += [_line(understood), _screen(understood)]
    told += [f"Not certain: {doubt}" for doubt in understood.doubts]
    told += [f"Left alone: {left.path}: {left.why}." for left in understood.left]
    told += [_give(way) for way in understood.gives] or [NOTHING_BACK]
    return told


def _files(understood: Understood) -> str:
    found = understood.found
    said = f"Read: {found.chosen} ({found.by})"
    beside = ", ".join(file.path.name for file in understood.files[1:])
    return f"{said}, and beside it {beside}." if beside else f"{said}."


def _caller(understood: Understood) -> list[str]:
    who = understood.who
    caller = clean(who.caller, _LONGEST_KEY)
    board = f'"{who.board}"' if who.board else "a board that the files do not name"
    said = f"The caller is {understood.name or 'without a name'}: {caller} of {board}."
    if who.caller.startswith("name "):
        more = "No file gives them a number, so their account goes by this name."
    else:
        more = "Their account goes by that, even under another name."
    told = [f"{said} {more}"]
    if understood.role:
        told.append(f"They are the board's {understood.role}.")
    if understood.level is not None:
        told.append(f"Their security level is {understood.level}.")
    if understood.node is not None:
        told.append(f"They are on node {understood.node}.")
    constants = ("number 1", f"number {understood.node}")
    if who.caller in constants and (understood.level or 0) < SYSOP_LEVEL:
        told.append(
            "If the board writes that number for all its callers, or for all on this node, they "
            "share this account: have it write a file with a number for each."
        )
    return told


def _time(time: TimeLeft) -> str:
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
    match event.said:
        case EventSaid.TIME:
            return f"The board's next event is at {event.clock} ({event.place})."
        case EventSaid.PLACEHOLDER:
            return (
                f"{event.clock} ({event.place}) is what boards without events write, "
                "so it does not count."
            )
        case EventSaid.NONE:
            return f"The board has no event ahead ({event.place})."
        case EventSaid.UNKNOWN:
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
        case ConnectionKind.UNSAID:
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
