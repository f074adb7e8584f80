"""The `timebank` command: shows, audits, maintains and corrects the books.

Commands are imported when they are run, so that `--help` is fast.
"""

from __future__ import annotations

import click

from timebank.cli.commands import LazyCommands

# The module of each command, and the first sentence of its help.
COMMANDS = {
    "accounts": ("books", "Show the balance of every account, and callers' own limits."),
    "ledger": ("books", "Show transfers in the order they were made."),
    "statement": ("books", "Show a caller's entries and balances."),
    "summary": ("books", "Show totals by day, week, month or year."),
    "house": ("books", "Show what the house won at each table, next to exact odds."),
    "export": ("books", "Export the whole books for other programs."),
    "audit": ("books", "Check the books, row by row."),
    "boards": ("books", "Show the minutes of other boards' callers, and settle doubts."),
    "deposit": ("window", "Put minutes into a caller's account."),
    "withdraw": ("window", "Take minutes out of a caller's account."),
    "transfer": ("window", "Move minutes from NAME's account to TO's."),
    "adjust": ("window", "Correct a caller's account, up or down."),
    "freeze": ("window", "Freeze an account: nothing goes in or out."),
    "unfreeze": ("window", "Unfreeze an account."),
    "log": ("window", "Show the sysop's log: what was changed by hand, newest first."),
    "backup": ("keeping", "Copy the books to a new FILE; with --all the whole board."),
    "upgrade": ("keeping", "Move books of an earlier release forward to this one."),
    "move": ("keeping", "Move the books from SOURCE to TARGET."),
    "restore": ("keeping", "Replace the books with the backup FILE."),
    "outbox": ("keeping", "Show records not in THEBANK.EXT yet, and settle doubts."),
    "import": ("keeping", "Import a THEBANK.EXT from another program."),
    "maintain": ("keeping", "Do the nightly work; safe to repeat at any time."),
    "tournament": ("tournament", "Show the weekly tournaments, the newest first."),
    "duels": ("tournament", "Show the duels, the newest first."),
    "clock": ("clock", "Show the board's clock, and whether it trusts the wall clock."),
}


@click.group(
    cls=LazyCommands,
    package="timebank.cli",
    rows=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="blackjack-for-time", prog_name="timebank")
def main() -> None:
    """Read, check, maintain and correct the time bank's books."""
