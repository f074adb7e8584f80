"""The daily bulletins: who is rich, who won and lost most, how the house did.

They are written into the sysop's texts folder as `bulletin.ans` and `bulletin.asc`, when a day has
ended and when a server starts, so that other programs of the board can show them too.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ansi import art
from ansi.art import Art, Sauce
from ansi.style import from_pipe, sgr
from door import wording
from door.call.display import literal, plain
from timebank.callers import standings
from timebank.callers.standings import DaySpan
from timebank.language import _, ngettext
from timebank.words import title, whole_date

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from timebank.callers.standings import HouseDay, Standing
    from timebank.ledger.database import Desk

NAME = "bulletin"
PLACES = 5
COLUMN = 38  # cells of each of the two columns
COLUMNS = 77


@dataclass(frozen=True)
class Bulletin:
    day: date
    richest: Sequence[Standing]
    day_winners: Sequence[Standing]
    day_losers: Sequence[Standing]
    ever_winners: Sequence[Standing]
    ever_losers: Sequence[Standing]
    house: Sequence[HouseDay]


def of_yesterday(desk: Desk) -> Bulletin:
    day = desk.settings.schedule.day_of(desk.now) - timedelta(days=1)
    of_day = DaySpan(day, day)
    return Bulletin(
        day,
        standings.richest(desk, PLACES),
        standings.winners(desk, of_day, PLACES),
        standings.losers(desk, of_day, PLACES),
        standings.winners(desk, None, PLACES),
        standings.losers(desk, None, PLACES),
        standings.house_day(desk, day),
    )


def lines(bulletin: Bulletin, board: str, columns: int = COLUMNS) -> list[str]:
    """Return the bulletin as lines with pipe codes, none of more than `columns` cells: two lists
    stand side by side where there is room."""
    told = [f"|15{literal(board)}|07, {whole_date(bulletin.day)}", ""]
    pairs = (
        (_list(_("Richest callers"), bulletin.richest), _house(bulletin.house)),
        (
            _list(_("Winners of the day"), bulletin.day_winners),
            _list(_("Losers of the day"), bulletin.day_losers),
        ),
        (
            _list(_("Winners of all time"), bulletin.ever_winners),
            _list(_("Losers of all time"), bulletin.ever_losers),
        ),
    )
    for left, right in pairs:
        told += beside(left, right) if columns >= COLUMNS else [*left, "", *right, ""]
    return told


def write(bulletin: Bulletin, board: str, folder: Path) -> None:
    """Write both files, each whole or not at all; `OSError` when the folder cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = lines(bulletin, board)
    painted = "\r\n".join(
        "".join(f"{sgr(style)}{part}" for style, part in from_pipe(row)) + "\x1b[0m" for row in rows
    )
    sauce = Sauce(title=f"Bulletin of {bulletin.day}", group=plain(board), columns=80)
    _replace(folder / f"{NAME}.ans", art.write(Art(painted + "\r\n", sauce)))
    text = "\r\n".join(plain(row) for row in rows) + "\r\n"
    _replace(folder / f"{NAME}.asc", art.write(Art(text, None)))


def list_of(heading: str, places: Iterable[tuple[str, str]]) -> list[str]:
    """Return a heading and, below it, names and what is said of each, in `COLUMN` cells."""
    rows = [
        f"|07{number:>2} |15{literal(name):<24}|07{words:>9}"
        for number, (name, words) in enumerate(places, 1)
    ]
    return [f"|14{heading}", *(rows or [f"|07{_('nobody yet')}"])]


def _list(heading: str, places: Sequence[Standing]) -> list[str]:
    rows = [f"|14{heading}"]
    rows += [
        f"|07{number} |15{literal(place.name):<24}|07{wording.clock_time(place.seconds):>9}"
        for number, place in enumerate(places, 1)
    ]
    return rows if places else [*rows, f"|07{_('nobody yet')}"]


def _house(days: Sequence[HouseDay]) -> list[str]:
    heading = _("The house's day")
    rows = [f"|14{heading}"]
    for day in days:
        hands = ngettext("{number} hand", "{number} hands", day.hands).format(number=day.hands)
        rows.append(f"|15{title(day.game)}")
        rows.append(f"|07  {hands:<24}{wording.clock_time(day.result):>9}")
    return rows if days else [*rows, f"|07{_('no hands played')}"]


def beside(left: list[str], right: list[str]) -> list[str]:
    """Set two lists side by side, and an empty line below them."""
    height = max(len(left), len(right))
    left, right = ([*rows, *[""] * (height - len(rows))] for rows in (left, right))
    return [
        f"{one}{' ' * (COLUMN - len(plain(one)))}{other}"
        for one, other in zip(left, right, strict=True)
    ] + [""]


def _replace(path: Path, data: bytes) -> None:
    """Put a file in the place of the one that is there, in one step."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)
