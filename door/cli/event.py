"""The commands that start a system event early, or withdraw it."""

from __future__ import annotations

from pathlib import Path

import click

from door.cli.common import config_option, load_config
from door.server import control_client
from timebank.cli.common import Minutes, by_option, open_books
from timebank.keeping import events


@click.group(invoke_without_command=True)
@config_option
@click.pass_context
def event(context: click.Context, config_path: Path) -> None:
    """Show the next system event, start it early, or take it back."""
    if context.invoked_subcommand is not None:
        return
    with open_books(load_config(config_path).bank) as books, books.look() as desk:
        words = events.next_words(desk)
    click.echo(words)


@event.command()
@config_option
@by_option
@click.argument("name", required=False)
@click.option(
    "--minutes",
    type=Minutes(1, events.MOST_MINUTES),
    metavar="MINUTES",
    help="How long it lasts (90, 90m, 1h30m), instead of what sysop.toml says.",
)
@click.option(
    "--in",
    "notice",
    type=Minutes(0, events.MOST_NOTICE),
    default=1,
    show_default=True,
    metavar="MINUTES",
    help="How long callers have until then (5, 5m).",
)
def start(config_path: Path, by: str, name: str | None, minutes: int | None, notice: int) -> None:
    """Start the next system event early, or the one called NAME.

    Callers are warned a minute before. With --minutes, NAME may be an event that is not in
    sysop.toml.
    """
    asked = events.EventAsked(name, minutes, notice)
    with open_books(load_config(config_path).bank) as books, books.work() as desk:
        started = events.start(desk, asked, by)
    click.echo(started.words)
    control_client.let_server_look(config_path)


@event.command()
@config_option
@by_option
def end(config_path: Path, by: str) -> None:
    """End an event that was started early. The board is open again.

    The scheduled event takes place at its time.
    """
    with open_books(load_config(config_path).bank) as books, books.work() as desk:
        words = events.take_back(desk, by)
    click.echo(words)
    control_client.let_server_look(config_path)
