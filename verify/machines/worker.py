"""A process of the bank: callers who bet, settle and move their minutes, through the one writer.

Any process may act for any caller, so that they meet on the same accounts. What an operation does
is decided within its transaction, by what it finds there. With it a line goes into the sysop's log,
by which it is known again: its key, and the numbers of its transfers.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import select

from door.call.board_clock import BoardClock
from door.call.books import Books
from door.clock import SystemClock
from timebank import errors
from timebank.callers import callers, sysop_log
from timebank.calls.calls import close_call, live_call, open_call, touch
from timebank.ledger import transfers
from timebank.ledger.database import Desk
from timebank.ledger.engines import books_of
from timebank.ledger.purse import Receipt
from timebank.ledger.schema import accounts
from timebank.ledger.schema import calls as calls_table
from timebank.settings.place import read_place
from timebank.settings.settings import BankLimits, BankSettings
from timebank.wagers import journal, wagers
from timebank.wagers.rounds import FIRST_SEAT, Move, Settlement, Wager
from timebank.window import teller
from verify.machines.history import FAILED, OK, UNKNOWN, Pen
from verify.machines.lies import LIES

BY = "machines"
GAME = "black-jack-for-time"
MINUTE = 60
EVER = 10**6 * MINUTE
READS = 0.1  # of all operations
PAUSE = 0.25  # seconds, after an answer that nothing can be done just now

Facts = dict[str, Any]


def settings_of(url: str, folder: Path) -> BankSettings:
    """Give the settings of a bank whose day is long, so that there is always something to do."""
    return BankSettings(
        zone=ZoneInfo("UTC"),
        events=(),
        minutes_per_day=1200,
        mode="built-in",
        thebank_ext=None,
        limits=BankLimits(EVER, EVER, EVER, EVER, EVER, keep=0, known_days=0),
        database=folder / "books",
        server=read_place(url) if "://" in url else None,
    )


def prepare(url: str, folder: Path, count: int) -> list[int]:
    """Lay the books, and register callers; returns their numbers."""
    settings = settings_of(url, folder)
    database = books_of(settings)
    database.open()
    try:
        with database.transaction(settings, SystemClock().now()) as desk:
            return [callers.register(desk, f"Caller {n}", "").id for n in range(1, count + 1)]
    finally:
        database.close()


# What is done.


def step(desk: Desk, key: str, caller_id: int, chance: random.Random, others: list[int]) -> Facts:
    """Do one thing for a caller, whatever is to be done next, and leave its mark."""
    before = transfers.head(desk).number
    what, _ = _do(desk, caller_id, chance, others)
    head = transfers.head(desk)
    own = before + 1 if head.number > before else 0
    sysop_log.note(desk, BY, caller_id, f"{key} {own} {head.number if own else 0}")
    return {
        "what": what,
        "seen": head.number,
        "digest": head.digest,
        "own": own,
        "balances": _balances(desk, caller_id),
    }


def look(desk: Desk) -> Facts:
    """Read all balances, and where the chain ended then."""
    head = transfers.head(desk)
    return {"seen": head.number, "digest": head.digest, "balances": _balances(desk, None)}


def _balances(desk: Desk, caller_id: int | None) -> dict[int, int]:
    wanted = select(accounts.c.id, accounts.c.balance)
    if caller_id is not None:
        wanted = wanted.where(accounts.c.caller_id == caller_id)
    return {row.id: row.balance for row in desk.connection.execute(wanted)}


def _do(
    desk: Desk, caller_id: int, chance: random.Random, others: list[int]
) -> tuple[str, Receipt | None]:
    call_id = live_call(desk, caller_id)
    if call_id is None:
        return "open", open_call(desk, caller_id, 1, BY, "192.0.2.1", True).receipt
    ticked = (
        1
        + desk.connection.execute(
            select(calls_table.c.ticked).where(calls_table.c.id == call_id)
        ).scalar_one()
    )
    stored = journal.round_in_play(desk, caller_id)
    if stored is not None:
        return _settle(desk, stored, caller_id, call_id, ticked, chance)
    ways: Mapping[str, tuple[int, Callable[[], Any]]] = {
        "bet": (8, lambda: _bet(desk, caller_id, call_id, ticked, chance)),
        "deposit": (2, lambda: teller.deposit(desk, call_id, ticked, MINUTE)),
        "withdraw": (2, lambda: teller.withdraw(desk, call_id, ticked, MINUTE)),
        "transfer": (
            3,
            lambda: teller.transfer(desk, call_id, ticked, chance.choice(others), MINUTE, ""),
        ),
        "touch": (1, lambda: touch(desk, call_id, ticked)),
        "close": (1, lambda: close_call(desk, call_id, ticked, "hung up")),
    }
    (what,) = chance.choices(list(ways), [weight for weight, _ in ways.values()])
    return what, ways[what][1]()


def _bet(desk: Desk, caller_id: int, call_id: int, ticked: int, chance: random.Random) -> Receipt:
    stake = chance.randint(1, 3) * MINUTE
    wager = Wager(
        game=GAME,
        amounts={FIRST_SEAT: stake},
        coin=MINUTE,
        turns_limit=None,
        shoe_id=None,
        cut=None,
        rules={"decks": 1},
        action={"action": "bet", "stake": stake},
    )
    return wagers.place(desk, wager, _seat(caller_id, call_id, ticked), {}).receipt


def _settle(
    desk: Desk,
    stored: journal.StoredRound,
    caller_id: int,
    call_id: int,
    ticked: int,
    chance: random.Random,
) -> tuple[str, Receipt]:
    stake, wins = stored.stake, chance.random() < 0.5
    settlement = Settlement(
        *((0, stake, stake, "win") if wins else (stake, 0, 0, "lose")),
        {"net": stake if wins else -stake},
        True,
    )
    move = Move(stored.id, 1, {"action": "stay"}, 4)
    seats = _seat(caller_id, call_id, ticked)
    return "settle", wagers.act(desk, move, seats, {FIRST_SEAT: settlement}).receipt


def _seat(caller_id: int, call_id: int, ticked: int) -> dict[int, wagers.Sitter]:
    return {FIRST_SEAT: wagers.Sitter(caller_id, call_id, ticked)}


# The process.


class Worker:
    def __init__(self, told: Mapping[str, Any]) -> None:
        folder = Path(told["folder"])
        self._name: str = told["name"]
        self._callers: list[int] = told["callers"]
        self._hands: int = told["hands"]
        self._pace: float = told["pace"]
        self._settings = settings_of(told["url"], folder)
        self._chance = random.Random(told["seed"])
        self._pen = Pen(folder / f"{self._name}.history")
        self._number = 0
        self._stop = asyncio.Event()

    async def work(self) -> None:
        """Work until a SIGTERM comes."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._stop.set)
        database = books_of(self._settings)
        books = Books(database, lambda: self._settings, BoardClock(SystemClock()))
        try:
            hands = (self._hand(books, READS) for _ in range(self._hands))
            await asyncio.gather(*hands, self._hand(books, 1))
        finally:
            books.hurry(1)
            await books.close()
            database.close()
            self._pen.close()

    async def _hand(self, books: Books, reads: float) -> None:
        """Ask for one thing after the other; `reads` of them read, all of them one who only does.

        That one is never held up by what is being found out.
        """
        while not self._stop.is_set():
            if self._chance.random() < reads:
                ways = ("read beside", "read in turn")
                way = ways[0] if reads == 1 else self._chance.choice(ways)
                run = books.read if way == "read beside" else books.run
                done = await self._ask(run, way, lambda _key: look)
            else:
                done = await self._ask(books.run, "step", self._next_step)
            pause = self._pace if done and reads < 1 else PAUSE
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), pause)

    def _next_step(self, key: str) -> Callable[[Desk], Facts]:
        caller_id = self._chance.choice(self._callers)
        others = [each for each in self._callers if each != caller_id]
        seed = self._chance.getrandbits(32)
        return lambda desk: step(desk, key, caller_id, random.Random(seed), others)

    async def _ask(
        self, run: Callable[..., Any], what: str, make: Callable[[str], Callable[[Desk], Facts]]
    ) -> bool:
        """Ask for one thing, and write down what was answered; False when nothing can be done."""
        self._number += 1
        key = f"{self._name}.{self._number}"
        operation = make(key)
        self._pen.asks(key, what)
        try:
            facts = await run(operation)
        except errors.OutcomeUnknown as error:
            self._pen.answers(key, UNKNOWN, said=str(error))
            return False
        except (errors.BooksFailed, errors.DatabaseRefused) as error:
            self._pen.answers(key, FAILED, said=str(error))
            return False
        except errors.Refused as refused:
            self._pen.answers(key, FAILED, said=str(refused))
        else:
            self._pen.answers(key, OK, **facts)
        return True


def main() -> None:
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
    told = json.loads(sys.argv[1])
    if told["lie"]:
        LIES[told["lie"]]()
    asyncio.run(Worker(told).work())


if __name__ == "__main__":
    main()
