"""Messages find the caller that they are for."""

from __future__ import annotations

import pytest

from timebank.callers import callers, messages
from timebank.errors import Refused
from timebank.keeping import deletion


def test_a_line_goes_to_the_name_that_it_begins_with_and_to_no_longer_one_unasked(books):
    ann, ann_lee = books.caller("Ann"), books.caller("Ann Lee")

    def found(line: str) -> tuple[int, str]:
        record, text = books.do(messages.find, line)
        return record.id, text

    assert found("ann hello") == (ann, "hello")
    assert found("Ann: Lee has left") == (ann, "Lee has left")
    assert found("Ann Lee: hello: you") == (ann_lee, "hello: you")
    with pytest.raises(Refused, match="Who do you mean: Ann, Ann Lee"):
        found("Ann Lee has left")
    assert books.do(messages.find, "Bob re: hello") is None


def test_who_is_deleted_takes_no_room_among_those_who_are_ignored(books, monkeypatch):
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
