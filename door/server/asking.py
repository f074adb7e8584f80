"""How a running server is asked: by the commands, and by the pages.

They need its socket and nothing else: where sysop.toml cannot be read, or names another data folder
than the server was started with, the file that the server has left says where it is
(`door.server.server_file`).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from door import closed
from door.config import config
from door.errors import LinkBroken, NoAnswer, NobodyThere
from door.lines.link import asked, dial, user_of
from door.server import server_file
from door.server.everywhere import COMMAND, clean
from timebank import files, serving
from timebank.errors import SettingsError, TimeBankError

if TYPE_CHECKING:
    from timebank.settings.settings import BankSettings

SECONDS = 10.0  # that a server may take to answer


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
    for server in server_file.servers_of(path):
        if server.data == tried:
            continue
        try:
            return ask(Path(server.data), said, server_file.trusted(path))
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
        answer = asyncio.run(_ask(data, said, believed))
    except FileNotFoundError as error:
        raise _nobody(data, f"nothing listens in {data}") from error
    except ConnectionRefusedError as error:
        raise _nobody(data, f"the last one left a socket in {data}") from error
    except PermissionError as error:
        whose = files.forbidden(data / "any") or f"The socket in {data} belongs to another user."
        raise NoAnswer(f"{whose} Only the user of the server and root can control it.") from error
    except TimeoutError as error:
        raise NoAnswer(
            f"The server did not answer within {SECONDS:g} seconds. Nobody knows whether it did"
            " this."
        ) from error
    except (OSError, LinkBroken, ValueError) as error:
        raise NoAnswer(f"Can't talk to the server: {error}.") from error
    if "error" in answer:
        raise NoAnswer(str(answer["error"]))
    return answer


def _nobody(data: Path, what: str) -> NoAnswer:
    """Say that no server listens in a data folder, and what became of the last one."""
    found = server_file.server_in(data)
    lock = serving.place_of(str(data / serving.BOOKS)) if found is None else found.lock
    note = serving.read(lock)
    if note is not None and note.state != serving.SERVING and serving.is_held(lock):
        return NoAnswer(f"{note}. Try again in a moment.")
    if said := closed.sentence(str(data)):
        return NobodyThere(f"This board's server is not running. {said}")
    if found is None:
        return NobodyThere(f"This board's server is not running: {what}.")
    since = f"{found.since:%Y-%m-%d %H:%M}"
    if found.runs:
        return NoAnswer(
            f"Process {found.process} has served this board since {since}, but doesn't answer:"
            f" {what}. SIGTERM closes the board, and no hand is lost."
        )
    return NobodyThere(
        f"This board's server is not running: {what}. The last one was process"
        f" {found.process}, which began on {since} and ended without closing the board."
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


async def _ask(
    data: Path, said: Mapping[str, object], believed: Collection[int] | None
) -> Mapping[str, Any]:
    async with asyncio.timeout(SECONDS):
        reader, writer = await dial(data)
        try:
            if believed is not None and user_of(writer.transport) not in believed:
                raise LinkBroken(f"another user's program listens in {data}")
            return await asked(reader, writer, said)
        except EOFError as error:
            raise LinkBroken("it hung up") from error
        finally:
            writer.close()
