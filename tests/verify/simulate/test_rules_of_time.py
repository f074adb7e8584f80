"""Books that are made by hand, in which the rules of time must find what is wrong."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest

from door.games import overdue
from door.games.engine import shuffle
from door.games.registry import GAMES
from tests.timebank.books import DAILY, GAME, MAIL_HOUR, Books, place_bet
from timebank.calls.calls import close_call
from timebank.ledger import transfers
from timebank.ledger.database import Desk
from timebank.ledger.reasons import Told
from timebank.ledger.transfers import Account, Movement
from timebank.settings.schedule import Event
from timebank.settings.settings import BankSettings
from timebank.wagers import journal
from timebank.wagers.journal import open_shoe
from timebank.wagers.rounds import Wager
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


OWED = "loan external 600 loan"
BROUGHT = "external online 1200 brought"
GRANT = "allotment online 1200 grant"
STAKED = f"{OWED}, external online 600 brought, online stake 400 stake"
WON = "stake online 400 returned, house online 300 won"


@pytest.mark.parametrize(
    ("before", "entry"),
    [
        (OWED, f"{GRANT}, online loan 600 loan share"),
        ("loan external 601 loan", f"{GRANT}, online loan 600 loan share"),
        ("loan external 1 loan", f"{GRANT}, online loan 1 loan share"),
        ("external bank 60 brought", GRANT),
        (STAKED, f"{WON}, online loan 150 loan share"),
        (STAKED, "stake online 400 returned"),
    ],
)
def test_a_loan_takes_its_share_to_the_second(made: HandMade, before: str, entry: str) -> None:
    made.begin(before)
    made.write(entry)
    made.look()


@pytest.mark.parametrize(
    ("before", "entry"),
    [
        (OWED, GRANT),
        (OWED, f"{GRANT}, online loan 588 loan share"),
        ("loan external 601 loan", f"{GRANT}, online loan 601 loan share"),
        (STAKED, WON),
        (STAKED, f"{WON}, online loan 151 loan share"),
        (STAKED, f"{WON}, online loan 350 loan share"),  # of the stake that came back, too
        (STAKED, "stake online 400 returned, online loan 200 loan share"),
    ],
)
def test_another_loan_share_is_found(made: HandMade, before: str, entry: str) -> None:
    made.begin(before)
    made.write(entry)
    with pytest.raises(Wrong, match="loan"):
        made.look()


@pytest.mark.parametrize(
    ("today", "entry", "is_right"),
    [
        (None, "loan online 60 loan", True),
        (None, "loan online 60 loan, online loan 30 repay, loan online 9 loan", True),
        (OWED, "loan online 60 loan", False),
        (OWED, "online loan 599 repay, loan online 60 loan", False),
        (OWED, "online loan 600 repay, loan online 60 loan", True),
        (OWED, "online loan 600 repay, loan online 60 loan, loan online 5 loan", True),
    ],
)
def test_nothing_is_lent_on_a_loan_of_an_earlier_day(
    made: HandMade, today: str | None, entry: str, *, is_right: bool
) -> None:
    made.begin(f"{today}, {BROUGHT}" if today else BROUGHT)
    made.books.sql(
        "INSERT INTO days (caller_id, day, after) SELECT ?, '2026-06-01', max(id) FROM transfers",
        made.caller_id,
    )
    made.write(entry)
    if is_right:
        made.look()
    else:
        with pytest.raises(Wrong, match="is owed on a loan of before"):
            made.look()


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ("online loan 600 loan paid, online bank 60 put back", None),
        ("bank loan 90 loan paid, online external 60 taken home", None),
        ("online loan 599 loan paid, online bank 60 put back", "put back 60, and a loan of 1 is"),
        ("online bank 60 gain", "gain 60, and a loan of 600 is owed"),
        ("bank external 60 given back, online loan 600 loan paid", "given back 60, and a loan of"),
        ("bank external 60 external", "external 60, and a loan of 600 is owed"),
    ],
)
def test_a_guests_loan_is_paid_before_anything_is_kept(
    made: HandMade, entry: str, wrong: str | None
) -> None:
    made.books.sql("UPDATE callers SET board = 'Xibalba', board_key = '7', name = 'Ann@Xibalba'")
    made.begin(f"{OWED}, {BROUGHT}, external bank 90 kept")
    made.write(entry)
    if wrong is None:
        made.look()
    else:
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
    ("entry", "is_right"),
    [
        (f"{CUT}, online bank 150 clamp, online held 100 held", True),
        (f"{CUT}, online bank 150 clamp, online held 99 held", False),
        (f"{CUT}, online bank 150 clamp, online held 101 held", False),
        (f"{CUT}, online held 100 held, online bank 150 clamp", True),
        (f"{CUT}, online held 250 held", False),
        (f"{CUT}, online bank 250 clamp", False),
        (f"{CUT}, online bank 50 clamp, online held 200 held", False),
        ("stake online 100 returned", True),
        ("stake online 101 returned", False),
        ("stake online 101 returned, online held 1 held", True),
        ("online elapsed 5 elapsed, online held 1 held", False),
    ],
)
def test_an_event_cuts_off_to_the_second_and_winnings_first(
    made: HandMade, entry: str, *, is_right: bool
) -> None:
    made.begin(LONG)
    made.write(entry)
    made.waits(hours=2)
    if is_right:
        made.look()
    else:
        with pytest.raises(Wrong, match=r"cut|event"):
            made.look()


@pytest.mark.parametrize(("left", "is_right"), [(TO_EVENT + 1, True), (TO_EVENT + 2, False)])
def test_a_second_that_has_just_begun_is_whole(
    made: HandMade, left: int, *, is_right: bool
) -> None:
    """But only where a clock was read at its very beginning."""
    made.begin(f"external bank {left} brought")
    made.write(f"bank online {left} withdraw")
    with pytest.raises(Wrong, match="cut off"):
        made.look()
    made.rules = RulesOfTime(Counter())
    made.readings.note(TWO.replace(microsecond=0))
    if is_right:
        made.look()
    else:
        with pytest.raises(Wrong, match="cut off"):
            made.look()


@pytest.mark.parametrize("knows_another_event", [True, False])
def test_held_time_comes_back_where_another_process_knows_another_event(
    made: HandMade, *, knows_another_event: bool
) -> None:
    """Whose entry the one in between is nobody can tell: it must not matter."""
    settings = made.books.settings
    other = replace(settings, events=(BACKUP,))
    others = (other,) if knows_another_event else ()
    made.begin(f"external online {TO_EVENT} brought, external stake 400 brought")
    made.look(*others)
    made.write("stake online 400 returned, online held 400 held")
    made.write("online elapsed 7 elapsed")
    made.write("held online 400 release")
    made.waits(hours=2)
    if knows_another_event:
        made.look(*others)
    else:
        with pytest.raises(Wrong, match="before the event has passed"):
            made.look(*others)


@pytest.mark.parametrize(
    ("later", "entry", "wrong"),
    [
        (AFTER_EVENT, "held online 299 release, online elapsed 7 elapsed", "room for 300"),
        (AFTER_EVENT, "held online 300 release", None),
        (AFTER_EVENT, "held online 301 release, online held 1 held", "room for 300"),
        (AFTER_EVENT, "online elapsed 7 elapsed", "400 stays held"),
        (AFTER_EVENT, "online elapsed 7 elapsed, held online 307 release", None),
        (60, "online elapsed 7 elapsed", None),
        (60, "held online 400 release", "before the event has passed"),
    ],
)
def test_held_time_comes_back_after_its_event_as_far_as_it_can_be_used(
    made: HandMade, later: int, entry: str, wrong: str | None
) -> None:
    made.write(f"external online {TO_EVENT + 400} brought, online held 400 held")
    made.waits(hours=2)
    made.look()
    made.begin(f"online elapsed {TO_EVENT - 1499} elapsed")
    made.books.wait(later)
    made.write(entry)
    if later == AFTER_EVENT:
        made.waits(hours=3, minutes=30)
    if wrong is None:
        made.look()
    else:
        with pytest.raises(Wrong, match=wrong):
            made.look()


def test_held_time_that_waits_for_no_event_is_found(made: HandMade) -> None:
    made.write(f"external online {TO_EVENT + 400} brought, online held 400 held")
    made.waits(days=1)
    with pytest.raises(Wrong, match="waits until"):
        made.look()


@pytest.fixture
def early(made: HandMade) -> HandMade:
    """The mail hour was started early, from 2:10 to 2:40, with a thousand seconds on line."""
    made.write("external online 1000 brought")
    made.look()
    at = [int((TWO + timedelta(minutes=minutes)).timestamp()) for minutes in (10, 40, 60)]
    made.books.sql("INSERT INTO early_events VALUES (?, ?, 'Mail hour', ?)", *at)
    made.look()
    return made


@pytest.mark.parametrize(
    ("later", "entry", "wrong"),
    [
        (0, "online elapsed 1 elapsed, online held 400 held", None),
        (0, "online elapsed 1 elapsed", "0 is cut off, and 999 on line, with 599 to the event"),
        (0, "online elapsed 1 elapsed, online held 401 held", "401 is cut off"),
        (3000, f"external online {TO_EVENT} brought", None),  # that of three o'clock does not come
    ],
)
def test_an_event_that_was_started_early_takes_the_place_of_its_own(
    early: HandMade, later: int, entry: str, wrong: str | None
) -> None:
    early.books.wait(later)
    early.write(entry)
    if not later:
        early.waits(minutes=40)
    if wrong is None:
        early.look()
    else:
        with pytest.raises(Wrong, match=wrong):
            early.look()


@pytest.mark.parametrize("comes_back", [True, False])
def test_what_an_early_event_held_comes_back_once_it_is_taken_back(
    early: HandMade, *, comes_back: bool
) -> None:
    early.write("online elapsed 1 elapsed, online held 400 held")
    early.waits(minutes=40)
    early.look()
    early.books.sql("DELETE FROM early_events")
    early.books.sql("UPDATE callers SET held_until = NULL")
    early.write("held online 400 release" if comes_back else "online elapsed 1 elapsed")
    if comes_back:
        early.look()
        return
    early.look()  # it may have come before the command
    early.write("online elapsed 1 elapsed")
    with pytest.raises(Wrong, match="400 stays held"):
        early.look()


# The end of a day, and a stake that lies on the table over it.

TODAY = "2026-06-01"


def _begin_day(made: HandMade, rows: str, *, carried: int = 0, standing: int = 0) -> None:
    """Let a day have begun before all rows there are."""
    day = "INSERT INTO days (caller_id, day, after, carried, standing) VALUES (?, ?, 0, ?, ?)"
    made.books.sql(day, made.caller_id, TODAY, carried, standing)
    made.books.sql("UPDATE callers SET day = ?", TODAY)
    made.begin(rows)


def _part(made: HandMade, standing: int) -> None:
    made.books.sql("UPDATE days SET standing = ?", standing)


# 500 of a grant and 300 earned; of this 200 on the table.
EARNED = "allotment online 500 grant, external online 300 brought, online stake 200 stake"
CLAMP = "online bank 300 clamp"
TABLE = "allotment online 500 grant, external online 100 brought, online stake 300 stake"


@pytest.mark.parametrize(
    ("before", "entry", "stands", "is_right"),
    [
        (EARNED, "online forfeit 500 forfeit, online bank 100 carry", 0, True),
        (
            EARNED,
            "online elapsed 9 elapsed, online forfeit 491 forfeit, online bank 100 carry",
            0,
            True,
        ),
        (EARNED, "online forfeit 501 forfeit, online bank 99 carry", 0, False),
        (EARNED, "online forfeit 300 forfeit, online bank 300 carry", 200, False),
        (EARNED, "online forfeit 500 forfeit", 0, False),
        (EARNED, "", 0, False),
        (EARNED, "online forfeit 500 forfeit, online bank 100 carry", 1, False),
        (TABLE, "online forfeit 300 forfeit", 200, True),
        (TABLE, "online forfeit 300 forfeit", 199, False),
        (TABLE, "online forfeit 300 forfeit", 0, False),
    ],
)
def test_what_was_earned_outlasts_a_day_on_the_table_first(
    made: HandMade, before: str, entry: str, stands: int, *, is_right: bool
) -> None:
    _begin_day(made, before)
    made.write(", ".join((*filter(None, [entry]), GRANT)))
    _part(made, stands)
    if is_right:
        made.look()
    else:
        with pytest.raises(Wrong, match=r"at the end of a day|of the stake"):
            made.look()


# Of 500 granted and 40 earned: what callers do, what is online when the day ends, what is banked
# then, and what is owed.
SPENT = [
    ("online bank 460 deposit", 80, 40, 0),
    ("online bank 520 deposit", 20, 20, 0),
    ("online bank 30 deposit, bank online 30 withdraw", 540, 70, 0),
    ("online elapsed 100 elapsed", 440, 40, 0),
    ("online loan 100 repay", 440, 40, 0),
    ("online loan 100 repay, loan online 60 loan", 500, 100, 60),
    ("online loan 100 repay, loan online 90 loan, online loan 20 repay", 510, 110, 70),
    ("online stake 30 stake, stake house 30 lost", 510, 10, 0),
    ("online stake 60 stake, stake house 60 lost", 480, 0, 0),
]


@pytest.mark.parametrize("is_restored", [False, True])
@pytest.mark.parametrize("off", [0, 1, -1])
@pytest.mark.parametrize(("spent", "left", "kept", "owed"), SPENT)
def test_the_grant_pays_for_what_is_spent_before_earnings_do(
    made: HandMade, spent: str, left: int, kept: int, owed: int, off: int, *, is_restored: bool
) -> None:
    owing = "loan external 100 loan, " if "repay" in spent else ""
    before = f"{owing}allotment online 500 grant, external online 40 brought"
    if is_restored:
        _begin_day(made, f"{before}, {spent}")
    else:
        _begin_day(made, before)
        made.write(spent)
        made.look()
    banked = max(0, min(left, kept + off))
    made.write(
        ", ".join(
            each
            for each, amount in (
                (f"online forfeit {left - banked} forfeit", left - banked),
                (f"online bank {banked} carry", banked),
                (GRANT, 1),
                (f"online loan {owed} loan share", owed),
            )
            if amount
        )
    )
    if banked == kept:
        made.look()
    else:
        with pytest.raises(Wrong, match="at the end of a day"):
            made.look()


@pytest.mark.parametrize(
    ("entry", "is_right"),
    [
        ("online forfeit 500 forfeit", True),
        ("online forfeit 500 forfeit, online bank 100 carry", False),
        ("online forfeit 499 forfeit", False),
    ],
)
def test_what_was_earned_stays_where_the_account_is_frozen(
    made: HandMade, entry: str, *, is_right: bool
) -> None:
    made.books.sql("UPDATE callers SET frozen = 1")
    _begin_day(made, EARNED)
    made.write(f"{entry}, {GRANT}")
    if not is_right:
        with pytest.raises(Wrong, match="at the end of a day"):
            made.look()
        return
    made.look()
    made.books.sql("UPDATE callers SET frozen = 0")
    made.look()
    made.write(f"online forfeit 1200 forfeit, online bank 100 carry, {GRANT}")
    made.look()


@pytest.mark.parametrize(("cut", "is_right"), [("online held 300 held", True), (CLAMP, False)])
def test_winnings_that_an_event_cuts_off_are_held_where_the_account_is_frozen(
    made: HandMade, cut: str, *, is_right: bool
) -> None:
    made.books.sql("UPDATE callers SET frozen = 1")
    made.begin(f"external online {TO_EVENT} brought")
    made.write(f"house online 300 won, {cut}")
    if is_right:
        made.waits(seconds=AFTER_EVENT)
        made.look()
    else:
        with pytest.raises(Wrong, match="the event cuts off 300"):
            made.look()


LIES = "external online 60 brought, external stake 400 brought"


@pytest.mark.parametrize(
    ("entry", "is_right"),
    [
        ("stake online 400 returned, online forfeit 300 forfeit", True),
        ("stake online 400 returned, online forfeit 300 forfeit, house online 400 won", True),
        ("stake house 250 lost, stake online 150 returned, online forfeit 150 forfeit", True),
        ("stake house 400 lost", True),
        ("stake online 400 returned", False),
        ("stake online 400 returned, house online 400 won", False),
        ("stake online 400 returned, online forfeit 299 forfeit", False),
        ("stake online 400 returned, online forfeit 301 forfeit", False),
        ("stake online 400 returned, house online 400 won, online forfeit 300 forfeit", False),
        ("stake house 250 lost, stake online 150 returned, online forfeit 50 forfeit", False),
        ("stake house 400 lost, online forfeit 60 forfeit", False),
        ("online elapsed 9 elapsed, online forfeit 51 forfeit", False),
    ],
)
def test_of_a_stake_what_was_an_earlier_days_is_forfeited_when_it_comes_back(
    made: HandMade, entry: str, *, is_right: bool
) -> None:
    _begin_day(made, LIES, standing=300)
    made.write(entry)
    if "stake" in entry:
        _part(made, 0)
    if is_right:
        made.look()
    else:
        with pytest.raises(Wrong, match=r"earlier day|of a day|end of no day"):
            made.look()


@pytest.mark.parametrize(("kept", "is_right"), [(50, True), (49, False), (0, False)])
def test_an_earlier_days_stake_that_is_lost_is_no_loss_of_this_day(
    made: HandMade, kept: int, *, is_right: bool
) -> None:
    """Of the 300 that are lost 200 are an earlier day's; the other 100 were earned before it."""
    _begin_day(made, TABLE)
    made.write(f"online forfeit 300 forfeit, {GRANT}, external online 50 brought")
    _part(made, 200)
    made.look()
    made.write("stake house 300 lost")
    _part(made, 0)
    made.look()
    carry = f", online bank {kept} carry" if kept else ""
    made.write(f"online forfeit {1250 - kept} forfeit{carry}, {GRANT}")
    if is_right:
        made.look()
    else:
        with pytest.raises(Wrong, match="at the end of a day"):
            made.look()


