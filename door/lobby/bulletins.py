"""The news and the daily bulletins: who is rich, who won and lost most, how the house did.

Callers read of the day as it is so far, too. Bulletins are of a day that is over. They are written
into the sysop's texts folder as `bulletin.ans` and `bulletin.asc`, when a day has ended and when a
server starts, so that other programs of the board can show them too.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ansi import art
from ansi.art import Art, Sauce
from ansi.style import from_pipe, sgr
from door import wording
from door.call.markup import literal, plain
from timebank import files
from timebank.callers import standings
from timebank.callers.standings import DaySpan
from timebank.language import _, ngettext
from timebank.words import title, whole_date

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from timebank.callers.standings import HouseDay, Standing
    from timebank.ledger.database import Desk

NAME = "bulletin"
SHOWN_BY_ALL = 0o644  # other programs of the board show the files too
PLACES = 5
COLUMN = 38  # cells of each of the two columns
COLUMNS = 77


@dataclass(frozen=True)
class DayNews:
    """Losers are those alone who wish to be named."""

    day: date
    winners: Sequence[Standing]
    losers: Sequence[Standing]
    house: Sequence[HouseDay]


@dataclass(frozen=True)
class Bulletin:
    of_day: DayNews
    richest: Sequence[Standing]
    ever_winners: Sequence[Standing]
    ever_losers: Sequence[Standing]


class TwoDays(NamedTuple):
    """What callers read: the day as it is so far, and the bulletin of the one before."""

    today: DayNews
    bulletin: Bulletin


def of_yesterday(desk: Desk) -> Bulletin:
    return Bulletin(
        _day(desk, desk.settings.schedule.day_of(desk.now) - timedelta(days=1)),
        standings.richest(desk, PLACES),
        standings.winners(desk, None, PLACES),
        standings.losers(desk, None, PLACES),
    )


def news(desk: Desk) -> TwoDays:
    return TwoDays(_day(desk, desk.settings.schedule.day_of(desk.now)), of_yesterday(desk))


def _day(desk: Desk, day: date) -> DayNews:
    of_day = DaySpan(day, day)
    return DayNews(
        day,
        standings.winners(desk, of_day, PLACES),
        standings.losers(desk, of_day, PLACES),
        standings.house_day(desk, day),
    )


def lines(bulletin: Bulletin, board: str, columns: int = COLUMNS) -> list[str]:
    """Return the bulletin as lines with pipe codes, none of more than `columns` cells: two lists
    stand side by side where there is room."""
    day = bulletin.of_day
    lists = [
        _list(_("Richest callers"), bulletin.richest),
        _house(day.house),
        *_winners_and_losers(day),
        *_of_all_time(bulletin),
    ]
    return [f"|15{literal(board)}|07, {whole_date(day.day)}", "", *_laid_out(lists, columns)]


def news_lines(found: TwoDays, columns: int = COLUMNS) -> list[str]:
    """Return the news as `lines` does, today first; a day before without a hand is left out."""
    today, bulletin = found
    so_far = _("{day}, so far").format(day=whole_date(today.day))
    told = [f"|15{so_far}", ""]
    told += _laid_out([*_winners_and_losers(today), _house(today.house)], columns)
    before = bulletin.of_day
    if before.house:
        told += [f"|15{whole_date(before.day)}", ""]
        told += _laid_out([*_winners_and_losers(before), _house(before.house)], columns)
    richest = _list(_("Richest callers"), bulletin.richest)
    return told + _laid_out([*_of_all_time(bulletin), richest], columns)


def _winners_and_losers(day: DayNews) -> list[list[str]]:
    told = [_list(_("Winners of the day"), day.winners)]
    return [*told, _list(_("Losers of the day"), day.losers)] if day.losers else told


def _of_all_time(bulletin: Bulletin) -> list[list[str]]:
    told = [_list(_("Winners of all time"), bulletin.ever_winners)]
    if bulletin.ever_losers:
        told.append(_list(_("Losers of all time"), bulletin.ever_losers))
    return told


def _laid_out(lists: Sequence[list[str]], columns: int) -> list[str]:
    """Set lists side by side in pairs where there is room, else below each other."""
    if columns < COLUMNS:
        return [row for each in lists for row in (*each, "")]
    return paired(lists)


def write(bulletin: Bulletin, board: str, folder: Path) -> None:
    """Write both files, each whole or not at all; `OSError` when the folder cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = lines(bulletin, board)
    painted = "\r\n".join(
        "".join(f"{sgr(style)}{part}" for style, part in from_pipe(row)) + "\x1b[0m" for row in rows
    )
    sauce = Sauce(title=f"Bulletin of {bulletin.of_day.day}", group=plain(board), columns=80)
    files.replace(folder / f"{NAME}.ans", art.write(Art(painted + "\r\n", sauce)), SHOWN_BY_ALL)
    text = "\r\n".join(plain(row) for row in rows) + "\r\n"
    files.replace(folder / f"{NAME}.asc", art.write(Art(text, None)), SHOWN_BY_ALL)


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


def paired(lists: Sequence[list[str]]) -> list[str]:
    """Set two lists at a time side by side."""
    pairs = zip(lists[::2], [*lists[1::2], []], strict=False)
    return [row for left, right in pairs for row in beside(left, right)]


def beside(left: list[str], right: list[str]) -> list[str]:
    """Set two lists side by side, and an empty line below them."""
    height = max(len(left), len(right))
    left, right = ([*rows, *[""] * (height - len(rows))] for rows in (left, right))
    return [
        f"{one}{' ' * (COLUMN - len(plain(one)))}{other}"
        for one, other in zip(left, right, strict=True)
    ] + [""]
