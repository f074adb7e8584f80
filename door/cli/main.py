"""The `door` command: run the board, check its settings, manage callers, verify a hand.

Each command has a file, loaded when the command is called, so that `door --help` is quick.
"""

from __future__ import annotations

import click

from timebank.cli.commands import LazyCommands

# The module of each command, and the first sentence of its help.
COMMANDS = {
    "config": ("config", "Explain the settings, or change one."),
    "init": ("init", "Make a board in DIR, or in this folder."),
    "setup": ("setup", "Write what another BOARD needs to send its callers here."),
    "nodes": ("sysop", "Show who is on: where, since when, how long idle, time left."),
    "top": ("top", "Watch the running board, with keys to act."),
    "kick": ("sysop", "End the call on a node."),
    "say": ("sysop", "Send a message to the caller on a node, or to all."),
    "refused": ("sysop", "Show which addresses have to wait, and why."),
    "forgive": ("sysop", "Clear what counts against an address or a name."),
    "event": ("event", "Show the next system event, start it early, or take it back."),
    "reload": ("sysop", "Have the running board read its settings again."),
    "drain": ("sysop", "Take no more calls; close when the last caller is gone."),
    "stop": ("sysop", "Close the board now."),
    "open": ("sysop", "Open a closed board for doors again."),
    "serve": ("serve", "Open the board."),
    "upgrade": ("upgrade", "Move books of an earlier release forward to this one."),
    "pages": ("pages", "Show the books in a browser to callers with sysop powers."),
    "run": ("run", "Serve one caller from another board (see `door docs door-mode`)."),
    "doctor": ("doctor", "Explain how `door run` would read a drop file."),
    "docs": ("docs", "List the documents, or show a PAGE of them."),
    "check": ("check", "Check the settings and their certificates; report every mistake."),
    "odds": ("odds", "Show the exact odds of a TABLE, or of every table."),
    "replay": ("replay", "Replay a hand, or a list of hands, from a JSON FILE."),
    "verify": ("verify", "Print a seed's seal and the order of its cards."),
    "bj": ("bj", "Play the UNIX game bj here."),
    "hand": ("hand", "Show a played hand: cards, actions, transfers, seal and seed."),
    "audit": ("audit", "Check the books, and replay every hand."),
    "callers": ("callers", "Manage the board's callers."),
}


@click.group(
    cls=LazyCommands,
    package="door.cli",
    rows=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="blackjack-for-time", prog_name="door")
def main() -> None:
    """Black Jack For Time: a BBS door game board over telnet."""
