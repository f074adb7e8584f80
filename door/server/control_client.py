"""Send commands to a running server: for the command line and for the pages.

The sender needs only the server's socket. If sysop.toml cannot be read, or names another data
folder than the running server uses, the note that the server has left says where it is
(`door.server.server_note`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from contextlib import closing, suppress
from pathlib import Path
from socket import SHUT_RDWR
from typing import TYPE_CHECKING, Any

from door import closed
from door.config import config
from door.errors import NoAnswer, NoServer
from door.lines import commands, hand_over
from door.server import server_note
from door.server.board_commands import COMMAND
from timebank import files, serving
from timebank.errors import SettingsError

if TYPE_CHECKING:
    from _socket import socket as _socket


RECEIPT_SECONDS = 3.0  # for a server to confirm that it has read a command
ANSWER_SECONDS = 10.0  # for a server to carry it out
OF_RELEASE_1_0 = "If it is of release 1.0, close it with `door upgrade`; otherwise try again."


def ask_server(
    path: Path, data: Path | None, command: str, what: Mapping[str, object]
) -> Mapping[str, Any]:
    """Ask the server of the board with this sysop.toml, or the server in `data` if that is given.

    Raises `NoAnswer`, which also says what is wrong with the settings if no server was found
    because of them.
    """
    request = {COMMAND: command, **what}
    if data is not None:
        return ask(data, request)
    nobody: NoAnswer | None = None
    problem, tried = "", ""
    try:
        settings = config.load(path)
    except SettingsError as error:
        problem = f"Can't read the settings:\n{error}"
    else:
        try:
            return ask(settings.board.data, request)
        except NoServer as error:
            nobody, tried = error, os.path.realpath(settings.board.data)
    for server in server_note.servers_of(path):
        if server.data == tried:
            continue
        try:
            return ask(Path(server.data), request, server_note.trusted(path))
        except NoServer as error:
            nobody = nobody or error
    if nobody is None:
        raise NoAnswer(f"{problem}\nIf the board runs, name its data folder: --data DIR.")
    raise NoAnswer(f"{nobody}\n{problem}".strip()) from nobody


def ask(
    data: Path, request: Mapping[str, object], believed: Collection[int] | None = None
) -> Mapping[str, Any]:
    """Ask the server of a data folder; its user must be in `believed`, unless that is None.

    Raises `NoAnswer`, and `NoServer` if no server listens in the folder.
    """
    try:
        with closing(hand_over.dial(str(data), RECEIPT_SECONDS)) as wire:
            if believed is not None and not any(hand_over.is_of(wire, user) for user in believed):
                raise NoAnswer(f"Another user's program listens in {data}. It was not asked.")
            answer = _answer_by(wire, data, request)
    except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError) as error:
        raise _nobody(data) from error
    except PermissionError as error:
        whose = files.forbidden(data / "any") or f"The socket in {data} belongs to another user."
        raise NoAnswer(f"{whose} Only the user of the server and root can control it.") from error
    except BlockingIOError as error:
        raise NoAnswer(_stands_still(data)) from error
    except TimeoutError as error:
        raise NoAnswer(
            f"The server has read this and has not answered within {ANSWER_SECONDS:g} seconds:"
            " nobody knows whether it is done."
        ) from error
    except OSError as error:
        raise NoAnswer(
            f"Can't talk to a server in {data} ({error.strerror or error}). If none runs there,"
            " `door serve` starts one."
        ) from error
    if "error" in answer:
        raise NoAnswer(str(answer["error"]))
    return answer


def _answer_by(wire: _socket, data: Path, request: Mapping[str, object]) -> Mapping[str, Any]:
    """Send a command and wait for its answer; raise `NoAnswer` if the server does not read it."""
    packet = hand_over.packed(commands.COMMAND, json.dumps(request))
    if len(packet) > hand_over.LARGEST:
        raise NoAnswer("That is too long. Nothing was done.")
    with suppress(BrokenPipeError):  # the receipt will be missing
        wire.send(packet)
    try:
        receipt = hand_over.receive(wire)
    except TimeoutError:
        wire.shutdown(SHUT_RDWR)  # the server can no longer confirm the command
        if not (receipt := hand_over.receive(wire)):
            raise NoAnswer(_stands_still(data)) from None
    if receipt != hand_over.packed(commands.RECEIVED):
        raise NoAnswer(
            f"Nothing was done: the server in {data} has hung up without reading this. "
            + (server_note.release_warning(data) or OF_RELEASE_1_0)
        )
    wire.settimeout(ANSWER_SECONDS)
    text = ""
    while packet := hand_over.receive(wire):
        word, *texts = hand_over.unpacked(packet)
        text += "".join(texts)
        if word == commands.LAST_PART:
            return commands.read(text)
    raise NoAnswer("The server has ended, and nobody knows whether it did this.")


def _stands_still(data: Path) -> str:
    server = server_note.server_in(data)
    process = "" if server is None else f", process {server.process},"
    return (
        f"The server{process} has read nothing for {RECEIPT_SECONDS:g} seconds: it stands"
        " still, or its machine is overloaded. Nothing was done. If it stays so, end it with"
        " SIGKILL and start it again: no hand is lost."
    )


def _nobody(data: Path) -> NoAnswer:
    """Return the error that no server listens in a data folder, and how the last one ended."""
    server = server_note.server_in(data)
    lock = serving.place_of(str(data / serving.BOOKS)) if server is None else server.lock
    note = serving.read(lock)
    if note is not None and note.state != serving.SERVING and serving.is_held(lock):
        return NoAnswer(f"{note}. Try again in a moment.")
    if reason := closed.sentence(str(data)):
        return NoServer(f"This board's server is not running. {reason}")
    if server is None:
        return NoServer(f"This board's server is not running: nothing listens in {data}.")
    if server.runs:
        return NoAnswer(
            f"Process {server.process} has served this board since {server.since}, but doesn't"
            f" answer: nothing listens in {data}. SIGTERM closes the board, and no hand is lost."
        )
    return NoServer(
        f"This board's server is not running. The last one in {data}, process {server.process},"
        f" began on {server.since} and ended without closing the board."
    )


def let_server_look(path: Path) -> None:
    """Make the server of the board with this sysop.toml look at the books at once.

    Servers look by themselves every five seconds, and the books apply what was done in any case. So
    a server that does not answer is ignored.
    """
    with suppress(NoAnswer):
        ask_server(path, None, "look", {})
