"""A real `door serve` with a full disk, or books locked by another program."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from door.server import server_note
from tests.door.attention import Stopwatch
from tests.door.hosting import HANG_UP, Host, hosted
from tests.door.processes import (
    INSURANCE,
    OPEN_ALL_DAY,
    Served,
    command,
    open_a_hand,
    question,
    served,
    stand,
)
from tests.faults import trouble
from tests.faults.points import (
    POINTS,
    SOON,
    UNWRITTEN,
    AtTheWindow,
    BeforeABet,
    InAHand,
    LogsOn,
    Point,
    all_try,
    household,
)
from tests.faults.trouble import Trouble
from tests.long import long
from tests.terminal import PATIENCE

FEW = (InAHand, AtTheWindow, LogsOn)
TEN_SECONDS = 10.0  # the limit of init systems, and the board's promise
KILLED_AFTER = 10.0  # seconds after its first signal for which Synchronet waits for a door
TOML = f"""{OPEN_ALL_DAY}
[games.black-jack-for-time]
turns_per_day = 0
"""


class Count:
    """The durable rows of the books at the last look: all of them must still be there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.last = (0, "")  # number and digest of the last transfer
        self.rows: dict[str, int] = {}
        self.settled: set[int] = set()
        self.open: dict[int, int] = {}  # hands in play, and how many actions each has

    def look(self) -> None:
        """Compare everything; raise AssertionError for a lost or reduced row."""
        with contextlib.closing(sqlite3.connect(self.path, timeout=10)) as file:
            (whole,) = file.execute("PRAGMA integrity_check").fetchone()
            assert whole == "ok", whole
            file.execute("BEGIN")
            self._compare(file)

    def _compare(self, file: sqlite3.Connection) -> None:
        number, digest = self.last
        if number:
            rows = file.execute("SELECT digest FROM transfers WHERE id = ?", (number,)).fetchone()
            assert rows == (digest,), f"transfer {number} was durable and is gone"
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


def like_anybody() -> tuple[str, ...]:
    """Return the words that run a command without root's right to write any file."""
    if os.geteuid() != 0:
        return ()
    words = ("setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override")
    known = shutil.which("setpriv") is not None
    if not known or subprocess.run((*words, "true"), capture_output=True, check=False).returncode:
        pytest.skip("root may write into any file, and cannot be kept from it here")
    return words


def minutes_are_whole(points: Sequence[Point], began: float) -> None:
    """Check that each caller got one grant and was charged at most the elapsed time."""
    went_by = time.monotonic() - began
    for point in points:
        moved = point.ledger
        assert [amount for kind, amount in moved if kind == "grant"] == [3600]
        assert sum(amount for kind, amount in moved if kind == "elapsed") <= went_by + 1


async def carry_on(board: Served, how: Trouble, kinds: Iterable[type[Point]] = POINTS) -> None:
    """Have every caller meet the trouble at their point and go on afterwards."""
    began = time.monotonic()
    points = await household(board, kinds)
    count = Count(board.config.database)
    count.look()
    with how(board):
        await all_try(points)
    count.look()
    for point in points:
        await point.goes_on()
    count.look()
    minutes_are_whole(points, began)


@pytest.mark.long
@pytest.mark.parametrize("how", [trouble.no_room, trouble.exclusive_lock])
async def test_callers_read_of_the_trouble_wait_and_go_on(tmp_path: Path, how: Trouble) -> None:
    async with served(tmp_path, toml=TOML) as board:
        await carry_on(board, how)


@pytest.mark.long
async def test_a_really_full_disk_is_reported_and_recovers(tmp_path: Path) -> None:
    with trouble.small_disk(tmp_path / "data"):
        async with served(tmp_path, toml=TOML) as board:
            await carry_on(board, trouble.full_disk, FEW)


