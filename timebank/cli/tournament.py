"""The `timebank` commands that show tournaments and duels, and call them off."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from timebank.cli.common import by_option, config_option, format_option, last_option, opened, tell
from timebank.ledger.schema import stamp
from timebank.reports.exports import iso
from timebank.reports.statements import NAME, printable
from timebank.reports.tables import Column, Listing
from timebank.wagers import duels, tournaments
from timebank.words import clock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from timebank.ledger.database import Desk
    from timebank.reports.exports import Record
    from timebank.settings.schedule import Schedule
    from timebank.wagers.contests import ContestResult
    from timebank.wagers.tournaments import Pot, Tournament

    Shown = tuple[Tournament, Pot, list[ContestResult]]

FIELDS = (
    *("day", "starts", "ends", "state", "hands", "entry", "prizes", "put_in", "entered"),
    *("finished", "paid", "champion", "seal", "seed"),
)


@click.command()
@config_option
@format_option
@last_option
@click.option(
    "--call-off",
    metavar="WHY",
    help="End the running tournament and return all entries. WHY is shown to its players.",
)
@by_option
def tournament(config: Path, form: str, last: int, call_off: str | None, by: str) -> None:
    """Show the weekly tournaments, the newest first.

    With --call-off, the running tournament is ended first. Entries go back to the callers' bank
    accounts, and the house's share goes back to the house.
    """
    with opened(config) as books:
        if call_off is not None:
            with books.work() as desk:
                tournaments.call_off(desk, call_off, by)
        with books.look() as desk:
            shown = list(_read(desk, last))
        schedule = books.settings.schedule
    records = [_record(each, schedule) for each in shown]
    tell(form, [_table(shown, schedule)], FIELDS, records, paged=False)


DUEL_FIELDS = (
    *("day", "challenger", "rival", "stake", "state", "finished", "ends", "winner", "seal"),
    "seed",
)


@click.command(name="duels")
@config_option
@format_option
@last_option
@click.option("--call-off", metavar="WHY", help="End all open duels: the stakes go home.")
@by_option
def duels_command(config: Path, form: str, last: int, call_off: str | None, by: str) -> None:
    """Show the duels, the newest first.

    After three days, a caller who has finished wins against one who has only begun. With
    --call-off, all open duels are ended first. The stakes go back to the callers' bank
    accounts, and the callers read that.
    """
    with opened(config) as books:
        if call_off is not None:
            with books.work() as desk:
                duels.call_off(desk, call_off, by)
        with books.look() as desk:
            shown = [(each, duels.winner(desk, each)) for each in duels.listing(desk, last)]
        schedule = books.settings.schedule
    records = [
        dict(
            zip(
                DUEL_FIELDS,
                (
                    *(each.day.isoformat(), *each.names, each.stake, each.state, each.finished),
                    *(iso(stamp(each.ends), schedule), winner, each.seal, each.shown_seed),
                ),
                strict=True,
            )
        )
        for each, winner in shown
    ]
    columns = (
        *(Column("Day", goes=1), Column("Challenger", least=NAME), Column("Rival", least=NAME)),
        *(Column("Stake", right=True), Column("State"), Column("Winner", least=NAME)),
    )
    rows = [
        (
            *(each.day.isoformat(), *map(printable, each.names), clock(each.stake), each.state),
            printable(winner),
        )
        for each, winner in shown
    ]
    tell(
        form, [Listing(columns, rows, "There was no duel yet.")], DUEL_FIELDS, records, paged=False
    )


def _read(desk: Desk, last: int) -> Iterator[Shown]:
    for each in tournaments.listing(desk, last):
        yield each, tournaments.pot(desk, each), tournaments.standings(desk, each.seal)


def _state(shown: Tournament) -> str:
    return shown.outcome or "running"


def _record(shown: Shown, schedule: Schedule) -> Record:
    each, pot, placed = shown
    values = (
        *(each.day.isoformat(), iso(stamp(each.starts), schedule), iso(stamp(each.ends), schedule)),
        *(_state(each), each.hands, each.entry, sum(each.prizes), each.put_in, pot.entered),
        *(pot.finished, sum(one.prize for one in placed)),
        ", ".join(one.name for one in placed if one.place == 1),
        *(each.seal, each.shown_seed),
    )
    return dict(zip(FIELDS, values, strict=True))


def _table(shown: list[Shown], schedule: Schedule) -> Listing:
    columns = (
        *(Column("Opened"), Column("Until", goes=3), Column("State")),
        *(Column("Entered", right=True), Column("Finished", right=True, goes=4)),
        *(Column("Entry", right=True, goes=2), Column("Put up", right=True, goes=1)),
        *(Column("Paid", right=True), Column("Champion", least=NAME)),
    )
    rows = [
        (
            *(each.day.isoformat(), f"{schedule.local(each.ends):%Y-%m-%d %H:%M}", _state(each)),
            *(str(pot.entered), str(pot.finished), clock(each.entry), clock(sum(each.prizes))),
            clock(sum(one.prize for one in placed)),
            ", ".join(printable(one.name) for one in placed if one.place == 1),
        )
        for each, pot, placed in shown
    ]
    return Listing(columns, rows, "There was no tournament yet.")
