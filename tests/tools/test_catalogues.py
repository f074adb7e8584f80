"""What a translator finds: every text that is marked, wherever it stands."""

from __future__ import annotations

from tools.catalogues import texts, texts_of

SOURCE = """
# For translators: what a caller does
# with cards.
a = _("play")
b = f"|15{_('inside a string')}|07 {ngettext('{n} card', '{n} cards', n)}"
c = pgettext("verb", "bet")
d = Phrase.counted("{n} win", "{n} wins", n)
e = _(a)
f = N_("kept " "for later")
"""


def test_texts_are_found_inside_strings_too() -> None:
    assert [(text.context, text.id) for text in texts_of(SOURCE)] == [
        (None, "play"),
        (None, "inside a string"),
        (None, ("{n} card", "{n} cards")),
        ("verb", "bet"),
        (None, ("{n} win", "{n} wins")),
        (None, "kept for later"),
    ]


def test_what_is_said_to_translators_goes_with_the_text() -> None:
    assert next(texts_of(SOURCE)).comments == ["what a caller does with cards."]


def test_no_text_sends_a_caller_to_a_file_that_they_cannot_read() -> None:
    said = [message.id for message in texts()]
    every = [text for one in said for text in ([one] if isinstance(one, str) else one)]
    assert len(every) > 1000
    assert not [text for text in every if "docs/" in text or ".md" in text]
