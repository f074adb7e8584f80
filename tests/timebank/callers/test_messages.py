"""Messages find the caller that they are for."""

from __future__ import annotations

import pytest

from timebank.callers import messages
from timebank.errors import Refused


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
