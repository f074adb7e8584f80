"""Books that are made by hand, in which the rules of time must find what is wrong."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest

from tests.timebank.books import DAILY, GAME, MAIL_HOUR, Books
from timebank.ledger import transfers
from timebank.ledger.database import Desk
from timebank.ledger.reasons import Told
from timebank.ledger.transfers import Account, Movement
from timebank.settings.schedule import Event
from timebank.settings.settings import BankSettings
from verify.simulate.rules_of_time import Readings, Rules, RulesOfTime
from verify.simulate.wrong import Wrong

pytestmark = pytest.mark.long

# Half a second past two: 3599 whole seconds to the mail hour at three.
TWO = datetime(2026, 6, 1, 2, 0, 0, 500_000, tzinfo=UTC)
TO_EVENT = 3599
# 1799 whole seconds behind the end of the mail hour.
BACKUP = Event("Backup", time(4, 30), DAILY, 60)
AFTER_EVENT = 7200


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
    made = Books(tmp_path, now=TWO, events=(MAIL_HOUR, BACKUP))
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


# Entries that are right are those of every story that the simulation tells.

OWED = "loan external 600 loan"
BROUGHT = "external online 1200 brought"
GRANT = "allotment online 1200 grant"
STAKED = f"{OWED}, external online 600 brought, online stake 400 stake"
WON = "stake online 400 returned, house online 300 won"


@pytest.mark.parametrize(
    ("before", "entry"),
    [
        (OWED, f"{GRANT}, online loan 588 loan share"),
        (STAKED, WON),
        (STAKED, f"{WON}, online loan 350 loan share"),  # of the stake that came back, too
    ],
)
def test_another_loan_share_is_found(made: HandMade, before: str, entry: str) -> None:
    made.begin(before)
    made.write(entry)
    with pytest.raises(Wrong, match="loan"):
        made.look()


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


LONG = f"external online {TO_EVENT - 100} brought, external stake 200 brought"
CUT = "house online 150 won, stake online 200 returned"  # 250 seconds too many


@pytest.mark.parametrize(
    "entry",
    [
        f"{CUT}, online bank 150 clamp, online held 99 held",
        f"{CUT}, online bank 50 clamp, online held 200 held",
        "stake online 101 returned",
        "online elapsed 5 elapsed, online held 1 held",
    ],
)
def test_what_an_event_cuts_off_otherwise_is_found(made: HandMade, entry: str) -> None:
    made.begin(LONG)
    made.write(entry)
    made.waits(hours=2)
    with pytest.raises(Wrong, match=r"cut|event"):
        made.look()


@pytest.mark.parametrize(
    ("later", "entry", "wrong"),
    [
        (AFTER_EVENT, "held online 299 release, online elapsed 7 elapsed", "room for 300"),
        (AFTER_EVENT, "online elapsed 7 elapsed", "400 stays held"),
        (60, "held online 400 release", "before the event has passed"),
    ],
)
def test_held_time_that_does_not_come_back_when_it_can_be_used_is_found(
    made: HandMade, later: int, entry: str, wrong: str
) -> None:
    made.write(f"external online {TO_EVENT + 400} brought, online held 400 held")
    made.waits(hours=2)
    made.look()
    made.begin(f"online elapsed {TO_EVENT - 1499} elapsed")
    made.books.wait(later)
    made.write(entry)
    if later == AFTER_EVENT:
        made.waits(hours=3, minutes=30)
    with pytest.raises(Wrong, match=wrong):
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


# The end of a day, and a stake that lies on the table over it.

TODAY = "2026-06-01"


def _begin_day(made: HandMade, rows: str, *, standing: int = 0) -> None:
    """Let a day have begun before all rows there are."""
    day = "INSERT INTO days (caller_id, day, after, carried, standing) VALUES (?, ?, 0, 0, ?)"
    made.books.sql(day, made.caller_id, TODAY, standing)
    made.books.sql("UPDATE callers SET day = ?", TODAY)
    made.begin(rows)


def _part(made: HandMade, standing: int) -> None:
    made.books.sql("UPDATE days SET standing = ?", standing)


# 500 of a grant and 300 earned; of this 200 on the table.
EARNED = "allotment online 500 grant, external online 300 brought, online stake 200 stake"
TABLE = "allotment online 500 grant, external online 100 brought, online stake 300 stake"
# Of 500 granted and 40 earned, 30 were lost: 10 of the earnings are left.
LOST = (
    "allotment online 500 grant, external online 40 brought, online stake 30 stake,"
    " stake house 30 lost"
)


@pytest.mark.parametrize(
    ("before", "entry", "stands"),
    [
        (EARNED, "online forfeit 501 forfeit, online bank 99 carry", 0),
        (EARNED, "online forfeit 300 forfeit, online bank 300 carry", 200),
        (EARNED, "online forfeit 500 forfeit, online bank 100 carry", 1),
        (TABLE, "online forfeit 300 forfeit", 199),
        (LOST, "online forfeit 470 forfeit, online bank 40 carry", 0),
    ],
)
def test_a_day_that_ends_with_too_little_or_too_much_is_found(
    made: HandMade, before: str, entry: str, stands: int
) -> None:
    _begin_day(made, before)
    made.write(f"{entry}, {GRANT}")
    _part(made, stands)
    with pytest.raises(Wrong, match=r"at the end of a day|of the stake"):
        made.look()


def test_what_a_frozen_account_takes_in_at_the_end_of_a_day_is_found(made: HandMade) -> None:
    made.books.sql("UPDATE callers SET frozen = 1")
    _begin_day(made, EARNED)
    made.write(f"online forfeit 500 forfeit, online bank 100 carry, {GRANT}")
    with pytest.raises(Wrong, match="at the end of a day"):
        made.look()


def test_winnings_that_an_event_cuts_off_into_a_frozen_account_are_found(made: HandMade) -> None:
    made.books.sql("UPDATE callers SET frozen = 1")
    made.begin(f"external online {TO_EVENT} brought")
    made.write("house online 300 won, online bank 300 clamp")
    with pytest.raises(Wrong, match="the event cuts off 300"):
        made.look()


LIES = "external online 60 brought, external stake 400 brought"


@pytest.mark.parametrize(
    "entry",
    [
        "stake online 400 returned",
        "stake online 400 returned, online forfeit 301 forfeit",
        "stake house 250 lost, stake online 150 returned, online forfeit 50 forfeit",
        "online elapsed 9 elapsed, online forfeit 51 forfeit",
    ],
)
def test_an_earlier_days_stake_that_comes_back_and_is_not_forfeited_is_found(
    made: HandMade, entry: str
) -> None:
    _begin_day(made, LIES, standing=300)
    made.write(entry)
    if "stake" in entry:
        _part(made, 0)
    with pytest.raises(Wrong, match=r"earlier day|of a day|end of no day"):
        made.look()


def test_an_entry_of_no_call_and_no_hand_that_touches_a_purse_is_found(made: HandMade) -> None:
    made.begin("external online 60 brought")
    made.books.do(made._write, "online external 60 taken home", None)
    with pytest.raises(Wrong, match="of no call and no hand"):
        made.look()
