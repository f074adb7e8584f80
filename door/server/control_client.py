"""How a running server is asked: by the commands, and by the pages.

They need its socket and nothing else. Where sysop.toml cannot be read, or names another data folder
than the server was started with, the note that the server has left says where it is
(`door.server.server_note`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from socket import SHUT_RDWR
from typing import TYPE_CHECKING, Any

from door import closed
from door.config import config
from door.errors import NoAnswer, NobodyThere
from door.lines import commands, hand_over
from door.server import server_note
from door.server.board_commands import COMMAND, clean
from timebank import files, serving
from timebank.errors import SettingsError, TimeBankError

if TYPE_CHECKING:
    from _socket import socket as _socket

    from timebank.settings.settings import BankSettings

HEARD_SECONDS = 3.0  # that a server may take to hear a command
SECONDS = 10.0  # that it may take to do it


def ask_server(
    path: Path, data: Path | None, command: str, what: Mapping[str, object]
) -> Mapping[str, Any]:
    """Ask the server of the board with this sysop.toml, or the one in `data` where that is given.

    `NoAnswer` when nothing came of it; it also says what is wrong with the settings, if that is why
    no server was found.
    """
    said = {COMMAND: command, **what}
    if data is not None:
        return ask(data, said)
    nobody: NoAnswer | None = None
    problem, tried = "", ""
    try:
        settings = config.load(path)
    except SettingsError as error:
        problem = f"Can't read the settings:\n{error}"
    else:
        try:
            return ask(settings.board.data, said)
        except NobodyThere as error:
            nobody, tried = error, os.path.realpath(settings.board.data)
            problem = _elsewhere(settings.bank)
    for server in server_note.servers_of(path):
        if server.data == tried:
            continue
        try:
            return ask(Path(server.data), said, server_note.trusted(path))
        except NobodyThere as error:
            nobody = nobody or error
    if nobody is None:
        raise NoAnswer(f"{problem}\nIf the board runs, name its data folder: --data DIR.")
    raise NoAnswer(f"{nobody}\n{problem}".strip()) from nobody


def ask(
    data: Path, said: Mapping[str, object], believed: Collection[int] | None = None
) -> Mapping[str, Any]:
    """Ask the server whose data folder this is, if its user is in `believed` or that is None.

    `NoAnswer` when nothing came of it, `NobodyThere` when no server listens there.
    """
    try:
        with closing(hand_over.dial(str(data), HEARD_SECONDS)) as wire:
            if believed is not None and not any(hand_over.is_of(wire, user) for user in believed):
                raise NoAnswer(f"Another user's program listens in {data}. It was not asked.")
            answer = _answer_by(wire, data, said)
    except (FileNotFoundError, ConnectionRefusedError) as error:
        raise _nobody(data) from error
    except PermissionError as error:
        whose = files.forbidden(data / "any") or f"The socket in {data} belongs to another user."
        raise NoAnswer(f"{whose} Only the user of the server and root can control it.") from error
    except BlockingIOError as error:
        raise NoAnswer(_stands_still(data)) from error
    except TimeoutError as error:
        raise NoAnswer(
            f"The server began to do this, and did not answer within {SECONDS:g} seconds: nobody"
            " knows whether it is done."
        ) from error
    except OSError as error:
        raise NoAnswer(f"Can't talk to the server: {error}.") from error
    if "error" in answer:
        raise NoAnswer(str(answer["error"]))
    return answer


def _answer_by(wire: _socket, data: Path, said: Mapping[str, object]) -> Mapping[str, Any]:
    """Give a command and wait for its answer; `NoAnswer` where it is not even heard."""
    packet = hand_over.packed(commands.COMMAND, json.dumps(said))
    if len(packet) > hand_over.LARGEST:
        raise NoAnswer("That is too long. Nothing was done.")
    wire.send(packet)
    try:
        heard = hand_over.receive(wire)
    except TimeoutError:
        wire.shutdown(SHUT_RDWR)  # from here on the server cannot say that it hears
        if not (heard := hand_over.receive(wire)):
            raise NoAnswer(_stands_still(data)) from None
    if heard != hand_over.packed(commands.HEARD):
        other = server_note.of_another_release(data) or "The server has hung up."
        raise NoAnswer(f"{other} Nothing was done.")
    wire.settimeout(SECONDS)
    text = ""
    while packet := hand_over.receive(wire):
        word, *texts = hand_over.unpacked(packet)
        text += "".join(texts)
        if word == commands.SAID:
            return commands.read(text)
    raise NoAnswer("The server has ended, and nobody knows whether it did this.")


def _stands_still(data: Path) -> str:
    found = server_note.server_in(data)
    process = "process" if found is None else f"process {found.process}"
    return (
        f"The server, {process}, has heard nothing for {HEARD_SECONDS:g} seconds: it stands still,"
        " or its machine is overloaded. Nothing was done. If it stays so, end it with SIGKILL and"
        " start it again: no hand is lost."
    )


def _nobody(data: Path) -> NoAnswer:
    """Say that no server listens in a data folder, and what became of the last one."""
    found = server_note.server_in(data)
    lock = serving.place_of(str(data / serving.BOOKS)) if found is None else found.lock
    note = serving.read(lock)
    if note is not None and note.state != serving.SERVING and serving.is_held(lock):
        return NoAnswer(f"{note}. Try again in a moment.")
    if said := closed.sentence(str(data)):
        return NobodyThere(f"This board's server is not running. {said}")
    if found is None:
        return NobodyThere(f"This board's server is not running: nothing listens in {data}.")
    if found.runs:
        return NoAnswer(
            f"Process {found.process} has served this board since {found.since}, but doesn't"
            f" answer: nothing listens in {data}. SIGTERM closes the board, and no hand is lost."
        )
    return NobodyThere(
        f"This board's server is not running. The last one in {data}, process {found.process},"
        f" began on {found.since} and ended without closing the board."
    )


def _elsewhere(bank: BankSettings) -> str:
    """Say which servers of the board other machines have, if its books are where they say so."""
    if bank.server is None:
        return ""
    # Books on a server are an extra, and most commands are about servers that run.
    from timebank.ledger.engines import books_of  # noqa: PLC0415
    from timebank.servers import registry  # noqa: PLC0415

    try:
        database = books_of(bank)
        try:
            with database.reading(bank, datetime.now(UTC)) as desk:
                names = [clean(server.name) for server in registry.living(desk)]
        finally:
            database.close()
    except TimeBankError as error:
        return f"Whether others run on other machines is not known: {error}"
    if not names:
        return "No other server of the board runs either."
    return f"On other machines these run, and take commands there: {', '.join(names)}."


def tell_of_event(path: Path) -> None:
    """Have the server of the board with this sysop.toml see at once that an event was started.

    Servers see that by themselves within five seconds, and what they write into the books keeps to
    it in any case: so nothing is said of a server that cannot be asked.
    """
    with suppress(NoAnswer):
        ask_server(path, None, "look", {})
