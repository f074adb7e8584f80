"""Days, money and numbers are written in the reader's language."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from gettext import GNUTranslations

import pytest

from timebank import language
from timebank.language import Viewer, speaking_to
from timebank.settings.hours import OpeningHours
from timebank.words import (
    date_time_words,
    day_time_words,
    day_words,
    decimal,
    field,
    moment,
    money,
    percentage,
    short_weekday,
    time_words,
    whole_date,
)


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


def test_french_dates_and_times_are_written_as_people_write_them() -> None:
    first = datetime(2026, 12, 1, 13, 32)
    with speaking_to(Viewer("fr")):
        assert [time_words(first), time_words(datetime(2026, 12, 1, 3))] == ["13 h 32", "3 h"]
        assert day_words("2026-12-01") == "1er décembre"
        assert day_words("2026-12-11") == "11 décembre"
        assert whole_date(first) == "mardi 1er décembre 2026"
        assert date_time_words(first) == "1er décembre 2026 à 13 h 32"
        assert [moment(first), moment(datetime(2026, 5, 2, 9))] == [
            "01 déc.  13:32",
            "02 mai   09:00",
        ]
        assert day_time_words(first) == "1er déc. à 13 h 32"
        assert OpeningHours.read(["sun 20:00-21:00"]).next_opening(SUNDAY) == "dimanche à 20 h"


def test_english_dates_and_times_are_written_as_people_write_them() -> None:
    first = datetime(2026, 12, 1, 3)
    assert whole_date(first) == "Tuesday 1 December 2026"
    assert day_time_words(first) == "1 Dec at 03:00"


def test_a_percentage_has_its_space_in_french() -> None:
    with speaking_to(Viewer("fr")):
        assert [percentage(-119), percentage(2.5)] == ["-119 %", "2,5 %"]
