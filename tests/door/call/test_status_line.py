"""The status line on every width: no amount in it is ever cut, or it would be another amount."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import pytest

from ansi.width import text_width
from door.call.canvas_display import CLOCK
from door.call.markup import plain
from door.call.status_line import StatusLine
from timebank.language import LANGUAGES, Viewer, speaking_to

MINUTE, HOUR = 60, 3600


def line(columns: int, *, bank: int, event: str = "") -> str:
    """Return the status line, without colours, of a caller with an hour left at this width."""
    console = SimpleNamespace(line=SimpleNamespace(columns=columns))
    books = SimpleNamespace(settings=lambda: SimpleNamespace(mode="built-in"))
    purse = SimpleNamespace(
        time_left=lambda: HOUR,
        pot=lambda coin: HOUR // coin,
        posted=SimpleNamespace(bank=bank, closing=None),
        until=None,
        event_words=lambda longest: event,
    )
    pieces, clock = StatusLine(console, books, 1, purse, MINUTE).pieces()  # type: ignore[arg-type]
    return plain("".join(pieces).replace(CLOCK, clock))


@pytest.mark.parametrize(
    ("bank", "shown"),
    [
        (30 * MINUTE, "Time 1:00:00 │ Pot 60 │ Bank 30:00"),
        (9_999 * HOUR, "Time 1:00:00│Pot 60│Bank 9999:00:00"),
        (999_999_999 * HOUR, "Time 1:00:00 │ Pot 60"),
    ],
)
def test_on_forty_columns_it_closes_up_before_anything_is_left_out(bank: int, shown: str) -> None:
    assert line(40, bank=bank) == shown


def test_a_longer_language_closes_up_too() -> None:
    with speaking_to(Viewer("fr")):
        assert line(40, bank=HOUR) == "Temps 1:00:00│Pot 60│Épargne 1:00:00"


def test_an_event_is_left_out_rather_than_its_time() -> None:
    event = "Nightly upkeep at 03:00"
    assert line(80, bank=HOUR, event=event).endswith(event)
    assert line(80, bank=9_999_999 * HOUR, event=event).endswith("│ Bank 9999999:00:00")


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_never_wider_than_the_screen(language: str) -> None:
    banks = (0, HOUR, 9_999 * HOUR, 9_999_999 * HOUR)
    with speaking_to(Viewer(language)):
        for columns, bank in product(range(40, 161), banks):
            shown = line(columns, bank=bank, event="Nightly maintenance and more")
            assert text_width(shown) <= columns - 2, shown
