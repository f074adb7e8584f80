"""Days, money and numbers are written in the reader's language."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from gettext import GNUTranslations

import pytest

from timebank import language
from timebank.language import Viewer, speaking_to
from timebank.settings.hours import OpeningHours
from timebank.words import decimal, field, moment, money, short_weekday, whole_date


class Texts(GNUTranslations):
    def __init__(self) -> None:
        super().__init__()
        self.plural = lambda number: int(number > 1)
        self._catalog = {
            "before decimals\x04.": ",",
            "between thousands\x04,": " ",
            "${amount}": "{amount} $",
            "{field}: {value}": "{field} : {value}",
            "Sunday": "dimanche",
            "November": "novembre",
            "short\x04Sun": "dim.",
            "short\x04Nov": "nov.",
            "{day} at {time}": "{day} à {time}",
        }


@pytest.fixture
def _french(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    spoken = {"en": language.catalogue("en"), "fr": Texts()}
    monkeypatch.setattr(language, "catalogue", spoken.__getitem__)
    with speaking_to(Viewer("fr")):
        yield


SUNDAY = datetime(2026, 11, 22, 14, 5)


@pytest.mark.usefixtures("_french")
def test_numbers_are_written_as_the_reader_writes_them() -> None:
    assert decimal(1.5) == "1,5"
    assert money(10_000_000, "usd-cent") == "100 000 $"
    assert money(-150, "usd-cent") == "-1,50 $"
    assert field("Capital", "3 F") == "Capital : 3 F"


@pytest.mark.usefixtures("_french")
def test_days_are_named_as_the_reader_names_them() -> None:
    assert whole_date(date(2026, 11, 22)) == "dimanche 22 novembre 2026"
    assert moment(SUNDAY) == "22 nov. 14:05"
    assert short_weekday(SUNDAY) == "dim."
    hours = OpeningHours.read(["sun 20:00-21:00"])
    assert hours.next_opening(SUNDAY) == "dimanche à 20:00"


def test_the_books_are_written_in_english() -> None:
    assert money(10_000_000, "usd-cent") == "$100,000"
    assert whole_date(date(2026, 11, 22)) == "Sunday 22 November 2026"
    assert moment(SUNDAY) == "22 Nov 14:05"


@pytest.mark.parametrize(
    ("number", "written"), [(1.5, "1.5"), (2, "2"), (2.0, "2"), (123_456.5, "123456.5")]
)
def test_a_number_is_written_as_briefly_as_it_can_be(number: float, written: str) -> None:
    assert decimal(number) == written
