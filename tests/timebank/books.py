"""Books for a test: a real database in a fast folder, and clocks that only the test moves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, event

from timebank.audit.accounts import audit
from timebank.callers import callers
from timebank.callers.notices import note_seen
from timebank.calls.calls import LEASE_SECONDS, close_call, open_call, renew, touch
from timebank.ledger import dialects, sql
from timebank.ledger.database import Database, Desk
from timebank.ledger.engines import books_of
from timebank.ledger.play_accounts import PlayMoney
from timebank.ledger.purse import Purse, Receipt
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.settings.schedule import Event
from timebank.settings.settings import BankSettings
from timebank.wagers import wagers
from timebank.wagers.play_money import sit_down
from timebank.wagers.rounds import FIRST_SEAT, Move, Settlement, Wager
from timebank.wagers.wagers import Played, Sitter
from timebank.window.teller import withdraw

DAILY = frozenset(range(7))
MAIL_HOUR = Event("Mail hour", time(3), DAILY, 60)
GAME = "black-jack-for-time"
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)

WIN = "win"
LOSE = "lose"


def settings_for(folder: Path, **changes) -> BankSettings:
    standard = BankSettings(
        zone=ZoneInfo("UTC"),
        events=(MAIL_HOUR,),
        minutes_per_day=60,
        mode="built-in",
        thebank_ext=None,
        database=folder / "board.sqlite3",
    )
    return replace(standard, **changes)


def lay_new_books(path: Path) -> None:
    """Create new books where there are none, by copying prepared ones."""
    if path.parent.exists() and not path.exists():
        path.write_bytes(_new_books())
        path.chmod(0o600)


@contextmanager
def statements_of(database: Database) -> Iterator[list[tuple[Connection, str, Any]]]:
    """Record the statements run on books, with connection and values."""
    statements: list[tuple[Connection, str, Any]] = []

    def hear(connection, _cursor, text, values, *_):
        statements.append((connection, text, values))

    def execute(connection, text, values):
        statements.append((connection, text, values))
        return run(connection, text, values)

    run = sql._executed  # which SQLAlchemy does not hear of
    event.listen(database.engine, "before_cursor_execute", hear)
    try:
        with mock.patch.object(sql, "_executed", execute):
            yield statements
    finally:
        event.remove(database.engine, "before_cursor_execute", hear)


@cache
def _new_books() -> bytes:
    with TemporaryDirectory() as folder:
        database = SqliteDatabase(Path(folder, "new"))
        database.open()
        database.close()
        return database.path.read_bytes()


def as_written(connection):
    """Return an SQL text as SQLite reads it, with its values inserted."""
    run = dialects.runner(connection)
    if connection.dialect.name == "sqlite":
        return run
    return lambda text, values=(): run(_in_postgres(text), values)


def _in_postgres(text: str) -> str:
    text = text.replace("%", "%%")
    dropped = re.fullmatch(r"DROP TRIGGER (\w+)", text)
    if dropped:
        table = re.sub(r"_(are|move|keep)_.*", "", dropped[1])
        return f"{text} ON {table}"
    return text


class Books:
    """The books of a board. `now` is the wall clock, `uptime` the monotonic one."""

    def __init__(self, folder: Path, now: datetime = NOON, **changes) -> None:
        self.settings = settings_for(folder, **changes)
        self.now = now
        self.uptime = 0
        if not self.is_on_a_server:
            lay_new_books(self.settings.database)
        self.database = books_of(self.settings, busy_seconds=5)
        if not self.is_on_a_server:  # where tests/timebank/cluster.py has laid them
            self.database.open()

    def close(self) -> None:
        self.database.close()

    @property
    def is_on_a_server(self) -> bool:
        return self.settings.server is not None

    def change(self, **changes) -> None:
        """Change settings, as a SIGHUP with another sysop.toml does."""
        self.settings = replace(self.settings, **changes)

    def do(self, operation, *values):
        with self.database.transaction(self.settings, self.now) as desk:
            return operation(desk, *values)

    def sql(self, statement: str, *values):
        with self.database.transaction(self.settings, self.now) as desk:
            result = as_written(desk.connection)(statement, values)
            return [tuple(row) for row in result] if result.returns_rows else []

    def shell(self):
        """Return an unrestricted connection, as a shell on the server has."""
        import psycopg

        server = self.settings.server
        where = dict(server.options)["host"]
        return psycopg.connect(host=where, user=server.user, dbname=server.name, autocommit=True)

    def wait(self, seconds: int) -> None:
        """Let time pass on both clocks."""
        self.now += timedelta(seconds=seconds)
        self.uptime += seconds

    def wait_until(self, now: datetime) -> None:
        self.wait(int((now - self.now).total_seconds()))

    def step(self, seconds: int) -> None:
        """Set the wall clock; no time passes."""
        self.now += timedelta(seconds=seconds)

    def wait_in_a_call(self, seconds: int) -> None:
        """Let time pass on the database server's clock too."""
        self.wait(seconds)
        if self.is_on_a_server:
            self.sql("UPDATE calls SET seen = seen - ? WHERE closed IS NULL", seconds)

    def server_dies(self) -> None:
        """Mark the server of all open calls as known to be dead."""
        if self.is_on_a_server:
            self.sql("UPDATE calls SET seen = seen - ? WHERE closed IS NULL", LEASE_SECONDS + 1)
        else:
            Path(self.settings.lock).touch()  # a free lock

    def server_starts(self) -> None:
        Path(self.settings.lock).unlink(missing_ok=True)

    def caller(self, name: str) -> int:
        return self.do(callers.register, name, "hash").id

    def call(self, caller_id: int, *, node: int = 1, process: str = "p", take_over: bool = False):
        return Call(self, caller_id, node, process, take_over)

    def balances(self, caller_id: int, unit: str = "second") -> dict[str, int]:
        """Return a caller's balances by kind of account."""
        return dict(
            self.sql(
                "SELECT kind, balance FROM accounts WHERE caller_id = ? AND unit = ?",
                caller_id,
                unit,
            )
        )

    def system(self, unit: str = "second") -> dict[str, int]:
        """Return the balances of the system accounts by kind."""
        return dict(
            self.sql(
                "SELECT kind, balance FROM accounts WHERE caller_id IS NULL AND unit = ?", unit
            )
        )

    def audit(self) -> list[str]:
        with self.database.reading(self.settings, self.now) as desk:
            return [str(finding) for finding in audit(desk)]


