"""The command `python -m verify.kills`: a board killed with -9 again and again while robots play.

    python -m verify.kills --rounds 500
    python -m verify.kills --rounds 500 --postgres
    python -m verify.kills --rounds 50 --kind "under doors"

Each round starts `door serve` over the files of the round before, or lets a door start a server.
The robots call and play, and at a moment counted in keys a process is killed. Then the books are
opened: SQLite's own check, both audits, all that was durable before, and all screens of the robots.
`verify.simulate` kills at every packet and write of a simulated machine. Here the kernel, the disk,
the terminals and PostgreSQL are real.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import shutil
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from door import closed
from door.config import config as settings
from door.config.log_file import FILE
from door.games import hand_check
from timebank.ledger.engines import books_of
from verify.postgres import served as served_by_postgres
from verify.robots import HASTY, Robot, Seen, check, copied, house, phone
from verify.robots.doors import (
    Doorway,
    append_to,
    but_for_the_way_in,
    kill_started,
    started_server,
)

ROUNDS_A_BOOK = 15  # then fresh books, so that the audits stay quick
KEYS_EACH = 50  # at most, that a robot presses in a round on average; twenty of them log it on
PATIENCE = 60.0  # seconds, on a machine with much to do
LOOKS_AGAIN = 0.2  # seconds, for a server that a door starts
DOORS = 2
# What each robot in turn likes best: None is drawn.
TASTES_IN_TURN = (None, None, None, "the deal", None, "letters", None, "the deal")
PACE = replace(HASTY, stays=(3600.0, 7200.0))  # nobody leaves before being cut off
# What is killed, and how often: the server in play; the server while doors ride on it, and then go
# on; a door that rides, and then the server; a server that a door has started.
KINDS = {"in play": 70, "under doors": 12, "a rider": 10, "started": 8}
KEYS_OF_A_RIDER = 8  # before the server may be killed under it, and after that
PATIENCE_WITH_A_RIDER = 15.0  # seconds: who listens to others at Vegas presses few
BAD = re.compile(r" (ERROR|CRITICAL) |Traceback")


class Count:
    """What was durable in the books of a file at the last look: all of it must still be there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.last = (0, "")  # number and digest of the last transfer
        self.rows: dict[str, int] = {}
        self.settled: set[int] = set()
        self.open: dict[int, int] = {}  # hands in play, and how many actions each has

    def look(self) -> None:
        """Compare everything; raises AssertionError at what is gone or goes back."""
        with contextlib.closing(sqlite3.connect(self.path, timeout=10)) as file:
            (whole,) = file.execute("PRAGMA integrity_check").fetchone()
            assert whole == "ok", whole
            file.execute("BEGIN")
            self._compare(file)

    def _compare(self, file: sqlite3.Connection) -> None:
        number, digest = self.last
        if number:
            found = file.execute("SELECT digest FROM transfers WHERE id = ?", (number,)).fetchone()
            assert found == (digest,), f"transfer {number} was durable and is gone"
        self.last = file.execute(
            "SELECT id, digest FROM transfers ORDER BY id DESC LIMIT 1"
        ).fetchone() or (0, "")
        for table in ("callers", "calls", "rounds", "actions", "shoes", "messages", "deal_tries"):
            (count,) = file.execute(f"SELECT count(*) FROM {table}").fetchone()
            assert count >= self.rows.get(table, 0), f"{table} had {self.rows[table]}, has {count}"
            self.rows[table] = count
        settled = {n for (n,) in file.execute("SELECT id FROM rounds WHERE settled IS NOT NULL")}
        assert settled >= self.settled, "hands that were over are open again"
        now = dict(file.execute(OPEN_HANDS).fetchall())
        for hand, actions in self.open.items():
            assert hand in settled or now[hand] >= actions, f"hand {hand} went back"
        self.settled, self.open = settled, now


OPEN_HANDS = """
SELECT r.id, count(a.sequence) FROM rounds r
LEFT JOIN actions a ON a.round_id = coalesce(r.lead, r.id) WHERE r.settled IS NULL GROUP BY r.id
"""


