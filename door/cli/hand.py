"""`door hand`: shows a played hand in words or as JSON."""

from __future__ import annotations

from pathlib import Path

import click

from door.cli.common import config_option, load_config, reading
from door.errors import NoSuchHand
from door.games import hand_check as hands
from door.games import proofs
from timebank.cli.common import NUMBER
from timebank.cli.errors import UserError, refusing


@click.command()
@config_option
@click.argument("number", type=NUMBER)
@click.option("--json", "as_json", is_flag=True, help="As JSON for `door replay`.")
@click.option("--proof", "as_proof", is_flag=True, help="As JSON for the page that checks hands.")
def hand(config_path: Path, number: int, as_json: bool, as_proof: bool) -> None:
    """Show a played hand: cards, actions, transfers, seal and seed.

    The seed is shown once the shoe is done.
    """
    if as_json and as_proof:
        raise UserError("--json and --proof are different forms: ask for one.")
    with reading(load_config(config_path)) as desk, refusing(NoSuchHand):
        form = hands.as_json if as_json else proofs.as_proof if as_proof else hands.describe
        text = form(desk, number)
    click.echo(text)
