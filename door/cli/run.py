"""`door run`: a caller handed over by a host board, or the sysop at the machine itself.

The way to the first screen is short on purpose: no books are loaded before it is on the line.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import time
from collections.abc import Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from door import closed
from door.call.console import Console
from door.call.guest import Guest
from door.clock import SystemClock, seconds_begun
from door.config import config as settings
from door.config import privacy
from door.config.config import Config
from door.errors import BooksUnopened, DropFileRefused, NoLine
from door.games.registry import GAMES, game_named
from door.lines.host.host import Introduction
from door.lines.line import Hints, Line
from door.lobby import greeting, looks
from door.run import log as logs
from door.run.relay import Before
from door.session import ways_in
from door.session.arrival import AT_HOME, Asked, DoorCall, arrive, at_home, note, welcome
from timebank.errors import SettingsError
from timebank.language import N_, _

EXIT_WELL = 0  # also when the caller hung up, or was turned away for a reason of their own
EXIT_FAILED = 1  # something went wrong here: the log says what
EXIT_REFUSED = 2  # nobody could be served: the log says what the sysop must do

APOLOGY_SECONDS = 8.0  # a host clears the screen when the door ends
NOBODY = Introduction("", Hints(), 0, 0)
WITHOUT_SERVER = N_(
    "The board's server has stopped. You go on without it, and an open hand is where it was."
)
OUT_OF_ORDER = "Sorry, the games can't open right now. Please tell the sysop."

log = logging.getLogger("door.run")


@dataclass(frozen=True)
class Options:
    config: Path
    call: Asked
    table: str | None
    stdio: bool
    socket: int | None
    connect: str | None
    telnet: bool | None
    local: bool

    def way(self) -> ways_in.WayIn | None:
        return ways_in.asked_for(
            wants_stdio=self.stdio or self.local,
            descriptor=self.socket,
            connect=self.connect,
            telnet=self.telnet,
        )


def run(options: Options, before: Before | None = None) -> int:
    """Serve one caller to the end and return the exit status; nothing is raised.

    `before` is what became of the call before, None where it begins now.
    """
    before = before or Before()
    try:
        config = settings.load(options.config)
    except SettingsError as error:
        logs.begin(None)
        log.error("%s", error)
        return _turn_away(options, OUT_OF_ORDER)
    with contextlib.suppress(OSError):  # whoever opens the books says what is wrong with it
        privacy.make_folder(config)
    logs.begin(config)
    try:
        return _run(options, config, before)
    except DropFileRefused as refused:
        log.error("nobody can be let in: %s", refused)
        return _turn_away(options, refused.polite)
    except NoLine as nobody:
        log.error("%s", nobody)
        return EXIT_REFUSED
    except Exception:
        log.exception("the door failed")
        return EXIT_FAILED


def _run(options: Options, config: Config, before: Before) -> int:
    if options.table is not None and game_named(options.table) is None:
        codes = ", ".join(game.code for game in GAMES.values())
        raise NoLine(f"No table is called {options.table}: --door takes {codes}.")
    way, folder = options.way(), str(config.board.data)
    if options.local and closed.is_closed(folder):
        return _turn_away(options, closed.sentence(folder), EXIT_WELL)
    if options.local:
        line = ways_in.opened(ways_in.Stdio(), at_home(os.environ))
        return to_the_end(_serve(options, config, line, None, AT_HOME))
    began = datetime.fromtimestamp(before.now, UTC).astimezone()
    arrival, news = _received(options.call, config, before, began)
    way = way or ways_in.said_by(arrival.understood.connection, options.telnet)
    if closed.is_closed(folder) and not before.went_on:
        log.info("nobody is let in: the board is closed")
        asyncio.run(_tell(way, closed.FOR_CALLERS))
        return EXIT_WELL
    line = ways_in.opened(way, arrival.introduction, before.called_back)
    return to_the_end(_serve(options, config, line, arrival.guest, news))


def _received(
    asked: Asked, config: Config, before: Before, began: datetime
) -> tuple[DoorCall, Sequence[str]]:
    """Read the drop file of a guest, who comes or goes on here, and return what they are told."""
    arrival = arrive(asked, config.boards, os.environ, began, before.arrived)
    note(arrival)
    if not before.went_on:
        return arrival, welcome(arrival.guest)
    guest = _left(arrival.guest, time.monotonic())
    return replace(arrival, guest=guest), [f"|14{_(WITHOUT_SERVER)}"]


def _left(guest: Guest, now: float) -> Guest:
    """Count the time that a guest has been on at a server, which it has charged them for."""
    seconds = guest.seconds
    if seconds is not None:
        seconds = max(0, seconds - seconds_begun(now - guest.arrived))
    return replace(guest, seconds=seconds, arrived=now)


def to_the_end(call: Coroutine[Any, Any, int]) -> int:
    """Run a call, and let no signal of the host change what the process then says of it.

    The handlers of the loop go with it, and a host that hurries sends its next signal behind them.
    """
    with asyncio.Runner() as runner:
        status = runner.run(call)
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGHUP, signal.SIGTERM))
    return status


async def _serve(
    options: Options,
    config: Config,
    opened: AbstractAsyncContextManager[Line],
    guest: Guest | None,
    news: Sequence[str],
) -> int:
    clock = SystemClock()
    async with opened as line:
        look = None if guest is None else guest.look
        console = Console(line, look or looks.guess(line.hints), clock)
        console.ask_size()
        greeting.show(console, config, news)
        # Behind the first screen: what the books need takes longer to load than all of this.
        _load_the_rest()
        from door.run import process

        await asyncio.sleep(0)  # a hang-up may have come meanwhile
        if console.interruption is not None:
            log.info("carrier lost from %s before log-on", line.address)
            return EXIT_WELL
        try:
            went_well = await process.serve(config, console, clock, guest, options.table)
        except BooksUnopened as unopened:
            log.error("%s", unopened)
            await _apologise(console, OUT_OF_ORDER)
            return EXIT_REFUSED
    return EXIT_WELL if went_well else EXIT_FAILED


@cache
def _load_the_rest() -> None:
    """Load what the books need. All of it stays, so no garbage is looked for among it."""
    gc.disable()
    import_module("door.run.process")

    gc.freeze()
    gc.enable()


def _turn_away(options: Options, words: str, status: int = EXIT_REFUSED) -> int:
    with contextlib.suppress(NoLine):
        asyncio.run(_tell(options.way() or ways_in.Stdio(), words))
    return status


async def _tell(way: ways_in.WayIn, words: str) -> None:
    async with ways_in.opened(way, NOBODY) as line:
        await _apologise(Console(line, looks.guess(Hints()), SystemClock()), words)


async def _apologise(console: Console, words: str) -> None:
    console.scroll_lines()
    console.say(words)
    await console.pause(APOLOGY_SECONDS)
    await console.part()
