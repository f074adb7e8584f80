"""The audit finds every kind of damage, and names the row."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from tests.timebank.books import GAME, pushed
from timebank.keeping import sysop
from timebank.ledger import transfers
from timebank.ledger.reasons import Told
from timebank.ledger.transfers import ADJUSTMENT, Account, Movement
from timebank.wagers import journal

pytestmark = pytest.mark.usefixtures("narrow_search")


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
    shoe = books.do(journal.open_shoe, ann, GAME, 1, b"s" * 32, "seal")
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
    does = {"sqlite": "BEGIN SELECT 1; END", "postgres": "EXECUTE FUNCTION count_a_hand()"}
    books.sql(f"CREATE TRIGGER transfers_are_never_deleted AFTER DELETE ON notices {does[engine]}")
    assert books.audit() == [
        "trigger transfers_are_never_deleted: It was changed, so the books are not guarded."
    ]


def test_a_balance_that_does_not_follow_from_its_rows_is_found(books, vandal):
    held = books.balances(1)["bank"]
    vandal("UPDATE accounts SET balance = balance + 60 WHERE id = 8")
    assert books.audit() == [
        f"account 8 (bank of Ann (caller 1)): Its balance is {held + 60},"
        f" its rows add up to {held}.",
        "unit second: All balances add up to 60, not to zero.",
    ]


def test_two_balances_changed_alike_are_both_found(books, vandal):
    vandal(
        "UPDATE accounts SET balance = balance + 60 WHERE id = 6",
        "UPDATE accounts SET balance = balance - 60 WHERE id = 11",
    )
    found = books.audit()
    assert [line.split(":")[0] for line in found] == [
        "account 6 (online of Ann (caller 1))",
        "account 11 (online of Bob (caller 2))",
    ]


def test_an_amount_that_was_changed_is_found_by_its_hand_and_accounts(books, vandal):
    won = number(books, "won")
    vandal(f"UPDATE transfers SET amount = amount + 60 WHERE id = {won}")
    found = books.audit()
    assert "hand 1: 900 was won, its transfers add up to 960." in found
    assert any(line.startswith("account 6 (online of Ann") for line in found)
    assert any(line.startswith("account 16 (house of black-jack-for-time)") for line in found)


def test_a_removed_row_is_missed(books, vandal):
    won = number(books, "won")
    vandal(f"DELETE FROM transfers WHERE id = {won}")
    found = books.audit()
    assert f"transfer {won}: It is missing." in found
    assert "hand 1: 900 was won, its transfers add up to 0." in found
    assert any(line.startswith(f"entry {won - 1}: It ends after row 1 of 2 rows") for line in found)


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


def test_an_entry_cut_short_in_its_numbers_is_found(books, vandal):
    first = number(books, "returned")
    vandal(f"UPDATE transfers SET size = 3 WHERE id IN ({first}, {first + 1})")
    assert f"entry {first}: It ends after row 2 of 3 rows." in books.audit()


def test_an_amount_that_is_no_number_is_found(books, vandal):
    won = number(books, "won")
    vandal(f"UPDATE transfers SET amount = 'all of it' WHERE id = {won}")
    assert f"transfer {won}: Its amount is 'all of it', which is not a number." in books.audit()


@pytest.mark.parametrize("column", ["place", "size"])
def test_an_entry_whose_rows_are_not_numbered_is_found(books, vandal, column):
    won = number(books, "won")
    vandal(f"UPDATE transfers SET {column} = 'x' WHERE id = {won}")
    said = f"transfer {won}: It is row"
    assert [line for line in books.audit() if line.startswith(said) and "not numbers" in line]


def test_a_balance_that_is_no_number_is_found(books, vandal):
    vandal("UPDATE accounts SET balance = 'x' WHERE id = 8")
    assert (
        "account 8 (bank of Ann (caller 1)): Its balance is 'x', which is not a number."
    ) in books.audit()


def test_an_amount_below_zero_is_found(books, vandal):
    won = number(books, "won")
    vandal(f"UPDATE transfers SET amount = -900 WHERE id = {won}")
    assert any(line.startswith(f"transfer {won}: It moves -900 from") for line in books.audit())


def test_a_transfer_to_the_account_it_came_from_is_found(books, vandal):
    won = number(books, "won")
    vandal(f"UPDATE transfers SET source = target WHERE id = {won}")
    assert any(line.startswith(f"transfer {won}: It moves 900 from") for line in books.audit())


def test_a_transfer_of_an_account_that_is_not_there_is_found(books, vandal):
    won = number(books, "won")
    vandal(f"UPDATE transfers SET source = 99 WHERE id = {won}")
    found = books.audit()
    assert f"transfer {won}: It moves time of an account that does not exist." in found
    assert f"table transfers: In row {won}, the accounts referred to do not exist." in found


def test_a_mix_of_units_is_found(books, vandal):
    house = books.do(transfers.house, "vegas", "usd-cent")
    won = number(books, "won")
    vandal(f"UPDATE transfers SET source = {house.id} WHERE id = {won}")
    assert f"transfer {won}: It turns one usd-cent into one second." in books.audit()


def test_an_account_that_once_held_what_it_may_not_is_found_at_the_row(books, vandal):
    stake = number(books, "stake")
    vandal(
        f"UPDATE transfers SET amount = 4000 WHERE id = {stake}",
        "UPDATE accounts SET balance = balance - 3400 WHERE id = 6",
        "UPDATE accounts SET balance = balance + 3400 WHERE id = 9",
    )
    found = books.audit()
    assert f"transfer {stake}: It leaves -430 in account 6 (online of Ann (caller 1))." in found


def test_a_balance_that_its_kind_may_not_hold_is_found(books, vandal):
    vandal("UPDATE accounts SET balance = 5 WHERE id = 10")
    found = books.audit()
    assert "account 10 (loan of Ann (caller 1)): It may not hold 5." in found
    assert any(line.endswith("says: CHECK constraint failed in accounts.") for line in found)


def test_an_account_that_was_removed_is_missed(books, vandal):
    vandal("DELETE FROM accounts WHERE id = 15")
    assert "caller 2: Bob has 4 of 5 accounts." in books.audit()


@pytest.mark.parametrize(
    ("column", "finding"),
    [
        ("lost", "hand 2: 400 was lost, its transfers add up to 300."),
        ("won", "hand 2: 100 was won, its transfers add up to 0."),
        ("returned", "hand 2: 100 was returned, its transfers add up to 0."),
    ],
)
def test_a_result_that_its_transfers_do_not_add_up_to_is_found(books, vandal, column, finding):
    vandal(f"UPDATE rounds SET {column} = {column} + 100 WHERE id = 2")
    assert books.audit() == [finding]


def test_a_bet_that_is_not_the_one_staked_is_found(books, vandal):
    vandal("UPDATE rounds SET bet = 60 WHERE id = 2")
    assert books.audit() == ["hand 2: Its bet is 60, the transfers of the bet add up to 300."]


def test_a_hand_in_play_that_is_called_settled_is_found(books, vandal):
    vandal("UPDATE rounds SET settled = 1, outcome = 'win' WHERE id = 4")
    assert books.audit() == [
        "hand 4: It is settled, and 120 still stands on the table.",
        "caller 2: The stake account holds 120, the hands in play have 0 on the table.",
    ]


def test_a_settled_hand_that_is_called_in_play_is_found(books, vandal):
    vandal("UPDATE rounds SET settled = NULL, outcome = NULL WHERE id = 1")
    assert books.audit() == ["hand 1: It is in play with a stake of 0."]


def test_a_hand_whose_transfers_are_somebody_elses_is_found(books, vandal):
    vandal("UPDATE rounds SET caller_id = 2, settled = 1, outcome = 'x' WHERE id = 2")
    assert books.audit() == [
        "hand 2: Some of its transfers are another caller's or another game's."
    ]


def test_a_stake_forfeited_in_a_hand_that_is_not_void_is_found(books):
    stake = Account(14, "stake", "second")
    forfeit = Account(3, "forfeit", "second")
    books.do(
        transfers.transfer,
        [Movement(stake, forfeit, 20, Told("deletion", "to spite Bob"), None, 4)],
    )
    assert books.audit() == ["hand 4: 20 of its stake was forfeited, and it is not void."]


def test_a_stake_moved_without_a_hand_is_found(books):
    stake = Account(14, "stake", "second")
    (row,) = books.do(
        transfers.transfer,
        [Movement(stake, ADJUSTMENT, 20, Told("adjustment", "stolen"), None, None)],
    )
    assert books.audit() == [
        "caller 2: The stake account holds 100, the hands in play have 120 on the table.",
        f"transfer {row.number}: It moves a stake and names no hand.",
    ]


def test_an_action_that_was_removed_is_missed(books, vandal):
    vandal("DELETE FROM actions WHERE round_id = 1 AND sequence = 0")
    assert books.audit() == ["hand 1: Its journal has 1 actions, the last is 1."]


def test_a_journal_that_was_removed_is_missed(books, vandal):
    vandal("DELETE FROM actions WHERE round_id = 1")
    assert books.audit() == ["hand 1: Its journal has 0 actions, the last is -1."]


def test_a_second_grant_of_a_day_is_found(books):
    online = Account(6, "online", "second")
    (row,) = books.do(
        transfers.transfer,
        [
            Movement(
                Account(1, "allotment", "second"), online, 60, Told("grant", "again"), None, None
            )
        ],
    )
    assert books.audit() == [
        f"transfer {row.number}: It is a grant that no day of its caller accounts for."
    ]


def test_a_grant_that_is_accounted_to_another_caller_is_found(books, vandal):
    vandal("UPDATE days SET caller_id = 1, day = '2026-06-03' WHERE caller_id = 2")
    found = books.audit()
    assert any("It is a grant that no day of its caller accounts for" in line for line in found)
    assert "caller 2: The day last seen is 2026-06-01, the last begun None." in found


def test_a_day_whose_grant_is_none_is_found(books, vandal):
    vandal("UPDATE days SET grant_id = 2 WHERE caller_id = 2")
    assert "caller 2: The grant of 2026-06-01 should be transfer 2, and is not." in books.audit()


def test_a_day_that_went_back_is_found(books, vandal):
    vandal("UPDATE callers SET day = '2026-06-01' WHERE id = 1")
    assert books.audit() == [
        "caller 1: The day last seen is 2026-06-01, the last begun 2026-06-02."
    ]


def test_a_call_that_says_it_was_charged_otherwise_is_found(books, vandal):
    vandal("UPDATE calls SET ticked = 40, charged = 40, waived = 0 WHERE id = 2")
    assert books.audit() == [
        "call 2: Of 40 seconds 40 were charged and 0 waived; its transfers charge 0."
    ]


def test_time_used_that_names_no_call_is_found(books):
    online, elapsed = Account(6, "online", "second"), Account(2, "elapsed", "second")
    (row,) = books.do(
        transfers.transfer, [Movement(online, elapsed, 20, Told("elapsed", "whose?"), None, None)]
    )
    assert books.audit() == [f"transfer {row.number}: It charges time used and names no call."]


def test_a_record_that_was_removed_is_missed(books, vandal):
    external = number(books, "external")
    vandal("DELETE FROM outbox")
    assert books.audit() == [f"transfer {external}: No record for THEBANK.EXT tells of it."]


def test_a_record_of_other_minutes_is_found(books, vandal):
    external = number(books, "external")
    amount = books.sql("SELECT amount FROM transfers WHERE id = ?", external)[0][0]
    vandal("UPDATE outbox SET minutes = 99")
    assert books.audit() == [
        f"record {external}: It says 99 minutes, transfer {external} {amount} seconds."
    ]


def test_a_record_for_another_caller_is_found_before_it_goes_out(books, vandal):
    ((record,),) = books.sql("SELECT number FROM outbox")
    vandal("UPDATE outbox SET name = 'Bob'")
    assert books.audit() == [
        f"record {record}: It waits for Bob, and its minutes were those of Ann."
    ]
    vandal("UPDATE outbox SET name = 'Ann'")
    books.do(sysop.rename, 1, "Anna", "root (command line)")
    assert books.audit() == []


def test_a_record_of_another_transfer_is_found(books, vandal):
    vandal(
        "INSERT INTO outbox (number, name, minutes, source, at, state)"
        " VALUES (1, 'Ann', 60, 'x', 0, 'waiting')"
    )
    assert books.audit() == ["record 1: Transfer and record do not belong together."]


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