class Call:
    """A call of a caller, as the process that serves it knows it."""

    def __init__(self, books: Books, caller_id: int, node: int, process: str, take_over: bool):
        self.books = books
        self.caller_id = caller_id
        self.logged_on = books.uptime
        self.opened = books.do(open_call, caller_id, node, process, "192.0.2.1", take_over)
        self.id = self.opened.call_id
        self.receipt = self.opened.receipt
        self.sequence = 0

    @property
    def notices(self) -> tuple[str, ...]:
        return in_english(self.opened.notices)

    @property
    def ticked(self) -> int:
        return self.books.uptime - self.logged_on

    @property
    def purse(self) -> Purse:
        return self.receipt.purse

    @property
    def moved(self) -> list[tuple[str, int, str, str]]:
        """The rows of the last ledger entry."""
        return [(row.kind, row.amount, row.source, row.target) for row in self.receipt.rows]

    def post(self, operation, *values):
        answer = self.books.do(operation, self.id, self.ticked, *values)
        self.receipt = getattr(answer, "receipt", answer)
        return answer

    def touch(self) -> None:
        self.post(touch)

    def close(self) -> None:
        self.post(close_call, "hung up")

    def next_day(self) -> Call:
        """End this call, and return the caller's first one of the next day."""
        self.close()
        self.books.wait(24 * 60 * 60)
        return self.books.call(self.caller_id)

    def renew(self) -> dict[int, str | None]:
        process = self.books.sql("SELECT process FROM calls WHERE id = ?", self.id)[0][0]
        return self.books.do(renew, process, [(self.id, self.ticked)])[0]

    def withdraw(self, seconds: int) -> None:
        self.post(withdraw, seconds)

    def bet(self, seconds: int, settlement=None, **changes) -> int:
        placed = self.post(place_bet, wager(seconds, **changes), settlement)
        self.sequence = 0
        self.round_id = placed.lead
        return placed.lead

    def act(self, settlement=None, *, stake: int = 0, kind: str = "", coin: int = 60) -> None:
        move = Move(self.round_id, self.sequence + 1, {"action": "stay"}, 4, stake, kind, coin)
        self.post(act, move, settlement)
        self.sequence += 1

    def sit_down(self, unit: str = "usd-cent") -> PlayMoney:
        return self.post(sit_down, unit).play

    def coup(self, bet: int, settlement=None, *, unit: str = "usd-cent") -> int:
        """Bet play money at Baccarat."""
        return self.bet(bet, settlement, game="baccarat", unit=unit, coin=100, purse="bankroll")

    def hand_of_bj(self, settlement=None, bet: int = 200) -> int:
        """Bet two dollars at UNIX bj."""
        return self.bet(bet, settlement, game="unix-bj", unit="usd-cent", coin=100, purse="tab")

    def win(self, bet: int, winnings: int) -> None:
        """Play a hand that wins, and see it."""
        self.bet(bet)
        self.act(won(bet, winnings))
        self.sees()

    def lose(self, bet: int) -> None:
        """Play a hand that loses, and see it."""
        self.bet(bet)
        self.act(lost(bet))
        self.sees()

    def sees(self) -> None:
        """See how the last hand ended."""
        self.books.do(note_seen, self.caller_id, self.round_id)


