"""`door pages`: shows the books in a browser."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from door.cli.common import config_option, failures_in_the_log, load_config, log_to_stderr
from door.errors import CannotListen
from door.server.pages_process import NOT_INSTALLED
from timebank.cli.common import WholeNumber
from timebank.cli.errors import UserError, refusing
from timebank.errors import BooksFailed, DatabaseRefused


@click.command()
@config_option
@click.option("--host", help="The address to listen on, instead of the one in [pages].")
@click.option("--port", type=WholeNumber(1, 65535), help="The port, instead of the one in [pages].")
@click.option(
    "--certificate",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A certificate in PEM, instead of the one in [pages]; the pages then use TLS.",
)
@click.option(
    "--key",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The certificate's key, without a password.",
)
@click.option("--with-server", is_flag=True, hidden=True)
def pages(
    config_path: Path,
    host: str | None,
    port: int | None,
    certificate: Path | None,
    key: Path | None,
    with_server: bool,
) -> None:
    """Show the books in a browser to callers with sysop powers. They can act there too."""
    try:
        from door.desk.pages import pages_server
    except ImportError as missing:
        raise UserError(NOT_INSTALLED) from missing
    # A server that starts the pages holds the write end of their input.
    pipe = sys.stdin.fileno() if with_server else None
    with failures_in_the_log(config_path):
        config = load_config(config_path)
        say, own = log_to_stderr(config, verbose=False), config.pages
        if certificate is None and key is None:
            certificate, key = own.certificate, own.key
        with refusing(DatabaseRefused, BooksFailed, CannotListen, OSError):
            place = (host or own.host, port or own.port, certificate, key)
            pages_server.serve(config, *place, say, pipe)
