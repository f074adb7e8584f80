"""The `timebank` command about the callers of other boards."""

from __future__ import annotations

from pathlib import Path

import click

from timebank.cli_common import NUMBER, config_option, format_option, opened, pour, say


@click.command()
@config_option
@format_option
@click.option(
    "--again", metavar="NUMBER", type=NUMBER, help="These minutes never arrived: give them."
)
@click.option("--given", metavar="NUMBER", type=NUMBER, help="These minutes did arrive: let be.")
def boards(config: Path, form: str, again: int | None, given: int | None) -> None:
    """Show what callers of other boards brought and gained, settle doubts.

    Under each board: how gains were given back to it. Then what is not with its host yet. Minutes
    are doubtful when the program died while it wrote them: ask the caller or look at his board,
    then say --again or --given.
    """
    from timebank import exports, hosts_claims, hosts_report

    with opened(config) as books:
        if again is not None or given is not None:
            with books.work() as desk:
                if again is not None:
                    hosts_claims.give_again(desk, again)
                if given is not None:
                    hosts_claims.regard_as_given(desk, given)
        with books.look() as desk:
            reports = hosts_report.boards(desk)
            rows = hosts_claims.outstanding(desk)
        if form == "text":
            say(hosts_report.boards_table(reports))
            say(hosts_report.outstanding_table(rows, books.settings.schedule))
        elif form == "csv":
            lines = map(hosts_report.board_line, reports)
            pour(exports.as_csv(hosts_report.FIELDS, lines))
        else:
            pour(exports.as_json(map(hosts_report.board_record, reports)))


COMMANDS = (boards,)