class Book:
    """One set of books with its robots, over a number of rounds."""

    def __init__(self, folder: Path, seed: int, robots: int, database: str) -> None:
        self.counted = Counter[str]()
        self.chance = random.Random(seed)
        names = [f"Robot {number}" for number in range(1, robots + 1)]
        house.prepare(folder, names, database)
        append_to(folder / "sysop.toml")
        house.open_a_tournament(folder / "sysop.toml")
        self.config = settings.load(folder / "sysop.toml")
        self.count = Count(self.config.database)
        self.doors = [Doorway(self.config, node) for node in range(1, DOORS + 1)]
        self.robots = [
            self._robot(name, taste=TASTES_IN_TURN[number % len(TASTES_IN_TURN)])
            for number, name in enumerate(names)
        ]
        # On the screen that their host says they have.
        self.guests = [self._robot(door.name, phone.SYNCTERM) for door in self.doors]
        self.server: house.Served | None = None

    def _robot(
        self, name: str, program: phone.Program | None = None, taste: str | None = None
    ) -> Robot:
        seed = self.chance.getrandbits(32)
        known = {"pace": PACE, "is_known": True, "friend": "Robot 1"}
        return Robot(name, "127.0.0.1", 0, seed, program=program, taste=taste, **known)

    async def play(self, kinds: Sequence[str]) -> None:
        """Play a round of each of these kinds; raises AssertionError at what is wrong."""
        for door in self.doors:
            await door.open()
        try:
            for kind in kinds:
                self.counted[kind] += 1
                await (self._started() if kind == "started" else self._killed(kind))
                await kill_started(self.config.board.data)  # by a caller who came back, say
                self._look()
            await self._ends_in_peace()
        finally:
            for door in self.doors:
                await door.close()
            await kill_started(self.config.board.data)
            if self.server is not None:
                self.server.kill()

    # The rounds.

    async def _started(self) -> None:
        """Kill the server that a door has started, and see the callers at the next."""
        closed.reopen(str(self.config.board.data))  # a round before may have ended in peace
        async with self._playing(self.guests):
            await self._each_presses()
            until = time.monotonic() + PATIENCE
            while not await kill_started(self.config.board.data):
                assert time.monotonic() < until, "no door has started a server"
                await asyncio.sleep(LOOKS_AGAIN)
            await self._ride_on()

    async def _killed(self, kind: str) -> None:
        """Start a server, and kill it, or a door, or both."""
        self.server = await self._serve()
        moment = self.chance.uniform(0, KEYS_EACH * len(self.robots))
        guests = [] if kind == "in play" else self.guests
        async with self._playing([*self.robots, *guests]):
            await self._pressed(moment)
            if kind == "a rider":
                self.chance.choice(self.doors).kill()
                await asyncio.sleep(self.chance.uniform(0, 0.5))
            if kind == "under doors":
                await self._each_presses()
            self.server.kill()
            if kind == "under doors":
                await self._ride_on()

    async def _serve(self) -> house.Served:
        """Start a server: a door whose caller has gone may still be starting one of its own."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return house.Served(self.config)
            except RuntimeError:
                if time.monotonic() > until:
                    raise
                await kill_started(self.config.board.data)
                await asyncio.sleep(LOOKS_AGAIN)

    async def _ride_on(self) -> None:
        """Let the guests go on where a door has started the next server."""
        await self._each_presses()
        process = started_server(self.config.board.data)
        file = copied.to_read(self.config.bank, self.config.path.parent)
        with contextlib.closing(sqlite3.connect(file)) as books:
            found = books.execute(
                "SELECT process FROM calls WHERE process LIKE ?", (f"%:{process}",)
            )
            self.counted["riders that went on"] += len(found.fetchall())

    async def _ends_in_peace(self) -> None:
        """Start once more, let everybody come back, and stop in peace."""
        self.server = await self._serve()
        async with self._playing(self.robots):
            await self._pressed(KEYS_EACH * len(self.robots))
            await asyncio.to_thread(self.server.stop)
        assert self.server.status == 0
        wrong = self.server.audits()
        assert not wrong, wrong
        with contextlib.closing(sqlite3.connect(self._look())) as file:
            for table in ("calls", "transfers"):
                (rows,) = file.execute(f"SELECT count(*) FROM {table}").fetchone()
                self.counted[table] += rows
        self.counted["hands"] += len(self.count.settled)
        self.counted["keys"] += sum(robot.seen.keys for robot in (*self.robots, *self.guests))

    @asynccontextmanager
    async def _playing(self, who: Sequence[Robot]) -> AsyncIterator[None]:
        """Let robots call; at the end no line is open, and no door process runs."""
        stop = asyncio.Event()
        for robot in self.robots:
            robot.port = 0 if self.server is None else self.server.port
        for guest, door in zip(self.guests, self.doors, strict=True):
            guest.port = door.port
        self.on = list(who)
        self.before = sum(robot.seen.keys for robot in self.on)
        tasks = [asyncio.create_task(robot.play(stop)) for robot in self.on]
        try:
            yield
        finally:
            stop.set()
            await asyncio.gather(*tasks)
            for door in self.doors:
                await door.has_ended()

    async def _pressed(self, keys: float) -> None:
        """Wait until the robots have pressed so many keys in this round."""
        latest = time.monotonic() + PATIENCE
        while sum(robot.seen.keys for robot in self.on) - self.before < keys:
            assert time.monotonic() < latest, "the robots do not play"
            await asyncio.sleep(0.002)

    async def _each_presses(self) -> None:
        """Wait until each guest has pressed some keys from now on, or for a while."""
        latest = time.monotonic() + PATIENCE_WITH_A_RIDER
        wanted = [(guest.seen, guest.seen.keys + KEYS_OF_A_RIDER) for guest in self.guests]
        while any(seen.keys < keys for seen, keys in wanted):
            if time.monotonic() > latest:
                return
            await asyncio.sleep(0.002)

    # What is looked at.

    def _look(self) -> Path:
        """Look at what the server has left: the books, the screens, and the log.

        Returns a file with the books.
        """
        database = books_of(self.config.bank)
        database.open_existing()
        file = self.count.path = copied.to_read(self.config.bank, self.config.path.parent)
        self.count.look()
        try:
            with database.reading(self.config.bank, datetime.now(UTC)) as desk:
                findings, _ = hand_check.audit(desk)
        finally:
            database.close()
        assert not findings, [str(finding) for finding in findings]
        everybody = [robot.seen for robot in (*self.robots, *self.guests)]
        for seen in everybody:
            forgive_half_screens(seen)
        wrong = but_for_the_way_in(check.against_the_books(file, everybody).wrong)
        assert not wrong, wrong
        for seen in everybody:
            seen.purses.clear()  # each was so at its moment, and need not be so again
        log = self.config.board.data / FILE
        said = "" if self.server is None else self.server.said()
        said += log.read_text() if log.exists() else ""
        assert not BAD.search(said), said
        return file


def forgive_half_screens(seen: Seen) -> None:
    """Let nobody be blamed for what a hasty reader sees on half a screen, or types too early.

    The digits of a shoe may stand beside the end of the hand before it: hands are looked for by
    their order, not by the turn and the shoe. And a page of seals may have come in part.
    """
    seen.settlements[:] = [
        hand if hand.game == "unix-bj" else replace(hand, number=None, seal="", seed="")
        for hand in seen.settlements
    ]
    seen.complaints[:] = [words for words in seen.complaints if "does not open" not in words]


@click.command()
@click.option("--rounds", default=500, show_default=True, help="How many rounds altogether.")
@click.option("--robots", default=24, show_default=True, help="How many callers the board has.")
@click.option("--seed", default=1, show_default=True, help="Of the first books; others follow.")
@click.option("--postgres", is_flag=True, help="Have the books on a server of PostgreSQL.")
@click.option("--kind", type=click.Choice(list(KINDS)), help="Only rounds like this.")
def main(rounds: int, robots: int, seed: int, postgres: bool, kind: str | None) -> None:
    """Kill a board; ends with 1 at the first thing that is wrong, and leaves its folder."""
    began, total = time.monotonic(), Counter[str]()
    with served_by_postgres() if postgres else contextlib.nullcontext() as cluster:
        for number, done in enumerate(range(0, rounds, ROUNDS_A_BOOK), seed):
            folder = Path(tempfile.mkdtemp(prefix="kills-"))
            database = cluster.url(cluster.empty()) if cluster is not None else ""
            book = Book(folder, number, robots, database)
            some = min(ROUNDS_A_BOOK, rounds - done)
            drawn = book.chance.choices(list(KINDS), list(KINDS.values()), k=some)
            try:
                asyncio.run(book.play([kind] * some if kind else drawn))
            except BaseException:
                click.echo(f"seed {number}, after {dict(book.counted)}, in {folder}:")
                raise
            shutil.rmtree(folder)
            total += book.counted
            said = ", ".join(f"{times} {what}" for what, times in sorted(total.items()))
            click.echo(f"{time.monotonic() - began:.0f} s: {said}")


if __name__ == "__main__":
    sys.exit(main())