def test_days_that_a_wrong_clock_began_leave_no_stake_of_an_earlier_day(made: HandMade) -> None:
    _begin_day(made, LIES, standing=300)
    _part(made, 0)
    made.books.sql("UPDATE callers SET day = '2026-05-31'")
    made.books.sql("UPDATE days SET day = '2026-05-31'")
    made.write("stake online 400 returned")
    made.look()


def test_an_entry_of_no_call_and_no_hand_that_touches_a_purse_is_found(made: HandMade) -> None:
    made.begin("external online 60 brought")
    made.books.do(made._write, "online external 60 taken home", None)
    with pytest.raises(Wrong, match="of no call and no hand"):
        made.look()


# Hands that nobody returned to.


def _deal(books: Books, number: int) -> None:
    """Deal a hand that is not over with the deal, and leave it."""
    call = books.call(books.caller(f"Bob{number}"))
    kind = GAMES[GAME].kind
    for seed in (bytes([number] * 31 + [last]) for last in range(256)):
        round_, _ = kind.deal({}, kind.cards(seed, "", 1, 0), [600], 1)
        if kind.open_words(round_) and "no-insurance" not in kind.open_words(round_):
            break
    shoe = books.do(open_shoe, call.caller_id, GAME, 1, seed, shuffle.seal(seed))
    bet = {"action": "bet"}
    wager = Wager(GAME, {1: 600}, 60, None, shoe.id, "", {}, bet, round_.cards_used)
    books.do(place_bet, call.id, 0, wager, None)
    books.do(close_call, call.id, 0, "carrier lost")


