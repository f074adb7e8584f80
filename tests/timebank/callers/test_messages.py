"""Messages reach the right caller, within limits."""

from __future__ import annotations

from datetime import timedelta

import pytest

from timebank.callers import callers, messages
from timebank.errors import Refused
from timebank.keeping import caller_acts, deletion


def test_a_line_goes_to_the_typed_name_and_not_to_a_longer_one(books):
    ann, ann_lee = books.caller("Ann"), books.caller("Ann Lee")

    def reader_and_text(line: str) -> tuple[int, str]:
        record, text = books.do(messages.find, line)
        return record.id, text

    assert reader_and_text("ann hello") == (ann, "hello")
    assert reader_and_text("Ann: Lee has left") == (ann, "Lee has left")
    assert reader_and_text("Ann Lee: hello: you") == (ann_lee, "hello: you")
    with pytest.raises(Refused, match="Who do you mean: Ann, Ann Lee"):
        reader_and_text("Ann Lee has left")
    assert books.do(messages.find, "Bob re: hello") is None


def test_deleted_callers_do_not_count_as_ignored(books, monkeypatch):
    monkeypatch.setattr(messages, "MOST_IGNORED", 1)
    ann, bob, cyd = (books.caller(name) for name in ("Ann", "Bob", "Cyd"))

    def ignores(number: int) -> list[str]:
        books.do(lambda desk: messages.ignore(desk, ann, callers.get(desk, number), on=True))
        return books.do(messages.names_ignored, ann)

    assert ignores(bob) == ["Bob"]
    with pytest.raises(Refused, match="that's the limit"):
        ignores(cyd)
    books.do(deletion.delete, bob)
    assert books.do(messages.names_ignored, ann) == []
    assert ignores(cyd) == ["Cyd"]


def test_waiting_messages_of_a_muted_caller_are_withheld(books):
    ann, bob, cyd = (books.caller(name) for name in ("Ann", "Bob", "Cyd"))
    few = messages.Limits(waiting=2)

    def sends(sender: int, text: str) -> None:
        books.do(lambda desk: messages.send(desk, sender, callers.get(desk, cyd), text, few))

    def takes() -> list[str]:
        return [each.text for each in books.do(messages.take, cyd)]

    def waiting() -> list[str]:
        (unseen,) = books.do(messages.unseen, [cyd]).values()
        return [each.text for each in unseen]

    sends(ann, "rude")
    sends(bob, "kind")
    books.do(caller_acts.set_muted, ann, True, "the test")
    assert [each.text for each in books.do(messages.waiting, cyd)] == ["kind"]
    assert waiting() == ["kind"]
    # It does not use the quota of messages either.
    sends(bob, "kinder")
    assert takes() == ["kind", "kinder"]
    assert books.do(messages.unseen, [cyd]) == {}
    # It was stored, and is delivered when its sender is no longer muted.
    books.do(caller_acts.set_muted, ann, False, "the test")
    assert waiting() == ["rude"]
    assert takes() == ["rude"]
    assert takes() == []


def test_waiting_messages_are_limited_per_reader_and_sender(books):
    ann, bob, cyd, dan = (books.caller(name) for name in ("Ann", "Bob", "Cyd", "Dan"))
    limits = messages.Limits(a_day=100, waiting=3, of_one=2)

    def sends(sender: int, to: int) -> None:
        books.do(lambda desk: messages.send(desk, sender, callers.get(desk, to), "hello", limits))

    sends(ann, dan)
    sends(ann, dan)
    with pytest.raises(Refused, match="Too many messages wait for Dan"):
        sends(ann, dan)
    sends(bob, dan)
    with pytest.raises(Refused, match="Too many messages wait for Dan"):
        sends(cyd, dan)
    sends(cyd, ann)  # other senders have room
    books.do(messages.take, dan)
    sends(ann, dan)


def test_a_day_of_messages_is_any_24_hours_and_refuses_in_a_sentence(books):
    ann, bob = books.caller("Ann"), books.caller("Bob")
    limits = messages.Limits(a_day=2)

    def sends(text: str = "hello") -> None:
        books.do(lambda desk: messages.send(desk, ann, callers.get(desk, bob), text, limits))
        books.do(messages.take, bob)

    sends()
    books.now += timedelta(hours=20)
    sends()
    with pytest.raises(Refused, match="You've sent 2 messages in a day: that's the limit"):
        sends("one too many")
    books.now += timedelta(hours=4)
    sends("the first is a day old")
    with pytest.raises(Refused, match="that's the limit"):
        sends("the second is not")
