"""`door audit`: the books, and every hand in them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from door.cli.common import config_option, load_config, reading
from door.games import hand_check as hands
from timebank.audit.rounds import first_open_hand
from timebank.cli.common import (
    NUMBER,
    format_option,
    note_audit,
    retired_option,
    say_wrong,
    write_audit,
)
from timebank.cli.errors import EXIT_WRONG
from timebank.cli.progress import working
from timebank.keeping import last_runs
from timebank.ledger import chain, generations, transfers

if TYPE_CHECKING:
    from timebank.ledger.database import Desk


@click.command()
@config_option
@format_option
@click.option(
    "--since-hand",
    type=NUMBER,
    default=1,
    help="Replay hands from this one on; the books are checked whole.",
)
@click.option(
    "--since-last",
    is_flag=True,
    help="Replay the hands since the last audit that replayed them and found nothing wrong; the"
    " books are checked whole.",
)
@retired_option("--jobs", type=int)
def audit(config_path: Path, form: str, since_hand: int, since_last: bool) -> None:
    """Check the books, and replay every hand.

    Hands that are settled are replayed, and every try at a daily deal or tournament. Exits with 1
    and names what is wrong. Shows the digest of the last transfer as `timebank audit` does.
    """
    if since_last and since_hand > 1:
        raise click.UsageError("Choose one: --since-hand or --since-last.")
    config = load_config(config_path)
    with reading(config) as desk, working("Checking the books and the hands"):
        first = _first_new(desk) if since_last else since_hand
        findings, counted = hands.audit(desk, first)
        count, digest = transfers.count(desk), chain.head(desk.connection).digest
        generation, hand = generations.current(desk.connection), first_open_hand(desk)
    if findings or since_last or since_hand == 1:  # a good part proves nothing about the whole
        note_audit(config.bank, last_runs.HANDS, desk.now, generation, findings, hand=hand)
    if form != "text":
        facts = {"hands": counted, "transfers": count, "digest": digest, "generation": generation}
        write_audit(form, facts, findings)
    elif findings:
        say_wrong(findings)
    else:
        _say_in_order(counted, first, generation, digest)
    sys.exit(EXIT_WRONG if findings else 0)


def _first_new(desk: Desk) -> int:
    """Return the hand after the last audit of the hands in these books, or the first hand if there
    was no such audit or it found something wrong."""
    last = last_runs.last_audit(desk.settings, last_runs.HANDS)
    if last is None or last.hand is None or last.generation != generations.current(desk.connection):
        click.echo("No audit of these books has replayed their hands: all are replayed.", err=True)
        return 1
    return last.hand


def _say_in_order(hands: int, first: int, generation: int, digest: str) -> None:
    agree = "1 settled hand was replayed and agrees"
    if hands != 1:
        agree = f"{hands} settled hands were replayed and agree"
    click.echo(f"The books are in order; {agree}.")
    if first > 1:
        click.echo(f"Only hands from {first} on were replayed.")
    if generation > 1:
        click.echo(f"They are in generation {generation}: a backup was restored.")
    click.echo(f"The last digest is {digest}.")
