"""`door metrics`: numbers for Prometheus."""

from __future__ import annotations

from pathlib import Path

import click

from door.cli.common import announce, config_option, load_config
from door.errors import CannotListen
from timebank.cli.common import WholeNumber
from timebank.cli.errors import UserError, refusing
from timebank.errors import BooksFailed, DatabaseRefused


@click.command()
@config_option
@click.option("--host", help="The address to listen on, instead of that of [metrics].")
@click.option("--port", type=WholeNumber(0, 65535), help="The port, likewise.")
def metrics(config_path: Path, host: str | None, port: int | None) -> None:
    """Tell Prometheus how the board is, by a process beside it."""
    try:
        from door.desk.metrics import exporter
    except ImportError as missing:
        raise UserError(
            "Metrics need a library that is not installed: run"
            " pip install 'blackjack-for-time[metrics]'."
        ) from missing
    config = load_config(config_path)
    own = config.metrics
    with refusing(DatabaseRefused, BooksFailed, CannotListen, OSError):
        where = host or own.host, own.port if port is None else port
        exporter.serve(config, *where, announce)
