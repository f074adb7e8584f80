"""Words withheld from a reader: one rule for messages, one-liners and texts with minutes."""

from __future__ import annotations

import pytest

from timebank.callers import callers, hearing, messages, notices
from timebank.callers.history import history
from timebank.callers.messages import Limits
from timebank.keeping import caller_acts
from timebank.settings.settings import BankLimits
from timebank.window.corrections import adjust
from timebank.window.teller import transfer, words_refusal

MINUTE = 60
WITHOUT = "Ann sent you 5 minutes."
WITH = 'Ann sent you 5 minutes: "so there"'


@pytest.fixture
def pair(books):
    """Create Ann, with savings and on a call, and Bob."""
    ann, bob = books.caller("Ann"), books.caller("Bob")
    books.change(limits=BankLimits(known_days=0))
    books.do(adjust, ann, 60 * MINUTE, "savings", "Sysop")
    return ann, bob


def mute(books, number: int, *, on: bool = True) -> None:
    books.do(caller_acts.set_muted, number, on, "the test")


def ignore(books, reader: int, writer: int, *, on: bool = True) -> None:
    books.do(lambda desk: messages.ignore(desk, reader, callers.get(desk, writer), on=on))


def sends(books, giver: int, taker: int) -> None:
    books.call(giver, take_over=True).post(transfer, taker, 5 * MINUTE, "so there")


def waits(books, number: int) -> list[str]:
    """Return a caller's pending messages of both kinds."""
    texts = [str(each) for each in books.do(notices.waiting, number)]
    unseen = books.do(notices.unseen, [number]).get(number, ())
    assert [str(each) for each in unseen] == texts
    return texts


def transfer_facts(books) -> list[str]:
    return [facts for (facts,) in books.sql("SELECT facts FROM transfers WHERE kind = 'transfer'")]


def test_minutes_bring_the_words_that_were_written_with_them(books, pair):
    ann, bob = pair
    assert books.do(words_refusal, ann, bob) is None
    sends(books, ann, bob)
    assert waits(books, bob) == [WITH]


@pytest.mark.parametrize("by", ["the sysop", "the reader"])
def test_minutes_of_an_ignored_or_muted_caller_come_without_words(books, pair, by):
    ann, bob = pair
    if by == "the sysop":
        mute(books, ann)
    else:
        ignore(books, bob, ann)
    assert books.do(words_refusal, ann, bob) is not None
    sends(books, ann, bob)
    assert WITHOUT in waits(books, bob)
    assert "so there" not in "".join((*waits(books, bob), *transfer_facts(books)))


def test_words_sent_with_minutes_are_withheld_while_their_writer_is_muted(books, pair):
    ann, bob = pair
    sends(books, ann, bob)
    mute(books, ann)
    assert waits(books, bob) == [WITHOUT]
    mute(books, ann, on=False)
    assert waits(books, bob) == [WITH]
    ignore(books, bob, ann)
    assert [str(each) for each in books.do(notices.notices, bob)] == [WITHOUT]


def test_messages_are_withheld_while_their_reader_ignores_the_writer(books, pair):
    ann, bob = pair
    books.do(lambda desk: messages.send(desk, ann, callers.get(desk, bob), "boo", Limits()))
    ignore(books, bob, ann)
    assert books.do(messages.unseen, [bob]) == {}
    assert books.do(messages.take, bob) == ()
    ignore(books, bob, ann, on=False)
    assert [each.text for each in books.do(messages.take, bob)] == ["boo"]
    ignore(books, bob, ann)
    assert books.do(messages.latest, bob, 9) == []
    assert [each.text for each in books.do(messages.latest, ann, 9)] == ["boo"]


def test_a_one_liner_is_hidden_from_readers_who_ignore_its_writer(books, pair):
    ann, bob = pair
    call = books.call(ann)
    books.do(lambda desk: messages.write(desk, ann, call.id, "I was here"))
    assert [each.text for each in books.do(messages.wall, 9, bob)] == ["I was here"]
    ignore(books, bob, ann)
    assert books.do(messages.wall, 9, bob) == []
    assert [each.text for each in books.do(messages.wall, 9)] == ["I was here"]
    mute(books, ann)
    assert books.do(messages.wall, 9) == []


def test_callers_are_always_shown_their_own_words(books, pair):
    ann, bob = pair
    mute(books, ann)
    assert books.do(hearing.unheard, ann, [ann, bob]) == frozenset()
    assert books.do(hearing.unheard, bob, [ann, bob]) == {ann}


@pytest.mark.parametrize("by", ["the sysop", "the reader"])
def test_a_statement_has_no_words_of_an_ignored_or_muted_caller(books, pair, by):
    ann, bob = pair
    sends(books, ann, bob)

    def lines(reader: int) -> list[str]:
        return [each.words for each in books.do(history, reader, None, 9)]

    assert lines(bob) == ['Received 5:00 from Ann: "so there"']
    if by == "the sysop":
        mute(books, ann)
    else:
        ignore(books, bob, ann)
    assert lines(bob) == ["Received 5:00 from Ann"]
    assert 'Sent 5:00 to Bob: "so there"' in lines(ann)
