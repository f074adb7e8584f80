"""How `door nodes`, `kick`, `say`, `drain` and `stop` ask the running server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from door.control import COMMAND
from door.lines.link import ENDED, HEADER, SHOWN, Frames, LinkBroken, dial, frame, told
from door.wording import clock_time

SECONDS = 10.0  # that a server may take to answer


class NoAnswer(Exception):
    """The server cannot be asked, or says no; the text is a sentence for the sysop."""


def ask(data: Path, command: str, **what: object) -> Mapping[str, Any]:
    """Ask the server whose data folder this is; `NoAnswer` when nothing came of it."""
    try:
        answer = asyncio.run(_ask(data, {COMMAND: command, **what}))
    except FileNotFoundError as error:
        raise NoAnswer(f"No server of this board is running: nothing listens in {data}.") from error
    except ConnectionRefusedError as error:
        raise NoAnswer(
            f"No server of this board is running: its last one left a socket in {data}."
        ) from error
    except PermissionError as error:
        raise NoAnswer(
            f"The socket in {data} is another user's: only he may command the server."
        ) from error
    except TimeoutError as error:
        raise NoAnswer(f"The server did not answer within {SECONDS:g} seconds.") from error
    except (OSError, LinkBroken, ValueError) as error:
        raise NoAnswer(f"The server did not answer as it should: {error}.") from error
    if "error" in answer:
        raise NoAnswer(str(answer["error"]))
    return answer


async def _ask(data: Path, said: Mapping[str, object]) -> Mapping[str, Any]:
    async with asyncio.timeout(SECONDS):
        reader, writer = await dial(data)
        try:
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
    """Put what `nodes` answers into lines."""
    lines = [f"{'Node':>4}  {'Caller':<26}{'Where':<20}{'Since':<7}{'Idle':>6}{'Left':>7}  Address"]
    for on in answer["nodes"]:
        since = datetime.fromisoformat(on["since"]).astimezone()
        idle, left = (_span(on[key]) for key in ("idle", "left"))
        lines.append(
            f"{on['node']:>4}  {on['name']:<26}{on['where']:<20}{since:%H:%M}  "
            f"{idle:>6}{left:>7}  {on['address']}"
        )
    if not answer["nodes"]:
        lines = ["Nobody is on."]
    if answer["log_ons"]:
        lines.append(f"At the log-on: {answer['log_ons']}.")
    if answer["draining"]:
        lines.append("The board takes no more calls, and closes when the last caller has gone.")
    return lines


def refusals(answer: Mapping[str, Any]) -> list[str]:
    """Put what `refused` answers into lines."""
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
        lines.append(f"Strangers wait for {names}; which ones is not kept.")
    if not lines:
        return ["Nobody has to wait."]
    return [*lines, "`door forgive` with an address or a name lifts it."]


def _span(seconds: int | None) -> str:
    return "-" if seconds is None else clock_time(seconds)
