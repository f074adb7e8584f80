"""The `timebank clock` command: shows the board's clock, and undoes what a wrong one did."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from timebank.calls import clock_mend
from timebank.calls.calls import open_calls
from timebank.calls.clock import offset_words
from timebank.cli.common import OpenBooks, by_option, config_option, opened, say
from timebank.cli.errors import EXIT_WRONG

if TYPE_CHECKING:
    from timebank.calls.clock_mend import CallerAhead
    from timebank.ledger.database import Desk

ADOPTION_SECONDS = 6.0  # every process of the board reads its clock within this time


@click.command()
@config_option
@click.option("--believe", is_flag=True, help="The wall clock is right: believe it.")
@click.option("--mend", is_flag=True, help="Show what a wrong clock did, and set it right.")
@click.option("--yes", is_flag=True, help="Set it right without asking.")
@by_option
def clock(config: Path, believe: bool, mend: bool, yes: bool, by: str) -> None:
    """Show the board's clock, and whether it trusts the wall clock.

    Exits with 1 if it does not, or if a wrong clock has begun later days; --mend takes them back.
    """
    with opened(config) as books:
        if believe:
            _believe_wall_clock(books, by)
        if mend:
            _mend(books, yes, by)
            return
        with books.look() as desk:
            lines = list(_clock_lines(books, desk))
            waiting = _ahead_lines(desk)
    say([*lines, *waiting])
    if waiting or books.clock.off or not books.clock.is_certain:
        raise SystemExit(EXIT_WRONG)


def _believe_wall_clock(books: OpenBooks, by: str) -> None:
    with books.database.transaction(books.settings, books.clock.reading()) as desk:
        judgement = books.clock.believe(desk, by)
        calls = [call for call in open_calls(desk) if call.live]
    books.clock.adopt(judgement)
    say(f"{words}." for words in judgement.news)
    if calls:  # their processes could undo a correction made before they adopt the clock
        time.sleep(ADOPTION_SECONDS)


def _clock_lines(books: OpenBooks, desk: Desk) -> Iterator[str]:
    believed, schedule = books.clock, books.settings.schedule
    local = schedule.local(desk.now)
    day = schedule.day_of(desk.now)
    yield f"The board's time is {local:%Y-%m-%d %H:%M:%S}, and its day is {day}."
    wall = schedule.local(believed.instruments.now())
    if believed.off:
        yield f"The wall clock says {wall:%Y-%m-%d %H:%M:%S}."
        yield f"It is {offset_words(believed.off)}, and the board does not trust it."
        yield "If it is right, run `timebank clock --believe`."
    elif not believed.is_certain:
        yield "That is far ahead of the books, so nothing is deleted until it is certain."
        yield "If it is right, run `timebank clock --believe`; if not, set the wall clock first."
    else:
        yield "The wall clock agrees."
    if believed.instruments.is_synchronised():
        yield "The system synchronises the wall clock with time servers."
    else:
        yield "The system does not synchronise the wall clock with time servers."


def _ahead_lines(desk: Desk) -> list[str]:
    ahead = clock_mend.callers_ahead(desk)
    if not ahead:
        return []
    return [*_list_ahead(ahead, desk), "`timebank clock --mend` corrects that."]


def _list_ahead(ahead: list[CallerAhead], desk: Desk) -> Iterator[str]:
    yield "A wrong clock has put these callers on later days:"
    for each in ahead:
        yield f"  {each.name}: {each.words(desk)}"


def _mend(books: OpenBooks, yes: bool, by: str) -> None:
    with books.look() as desk:
        ahead = clock_mend.callers_ahead(desk)
        listed = list(_list_ahead(ahead, desk))
    if not ahead:
        say(["There is nothing to set right."])
        return
    say(listed)
    if not yes:
        click.confirm("Set that right?", abort=True)
    with books.work() as desk:
        mended = clock_mend.mend(desk, by)
    count = "1 caller" if len(mended) == 1 else f"{len(mended)} callers"
    say([f"{count} set right."])
