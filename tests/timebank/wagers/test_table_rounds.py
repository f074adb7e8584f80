"""Rounds of several callers at one table: one journal, one end, arrivals and departures."""

from __future__ import annotations

import contextlib
import multiprocessing
import sqlite3

import pytest
from sqlalchemy.exc import OperationalError

from tests.timebank.books import NOON, in_english, lost, pushed, won
from tests.timebank.tables import GAME
from timebank.callers.notices import notices
from timebank.errors import BooksUnavailable, CallClosed, NotEnough, Refused, RoundOver
from timebank.keeping import deletion
from timebank.ledger.engines import books_of
from timebank.wagers import journal
from timebank.wagers.rounds import Move
from timebank.wagers.wagers import act, place

APART = multiprocessing.get_context("forkserver")
LEFT_OPEN = "Your hand of 1 June at Vegas was left open; the dealer stood it for you: you"


# Actions and the end.


@pytest.mark.parametrize("at_once", [1, 2, 3, 200])
def test_rounds_read_together_equal_rounds_read_alone(books, playing, monkeypatch, at_once: int):
    playing.act(2)
    playing.act(1, {1: lost(60), 2: lost(120), 3: won(180, 270)})
    books.call(books.caller("Dora"), node=4).bet(60)
    playing.bet({3: 60, 1: 120}, start=9)
    alone = [books.do(journal.stored_round, number) for number in range(1, 7)]
    monkeypatch.setattr(journal, "BATCH", at_once)
    assert books.do(lambda desk: list(journal.rounds_between(desk, 1, 6))) == alone
    assert [len(stored.seats) for stored in alone] == [3, 3, 3, 1, 2, 2]
    assert [len(stored.actions) for stored in alone] == [3, 3, 3, 1, 1, 1]


@pytest.mark.of_a_file
def test_a_journal_row_with_a_damaged_number_leaves_the_others_readable(books, playing):
    books.call(books.caller("Dora"), node=4).bet(60)
    with contextlib.closing(sqlite3.connect(books.settings.database)) as by_hand, by_hand:
        by_hand.execute("UPDATE rounds SET lead = x'ff' WHERE seat = 3")
    rounds = books.do(lambda desk: list(journal.rounds_between(desk, 1, 4)))
    assert [len(stored.actions) for stored in rounds] == [1, 1, 0, 1]
    assert [len(stored.seats) for stored in rounds] == [2, 2, 0, 1]


def test_actions_of_all_seats_stand_in_one_journal(books, playing):
    playing.act(1)
    playing.act(3, stake=180, kind="double", coin=60)
    assert playing.moved(3) == [("double", 180, "online", "stake")]
    assert list(playing.receipts) == [3]
    assert books.sql("SELECT round_id, sequence, call_id FROM actions") == [
        (1, 0, playing.calls[1].id),
        (1, 1, playing.calls[1].id),
        (1, 2, playing.calls[3].id),
    ]
    assert playing.stakes() == [60, 120, 360]


def test_the_last_action_settles_every_seat_in_its_own_round(books, playing):
    books.wait(20)
    playing.act(3, {1: lost(60), 2: pushed(120), 3: won(180, 270)})
    assert playing.moved(1)[1:] == [("lost", 60, "stake", "house")]
    assert playing.moved(2)[1:] == [("returned", 120, "stake", "online")]
    assert playing.moved(3)[1:] == [
        ("returned", 180, "stake", "online"),
        ("won", 270, "house", "online"),
    ]
    assert playing.online() == [3520, 3580, 3850]
    assert books.sql("SELECT lost, returned, won, outcome FROM rounds ORDER BY id") == [
        (60, 0, 0, "lose"),
        (0, 120, 0, "push"),
        (0, 180, 270, "win"),
    ]
    assert books.system()["house"] == 60 - 270
    assert books.do(journal.shared_rounds, GAME) == {}
    assert books.audit() == []


def test_an_action_may_settle_a_part_in_mid_hand(books, playing):
    playing.act(2, stake=60, kind="insurance", coin=60)
    playing.act(1, {2: lost(60, final=False)})
    assert playing.stakes() == [60, 120, 180]
    playing.act(1, {1: lost(60), 2: lost(120), 3: lost(180)})
    assert books.sql("SELECT lost FROM rounds ORDER BY id") == [(60,), (180,), (180,)]
    assert books.audit() == []


def test_a_round_ends_for_all_seats_or_for_none(playing):
    before = playing.everything()
    with pytest.raises(ValueError, match=r"seats \[1, 2\] of \[1, 2, 3\]"):
        playing.act(1, {1: lost(60), 2: lost(120)})
    assert playing.everything() == before


def test_a_settlement_that_does_not_fit_one_seat_settles_none(playing):
    before = playing.everything()
    with pytest.raises(ValueError, match="does not fit the 180 on the table"):
        playing.act(1, {1: lost(60), 2: lost(120), 3: lost(179)})
    assert playing.everything() == before