@pytest.mark.parametrize(
    ("how", "kinds"),
    [
        (trouble.no_room, [InAHand]),
        long(trouble.immediate_lock, [BeforeABet, InAHand]),
    ],
)
async def test_a_server_that_cannot_write_warns_its_callers_and_ends_in_time(
    tmp_path: Path, how: Trouble, kinds: list[type[Point]]
) -> None:
    async with served(tmp_path, toml=TOML) as board:
        points = await household(board, kinds)
        count = Count(board.config.database)
        count.look()
        with how(board):
            for point in points:
                point.tries()
            watch = Stopwatch(board.process.pid)
            board.process.terminate()
            assert await watch.until_the_end(board.process, PATIENCE) < TEN_SECONDS
            assert await board.ends() == 0
        for point in points:
            await point.terminal.until_closed()
            await point.sees("The board is closing.")
        count.look()
        await board.serve()
        for point in points:
            await point.finds_all_again()
        count.look()
        for point in points:
            assert [kind for kind, _ in point.ledger].count("grant") == 1


@pytest.mark.long
async def test_a_server_with_read_only_books_says_so_and_changes_nothing(
    tmp_path: Path,
) -> None:
    anybody = like_anybody()
    async with served(tmp_path, toml=TOML) as board:
        (point,) = await household(board, [InAHand])
    books = board.config.database
    before = books.read_bytes()
    books.chmod(0o444)
    refused = await asyncio.create_subprocess_exec(
        *anybody,
        *(command("door"), "serve", "--config", board.config.path),
        stderr=subprocess.PIPE,
    )
    _, error = await refused.communicate()
    assert refused.returncode != 0
    assert (
        f"{books} is yours, and its mode (-r--r--r--) does not let you write it" in error.decode()
    )
    assert books.read_bytes() == before
    books.chmod(0o600)
    async with served(tmp_path, toml=TOML) as point.board:
        await point.finds_all_again()


def started(host: Host) -> trouble.Started:
    """The server that a door has started."""
    server = server_note.server_in(host.config.board.data)
    assert server is not None
    return trouble.Started(host.config, trouble.HasNumber(server.process))


@pytest.mark.long
async def test_a_door_process_informs_its_caller_and_continues(tmp_path: Path) -> None:
    async with hosted(tmp_path) as host:
        visit = await host.on_terminal("--dropfile", str(host.door32()))
        await visit.comes_in()
        await visit.sits_down()
        await open_a_hand(visit)
        count = Count(host.config.database)
        count.look()
        for how in (trouble.no_room, trouble.immediate_lock):
            with how(started(host)):
                visit.presses("n" if await question(visit) == INSURANCE else "s")
                await visit.terminal.until("Let's try again.", SOON)
                assert visit.terminal.shows(UNWRITTEN)
            assert "Traceback" not in visit.terminal.transcript
            visit.presses(" ")
            await question(visit)
        await stand(visit)
        count.look()
        await visit.gets_up()
        assert await visit.goes() == 0
        count.look()
        host.expected = "could not be committed"


@pytest.mark.long
@pytest.mark.parametrize("is_deciding", [False, True])
async def test_a_hang_up_does_not_make_the_host_wait_for_locked_books(
    tmp_path: Path, *, is_deciding: bool
) -> None:
    async with hosted(tmp_path) as host:
        visit = await host.on_terminal("--dropfile", str(host.door32()))
        await visit.comes_in()
        await visit.sits_down()
        await open_a_hand(visit)
        count = Count(host.config.database)
        count.look()
        host.expected = "locked"
        with trouble.immediate_lock(started(host)):
            if is_deciding:
                visit.presses("n" if await question(visit) == INSURANCE else "s")
                await visit.terminal.until("Please wait", SOON)
            visit.gets(HANG_UP)
            assert await visit.ends(within=KILLED_AFTER) == 0
        count.look()
        again = await host.on_terminal("--dropfile", str(host.door32()))
        await again.prompt("Press any key")
        again.presses(" ")
        if is_deciding:
            await again.prompt("oodbye")  # the server has stored the decision meanwhile
        else:
            await question(again)
            await stand(again)
            await again.gets_up()
        assert await again.goes() == 0
        count.look()
