"""Books as large as after years of play, in a minute: `python -m bench.large FILE TRANSFERS`.

They contain everything a board would have written: calls, days, grants, shoes, hands with their
journals, transfers with their chain of digests; `timebank audit` and `door audit` pass. Hands
repeat a few really dealt ones, because dealing a million takes longer than writing them.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import sys
from collections.abc import Iterator
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

from bench.bettors import COIN, GAME, RULES, settings_of
from bench.board import NOON, name_of
from door.games.engine import shuffle
from door.games.engine.journaled import settlement_of
from door.games.registry import GAMES
from timebank.callers import hand_totals
from timebank.ledger.chain import GENESIS, digest
from timebank.ledger.reasons import (
    BetPlaced,
    Earned,
    Granted,
    LeftOfDay,
    Lost,
    Reason,
    Returned,
    Used,
    Won,
)
from timebank.ledger.reasons import encode as encode_reason
from timebank.ledger.schema import CALLER_ACCOUNTS, SYSTEM_ACCOUNTS, stamp
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.names import names
from timebank.wagers.rounds import Settlement, encode

HANDS_A_CALL = 15
HAND_SECONDS = 20
GRANT = 3600
# Different ones: more than the shuffles that the program remembers, as in books of real hands.
DEALT_HANDS = 400
ALLOTMENT, ELAPSED, FORFEIT = 1, 2, 3
BATCH = 2000  # calls


class Hand(NamedTuple):
    """A hand that was really dealt, and stood or ended by itself."""

    seed: bytes
    seal: str
    dealt: int  # cards
    used: int
    stood: bool
    settlement: Settlement

    @property
    def rows(self) -> int:
        """The number of transfers that settle it."""
        settlement = self.settlement
        return sum(amount > 0 for amount in (settlement.lost, settlement.returned, settlement.won))


def main() -> None:
    path, transfers = Path(sys.argv[1]), int(sys.argv[2])
    print(write(path, transfers), "transfers")


def write(path: Path, transfers: int) -> int:
    """Write about this many transfers into a new database, the last on the day before NOON.

    Returns the exact number.
    """
    database = SqliteDatabase(path)
    database.open()
    database.close()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        with _without_indexes(connection):
            writer = _Writer(connection, transfers)
            writer.write()
        connection.execute("PRAGMA journal_mode = WAL")
    with database.transaction(settings_of(path), NOON) as desk:
        hand_totals.mend(desk)
    database.close()
    return writer.last


@contextlib.contextmanager
def _without_indexes(connection: sqlite3.Connection) -> Iterator[None]:
    """Remove indexes and triggers for balances, which are faster restored at the end."""
    rows = connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        " AND (type = 'index' OR type = 'trigger' AND tbl_name = 'transfers')"
    ).fetchall()
    for kind, name, _ in rows:
        connection.execute(f"DROP {kind} {name}")
    yield
    for _, _, sql in rows:
        connection.execute(sql)


class _Writer:
    """The rows of one board, day after day."""

    def __init__(self, connection: sqlite3.Connection, transfers: int) -> None:
        self._connection = connection
        self._wanted = transfers
        self._callers = range(1, max(20, transfers // 10_000) + 1)
        self._dealt = _hands()
        self._hands = cycle(self._dealt)
        self._balances: dict[int, int] = dict.fromkeys(SYSTEM_ACCOUNTS, 0)
        self._house = 0
        # Of the day of each caller.
        self._earned: dict[int, int] = {}
        self._digest = GENESIS
        self.last = 0
        self._calls, self._rounds = 0, 0
        self._rows: dict[str, list[tuple[Any, ...]]] = {}

    def write(self) -> None:
        self._register()
        for day in range(-self._days(), 0):
            for caller in self._callers:
                self._call(caller, day)
                if self._calls % BATCH == 0:
                    self._flush()
        self._flush()
        run = self._connection.execute
        self._connection.executemany(
            "UPDATE accounts SET balance = ? WHERE id = ?",
            [(balance, account) for account, balance in self._balances.items()],
        )
        run("UPDATE callers SET day = (SELECT max(day) FROM days WHERE caller_id = callers.id)")

    def _days(self) -> int:
        """Return the number of days for this many callers to make this many transfers."""
        rows = sum(2 + hand.rows for hand in self._dealt)
        a_call = 2 + HANDS_A_CALL * rows / len(self._dealt)
        return max(1, round(self._wanted / (len(self._callers) * a_call)))

    def _register(self) -> None:
        began = stamp(NOON - timedelta(days=self._days()))
        for caller in self._callers:
            name = name_of(caller)
            self._add("callers", caller, name, names.fold(name), "hash", 0, began, began, "{}")
            for kind in CALLER_ACCOUNTS:
                account = len(self._balances) + 1
                self._balances[account] = 0
                self._add("accounts", account, kind, caller, None, "second", 0)
        self._house = len(self._balances) + 1
        self._balances[self._house] = 0
        self._add("accounts", self._house, "house", None, GAME, "second", 0)

    def _account(self, caller: int, kind: str) -> int:
        first = len(SYSTEM_ACCOUNTS) + 1
        return first + (caller - 1) * len(CALLER_ACCOUNTS) + CALLER_ACCOUNTS.index(kind)

    def _call(self, caller: int, number: int) -> None:
        """Write a call of one caller on one day, from the grant to the last second."""
        day = (NOON + timedelta(days=number)).date().isoformat()
        before = (NOON + timedelta(days=number - 1)).date().isoformat()
        at = stamp(NOON + timedelta(days=number, minutes=caller))
        online = self._account(caller, "online")
        self._calls += 1
        call = self._calls
        entry: list[tuple[int, int, int, Reason, int | None]] = []
        left = self._balances[online]
        earned = min(left, max(0, self._earned.pop(caller, 0)))
        if left > earned:
            entry.append((online, FORFEIT, left - earned, LeftOfDay(before), None))
        if earned:
            bank = self._account(caller, "bank")
            entry.append((online, bank, earned, Earned(before, banked=True), None))
        grant = self.last + len(entry) + 1
        self._add("days", caller, day, grant - 1, grant, 0)
        entry.append((ALLOTMENT, online, GRANT, Granted(day), None))
        self._entry(entry, call, at)
        used = 0
        for _ in range(HANDS_A_CALL):
            at += HAND_SECONDS
            used += HAND_SECONDS
            self._hand(caller, call, day, at)
        self._add(
            "calls", call, caller, 1 + call % 16, "p", "192.0.2.1", at - used, at, "hung up",
            used, used, 0, at, used,
        )  # fmt: skip

    def _hand(self, caller: int, call: int, day: str, at: int) -> None:
        online, stake = self._account(caller, "online"), self._account(caller, "stake")
        hand = next(self._hands)
        self._rounds += 1
        number = self._rounds
        settlement = hand.settlement
        self._earned[caller] = self._earned.get(caller, 0) + settlement.won - settlement.lost
        self._add("shoes", number, caller, GAME, 1, hand.seed, hand.seal, "", at, at)
        self._add(
            "rounds", number, caller, GAME, day, call, number, 0, COIN, COIN, _RULES, at,
            settlement.lost, settlement.returned, settlement.won,
            at, settlement.outcome, encode(settlement.result),
        )  # fmt: skip
        self._add("actions", number, 0, _BET, hand.dealt, call, at)
        if hand.stood:
            self._add("actions", number, 1, _STAY, hand.used, call, at)
        before = [
            (online, ELAPSED, HAND_SECONDS, Used(1), None),
            (online, stake, COIN, BetPlaced(GAME), number),
        ]
        after = [
            (source, target, amount, reason(GAME, settlement.outcome), number)
            for source, target, amount, reason in (
                (stake, self._house, settlement.lost, Lost),
                (stake, online, settlement.returned, Returned),
                (self._house, online, settlement.won, Won),
            )
            if amount
        ]
        if hand.stood:
            self._entry(before, call, at)
            self._entry(after, call, at)
        else:
            self._entry([*before, *after], call, at)

    def _entry(
        self, movements: list[tuple[int, int, int, Reason, int | None]], call: int, at: int
    ) -> None:
        size = len(movements)
        for place, (source, target, amount, reason, hand) in enumerate(movements, 1):
            self.last += 1
            numbers = (self.last, place, size, at, amount, source, target, call, hand)
            kind, facts = reason.kind, encode_reason(reason)
            self._digest = digest(self._digest, *numbers, kind, facts)
            self._balances[source] -= amount
            self._balances[target] += amount
            self._add("transfers", *numbers, kind, facts, self._digest)

    def _add(self, table: str, *values: object) -> None:
        self._rows.setdefault(table, []).append(values)

    def _flush(self) -> None:
        run = self._connection.execute
        run("BEGIN")
        for table, columns in COLUMNS.items():
            rows = self._rows.pop(table, [])
            places = ", ".join("?" * len(columns.split(",")))
            self._connection.executemany(f"INSERT INTO {table} ({columns}) VALUES ({places})", rows)
        run("COMMIT")


# The columns that `_Writer._add` fills in each table.
COLUMNS = {
    "callers": "id, name, fold, password_hash, locked, created, last_call, preferences",
    "accounts": "id, kind, caller_id, game, unit, balance",
    "calls": "id, caller_id, node, process, address, opened, closed, reason, ticked, charged,"
    " waived, renewed, ticked_at_renewal",
    "days": "caller_id, day, after, grant_id, owed",
    "shoes": "id, caller_id, game, decks, seed, seal, cut, opened, closed",
    "rounds": "id, caller_id, game, day, call_id, shoe_id, start_position, bet, coin, rules, dealt,"
    " lost, returned, won, settled, outcome, result",
    "actions": "round_id, sequence, action, cards_used, call_id, at",
    "transfers": "id, place, size, at, amount, source, target, call_id, round_id, kind, facts,"
    " digest",
}
_RULES = encode(RULES)
_BET = json.dumps({"action": "bet", "stake": COIN}, separators=(",", ":"))
_STAY = json.dumps({"action": "stay"}, separators=(",", ":"))


def _hands() -> list[Hand]:
    """Deal hands from known seeds; players decline insurance, and stand."""
    kind = GAMES[GAME].kind
    hands: list[Hand] = []
    number = 0
    while len(hands) < DEALT_HANDS:
        number += 1
        seed = number.to_bytes(shuffle.SEED_BYTES, "big")
        cards = kind.cards(seed, "", 1, 0)
        dealt, _ = kind.deal(RULES, cards, [COIN], 1)
        round_ = dealt
        acts = []
        while not round_.over:
            acts.append(kind.absent(round_))
            round_, _ = kind.act(round_, acts[-1])
        if [act.word for act in acts] not in ([], ["stay"]):  # an ace: insurance was declined
            continue
        settlement = settlement_of(kind, None, round_, 0)
        assert settlement is not None  # it is over
        hands.append(
            Hand(
                seed, shuffle.seal(seed), dealt.cards_used, round_.cards_used, bool(acts),
                settlement,
            )
        )  # fmt: skip
    return hands


if __name__ == "__main__":
    main()
