"""Notices are stored as facts, and put into words in the reader's language."""

import pytest

from tests.timebank.books import in_english
from timebank import language
from timebank.callers.notices import Amount, Why, add_notice, notices, read, written
from timebank.language import N_, Viewer, speaking_to
from timebank.ledger.reasons import SysopAdded


def test_values_are_filled_in_when_it_is_read(books, monkeypatch):
    ann = books.caller("Ann")
    books.do(lambda desk: add_notice(desk, ann, N_("{a} sent {b}."), a="Bob {b}", b=Amount(300)))
    (waits,) = books.do(notices, ann)
    assert str(waits) == "Bob {b} sent 5 minutes."

    class French(language.gettext.NullTranslations):
        def gettext(self, message):
            return {"{a} sent {b}.": "{b} de {a}."}.get(message, message)

    monkeypatch.setattr(language, "catalogue", lambda _language: French())
    with speaking_to(Viewer("fr")):
        assert str(waits) == "5 minutes de Bob {b}."


@pytest.mark.parametrize(
    "text",
    [
        "Bob has sent you 5 minutes: {hello}",
        '{"say":',
        '{"say":7}',
        '{"say":"{a}"}',
        '{"say":"{a}","a":["new",7]}',
    ],
)
def test_an_unknown_form_is_shown_unchanged(books, text):
    ann = books.caller("Ann")
    books.do(add_notice, ann, text)
    shown = in_english(books.do(notices, ann))
    assert shown in ((text,), ("{a}",))


def test_a_reason_is_stored_as_facts():
    why = Why(SysopAdded("Sysop", "a {prize}"), Amount(60))
    assert str(read(written("{why}.", {"why": why}))) == "1 minute added by Sysop: a {prize}."
