"""`door replay`: deals hands again from JSON."""

from __future__ import annotations

from typing import BinaryIO

import click

from door.games import json_replay as replays
from door.games.engine.errors import ReplayError
from timebank.cli.errors import UserError, refusing


@click.command()
@click.argument("file", type=click.File("rb"))
def replay(file: BinaryIO) -> None:
    """Replay a hand, or a list of hands, from a JSON FILE. For standard input, FILE is -."""
    try:
        text = file.read().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"Can't read the input: {error}.") from error
    with refusing(ReplayError):
        click.echo(replays.render(replays.replay(replays.parse(text))))
