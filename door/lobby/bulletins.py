"""The news and the daily bulletins: the richest callers, winners, losers and the house's result.

A bulletin covers a day that is over; the news adds today so far. Bulletins are written into the
sysop's texts folder as `bulletin.ans` and `bulletin.asc`, when a day has ended and when a server
starts, so that other programs of the board can show them too.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ansi import art
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
READABLE_BY_ALL = 0o644  # other programs of the board show the files too
PLACES = 5
COLUMN = 38  # cells of each of the two columns
COLUMNS = 77


@dataclass(frozen=True)
class DayNews:
    """The results of one day; only losers who agreed to be named are in it."""

    day: date
    winners: Sequence[Standing]
    losers: Sequence[Standing]
    house: Sequence[HouseDay]


@dataclass(frozen=True)
class Bulletin:
    day_news: DayNews
    richest: Sequence[Standing]
    ever_winners: Sequence[Standing]
    ever_losers: Sequence[Standing]


class TwoDays(NamedTuple):
    """The news that callers read: today so far, and the bulletin of the day before."""

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
    span = DaySpan(day, day)
    return DayNews(
        day,
        standings.winners(desk, span, PLACES),
        standings.losers(desk, span, PLACES),
        standings.house_day(desk, day),
    )


def lines(bulletin: Bulletin, board: str, columns: int = COLUMNS) -> list[str]:
    """Return the bulletin as lines with pipe codes, none of more than `columns` cells.

    Two lists stand side by side where there is room.
    """
    day = bulletin.day_news
    lists = [
        times_of(_("Richest callers"), bulletin.richest),
        _house(day.house),
        *_winners_and_losers(day),
        *_all_time_lists(bulletin),
    ]
    return [f"|15{literal(board)}|07, {whole_date(day.day)}", "", *_laid_out(lists, columns)]


def news_lines(days: TwoDays, columns: int = COLUMNS) -> list[str]:
    """Return the news as `lines` does, today first; yesterday is left out if no hand was played."""
    today, bulletin = days
    so_far = _("{day}, so far").format(day=whole_date(today.day))
    rows = [f"|15{so_far}", ""]
    rows += _laid_out([*_winners_and_losers(today), _house(today.house)], columns)
    before = bulletin.day_news
    if before.house:
        rows += [f"|15{whole_date(before.day)}", ""]
        rows += _laid_out([*_winners_and_losers(before), _house(before.house)], columns)
    richest = times_of(_("Richest callers"), bulletin.richest)
    return rows + _laid_out([*_all_time_lists(bulletin), richest], columns)


def _winners_and_losers(day: DayNews) -> list[list[str]]:
    lists = [times_of(_("Winners of the day, all hands"), day.winners)]
    return [*lists, times_of(_("Losers of the day"), day.losers)] if day.losers else lists


def _all_time_lists(bulletin: Bulletin) -> list[list[str]]:
    lists = [times_of(_("Winners of all time"), bulletin.ever_winners)]
    if bulletin.ever_losers:
        lists.append(times_of(_("Losers of all time"), bulletin.ever_losers))
    return lists


def _laid_out(lists: Sequence[list[str]], columns: int) -> list[str]:
    """Set lists side by side in pairs if there are enough columns, else below each other."""
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
    files.replace(folder / f"{NAME}.ans", art.encode(painted + "\r\n"), READABLE_BY_ALL)
    text = "\r\n".join(plain(row) for row in rows) + "\r\n"
    files.replace(folder / f"{NAME}.asc", art.encode(text), READABLE_BY_ALL)


def list_of(heading: str, places: Iterable[tuple[str, str]]) -> list[str]:
    """Return a heading and, below it, pairs of name and words, `COLUMN` cells wide."""
    rows = [
        f"|07{number:>2} |15{literal(name):<24}|07{words:>9}"
        for number, (name, words) in enumerate(places, 1)
    ]
    return [f"|14{heading}", *(rows or [f"|07{_('nobody yet')}"])]


def times_of(heading: str, places: Iterable[Standing]) -> list[str]:
    return list_of(heading, ((each.name, wording.clock_time(each.seconds)) for each in places))


def _house(days: Sequence[HouseDay]) -> list[str]:
    heading = _("The house's day")
    rows = [f"|14{heading}"]
    for day in days:
        hands = ngettext("{number} hand", "{number} hands", day.hands).format(number=day.hands)
        rows.append(f"|15{_(title(day.game))}")
        result = f"{'+' if day.result > 0 else ''}{wording.clock_time(day.result)}"
        rows.append(f"|07  {hands:<24}{result:>9}")
    return rows if days else [*rows, f"|07{_('no hands played')}"]


def paired(lists: Sequence[list[str]]) -> list[str]:
    """Set lists side by side in pairs."""
    pairs = zip(lists[::2], [*lists[1::2], []], strict=False)
    return [row for left, right in pairs for row in side_by_side(left, right)]


def side_by_side(left: list[str], right: list[str]) -> list[str]:
    """Set two lists side by side, and an empty line below them."""
    height = max(len(left), len(right))
    left, right = ([*rows, *[""] * (height - len(rows))] for rows in (left, right))
    return [
        f"{one}{' ' * (COLUMN - len(plain(one)))}{other}"
        for one, other in zip(left, right, strict=True)
    ] + [""]
