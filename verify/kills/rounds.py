"""A real board, killed again and again while robots play: what is left must always be whole.

In each round a real `door serve` is started over the files as the last one left them, robots call
it by telnet and play at all tables, and at a moment that the seed decides it is killed with -9;
sometimes while it starts or stops. Or doors hand their callers over to it, and to the next once it
is dead; or have started it; or one of them is killed. Before the next start the books are opened:
SQLite's own check, both audits with every hand replayed, all that was durable before, and
everything that robots had on their screens.
What the next round's moment is does not depend on the machine: it is counted in keys that the
robots have pressed.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
import traceback
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from bench.processes import environment
from door import closed
from door.config import config as settings
from door.games import hands
from door.log_file import FILE
from timebank.audit import accounts as accounts_audit
from timebank.calls import calls
from timebank.ledger.engines import books_of
from verify.kills.count import Count
from verify.robots import HASTY, Robot, Seen, check, copied, house, phone
from verify.robots.doors import (
    DOOR,
    Doorway,
    append_to,
    but_for_the_way_in,
    kill_started,
    started_server,
)

KEYS_EACH = 50  # at most, that a robot presses in a round on average; twenty of them log it on
STARTING = 60.0  # seconds, on a machine with much to do
LONGEST = 60.0  # seconds of play, should the robots never come to their number of keys
LOOKS_AGAIN = 0.2  # seconds, for a server that a door starts
DOORS = 2
# What each robot in turn likes best: None is drawn. One in four is at the deals above all, one in
# eight writes.
TASTES_IN_TURN = (None, None, None, "the deal", None, "letters", None, "the deal")
PACE = replace(HASTY, stays=(3600.0, 7200.0))  # nobody leaves before being cut off
# What is killed, and how often: the server in play, while it starts, while it stops; the server
# while doors ride on it, and then go on; a door that rides, and then the server; a server that a
# door has started.
KINDS = {
    "in play": 66,
    "starting": 8,
    "stopping": 8,
    "under doors": 8,
    "a rider": 6,
    "started": 4,
}
RIDES = ("under doors", "a rider", "started")
KEYS_OF_A_RIDER = 8  # before the server may be killed under it, and after that
LONGEST_OF_A_RIDER = 15.0  # seconds until so many keys are not waited for any more
WRONG = "wrong.txt"  # in the folder of books in which something was wrong: all of its words
LONGEST_WORDS = 2000  # of what was wrong, that are told at once
BAD = re.compile(r" (ERROR|CRITICAL) |Traceback")


@dataclass
class Tally:
    """What was run, and what was wrong."""

    rounds: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    counted: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.rounds += other.rounds
        self.kills += other.kills
        self.counted += other.counted
        self.wrong += other.wrong

    def __str__(self) -> str:
        kills = ", ".join(f"{times} {kind}" for kind, times in sorted(self.kills.items()))
        counted = ", ".join(f"{times} {what}" for what, times in sorted(self.counted.items()))
        return f"{self.rounds} rounds; kills: {kills}; {counted}; {len(self.wrong)} wrong"


class Book:
    """One set of books, with its robots, over a number of rounds."""

    def __init__(
        self, folder: Path, seed: int, robots: int, database: str, kinds: dict[str, int]
    ) -> None:
        self.kinds = kinds
        self.chance = random.Random(seed)
        names = [f"Robot {number}" for number in range(1, robots + 1)]
        house.prepare(folder, names, database)
        append_to(folder / "sysop.toml")
        house.open_a_tournament(folder / "sysop.toml")
        self.config = settings.load(folder / "sysop.toml")
        self.count = Count(self.config.database)
        self.tally = Tally()
        self.log = folder / "server.log"
        self.doors = [Doorway(self.config, node) for node in range(1, DOORS + 1)]
        self.robots = [
            self._robot(name, taste=TASTES_IN_TURN[number % len(TASTES_IN_TURN)])
            for number, name in enumerate(names)
        ]
        # On the screen that their host says they have.
        self.guests = [self._robot(door.name, phone.SYNCTERM) for door in self.doors]
        self.process: Process
        self.port = 0
        self.kind = ""  # of the round that is played

    def _robot(
        self, name: str, program: phone.Program | None = None, taste: str | None = None
    ) -> Robot:
        return Robot(
            name,
            "127.0.0.1",
            0,
            self.chance.getrandbits(32),
            pace=PACE,
            is_known=True,
            program=program,
            taste=taste,
            friend="Robot 1",
        )

    # The rounds.

    async def play(self, rounds: int) -> None:
        """Play these rounds; raises AssertionError at what is wrong."""
        for door in self.doors:
            await door.open()
        try:
            for _ in range(rounds):
                await self._round()
            await self._end_in_peace()
        finally:
            for door in self.doors:
                await door.close()
            await kill_started(self.config.board.data)
            with contextlib.suppress(ProcessLookupError, AttributeError):
                self.process.kill()

    async def _round(self) -> None:
        (kind,) = self.chance.choices(list(self.kinds), list(self.kinds.values()))
        self.kind = kind
        moment = self.chance.uniform(0, KEYS_EACH * len(self.robots))
        later = self.chance.uniform(0, 0.5)
        if kind == "started":
            closed.reopen(str(self.config.board.data))  # a round before may have ended in peace
            async with self._playing(self.guests):
                await self._until_each_pressed(KEYS_OF_A_RIDER)
                await self._end(kind, later)
        else:
            await self._start()
            if kind == "starting":
                await asyncio.sleep(later)
                await self._kill(kind)
            else:
                await self._listens()
                guests = self.guests if kind in RIDES else []
                async with self._playing([*self.robots, *guests]):
                    await self._until_pressed(moment)
                    await self._end(kind, later)
        await kill_started(self.config.board.data)  # by a caller who came back, say
        self._look()
        self.tally.rounds += 1

    async def _end(self, kind: str, later: float) -> None:
        """Kill what is to be killed."""
        if kind == "stopping":
            self.process.send_signal(signal.SIGTERM)
            await asyncio.sleep(later)
        if kind == "a rider":
            self.tally.kills["doors"] += self.chance.choice(self.doors).kill()
            await asyncio.sleep(later)
        if kind == "under doors":
            await self._until_each_pressed(KEYS_OF_A_RIDER)
        if kind == "started":
            await self._kill_started()
            self.tally.kills[kind] += 1
        else:
            await self._kill(kind)
        if kind in ("under doors", "started"):
            await self._until_each_pressed(KEYS_OF_A_RIDER)
            next_one = started_server(self.config.board.data)
            self.tally.counted["riders that went on"] += self._served_by(next_one)

    async def _kill_started(self) -> None:
        """Kill the server that a door has started: on a busy machine that takes a while."""
        for _ in range(int(STARTING / LOOKS_AGAIN)):
            if await kill_started(self.config.board.data):
                return
            await asyncio.sleep(LOOKS_AGAIN)
        raise AssertionError("no door has started a server")

    def _served_by(self, server: int) -> int:
        """Count the calls at the server with this process."""
        database = books_of(self.config.bank)
        database.open_existing()
        try:
            with database.reading(self.config.bank, datetime.now(UTC)) as desk:
                found = desk.connection.exec_driver_sql("SELECT process FROM calls").scalars()
                numbers = [int(process.rpartition(":")[2]) for process in found]
        finally:
            database.close()
        return numbers.count(server)

    @asynccontextmanager
    async def _playing(self, who: Sequence[Robot]) -> AsyncIterator[None]:
        """Let robots call; at the end no line is open, and no door process runs."""
        stop = asyncio.Event()
        for robot in self.robots:
            robot.port = self.port
        self.on = list(who)
        for guest, door in zip(self.guests, self.doors, strict=True):
            guest.port = door.port
        self.before = sum(robot.seen.keys for robot in self.on)
        tasks = [asyncio.create_task(robot.play(stop)) for robot in self.on]
        try:
            yield
        finally:
            stop.set()
            await asyncio.gather(*tasks)
            for door in self.doors:
                await door.has_ended()

    async def _until_pressed(self, keys: float) -> None:
        """Wait until the robots have pressed so many keys in this round."""
        latest = time.monotonic() + LONGEST
        while sum(robot.seen.keys for robot in self.on) - self.before < keys:
            assert time.monotonic() < latest, "the robots do not play"
            await asyncio.sleep(0.002)

    async def _until_each_pressed(self, keys: int) -> None:
        """Wait until each guest has pressed so many keys from now on, or a while: who listens to
        others at Vegas presses few."""
        latest = time.monotonic() + LONGEST_OF_A_RIDER
        wanted = [(guest.seen, guest.seen.keys + keys) for guest in self.guests]
        while any(seen.keys < number for seen, number in wanted):
            if time.monotonic() > latest:
                return
            await asyncio.sleep(0.002)

    # The server.

    async def _start(self) -> None:
        with self.log.open("wb") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", DOOR, "serve", "--config", str(self.config.path)),
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment(),
            )

    async def _listens(self) -> None:
        """Wait until the server tells its port."""
        self.port = 0
        assert self.process.stdout is not None
        async with asyncio.timeout(STARTING):
            while not self.port:
                line = (await self.process.stdout.readline()).decode()
                assert line, f"the server said no port: {self.log.read_text()}"
                found = re.search(r"port (\d+)\.$", line.strip())
                self.port = int(found[1]) if found else 0
        await asyncio.to_thread(self._no_call_is_left)

    def _no_call_is_left(self) -> None:
        """See that the new server has closed every call of those before, up to its last tick."""
        database = books_of(self.config.bank)
        database.open_existing()
        try:
            with database.reading(self.config.bank, datetime.now(UTC)) as desk:
                open_now = calls.open_calls(desk)
                short = desk.connection.exec_driver_sql(
                    "SELECT id FROM calls WHERE closed IS NOT NULL AND ticked < ticked_at_renewal"
                ).all()
        finally:
            database.close()
        ours = f":{self.process.pid}"
        left = [call for call in open_now if not call.process.endswith(ours)]
        assert not left, f"calls that the server before has left: {left}"
        assert not short, f"calls not charged to their last renewal: {short}"
        self.tally.counted["starts that left no call open"] += 1

    async def _kill(self, kind: str) -> None:
        if self.process.returncode is None:
            self.process.kill()
        status = await self.process.wait()
        self.tally.kills[kind if status == -signal.SIGKILL else f"{kind}, too late"] += 1

    async def _end_in_peace(self) -> None:
        """Start once more, let everybody come back, and stop in peace."""
        self.kind = "the end in peace"
        await self._start()
        await self._listens()
        async with self._playing(self.robots):
            await self._until_pressed(KEYS_EACH * len(self.robots))
            self.process.send_signal(signal.SIGTERM)
            assert await self.process.wait() == 0
        await asyncio.to_thread(_audit_by_command, self.config.path)
        with _reading(self._look()) as file:
            for table in ("calls", "transfers"):
                rows = file.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                self.tally.counted[table] += rows
        self.tally.counted["hands"] += self.count.hands
        self.tally.counted["hands left open"] += self.count.left_open
        self.tally.counted["of them played on"] += self.count.carried_on
        company = self.count.company
        self.tally.counted["messages kept"] += len(company.rows["message"])
        self.tally.counted["decisions at deals"] += company.decisions
        self.tally.counted.update(company.counted)
        self.tally.counted["doors started"] += sum(door.started for door in self.doors)
        for robot in (*self.robots, *self.guests):
            self.tally.counted["keys"] += robot.seen.keys
            self.tally.counted["settlements seen"] += len(robot.seen.settlements)
            self.tally.counted["deals and tournaments seen"] += len(robot.seen.entered)
            answers = [page for page in robot.seen.pages.values() if page.answers]
            self.tally.counted["answers"] += len(answers)

    # What is looked at.

    def _look(self) -> Path:
        """Look at what the server has left: the books, the screens, and the log.

        Returns a file with the books.
        """
        database = books_of(self.config.bank)
        database.open_existing()
        file = self.count.path = copied.to_read(self.config.bank, self.log.parent)
        self.count.look()
        try:
            with database.reading(self.config.bank, datetime.now(UTC)) as desk:
                findings = [*accounts_audit.audit(desk), *hands.audit(desk)[0]]
        finally:
            database.close()
        assert not findings, [str(finding) for finding in findings]
        everybody = [robot.seen for robot in (*self.robots, *self.guests)]
        for seen in everybody:
            forgive_half_screens(seen)
        found = check.against_the_books(file, everybody)
        wrong = but_for_the_way_in(found.wrong)
        assert not wrong, wrong
        self.tally.counted["glances at the clock"] += found.purses
        for seen in everybody:
            seen.purses.clear()  # each was so at its moment, and need not be so again
        data = self.config.board.data
        for log in (self.log, data / FILE):
            said = log.read_text() if log.exists() else ""
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


@contextmanager
def _reading(database: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(database)) as file:
        yield file


def _audit_by_command(config: Path) -> None:
    """Let both programs audit the books, as a sysop does."""
    for package in ("door", "timebank"):
        audit = subprocess.run(
            [
                *(sys.executable, "-c", f"from {package}.cli.main import main; main()"),
                *("audit", "--config", str(config)),
            ],
            capture_output=True,
            check=False,
            env=environment(),
            text=True,
        )
        assert (audit.returncode, audit.stderr) == (0, ""), audit.stdout


def run_book(
    folder: Path, seed: int, rounds: int, robots: int, database: str = "", kind: str = ""
) -> Tally:
    """Play rounds over fresh books; what is wrong is in the tally, and in `WRONG` with every word.

    They are in `folder`, or in a `database` on a server that has nothing in it. All rounds are of
    one `kind`, if one is given.
    """
    book = Book(folder, seed, robots, database, {kind: 1} if kind else KINDS)
    try:
        asyncio.run(book.play(rounds))
    except Exception as error:
        where = f"seed {seed}, round {book.tally.rounds + 1} ({book.kind or 'before it'})"
        file = folder / WRONG
        file.write_text(f"{where}\n\n{''.join(traceback.format_exception(error))}", "utf-8")
        words = f"{type(error).__name__}: {error}"
        rest = f" ... all of it is in {WRONG} there" if len(words) > LONGEST_WORDS else ""
        book.tally.wrong.append(f"{where}, in {folder}: {words[:LONGEST_WORDS]}{rest}")
    return book.tally
