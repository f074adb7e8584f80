"""The reader decides the language: a task has a viewer, and a phrase is worded when read."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from gettext import GNUTranslations

import pytest

from timebank import language
from timebank.language import N_, Phrase, Viewer, _, ngettext, pgettext, speak_to, speaking_to


class Texts(GNUTranslations):
    """A catalogue of two texts."""

    def __init__(self) -> None:
        super().__init__()
        self._catalog = {
            "Your bet": "Votre mise",
            "{name} owes {amount}.": "{name} doit {amount}.",
            ("{number} win", 0): "{number} gain",
            ("{number} win", 1): "{number} gains",
            "verb\x04Cut": "Couper",
            "noun\x04Cut": "Coupe",
        }
        self.plural = lambda number: int(number > 1)


@pytest.fixture(autouse=True)
def _french(monkeypatch):
    english, french = language.catalogue("en"), Texts()
    monkeypatch.setattr(language, "catalogue", {"en": english, "fr": french}.__getitem__)


def test_without_a_reader_everything_is_english():
    assert _("Your bet") == "Your bet"
    assert ngettext("{number} win", "{number} wins", 2) == "{number} wins"
    assert pgettext("verb", "Cut") == "Cut"


def test_a_reader_has_a_language():
    with speaking_to(Viewer("fr")):
        assert _("Your bet") == "Votre mise"
        # French has one win with 0 as well.
        assert ngettext("{number} win", "{number} wins", 0) == "{number} gain"
        assert pgettext("verb", "Cut") == "Couper"
        assert pgettext("noun", "Cut") == "Coupe"
    assert _("Your bet") == "Your bet"


def test_a_text_missing_in_the_catalogue_is_english():
    with speaking_to(Viewer("fr")):
        assert _("Fairness") == "Fairness"


async def test_each_task_speaks_to_its_own_viewer():
    async def visit(viewer):
        speak_to(viewer)
        await asyncio.sleep(0)
        return _("Your bet")

    assert await asyncio.gather(visit(Viewer("fr")), visit(Viewer())) == ["Votre mise", "Your bet"]


async def test_a_change_of_language_reaches_scheduled_callbacks():
    texts, viewer = [], Viewer()
    with speaking_to(viewer):
        asyncio.get_running_loop().call_soon(lambda: texts.append(_("Your bet")))
    viewer.language = "fr"
    await asyncio.sleep(0)
    assert texts == ["Votre mise"]


def test_the_writer_of_the_books_speaks_english():
    with ThreadPoolExecutor() as threads, speaking_to(Viewer("fr")):
        assert threads.submit(lambda: _("Your bet")).result() == "Your bet"


def test_a_phrase_is_put_into_words_when_it_is_read():
    with ThreadPoolExecutor() as threads:
        owed = threads.submit(
            lambda: ValueError(
                Phrase("{name} owes {amount}.", name="Ann", amount=lambda: _("Your bet"))
            )
        ).result()
    assert str(owed) == "Ann owes Your bet."
    with speaking_to(Viewer("fr")):
        assert str(owed) == "Ann doit Votre mise."


def test_a_phrase_without_values_may_hold_braces():
    assert str(Phrase(N_("{}"))) == "{}"


def test_a_phrase_is_filled_with_phrases():
    inner = Phrase("Your bet")
    with speaking_to(Viewer("fr")):
        assert str(Phrase("{name} owes {amount}.", name="Ann", amount=inner)) == (
            "Ann doit Votre mise."
        )