def test_a_stake_that_a_seat_cannot_pay_changes_nothing(playing):
    before = playing.everything()
    with pytest.raises(NotEnough):
        playing.act(3, stake=3600, kind="double", coin=60)
    assert playing.everything() == before


@pytest.mark.of_a_file
def test_a_disk_error_in_mid_action_is_reported_as_itself(books, playing, monkeypatch):
    def fails(desk, *_):
        # SQLite rolls back by itself, with savepoints, when there is no room for a page.
        desk.connection.exec_driver_sql("ROLLBACK")
        full = sqlite3.OperationalError("database or disk is full")
        full.sqlite_errorname = "SQLITE_FULL"
        raise OperationalError("INSERT", (), full)

    before = playing.everything()
    with monkeypatch.context() as disk:
        disk.setattr("timebank.wagers.rounds.write_action", fails)
        with pytest.raises(BooksUnavailable, match="no space is left"):
            playing.act(1)
    assert playing.everything() == before
    playing.act(1)


def test_an_action_of_a_round_that_is_over_or_keeps_no_journal_is_refused(playing):
    with pytest.raises(RoundOver):
        playing.act(2, round_id=2)
    with pytest.raises(RoundOver):
        playing.act(1, round_id=99)
    playing.act(1, {1: lost(60), 2: lost(120), 3: lost(180)})
    with pytest.raises(RoundOver):
        playing.act(1)


def test_an_empty_seat_cannot_act(playing):
    with pytest.raises(ValueError, match="nobody plays seat 7"):
        playing.act(7, sitters={})


def test_a_seat_cannot_be_played_as_if_it_were_alone(playing):
    before = playing.everything()
    refusals = {1: (ValueError, r"seats \[1\] of \[1, 2, 3\]"), 2: (RoundOver, "This hand is over")}
    for seat, (error, words) in refusals.items():
        call = playing.calls[seat]
        call.round_id, call.sequence = playing.rounds[seat], 0
        with pytest.raises(error, match=words):
            call.act(lost(60 * seat))
    assert playing.everything() == before


# Seats of absent callers.


def test_a_dropped_seat_is_settled_and_its_caller_reads_it_on_return(books, playing):
    playing.calls[2].close()
    playing.act(2, sitters={2: playing.gone(2)}, action="stay")
    assert playing.moved(2) == []
    playing.act(3, {1: lost(60), 2: won(120, 120), 3: lost(180)})
    again = books.call(playing.calls[2].caller_id)
    assert again.notices == (f"{LEFT_OPEN} won 2 minutes (win).",)
    assert again.purse.online == 3720 - 1  # the second begun by the first call
    assert books.sql("SELECT call_id FROM actions WHERE sequence = 1") == [(None,)]
    assert books.audit() == []


def test_callers_on_line_get_no_notice(books, playing):
    playing.act(1, {1: lost(60), 2: lost(120), 3: lost(180)})
    assert books.sql("SELECT * FROM notices") == []


def test_a_seat_without_a_call_stakes_nothing_more(playing):
    playing.calls[2].close()
    before = playing.everything()
    for sitter in (playing.gone(2), playing.sitter(2)):
        with pytest.raises(CallClosed):
            playing.act(2, sitters={2: sitter}, stake=60, kind="double", coin=60)
    assert playing.everything() == before


def test_a_call_that_was_taken_over_cannot_act(books, playing):
    books.call(playing.calls[2].caller_id, take_over=True)
    with pytest.raises(CallClosed):
        playing.act(2)


def test_a_call_that_ended_unnoticed_does_not_delay_the_others_money(books, playing):
    playing.calls[1].close()
    playing.act(3, {1: won(60, 60), 2: won(120, 120), 3: won(180, 180)})
    assert playing.online() == [3660 - 1, 3720, 3780]  # less the second of the call
    assert in_english(books.do(notices, playing.calls[1].caller_id)) == (
        f"{LEFT_OPEN} won 1 minute (win).",
    )


def test_a_caller_back_on_another_call_is_settled_and_charged_there(books, playing):
    playing.calls[2].close()
    books.wait(100)
    again = books.call(playing.calls[2].caller_id, node=7, process="other")
    books.wait(20)
    playing.act(3, {1: lost(60), 2: won(120, 120), 3: lost(180)}, sitters={2: playing.gone(2)})
    assert playing.moved(2) == [
        ("returned", 120, "stake", "online"),
        ("won", 120, "house", "online"),
    ]
    assert books.sql("SELECT DISTINCT call_id FROM transfers WHERE round_id = 2 AND id > 6") == [
        (again.id,)
    ]
    assert books.do(notices, again.caller_id) == ()
    again.touch()
    assert again.moved == [("elapsed", 20, "online", "elapsed")]
    assert books.audit() == []


def test_a_seat_of_a_dead_process_is_settled_when_it_is_known_dead(books, playing):
    books.server_dies()
    playing.act(3, {1: lost(60), 2: lost(120), 3: lost(180)}, sitters={2: playing.gone(2)})
    assert books.sql("SELECT reason FROM calls WHERE caller_id = 2") == [("lease ran out",)]
    assert in_english(books.do(notices, 2)) == (f"{LEFT_OPEN} lost 2 minutes (lose).",)
    assert books.audit() == []


