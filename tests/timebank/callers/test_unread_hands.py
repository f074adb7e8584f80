"""The end of a hand is shown once: on the screen of a call, or at the next log-on."""

from __future__ import annotations

import pytest

from tests.timebank.books import lost, pushed, won
from timebank.callers.notices import note_seen

IS_OVER = "Your hand of 1 June at Black Jack For Time is over: you"


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        (lost(60), "lost 1 minute (lose)."),
        (won(60, 90), "won 1 minute 30 seconds (win)."),
        (pushed(60), "came out even (push)."),
    ],
)
def test_an_unseen_end_of_a_hand_is_shown_at_the_next_log_on(books, ann, call, ending, words):
    call.bet(60)
    call.act(ending)
    call.close()
    assert books.call(ann).notices == (f"{IS_OVER} {words}",)


def test_the_receipt_says_which_hand_has_ended(call):
    first = call.bet(60)
    assert call.receipt.ended_round == 0
    call.act(lost(60))
    assert call.receipt.ended_round == first
    assert call.bet(60, lost(60)) == call.receipt.ended_round
    call.bet(60)
    call.act(lost(30, final=False))
    assert call.receipt.ended_round == 0


def test_an_end_of_a_hand_marked_as_read_is_not_shown(books, ann, call):
    number = call.bet(60, lost(60))
    books.do(note_seen, ann, number)
    call.close()
    assert books.call(ann).notices == ()


def test_marking_an_earlier_hand_as_read_leaves_the_last_unread(books, ann, call):
    first = call.bet(60, lost(60))
    call.bet(60, won(60, 60))
    books.do(note_seen, ann, first)
    call.close()
    assert books.call(ann).notices == (f"{IS_OVER} won 1 minute (win).",)


def test_the_next_bet_leaves_the_last_hand_unread(books, ann, call):
    """UNIX bj deals by itself, perhaps after the line was lost."""
    call.bet(60, lost(60))
    call.bet(60)
    call.close()
    assert books.call(ann).notices == (f"{IS_OVER} lost 1 minute (lose).",)


def test_a_call_that_takes_over_in_mid_hand_gets_no_notice(books, ann, call):
    call.bet(60)
    assert books.call(ann, take_over=True).notices == ()


def test_a_stood_hand_gives_its_own_notice_only(books, playing):
    playing.calls[1].close()
    sitters = {1: playing.gone(1), 2: playing.sitter(2), 3: playing.sitter(3)}
    playing.act(3, {1: lost(60), 2: lost(120), 3: lost(180)}, sitters=sitters)
    (notice,) = books.call(playing.calls[1].caller_id).notices
    assert "left open; the dealer stood it for you" in notice


def test_every_caller_at_a_table_gets_the_notice_of_their_own_hand(books, playing):
    playing.act(3, {1: lost(60), 2: pushed(120), 3: won(180, 270)})
    assert [receipt.ended_round for _, receipt in sorted(playing.receipts.items())] == [1, 2, 3]
    books.do(note_seen, playing.calls[2].caller_id, 2)
    notices = []
    for seat in (1, 2, 3):
        playing.calls[seat].close()
        notices.append(books.call(playing.calls[seat].caller_id).notices)
    at_vegas = "Your hand of 1 June at Vegas is over: you"
    assert notices == [
        (f"{at_vegas} lost 1 minute (lose).",),
        (),
        (f"{at_vegas} won 4 minutes 30 seconds (win).",),
    ]
