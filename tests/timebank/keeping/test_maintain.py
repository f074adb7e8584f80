"""The nightly work: what it does, what it leaves alone, and that repeating it does nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from tests.timebank.books import in_english, lost, stand_alone, statements_of
from timebank.callers import callers, messages, notices, sysop_log
from timebank.errors import CallerOnline
from timebank.keeping import caller_acts, deletion
from timebank.keeping import maintain as nightly
from timebank.keeping.maintain import Maintained, installed_stand, maintain
from timebank.wagers import journal
from timebank.wagers.rounds import Move, Settlement
from timebank.wagers.wagers import stand

NOTHING = Maintained((), (), (), (), 0, 0)
A_DAY = 86400
# Tables that stay small as the books age; `one_open_call` is an index of open calls.
SMALL = re.compile(
    "one_open_call|open_duels|sqlite_sequence|generations|clocks|anon|early_events|json_each"
    "|one_liners"
)


def run(books, stand=None) -> Maintained:
    return maintain(
        lambda: books.database.transaction(books.settings, books.now),
        lambda: books.database.reading(books.settings, books.now),
        stand,
    )


def left_behind(books, name="Ann", **changes):
    """Create a caller who has left a hand on the table."""
    call = books.call(books.caller(name))
    shoe = books.do(
        journal.open_shoe, call.caller_id, "black-jack-for-time", 1, name.encode().ljust(32)
    )
    call.bet(600, shoe_id=shoe.id, cut="", cards_used=4, **changes)
    call.close()
    return call


def lose(desk, stored):
    """Stand a hand of a game in which standing loses."""
    move = Move(stored.id, stored.sequence + 1, {"action": "stay"}, 4)
    settlement = Settlement(600, 0, 0, "lose", {}, True)
    stand_alone(desk, [move], settlement)


def test_books_in_which_all_is_done_are_left_alone(books):
    books.call(books.caller("Ann")).lose(60)
    assert run(books) == NOTHING
    assert NOTHING.sentences() == ()


def test_calls_of_dead_processes_are_closed(books):
    call = books.call(books.caller("Ann"))
    books.server_dies()
    done = run(books)
    assert done.calls == (call.id,)
    assert done.sentences() == (f"Closed call {call.id}, whose process is gone.",)
    assert run(books) == NOTHING


def test_overdue_hands_are_stood(books):
    call = left_behind(books)
    books.wait(A_DAY)
    assert run(books, lose) == NOTHING
    books.wait(A_DAY)
    done = run(books, lose)
    assert done.stood == (call.round_id,)
    assert done.sentences() == (f"Stood hand {call.round_id}, to which nobody returned.",)
    assert books.balances(call.caller_id)["stake"] == 0
    assert run(books, lose) == NOTHING
    assert books.audit() == []


def test_an_overdue_table_is_stood_once_for_all_its_seats(books, playing):
    def lose_all(desk, stored):
        move = Move(stored.id, stored.sequence + 1, {"action": "1:stay"}, 9)
        ends = {each.seat: lost(each.bet) for each in stored.seats}
        stand(desk, [move], ends)

    days(books, 2)
    done = run(books, lose_all)
    assert (done.stood, done.left) == ((playing.lead,), ())
    assert playing.stakes() == [0, 0, 0]
    assert run(books, lose_all) == NOTHING
    assert books.audit() == []


def test_without_a_board_overdue_hands_wait(books):
    call = left_behind(books)
    books.wait(2 * A_DAY)
    sentence = (
        f"Hand {call.round_id} is overdue and was left: no board is installed that knows its game."
    )
    assert run(books).left == (sentence,)
    assert books.balances(call.caller_id)["stake"] == 600


def test_a_hand_stays_with_a_caller_who_returns_at_that_moment(books):
    call = left_behind(books)
    books.wait(2 * A_DAY)

    def too_late(desk, stored):
        raise CallerOnline("The caller is online: the hand is theirs to finish.")

    assert run(books, too_late).left == (
        f"Hand {call.round_id} is overdue and was left:"
        " The caller is online: the hand is theirs to finish.",
    )


def test_a_hand_that_cannot_be_read_does_not_keep_the_others_waiting(books):
    damaged, whole = left_behind(books), left_behind(books, "Bob")
    books.sql("UPDATE rounds SET rules = '{' WHERE id = ?", damaged.round_id)
    books.wait(2 * A_DAY)
    done = run(books, lose)
    assert done.stood == (whole.round_id,)
    assert done.left == (
        f"Hand {damaged.round_id} is overdue and was left: its journal is damaged.",
    )


def test_the_board_says_how_a_hand_is_stood():
    stand = installed_stand()
    assert stand is not None
    assert stand.__module__ == "door.tables.overdue"


def days(books, number):
    books.wait(number * A_DAY)


def closed(books):
    return run(books).closed


def test_an_empty_account_is_closed_when_its_caller_is_gone(books):
    ann = books.caller("Ann")
    days(books, 365)
    assert closed(books) == ()
    books.wait(1)
    assert closed(books) == ("Ann",)
    assert closed(books) == ()
    assert books.do(callers.find, "Ann") is None
    assert books.audit() == []
    (line,) = books.do(sysop_log.entries, None, 9)
    assert (line.by, line.caller, line.what) == (
        "maintain",
        "Ann",
        "Closed the account, empty and not used since 2026-06-01",
    )
    assert books.caller("Ann") != ann


def test_days_count_from_the_last_call(books):
    ann = books.caller("Ann")
    days(books, 300)
    books.call(ann).close()
    days(books, 300)
    assert closed(books) == ()
    days(books, 66)
    assert closed(books) == ("Ann",)


def test_days_are_the_sysops_to_choose(books):
    books.caller("Ann")
    books.change(retention=replace(books.settings.retention, gone=10))
    days(books, 10)
    assert closed(books) == ()
    books.wait(1)
    assert closed(books) == ("Ann",)


def test_an_unused_rest_of_a_grant_does_not_keep_an_account(books):
    ann = books.call(books.caller("Ann"))
    books.wait(600)
    ann.lose(300)
    ann.close()
    days(books, 366)
    assert closed(books) == ("Ann",)
    days(books, 30)
    assert run(books).removed == ("Ann",)
    assert books.system()["forfeit"] == 3600 - 600 - 300
    assert books.audit() == []


def test_a_minute_that_was_earned_does(books):
    ann = books.call(books.caller("Ann"))
    ann.win(60, 60)
    ann.close()
    days(books, 366)
    assert closed(books) == ()


def test_a_minute_that_was_earned_and_used_up_does_not(books):
    ann = books.call(books.caller("Ann"))
    ann.win(60, 60)
    books.wait(3660)
    ann.close()
    days(books, 366)
    assert closed(books) == ("Ann",)


@pytest.mark.parametrize(("kind", "amount"), [("bank", 60), ("stake", 60), ("loan", -60)])
def test_an_account_with_anything_else_in_it_stays(books, kind, amount):
    ann = books.caller("Ann")
    books.sql("UPDATE accounts SET balance = ? WHERE caller_id = ? AND kind = ?", amount, ann, kind)
    days(books, 366)
    assert closed(books) == ()


def test_a_bankroll_or_a_tab_keeps_an_account_open(books):
    for name, play in (("Ann", bank_of), ("Bob", tab_of)):
        call = books.call(books.caller(name))
        play(call)
        call.close()
    days(books, 366)
    assert closed(books) == ()


def test_the_bank_that_one_faced_keeps_no_account_open(books):
    call = books.call(books.caller("Ann"))
    bank_of(call)
    bankroll = call.receipt.play.bankroll
    call.coup(bankroll, lost(bankroll))
    call.close()
    days(books, 366)
    assert closed(books) == ("Ann",)
    days(books, 30)
    assert run(books).removed == ("Ann",)
    assert books.system("usd-cent") == {"mint": 0}
    assert books.audit() == []


def bank_of(call):
    call.sit_down()


def tab_of(call):
    call.hand_of_bj(lost(200))


def test_a_caller_on_line_or_in_a_hand_is_not_deleted_as_absent(books):
    books.change(events=())
    ann = books.call(books.caller("Ann"))
    books.sql("UPDATE callers SET last_call = 0")
    assert closed(books) == ()
    ann.lose(3540)
    ann.bet(1, coin=1)
    ann.close()
    days(books, 366)
    assert closed(books) == ()


@pytest.mark.parametrize("column", ["locked", "frozen"])
def test_a_locked_caller_is_not_deleted_as_absent(books, column):
    books.caller("Ann")
    books.sql(f"UPDATE callers SET {column} = 1")
    days(books, 366)
    assert closed(books) == ()


@pytest.mark.parametrize(
    ("key", "value"), [("sysop", "ANN"), ("barred", ("ANN",)), ("co_sysops", ("ANN",))]
)
def test_a_caller_named_in_sysop_toml_is_not_deleted_as_absent(books, key, value):
    books.caller("Ann")
    books.change(**{key: value})
    days(books, 366)
    assert closed(books) == ()


def test_read_notices_are_deleted_in_time(books):
    ann = books.caller("Ann")
    books.do(notices.add_notice, ann, "old")
    assert in_english(books.do(notices.notices, ann)) == ("old",)
    books.do(notices.add_notice, ann, "waits")
    days(books, 90)
    assert run(books) == NOTHING
    books.wait(1)
    done = run(books)
    assert done.notices == 1
    assert done.sentences() == ("Forgot 1 old notice that callers have read.",)
    assert in_english(books.do(notices.notices, ann)) == ("waits",)


def test_the_log_is_forgotten_in_time(books):
    for _ in range(2):
        books.do(sysop_log.note, "Sysop", None, "Did something")
    days(books, 365)
    assert run(books).log_lines == 0
    books.wait(1)
    done = run(books)
    assert done.log_lines == 2
    assert done.sentences() == ("Forgot 2 old lines of the sysop's log.",)


def test_messages_that_were_read_are_forgotten_in_time_and_some_at_once(
    books, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(nightly, "ROWS_PER_TRANSACTION", 2)
    ann, bob = books.caller("Ann"), books.caller("Bob")
    to_bob = books.do(callers.get, bob)
    for text in ("one", "two", "three"):
        books.do(messages.send, ann, to_bob, text, messages.Limits())
    assert len(books.do(messages.take, bob)) == 3
    books.do(messages.send, ann, to_bob, "waits", messages.Limits())
    days(books, 90)
    assert run(books) == NOTHING
    books.wait(1)
    done = run(books)
    assert done.messages == 3
    assert done.sentences() == ("Forgot 3 old messages that callers have read.",)
    assert [each.text for each in books.do(messages.waiting, bob)] == ["waits"]


@pytest.mark.of_a_file
def test_nothing_goes_through_all_rows_while_others_wait_to_write(books):
    """SQLite reports how each writing statement of the nightly work finds its rows."""
    left_behind(books)
    ann = books.caller("Eve")
    books.do(notices.add_notice, ann, "old")
    books.do(notices.notices, ann)
    books.do(sysop_log.note, "Sysop", None, "Did something")
    days(books, 400)
    with statements_of(books.database) as ran:
        done = run(books, lose)
    assert done.stood
    assert done.closed
    assert (done.notices, done.log_lines) == (1, 1)
    with books.database.reading(books.settings, books.now) as desk:
        for connection, statement, parameters in ran:
            if connection.get_execution_options().get("read_only"):
                continue
            if statement.lstrip().startswith(("SELECT", "UPDATE", "DELETE", "INSERT")):
                rows = desk.connection.exec_driver_sql(
                    f"EXPLAIN QUERY PLAN {statement}", parameters
                )
                scans = [row.detail for row in rows if row.detail.startswith("SCAN")]
                assert [each for each in scans if not SMALL.search(each)] == [], statement


def test_transfers_hands_and_shoes_stay_for_ever(books):
    call = left_behind(books)
    books.wait(2 * A_DAY)
    run(books, lose)
    tables = ("transfers", "rounds", "actions", "shoes", "days", "calls")
    before = {table: books.sql(f"SELECT count(*) FROM {table}") for table in tables}
    books.now += timedelta(days=5000)
    assert run(books).closed == ("Ann",)
    books.now += timedelta(days=30)
    assert run(books).removed == ("Ann",)
    after = {table: books.sql(f"SELECT count(*) FROM {table}") for table in tables}
    ((forfeited,),) = books.sql("SELECT count(*) FROM transfers WHERE kind = 'deletion'")
    ((transfers,),) = after.pop("transfers")
    assert transfers == before.pop("transfers")[0][0] + forfeited
    assert after == before
    assert books.do(journal.stored_round, call.round_id) is not None


def test_a_deleted_caller_is_removed_after_some_days(books):
    books.change(keep_days=2)
    ann = books.caller("Ann")
    books.call(ann).close()
    books.do(deletion.delete, ann)
    books.wait(2 * A_DAY - 1)
    assert run(books).removed == ()
    books.wait(1)
    done = run(books)
    assert done.sentences() == ("Removed Ann, who was deleted, and their time.",)
    assert set(books.balances(ann).values()) == {0}
    assert run(books).sentences() == ()
    assert books.audit() == []


def test_a_caller_whom_the_sysop_brought_back_is_not_closed_again_that_night(books):
    books.caller("Ann")
    days(books, 366)
    assert closed(books) == ("Ann",)
    books.do(caller_acts.bring_back, "Ann", None, "Sysop")
    days(books, 365)
    assert closed(books) == ()
    books.wait(1)
    assert closed(books) == ("Ann",)


def test_a_caller_who_came_back_meanwhile_is_not_removed(books, monkeypatch):
    books.change(keep_days=0)
    for name in ("Ann", "Bob"):
        books.do(deletion.delete, books.caller(name))
    read = deletion.hidden
    found = books.do(read)
    books.do(callers.bring_back, found[0].id, found[0].name)
    looks = iter([found])
    monkeypatch.setattr(deletion, "hidden", lambda desk: next(looks, None) or read(desk))
    assert run(books).removed == (found[1].name,)
    assert books.audit() == []


def test_the_command_reports_its_work(board, timebank):
    board.caller("Ann")
    board.sql("UPDATE callers SET created = 0")
    assert timebank.says("maintain") == (
        "Closed the account of Ann, empty and not used any more.\n"
    )
    assert timebank.says("maintain") == "Nothing to do.\n"


def test_the_command_exits_with_1_when_a_hand_could_not_be_stood(board, timebank):
    call = left_behind(board)
    board.sql("UPDATE rounds SET rules = '{'")
    timebank("clock", "--believe")  # which says that it is months later
    code, output, _ = timebank("maintain")
    assert code == 1
    assert f"Hand {call.round_id} is overdue and was left: its journal is damaged.\n" in output