def _look_at_hands(books: Books, rules: RulesOfTime) -> None:
    with (
        closing(sqlite3.connect(books.settings.database)) as file,
        books.database.reading(books.settings, books.now) as desk,
    ):
        rules.hands(file, desk, ())


@pytest.fixture
def stood(books: Books) -> tuple[Books, RulesOfTime]:
    """Books in which a hand was stood for one who did not return to it."""
    rules = RulesOfTime(Counter())
    _deal(books, 1)
    _look_at_hands(books, rules)
    books.wait(3 * 86_400)
    for stored in books.do(journal.overdue):
        books.do(overdue.stand, stored)
    return books, rules


def test_a_hand_that_was_stood_is_played_again(stood: tuple[Books, RulesOfTime]) -> None:
    _look_at_hands(*stood)
    assert stood[1].counted["_hands settled for the absent"] == 1


LAST = "sequence = (SELECT max(sequence) FROM actions)"


@pytest.mark.parametrize(
    ("damage", "wrong"),
    [
        (f"DELETE FROM actions WHERE {LAST}", "still in play"),
        (f"""UPDATE actions SET action = '{{"action":"hit"}}' WHERE {LAST}""", "hand 1"),
        (f"""UPDATE actions SET action = '{{"action":"bet"}}' WHERE {LAST}""", "hand 1"),
        ("UPDATE rounds SET outcome = 'natural'", "was booked as"),
        ("UPDATE rounds SET result = '{}'", "hand 1"),
        ("DELETE FROM notices", "told"),
        ("UPDATE notices SET text = replace(replace(text, 'won', 'x'), 'lost', 'x')", "told"),
    ],
)
def test_a_stood_hand_whose_journal_or_notice_is_wrong_is_found(
    stood: tuple[Books, RulesOfTime], damage: str, wrong: str
) -> None:
    stood[0].sql(damage)
    with pytest.raises(Wrong, match=wrong):
        _look_at_hands(*stood)


def test_a_hit_for_one_who_is_away_is_found(books: Books, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though it leads to what was booked."""
    kind = GAMES[GAME].kind
    real = type(kind).absent
    monkeypatch.setattr(
        type(kind),
        "absent",
        lambda self, round_: real(self, round_)._replace(word="hit"),
    )
    rules = RulesOfTime(Counter())
    _deal(books, 1)
    _look_at_hands(books, rules)
    books.wait(3 * 86_400)
    for stored in books.do(journal.overdue):
        books.do(overdue.stand, stored)
    with pytest.raises(Wrong, match="for one who is away"):
        _look_at_hands(books, rules)
