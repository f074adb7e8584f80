"""Several processes on one database, and one that is killed in the middle of its work."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import signal
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.timebank.books import NOON, act, lost, place_bet, wager, won
from timebank.calls.calls import open_call, open_calls
from timebank.errors import CallClosed, RoundInPlay
from timebank.ledger.database import Request, Writer
from timebank.ledger.engines import books_of
from timebank.wagers import journal
from timebank.wagers.rounds import Move

pytestmark = pytest.mark.long

APART = multiprocessing.get_context("forkserver")


def run_together(target, *arguments):
    """Run `target(barrier, answers, ...)` in two processes at once; return their answers."""
    barrier, answers = APART.Barrier(2), APART.Queue()
    processes = [
        APART.Process(target=target, args=(barrier, answers, number, *arguments))
        for number in range(2)
    ]
    for process in processes:
        process.start()
    results = [answers.get(timeout=60) for _ in processes]
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    return results


def _take_over(barrier, answers, number, settings, caller_id):
    """Take over the caller's call repeatedly, with a hand in between."""
    database = books_of(settings)
    database.open_existing()
    played = interrupted = 0
    barrier.wait()
    for _ in range(40):
        try:
            with database.transaction(settings, NOON) as desk:
                opened = open_call(desk, caller_id, number, f"p{number}", "", True)
            with database.transaction(settings, NOON) as desk:
                placed = place_bet(desk, opened.call_id, 0, wager(60), None)
            with database.transaction(settings, NOON) as desk:
                move = Move(placed.lead, 1, {"action": "stay"}, 4)
                act(desk, opened.call_id, 0, move, won(60, 60))
            played += 1
        except CallClosed:
            interrupted += 1
        except RoundInPlay:
            # The other one dealt this hand and lost the call: it is finished here.
            interrupted += 1
            with contextlib.suppress(CallClosed), database.transaction(settings, NOON) as desk:
                _finish(desk, opened.call_id, caller_id)
    database.close()
    answers.put(played + interrupted)


def _finish(desk, call_id, caller_id):
    hand = journal.round_in_play(desk, caller_id)
    if hand is not None:
        move = Move(hand.id, hand.sequence + 1, {"action": "stay"}, 4)
        act(desk, call_id, 0, move, lost(60))


def test_two_processes_taking_a_caller_from_each_other_leave_sound_books(books):
    ann = books.caller("Ann")
    assert run_together(_take_over, books.settings, ann) == [40, 40]
    assert len(books.do(open_calls)) == 1
    assert books.sql("SELECT count(*) FROM transfers WHERE kind = 'grant'") == [(1,)]
    assert books.audit() == []


def _serve(pipe, settings, calls):
    """Place and settle bets through a writer, and report each answered hand."""
    # It runs by the wall clock, at any hour.
    settings = replace(settings, events=())
    database = books_of(settings)
    database.open_existing()
    answers: queue.SimpleQueue = queue.SimpleQueue()
    writer = Writer(database, lambda: settings, lambda: datetime.now(UTC), answers.put)

    def play(desk, call_id):
        placed = place_bet(desk, call_id, 0, wager(60), None)
        move = Move(placed.lead, 1, {"action": "stay"}, 4)
        act(desk, call_id, 0, move, won(60, 120))
        return placed.lead

    while True:
        for call_id in calls:
            writer.submit(Request(lambda desk, call_id=call_id: play(desk, call_id), call_id))
        for done in answers.get():
            pipe.send(done.result)


@pytest.mark.parametrize("hands", [1, 17, 60, 61, 200])
def test_killing_the_writer_loses_nothing_that_was_answered(books, hands):
    calls = [
        books.call(books.caller(f"Caller {letter}"), node=ord(letter)) for letter in "ABCDEFGH"
    ]
    ours, theirs = APART.Pipe(duplex=False)
    given = (theirs, books.settings, [call.id for call in calls])
    process = APART.Process(target=_serve, args=given)
    process.start()
    theirs.close()
    answered = [ours.recv() for _ in range(hands)]
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    # Its last messages are still in the pipe; the final one may be cut off.
    with contextlib.suppress(EOFError, OSError):
        while True:
            answered.append(ours.recv())
    assert process.exitcode == -signal.SIGKILL

    books.close()
    books.database.open_existing()
    settled = {hand for (hand,) in books.sql("SELECT id FROM rounds WHERE settled IS NOT NULL")}
    assert set(answered) <= settled
    assert books.sql("SELECT count(*) FROM rounds WHERE settled IS NULL") == [(0,)]
    assert books.audit() == []
    again = books.call(calls[0].caller_id, take_over=True)
    again.lose(60)
    assert books.audit() == []