# A lone caller.


def place_bet(
    desk: Desk, call_id: int, ticked: int, wager: Wager, settlement: Settlement | None
) -> Played:
    return wagers.place(desk, wager, _alone(desk, call_id, ticked), _only(settlement))


def act(
    desk: Desk, call_id: int, ticked: int, move: Move, settlement: Settlement | None
) -> Receipt:
    sitters = _alone(desk, call_id, ticked)
    return wagers.act(desk, move, sitters, _only(settlement)).receipt


def stand_alone(desk: Desk, moves: list[Move], settlement: Settlement) -> Receipt:
    return wagers.stand(desk, moves, _only(settlement)).receipt


def _alone(desk: Desk, call_id: int, ticked: int) -> dict[int, Sitter]:
    run = as_written(desk.connection)
    row = run("SELECT caller_id FROM calls WHERE id = ?", (call_id,))
    return {FIRST_SEAT: Sitter(row.scalar_one(), call_id, ticked)}


def _only(settlement: Settlement | None) -> dict[int, Settlement]:
    return {} if settlement is None else {FIRST_SEAT: settlement}


def wager(seconds: int, **changes) -> Wager:
    standard = Wager(
        game=GAME,
        amounts={FIRST_SEAT: seconds},
        coin=60,
        turns_limit=None,
        shoe_id=None,
        cut=None,
        rules={"decks": 1},
        action={"action": "bet", "stake": seconds},
    )
    return standard._replace(**changes)


def won(stake: int, winnings: int, *, final: bool = True) -> Settlement:
    return Settlement(0, stake, winnings, "win", {"net": winnings}, final)


def lost(stake: int, *, final: bool = True) -> Settlement:
    return Settlement(stake, 0, 0, "lose", {"net": -stake}, final)


def pushed(stake: int) -> Settlement:
    return Settlement(0, stake, 0, "push", {"net": 0}, True)


def in_english(phrases) -> tuple[str, ...]:
    """Return notices in English."""
    return tuple(map(str, phrases))
