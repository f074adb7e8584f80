"""Books that are made by hand, in which the rules of time must find what is wrong."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.timebank.books import GAME, MAIL_HOUR, Books
from timebank.ledger import transfers
from timebank.ledger.database import Desk
from timebank.ledger.reasons import Told
from timebank.ledger.transfers import Account, Movement
from timebank.settings.settings import BankSettings
from verify.simulate.rules_of_time import Readings, Rules, RulesOfTime
from verify.simulate.wrong import Wrong

pytestmark = pytest.mark.long

# Half a second past two: 3599 whole seconds to the mail hour at three.
TWO = datetime(2026, 6, 1, 2, 0, 0, 500_000, tzinfo=UTC)
TO_EVENT = 3599


@dataclass
class HandMade:
    """The books of one caller who is on a call, written row by row."""

    books: Books
    caller_id: int
    call_id: int
    rules: RulesOfTime
    readings: Readings = field(default_factory=Readings)

    def write(self, rows: str) -> None:
        """Write an entry: "external online 60 brought, online elapsed 5 elapsed"."""
        self.books.do(self._write, rows, self.call_id)

    def begin(self, rows: str) -> None:
        """Write what is to be believed, whatever it is."""
        self.books.do(self._write, rows, None)
        self.rules = RulesOfTime(self.rules.counted, knows_all=False)
        self.look()

    def _write(self, desk: Desk, rows: str, call_id: int | None) -> None:
        known = {
            kind: Account(number, kind, "second")
            for number, kind in desk.connection.exec_driver_sql(
                "SELECT id, kind FROM accounts WHERE caller_id = ? OR caller_id IS NULL",
                (self.caller_id,),
            )
        }
        known["house"] = transfers.house(desk, GAME, "second")
        movements = []
        for row in rows.split(", "):
            source, target, amount, *kind = row.split()
            ends = known[source], known[target]
            movements.append(
                Movement(*ends, int(amount), Told(" ".join(kind), "By hand"), call_id, None)
            )
        transfers.transfer(desk, movements)

    def waits(self, **later: int) -> None:
        """Write down what held time waits for: so long after two."""
        until = int((TWO + timedelta(**later)).timestamp())
        self.books.sql("UPDATE callers SET held_until = ?", until)

    def look(self, *others: BankSettings) -> None:
        """Look, where there may be processes with other settings."""
        books = self.books
        self.readings.note(books.now)
        with closing(sqlite3.connect(books.settings.database)) as file:
            rules = {Rules.of(each) for each in (books.settings, *others)}
            self.rules.step(file, rules, self.readings)


@pytest.fixture
def books(tmp_path: Path) -> Iterator[Books]:
    made = Books(tmp_path, now=TWO, events=(MAIL_HOUR,))
    yield made
    made.close()


@pytest.fixture
def made(books: Books) -> HandMade:
    """Books in which nothing is on line yet."""
    caller_id = books.caller("Ann")
    asked = "INSERT INTO calls (caller_id, node, process, address, opened, ticked, charged, waived,"
    asked += " renewed, ticked_at_renewal) VALUES (?, 1, 'p', '', 0, 0, 0, 0, 0, 0) RETURNING id"
    ((call_id,),) = books.sql(asked, caller_id)
    return HandMade(books, caller_id, call_id, RulesOfTime(Counter()))


# Entries that are right are those of every story that the simulation tells. What is wrong about a
# loan's share, a cutoff, held time or the end of a day is planted (`verify.simulate --faults`).

OWED = "loan external 600 loan"
BROUGHT = "external online 1200 brought"


def test_what_is_lent_on_a_loan_of_an_earlier_day_is_found(made: HandMade) -> None:
    made.begin(f"{OWED}, {BROUGHT}")
    made.books.sql(
        "INSERT INTO days (caller_id, day, after) SELECT ?, '2026-06-01', max(id) FROM transfers",
        made.caller_id,
    )
    made.write("online loan 599 repay, loan online 60 loan")
    with pytest.raises(Wrong, match="is owed on a loan of before"):
        made.look()


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ("online loan 599 loan paid, online bank 60 put back", "put back 60, and a loan of 1 is"),
        ("bank external 60 given back, online loan 600 loan paid", "given back 60, and a loan of"),
    ],
)
def test_a_guest_who_keeps_something_before_a_loan_is_paid_is_found(
    made: HandMade, entry: str, wrong: str
) -> None:
    made.books.sql("UPDATE callers SET board = 'Xibalba', board_key = '7', name = 'Ann@Xibalba'")
    made.begin(f"{OWED}, {BROUGHT}, external bank 90 kept")
    made.write(entry)
    with pytest.raises(Wrong, match=wrong):
        made.look()


def test_only_a_guests_loan_is_paid_so(made: HandMade) -> None:
    made.begin(f"{OWED}, {BROUGHT}")
    made.write("online loan 60 loan paid")
    with pytest.raises(Wrong, match="one of our own callers"):
        made.look()


def test_held_time_that_waits_for_no_event_is_found(made: HandMade) -> None:
    made.write(f"external online {TO_EVENT + 400} brought, online held 400 held")
    made.waits(days=1)
    with pytest.raises(Wrong, match="waits until"):
        made.look()


def test_an_event_that_was_started_early_and_cuts_nothing_off_is_found(made: HandMade) -> None:
    made.write("external online 1000 brought")
    made.look()
    at = [int((TWO + timedelta(minutes=minutes)).timestamp()) for minutes in (10, 40, 60)]
    made.books.sql("INSERT INTO early_events VALUES (?, ?, 'Mail hour', ?)", *at)
    made.look()
    made.write("online elapsed 1 elapsed")
    with pytest.raises(Wrong, match="0 is cut off, and 999 on line, with 599 to the event"):
        made.look()


def test_an_entry_of_no_call_and_no_hand_that_touches_a_purse_is_found(made: HandMade) -> None:
    made.begin("external online 60 brought")
    made.books.do(made._write, "online external 60 taken home", None)
    with pytest.raises(Wrong, match="of no call and no hand"):
        made.look()