def test_after_a_crash_the_table_has_all_its_seats(books, playing):
    playing.act(1)
    (lead,) = books.do(journal.shared_rounds, GAME)
    stored = books.do(journal.stored_round, lead)
    assert (stored.id, stored.lead, stored.seat, stored.sequence) == (1, 1, 1, 1)
    assert [(each.seat, each.round_id, each.caller, each.bet) for each in stored.seats] == [
        (1, 1, "Ann", 60),
        (2, 2, "Bob", 120),
        (3, 3, "Cid", 180),
    ]
    cids = books.do(journal.round_in_play, playing.calls[3].caller_id)
    assert (cids.id, cids.lead, cids.seat, cids.stake) == (3, 1, 3, 180)
    assert (cids.actions, cids.seats) == (stored.actions, stored.seats)
    bob, cid, dan = (playing.calls[2].caller_id, playing.calls[3].caller_id, books.caller("Dan"))
    assert books.do(journal.games_in_play, [bob, cid, dan]) == {bob: GAME, cid: GAME}


def test_an_abandoned_table_is_overdue_once(books, playing):
    books.wait(3 * 86400)
    books.server_dies()
    (stored,) = books.do(journal.overdue_rounds)
    assert stored.id == playing.lead
    assert books.do(journal.overdue_round_numbers) == [playing.lead]
    playing.act(1, {1: lost(60), 2: lost(120), 3: lost(180)}, sitters={})
    assert books.do(journal.overdue_rounds) == []
    assert [len(in_english(books.do(notices, caller))) for caller in (1, 2, 3)] == [1, 1, 1]
    assert books.audit() == []


# Deleted callers.


@pytest.mark.parametrize("seat", [1, 2])
def test_a_deleted_callers_seat_is_void_and_the_others_play_on(books, playing, seat):
    playing.calls[seat].close()
    books.do(deletion.delete, playing.calls[seat].caller_id)
    assert books.audit() == []
    (lead,) = books.do(journal.shared_rounds, GAME)
    stored = books.do(journal.stored_round, lead)
    assert [each.settled for each in stored.seats] == [each.seat == seat for each in stored.seats]
    playing.act(seat, sitters={}, action="stay")
    assert playing.receipts == {}
    playing.act(3, {1: lost(60), 2: lost(120), 3: won(180, 180)})
    assert sorted(playing.receipts) == [number for number in (1, 2, 3) if number != seat]
    assert books.sql("SELECT seat FROM rounds WHERE outcome = 'void'") == [(seat,)]
    assert books.do(journal.shared_rounds, GAME) == {}
    assert books.audit() == []


def test_the_seat_of_a_deleted_caller_stakes_nothing(books, playing):
    playing.calls[2].close()
    books.do(deletion.delete, playing.calls[2].caller_id)
    with pytest.raises(RoundOver):
        playing.act(2, sitters={}, stake=60, kind="double", coin=60)


def test_a_round_without_its_deleted_callers_is_over(books, playing):
    for call in playing.calls.values():
        call.close()
        books.do(deletion.delete, call.caller_id)
    assert books.do(journal.shared_rounds, GAME) == {}
    with pytest.raises(RoundOver):
        playing.act(1, sitters={})
    assert books.audit() == []


# Several processes.


def _bet_and_settle(barrier, answers, settings, wager, sitters):
    """Bet at the same table as another process, and finish the round."""
    database = books_of(settings)
    database.open_existing()
    dealt = refused = 0
    barrier.wait()
    for _ in range(30):
        try:
            with database.transaction(settings, NOON) as desk:
                placed = place(desk, wager, sitters, {})
            with database.transaction(settings, NOON) as desk:
                move = Move(placed.lead, 1, {"action": "1:stay"}, 9)
                ends = {seat: pushed(amount) for seat, amount in wager.amounts.items()}
                act(desk, move, sitters, ends)
            dealt += 1
        except Refused:
            refused += 1
    database.close()
    answers.put((dealt, refused))


def test_two_processes_at_one_table_deal_each_round_once(books, table):
    sitters = {seat: table.sitter(seat) for seat in (1, 2, 3)}
    barrier, answers = APART.Barrier(2), APART.Queue()
    wager = table.wager._replace(amounts={1: 60, 2: 120, 3: 180}, cards_used=9, start=None)
    arguments = (barrier, answers, books.settings, wager, sitters)
    processes = [APART.Process(target=_bet_and_settle, args=arguments) for _ in range(2)]
    for process in processes:
        process.start()
    results = [answers.get(timeout=60) for _ in processes]
    for process in processes:
        process.join()
    assert sum(dealt + refused for dealt, refused in results) == 60
    rounds = books.sql("SELECT start_position FROM rounds WHERE lead IS NULL ORDER BY id")
    assert rounds == [(9 * number,) for number in range(sum(dealt for dealt, _ in results))]
    assert table.stakes() == [0, 0, 0]
    assert books.audit() == []
