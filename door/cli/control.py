"""How `door nodes`, `kick`, `say`, `drain` and `stop` find the running server, and ask it.

They need its socket and nothing else: where sysop.toml cannot be read, or names another data folder
than the server was started with, the file that the server has left says where it is
(`door.server.server_file`).
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from door.config import config
from door.errors import LinkBroken, NoAnswer, NobodyThere
from door.lines.link import ENDED, HEADER, SHOWN, Frames, dial, frame, told, user_of
from door.server import server_file
from door.server.control import COMMAND
from door.wording import clock_time
from timebank.errors import SettingsError

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
        folder = config.load(path).board.data
    except SettingsError as error:
        problem = f"\nCan't read the settings:\n{error}"
    else:
        try:
            return ask(folder, said)
        except NobodyThere as error:
            nobody, tried = error, os.path.realpath(folder)
    for serving in server_file.servers_of(path):
        if serving.data == tried:
            continue
        try:
            return ask(Path(serving.data), said, server_file.trusted(path))
        except NobodyThere as error:
            nobody = nobody or error
    if nobody is None:
        nobody = NoAnswer(
            "No running server found for this board."
            " If there is one, name its data folder: --data DIR."
        )
    raise NoAnswer(f"{nobody}{problem}") from nobody


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
        raise NoAnswer(
            f"The socket in {data} belongs to another user: only that user and root can control the"
            " server."
        ) from error
    except TimeoutError as error:
        raise NoAnswer(f"The server did not answer within {SECONDS:g} seconds.") from error
    except (OSError, LinkBroken, ValueError) as error:
        raise NoAnswer(f"Can't talk to the server: {error}.") from error
    if "error" in answer:
        raise NoAnswer(str(answer["error"]))
    return answer


def _nobody(data: Path, what: str) -> NoAnswer:
    """Say that no server listens in a data folder, and what became of the last one."""
    serving = server_file.server_in(data)
    if serving is None:
        return NobodyThere(f"This board's server is not running: {what}.")
    since = f"{serving.since:%Y-%m-%d %H:%M}"
    if server_file.is_held(data):
        return NoAnswer(
            f"Process {serving.process} has served this board since {since}, but doesn't answer:"
            f" {what}. SIGTERM closes the board, and no hand is lost."
        )
    return NobodyThere(
        f"This board's server is not running: {what}. The last one was process"
        f" {serving.process}, which began on {since} and ended without closing the board."
    )


async def _ask(
    data: Path, said: Mapping[str, object], believed: Collection[int] | None
) -> Mapping[str, Any]:
    async with asyncio.timeout(SECONDS):
        reader, writer = await dial(data)
        try:
            if believed is not None and user_of(writer.transport) not in believed:
                raise LinkBroken(f"another user's program listens in {data}")
            writer.write(frame(HEADER, told(said)))
            frames, text = Frames(), b""
            while received := await reader.read(65_536):
                for kind, content in frames.feed(received):
                    if kind == SHOWN:
                        text += content
                    elif kind == ENDED:
                        return dict(json.loads(text))
        finally:
            writer.close()
    raise LinkBroken("it hung up")


def table(answer: Mapping[str, Any]) -> list[str]:
    lines = [f"{'Node':>4}  {'Caller':<26}{'Where':<20}{'Since':<7}{'Idle':>6}{'Left':>7}  Address"]
    for on in answer["nodes"]:
        since = datetime.fromisoformat(on["since"]).astimezone()
        idle, left = (_span(on[key]) for key in ("idle", "left"))
        lines.append(
            f"{on['node']:>4}  {on['name']:<26}{on['where']:<20}{since:%H:%M}  "
            f"{idle:>6}{left:>7}  {on['address']}"
        )
    if not answer["nodes"]:
        lines = ["Nobody is online."]
    if answer["log_ons"]:
        lines.append(f"Logging on: {answer['log_ons']}.")
    if answer["draining"]:
        lines.append(
            "The board is draining: it takes no more calls and closes when the last caller leaves."
        )
    return lines


def refusals(answer: Mapping[str, Any]) -> list[str]:
    lines = []
    if answer["held"]:
        lines.append(f"{'Address':<26}{'Wait':>8}  Why")
        for held in answer["held"]:
            wait = _span(held["wait"] or None)
            lines.append(f"{held['address']:<26}{wait:>8}  {held['why']}")
    if answer["more"]:
        lines.append(f"And {answer['more']} more.")
    if answer["names"]:
        names = "1 name" if answer["names"] == 1 else f"{answer['names']} names"
        lines.append(f"Strangers have to wait for {names}; the names are not recorded.")
    if not lines:
        return ["Nobody has to wait."]
    return [*lines, "`door forgive` clears an address or a name."]


def _span(seconds: int | None) -> str:
    return "-" if seconds is None else clock_time(seconds)
