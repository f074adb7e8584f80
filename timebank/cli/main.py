"""The `timebank` command: what is in the books, whether they are right, and the sysop's hand.

Whatever is heavy is imported by the command that needs it, so that `--help` comes at once.
"""

from __future__ import annotations

import click

from timebank.cli import books, clock, keeping, tournament, window
from timebank.cli.errors import Commands


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="blackjack-for-time", prog_name="timebank")
def main() -> None:
    """Read, check, maintain and correct the time bank's books."""


_GROUPS = (books, window, keeping, tournament, clock)
for _command in (command for group in _GROUPS for command in group.COMMANDS):
    main.add_command(_command)
