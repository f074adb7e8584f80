"""The options of `door run`, for its help; `door.run.relay` has already read and obeyed them."""

from __future__ import annotations

import click

from door.cli.common import config_option, dropfile_option, node_option
from door.run import relay
from timebank.cli.common import WholeNumber


@click.command("run")
@config_option
@dropfile_option
@click.option(
    "--door", "table", metavar="CODE", help="Go straight to this table; leaving it ends the call."
)
@click.option("--board", metavar="NAME", help="The board that starts it, from [boards.NAME].")
@node_option
@click.option("--stdio", is_flag=True, help="The caller is on standard input and output.")
@click.option(
    "--socket", type=WholeNumber(0), metavar="FD", help="The caller is on this descriptor."
)
@click.option("--connect", metavar="HOST:PORT", help="Connect back to the board there.")
@click.option("--telnet/--no-telnet", default=None, help="Whether the socket speaks telnet.")
@click.option(
    "--charset",
    type=click.Choice(relay.CHARSETS),
    help="The board's character set; cp437-text is CP437 without the symbols below 20h.",
)
@click.option(
    "--size", metavar="COLUMNSxROWS", help="The caller's window, as the board knows it: 80x24."
)
@click.option("--local", is_flag=True, help="Play as the sysop, on this terminal.")
@click.option("--verbose", is_flag=True, hidden=True, expose_value=False)  # of earlier releases
def run_(**_: object) -> None:
    """Serve one caller from another board (see `door docs door-mode`)."""
    # Only a command line that `door.run.relay` could not read comes here.
    raise click.UsageError(
        "Choose only one of --stdio, --local, --socket and --connect, and write every option as"
        " --help shows it."
    )
