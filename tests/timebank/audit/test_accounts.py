"""The audit finds every kind of damage, and names the row."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from tests.timebank.books import GAME, pushed
from tests.timebank.by_hand import ByHand
from timebank.keeping import caller_acts
from timebank.ledger import transfers
from timebank.ledger.transfers import ADJUSTMENT, Account, Movement
from timebank.wagers import journal


@pytest.fixture
def books(open_books, folder):
    """Books with a bit of everything: two callers, hands, a clamp, an open hand, an outbox.

    Ann is caller 1 with accounts 6 to 10, Bob caller 2 with 11 to 15.
    """
    books = open_books()
    ann, bob = books.caller("Ann"), books.caller("Bob")
    call = books.call(ann)
    books.wait(30)
    call.win(600, 900)  # transfers 1 to 5
    call.lose(300)
    shoe = books.do(journal.open_shoe, ann, GAME, 1, b"s" * 32)
    call.bet(600, pushed(600), shoe_id=shoe.id)
    bobs = books.call(bob, node=2)
    bobs.bet(120)
    call.close()
    books.wait(86400)
    books.change(mode="external", thebank_ext=folder / "THEBANK.EXT")
    books.call(ann)
    return books


def number(books, kind) -> int:
    """The first transfer of a kind."""
    return books.sql("SELECT min(id) FROM transfers WHERE kind = ?", kind)[0][0]


def test_nothing_is_wrong_with_the_books_as_they_were_written(books):
    assert books.audit() == []


def test_taking_the_triggers_away_and_putting_them_back_is_not_damage(books, vandal):
    vandal()
    assert books.audit() == []


def test_a_missing_trigger_is_found(books):
    books.sql("DROP TRIGGER transfers_are_never_deleted")
    assert books.audit() == [
        "trigger transfers_are_never_deleted: It is missing, so the books are not guarded."
    ]


def test_a_changed_trigger_is_found(books, engine):
    books.sql("DROP TRIGGER transfers_are_never_deleted")
    does = {"sqlite": "BEGIN SELECT 1; END", "postgres": "EXECUTE FUNCTION move_balances()"}
    books.sql(f"CREATE TRIGGER transfers_are_never_deleted AFTER DELETE ON notices {does[engine]}")
    assert books.audit() == [
        "trigger transfers_are_never_deleted: It was changed, so the books are not guarded."
    ]


# A change made by a shell, and all findings of the audit. {won} and the like are the numbers of
# the first transfers of that kind.
TOLD = [
    (
        "UPDATE accounts SET balance = balance + 60 WHERE id = 8",
        [
            "account 8 (bank of Ann (caller 1)): Its balance is 60, its rows add up to 0.",
            "unit second: All balances add up to 60, not to zero.",
        ],
    ),
    (
        "UPDATE rounds SET lost = lost + 100 WHERE id = 2",
        ["hand 2: 400 was lost, its transfers add up to 300."],
    ),
    (
        "UPDATE rounds SET won = won + 100 WHERE id = 2",
        ["hand 2: 100 was won, its transfers add up to 0."],
    ),
    (
        "UPDATE rounds SET returned = returned + 100 WHERE id = 2",
        ["hand 2: 100 was returned, its transfers add up to 0."],
    ),
    (
        "UPDATE rounds SET bet = 60 WHERE id = 2",
        ["hand 2: Its bet is 60, the transfers of the bet add up to 300."],
    ),
    (
        "UPDATE rounds SET settled = 1, outcome = 'win' WHERE id = 4",
        [
            "hand 4: It is settled, and 120 is still on the table.",
            "caller 2: The stake account holds 120, the hands in play have 0 on the table.",
        ],
    ),
    (
        "UPDATE rounds SET settled = NULL, outcome = NULL WHERE id = 1",
        ["hand 1: It is in play with a stake of 0."],
    ),
    (
        "UPDATE rounds SET caller_id = 2, settled = 1, outcome = 'x' WHERE id = 2",
        ["hand 2: Some of its transfers are another caller's or another game's."],
    ),
    (
        "DELETE FROM actions WHERE round_id = 1 AND sequence = 0",
        ["hand 1: Its journal has 1 actions, the last is 1."],
    ),
    (
        "DELETE FROM actions WHERE round_id = 1",
        ["hand 1: Its journal has 0 actions, the last is -1."],
    ),
    (
        "UPDATE callers SET day = '2026-06-01' WHERE id = 1",
        ["caller 1: The caller's row says 2026-06-01, but the last day begun is 2026-06-02."],
    ),
    (
        "UPDATE calls SET ticked = 40, charged = 40, waived = 0 WHERE id = 2",
        ["call 2: Of 40 seconds 40 were charged and 0 waived; its transfers charge 0."],
    ),
    (
        "DELETE FROM outbox",
        ["transfer {external}: It moves 600 seconds; the records for THEBANK.EXT have 0 minutes."],
    ),
    (
        "UPDATE outbox SET minutes = 99",
        ["transfer {external}: It moves 600 seconds; the records for THEBANK.EXT have 99 minutes."],
    ),
    (
        "INSERT INTO outbox (number, name, minutes, source, at, state)"
        " VALUES (1, 'Ann', 60, 'x', 0, 'waiting')",
        ["record 1: Transfer and record do not belong together."],
    ),
]


@pytest.mark.parametrize(("change", "expected"), TOLD)
def test_the_audit_reports_exactly_the_changed_rows(books, vandal, change, expected):
    numbers = {"external": number(books, "external")}
    vandal(change)
    assert books.audit() == [sentence.format(**numbers) for sentence in expected]


# A change, and its finding among others that follow.
AMONG = [
    (
        "UPDATE transfers SET amount = amount + 60 WHERE id = {won}",
        [
            "hand 1: 900 was won, its transfers add up to 960.",
            "account 6 (online of Ann",
            "account 16 (house of black-jack-for-time)",
        ],
    ),
    (
        "DELETE FROM transfers WHERE id = {won}",
        [
            "transfer {won}: It is missing.",
            "hand 1: 900 was won, its transfers add up to 0.",
            "entry {returned}: It ends after row 1 of 2 rows",
        ],
    ),
    (
        "UPDATE transfers SET size = 3 WHERE id IN ({returned}, {won})",
        ["entry {returned}: It ends after row 2 of 3 rows."],
    ),
    (
        "UPDATE transfers SET amount = 'all of it' WHERE id = {won}",
        ["transfer {won}: Its amount is 'all of it', which is not a number."],
    ),
    (
        "UPDATE transfers SET place = 'x' WHERE id = {won}",
        ["transfer {won}: It is row 'x' of 2 of an entry: these are not numbers."],
    ),
    (
        "UPDATE transfers SET size = 'x' WHERE id = {won}",
        ["transfer {won}: It is row 2 of 'x' of an entry: these are not numbers."],
    ),
    (
        "UPDATE accounts SET balance = 'x' WHERE id = 8",
        ["account 8 (bank of Ann (caller 1)): Its balance is 'x', which is not a number."],
    ),
    ("UPDATE transfers SET amount = -900 WHERE id = {won}", ["transfer {won}: It moves -900 "]),
    (
        "UPDATE transfers SET source = target WHERE id = {won}",
        ["transfer {won}: It moves 900 "],
    ),
    (
        "UPDATE transfers SET source = 99 WHERE id = {won}",
        [
            "transfer {won}: It moves time of an account that does not exist.",
            "table transfers: Row {won} refers to accounts that do not exist.",
        ],
    ),
    (
        "UPDATE transfers SET amount = 4000 WHERE id = {stake}",
        ["transfer {stake}: It leaves -430 in account 6 (online of Ann (caller 1))."],
    ),
    (
        "UPDATE accounts SET balance = 5 WHERE id = 10",
        [
            "account 10 (loan of Ann (caller 1)): It may not hold 5.",
            " says: CHECK constraint failed in accounts.",
        ],
    ),
    ("DELETE FROM accounts WHERE id = 15", ["caller 2: Bob has 4 of 5 accounts."]),
    (
        "UPDATE days SET caller_id = 1, day = '2026-06-03' WHERE caller_id = 2",
        [
            "transfer {bobs_grant}: It is a grant that no day of its caller accounts for.",
            "caller 2: The caller's row says 2026-06-01, but the last day begun is None.",
        ],
    ),
    (
        "UPDATE days SET grant_id = 2 WHERE caller_id = 2",
        ["caller 2: The grant of 2026-06-01 should be transfer 2, but is not."],
    ),
]


@pytest.mark.parametrize(("change", "expected"), AMONG)
def test_the_audit_reports_the_changed_row_among_others(books, vandal, change, expected):
    numbers = {kind: number(books, kind) for kind in ("won", "returned", "stake")}
    ((numbers["bobs_grant"],),) = books.sql("SELECT grant_id FROM days WHERE caller_id = 2")
    vandal(change.format(**numbers))
    findings = books.audit()
    for sentence in expected:
        assert sentence.format(**numbers) in "\n".join(findings)


def test_two_balances_changed_alike_are_both_found(books, vandal):
    vandal(
        "UPDATE accounts SET balance = balance + 60 WHERE id = 6",
        "UPDATE accounts SET balance = balance - 60 WHERE id = 11",
    )
    findings = books.audit()
    assert [line.split(":")[0] for line in findings] == [
        "account 6 (online of Ann (caller 1))",
        "account 11 (online of Bob (caller 2))",
    ]


def test_removed_last_rows_are_missed_even_when_the_balances_were_mended(books, vandal):
    last = books.sql("SELECT max(id) FROM transfers")[0][0]
    vandal(
        f"DELETE FROM transfers WHERE id > {last - 2}",
        "UPDATE accounts SET balance = coalesce((SELECT sum(CASE WHEN target = accounts.id"
        " THEN amount ELSE -amount END) FROM transfers"
        " WHERE accounts.id IN (source, target)), 0)",
    )
    assert f"transfers {last - 1} to {last}: They are missing." in books.audit()


def test_a_row_put_in_by_hand_does_not_belong_to_an_entry(books, vandal):
    last = books.sql("SELECT max(id) FROM transfers")[0][0]
    vandal(
        "INSERT INTO transfers (place, size, at, kind, amount, source, target, facts, digest)"
        f" VALUES (2, 3, 0, 'gift', 60, 5, 8, 'because', '{'0' * 64}')",
        "UPDATE accounts SET balance = balance + 60 WHERE id = 8",
        "UPDATE accounts SET balance = balance - 60 WHERE id = 5",
    )
    assert books.audit()[1:] == [
        f"transfer {last + 1}: It is row 2 of an entry that does not precede it.",
        f"entry {last}: It ends after row 2 of 3 rows.",
    ]


def test_an_account_of_mixed_units_is_found(books, vandal):
    house = books.do(transfers.house, "vegas", "usd-cent")
    won = number(books, "won")
    vandal(f"UPDATE transfers SET source = {house.id} WHERE id = {won}")
    assert f"transfer {won}: It turns one usd-cent into one second." in books.audit()


def test_a_stake_forfeited_without_a_void_hand_is_found(books):
    stake = Account(14, "stake", "second")
    forfeit = Account(3, "forfeit", "second")
    books.do(
        transfers.transfer,
        [Movement(stake, forfeit, 20, ByHand("deletion", "to spite Bob"), None, 4)],
    )
    assert books.audit() == ["hand 4: 20 of its stake was forfeited, but it is not void."]


def test_a_stake_moved_without_a_hand_is_found(books):
    stake = Account(14, "stake", "second")
    (row,) = books.do(
        transfers.transfer,
        [Movement(stake, ADJUSTMENT, 20, ByHand("adjustment", "stolen"), None, None)],
    )
    assert books.audit() == [
        "caller 2: The stake account holds 100, the hands in play have 120 on the table.",
        f"transfer {row.number}: It moves a stake and names no hand.",
    ]


def test_a_second_grant_of_a_day_is_found(books):
    online = Account(6, "online", "second")
    (row,) = books.do(
        transfers.transfer,
        [
            Movement(
                Account(1, "allotment", "second"), online, 60, ByHand("grant", "again"), None, None
            )
        ],
    )
    assert books.audit() == [
        f"transfer {row.number}: It is a grant that no day of its caller accounts for."
    ]


def test_time_used_that_names_no_call_is_found(books):
    online, elapsed = Account(6, "online", "second"), Account(2, "elapsed", "second")
    (row,) = books.do(
        transfers.transfer, [Movement(online, elapsed, 20, ByHand("elapsed", "whose?"), None, None)]
    )
    assert books.audit() == [f"transfer {row.number}: It charges time used and names no call."]


def test_a_notice_for_the_wrong_caller_is_found_before_it_is_sent(books, vandal):
    ((record,),) = books.sql("SELECT number FROM outbox")
    vandal("UPDATE outbox SET name = 'Bob'")
    assert books.audit() == [f"record {record}: It waits for Bob, but its minutes came from Ann."]
    vandal("UPDATE outbox SET name = 'Ann'")
    books.do(caller_acts.rename, 1, "Anna", "root (command line)")
    assert books.audit() == []


@pytest.mark.of_a_file
def test_a_damaged_index_is_found(books):
    path = books.database.path
    books.close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, '(source)', '(target)')"
            " WHERE name = 'transfers_from'"
        )
        connection.commit()
    assert any(line.startswith("database: SQLite says: ") for line in books.audit())
