"""The real board in its own process, with callers in its books before the first one calls.

    python -m bench.board FOLDER CALLERS LOOP [web]

Passwords are hashed as cheaply as Argon2 allows, so that log-on is no part of the measurement.
Screens are known, so that callers come straight to the main menu. Their hands are known as well:
three keys each, won or lost at random. LOOP is asyncio or uvloop. With "web" the board has a port
for browsers too, and prints it on the order "web".
"""

from __future__ import annotations

import asyncio
import itertools
import random
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

from argon2 import PasswordHasher
from sqlalchemy import event

from bench.processes import more_files, obey
from bench.thinkers import Thinkers
from door.call import phrases
from door.call.board import Board
from door.call.caller import PACES
from door.clock import SystemClock
from door.config import config as settings
from door.config import privacy
from door.config.config import Pace
from door.games.blackjack.round import BlackjackAction, start
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, BlackjackRules
from door.games.engine import shuffle
from door.server.server import Server, quickest, spare_collections
from door.tables.tutor.tutor_process import TutorProcess
from timebank.callers import callers
from timebank.ledger.database import Database
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.wagers import chains
from timebank.wagers.chains import ChainLink

PASSWORD = "open sesame"
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
SPARE_NODES = 16

_SYSOP_TOML = """
[board]
name = "The Bench"
animation = "off"
[[listeners]]
kind = "telnet"
host = "127.0.0.1"
port = 0
{web}
[calls]
nodes = {nodes}
minutes_per_day = 600
idle_warning_seconds = 43200
idle_limit_seconds = 86400
[[events]]
name = "Mail hour"
time = "03:00"
minutes = 60
[games.black-jack-for-time]
turns_per_day = 0
coin_minutes = 1
"""

_WEB = '[[listeners]]\nkind = "web"\nhost = "127.0.0.1"\nport = 0'


def sysop_toml(nodes: int, *, web: bool = False) -> str:
    return _SYSOP_TOML.format(nodes=nodes, web=_WEB if web else "")


PHRASE = "three blind mice"
# Terminals that say nothing of themselves are known as "unknown" (door/lobby/looks.py).
PREFERENCES: dict[str, object] = {
    "looks": {"unknown": {"charset": "cp437", "paint": "colour"}},
    "bets": {"black-jack-for-time": 1},
    phrases.PREFERENCE: {"text": PHRASE, "own": False, "after": []},
}


class NoonClock(SystemClock):
    """The machine's clock, set to noon at the start: no event is near, whenever the bench runs."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def now(self) -> datetime:
        return NOON + timedelta(seconds=time.monotonic() - self._began)


def name_of(number: int) -> str:
    return f"Caller {number}"


def stood_hand(rules: BlackjackRules, *, won: bool) -> bytes:
    """Return a seed whose hand, stood at once, is won or lost."""
    for number in itertools.count():
        seed = number.to_bytes(shuffle.SEED_BYTES, "big")
        dealt, _ = start(
            rules, shuffle.shuffle(seed, shuffle.Phrases(PHRASE, 1), rules.decks), [60]
        )
        if (
            dealt.over
            or BlackjackAction.INSURANCE in dealt.legal()
            or BlackjackAction.STAY not in dealt.legal()
        ):
            continue
        totals = dealt.apply(BlackjackAction.STAY)[0].totals
        if totals.won if won else totals.lost:
            return seed
    raise AssertionError("unreachable: itertools.count does not end")


def register_all(database: Database, config: settings.Config, count: int) -> None:
    hashed = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
    with database.transaction(config.bank, NOON) as desk:
        for number in range(count):
            record = callers.register(desk, name_of(number), hashed)
            callers.set_preferences(desk, record.id, PREFERENCES)


def slow_down(database: Database, seconds: float) -> None:
    """Make every COMMIT take so much longer, as a disk does that really writes."""
    event.listen(database.engine, "commit", lambda _: time.sleep(seconds))


def set_pace(board: Board, pace: str) -> None:
    """Set the pace of cards ("off", "fast", "normal") for all callers on line, from now on."""
    for caller in board.callers():
        caller.console.keyboard.pace = PACES[cast("Pace", pace)]


async def main(folder: Path, count: int, *, web: bool) -> None:
    more_files()
    file = folder / "sysop.toml"
    toml = sysop_toml(count + SPARE_NODES, web=web)
    file.write_text(toml, encoding="utf-8")
    config = settings.load(file)
    privacy.make_folder(config)
    database = SqliteDatabase(config.database)
    database.open()
    register_all(database, config, count)
    hands = [stood_hand(BLACK_JACK_FOR_TIME, won=won) for won in (True, False)]
    # In turn, every other caller would only lose.
    chance, anchors = random.Random(1), map(str, itertools.count())
    # Every shoe comes from one of these seeds, as if it were alone in its chain.
    chains.take_link = lambda *asked: ChainLink(next(anchors), 1, asked[-1])
    server = Server(config, database, NoonClock(), lambda: chance.choice(hands))
    await server.start()
    spare_collections()
    thinkers = Thinkers(TutorProcess.among(server.board.shared))
    orders: dict[str, Callable[[str], object]] = {
        "callers": lambda _: len(server.board.nodes),
        "pace": lambda pace: set_pace(server.board, pace),
        "slow": lambda seconds: slow_down(database, float(seconds)),
        "web": lambda _: server.ports[-1],
        "think": thinkers.begin,
        "rest": thinkers.end,
    }
    await obey(server.ports[0], orders)
    await server.stop("The bench is over.")
    database.close()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=quickest() if sys.argv[3] == "uvloop" else None) as runner:
        runner.run(main(Path(sys.argv[1]), int(sys.argv[2]), web="web" in sys.argv[4:]))
