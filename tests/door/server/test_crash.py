"""Real servers, killed and stopped, and two processes on the same books."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from door.server.server import CLOSING_SECONDS
from tests.door.attention import Stopwatch
from tests.door.playing import Table
from tests.door.processes import (
    HIT,
    INSURANCE,
    Served,
    arrives,
    open_a_hand,
    served,
    sit_down,
    stand,
)
from tests.long import long
from tests.terminal import PATIENCE
from tests.world import log_on

# Killed


async def test_a_server_that_is_killed_in_the_middle_of_a_hand_loses_nothing(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as board:
        board.enter("Ada")
        ada = await sit_down(board, "Ada")
        await open_a_hand(ada, coins=3)
        mine, dealers, seal = ada.cards("Your hand"), ada.cards("Dealer"), await ada.seal()
        board.process.kill()
        assert await board.ends() == -signal.SIGKILL
        await ada.terminal.until_closed()
        assert board.balances("Ada")["stake"] == 180

        await board.serve()
        await calls_back(ada)
        assert (ada.cards("Your hand"), ada.cards("Dealer"), await ada.seal()) == (
            mine,
            dealers,
            seal,
        )
        await stand(ada)
        assert board.balances("Ada")["stake"] == 0
        assert ada.journal()[-1] == "stay"
        ((net, hands),) = sums(board)
        assert ada.online == 3600 + net - elapsed(board)
        assert hands == ada.hands_dealt


async def calls_back(ada: Table) -> None:
    """Log on again and find the hand."""
    ada.terminal = await ada.board.call()
    await log_on(ada.terminal, ada.name)
    assert await arrives(ada) in (INSURANCE, HIT)


def sums(board: Served) -> list[tuple[int, int]]:
    with board.books() as desk:
        rows = desk.connection.exec_driver_sql(
            "SELECT coalesce(sum(won - lost), 0), count(*) FROM rounds"
        )
        return [tuple(row) for row in rows]


def elapsed(board: Served) -> int:
    with board.books() as desk:
        return desk.connection.exec_driver_sql(
            "SELECT balance FROM accounts WHERE kind = 'elapsed'"
        ).scalar_one()


# Stopped


@pytest.mark.parametrize("how", [signal.SIGTERM, long(signal.SIGINT)])
async def test_a_server_ends_cleanly_on_sigterm(tmp_path: Path, how: signal.Signals) -> None:
    async with served(tmp_path) as board:
        board.enter("Ada")
        ada = await sit_down(board, "Ada")
        await open_a_hand(ada, coins=3)
        mine = ada.cards("Your hand")
        stranger = await board.call()
        await stranger.until("Name:")
        watch = Stopwatch(board.process.pid)
        board.process.send_signal(how)
        end = asyncio.ensure_future(watch.until_the_end(board.process, PATIENCE))
        await ada.terminal.until_closed()
        assert "The board is closing." in ada.terminal.picture
        assert "Your hand waits for you on the table." in ada.terminal.picture
        await stranger.until_closed()
        assert "The board is closing." in stranger.picture
        assert await end < CLOSING_SECONDS  # no caller had to be forced out
        assert await board.ends() == 0
        await board.serve()
        await calls_back(ada)
        assert ada.cards("Your hand") == mine
        await stand(ada)


@pytest.mark.long
async def test_signals_are_obeyed_as_soon_as_the_board_says_that_it_is_open(
    tmp_path: Path,
) -> None:
    for how in (signal.SIGHUP, signal.SIGTERM):
        async with served(tmp_path) as board:
            board.process.send_signal(how)
            if how == signal.SIGHUP:
                await board.logs("was read again")
                board.process.terminate()
            assert await board.ends() == 0


# Two on the same account


BET = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from door.config.config import load
from timebank.wagers import rounds, wagers
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.errors import Refused

config = load(Path(sys.argv[1]))
database = SqliteDatabase(config.database)
database.open()
wager = rounds.Wager(game="black-jack-for-time", amounts={1: 2400}, coin=60, turns_limit=None,
                   shoe_id=None, cut=None, rules={}, action={"action": "bet"})
lost = rounds.Settlement(lost=2400, returned=0, won=0, outcome="void", result={}, final=True)
print("ready", flush=True)
sys.stdin.readline()
try:
    with database.transaction(config.bank, datetime.now(UTC)) as desk:
        sitter = wagers.Sitter(int(sys.argv[3]), int(sys.argv[2]), 0)
        wagers.place(desk, wager, {1: sitter}, {1: lost})
    print("placed")
except Refused as refused:
    print(refused)
"""


async def test_two_processes_that_stake_the_same_coins_at_once_stake_them_once(
    tmp_path: Path,
) -> None:
    """Forty minutes of sixty cannot be lost twice, whatever two processes believe."""
    async with served(tmp_path) as board:
        board.enter("Ada")
        ada = await sit_down(board, "Ada")
        with board.books() as desk:
            rows = desk.connection.exec_driver_sql("SELECT max(id), caller_id FROM calls")
            call, caller_id = rows.one()
        racers = [
            await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", BET, str(board.config.path), str(call), str(caller_id)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            for _ in range(2)
        ]
        for racer in racers:
            assert racer.stdout is not None
            assert await racer.stdout.readline() == b"ready\n"
        outputs = await asyncio.gather(*(racer.communicate(b"go\n") for racer in racers))
        answers = sorted(out.decode().strip() for out, _ in outputs)
        assert answers[1] == "placed"
        assert answers[0].startswith("You have ")
        assert answers[0].endswith("1 minute must stay in your pot.")
        assert ada.online <= 1200
        assert ada.moved() == [("stake", 2400), ("lost", 2400)]
