"""`door setup`: writes what another board needs to send its callers here."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from door.cli.common import config_option, load_config
from door.cli.doctor import examine
from door.config.listeners import DOORS_ALONE
from door.config.schema import checked_keys
from door.errors import DropFileRefused, SetupRefused
from door.session.arrival import DoorOptions
from door.setup import host_boards, writing
from door.setup.host_boards import DROP_FILE, HostSetup, drop_file
from door.setup.writing import put
from timebank.cli.common import say
from timebank.cli.errors import UserError, refusing
from timebank.errors import BooksFailed, DatabaseRefused, SettingsError

if TYPE_CHECKING:
    from door.config.config import Config

_SCRIPT, _TEXT = 0o755, 0o644


@click.command()
@config_option
@click.argument("board", type=click.Choice(tuple(host_boards.KINDS)))
@click.option("--name", help="What the board is called here, in [boards.NAME].")
@click.option(
    "--bbs",
    "root",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="The folder of the board's software, such as /sbbs.",
)
@click.option(
    "--line",
    type=click.Choice(["stdio", "socket"]),
    default="stdio",
    show_default=True,
    help="How its callers come: by standard input and output, or on their sockets.",
)
@click.option("--no-call", is_flag=True, hidden=True)  # of 1.0, which tried a call
def setup(
    config_path: Path, board: str, name: str | None, root: Path | None, line: str, no_call: bool
) -> None:
    """Write what another BOARD needs to send its callers here.

    Adds a table for the board to sysop.toml and changes nothing else there. Writes the lines to
    paste on the other board next to sysop.toml, and says where they go.
    """
    config = load_config(config_path)
    kind = host_boards.KINDS[board]
    with refusing(SetupRefused):
        made = host_boards.chosen(
            config, kind, name, (root or Path(kind.root)).absolute(), stdio=line == "stdio"
        )
        files = host_boards.files(config, made)
    if kind.starts_doors:
        _add_to_settings(config, made)
    _write(config, files)
    say((*host_boards.next_steps(config, made), *_doubts(config, made)))
    if not kind.followed:
        click.echo(f"Nobody has tried this on {kind.name} yet: please report what you find.")
    if made.kind.starts_doors:
        say(_trial(config, made))


def _add_to_settings(config: Config, made: HostSetup) -> None:
    """Add the board's table to the settings, unless they would be wrong with it."""
    before = config.path.read_text(encoding="utf-8-sig")
    with refusing(SettingsError, SetupRefused):
        text, added = host_boards.with_table(before, made)
        checked_keys(text, config.path)
    if text != before:
        try:
            writing.replace(config.path, text)
        except OSError as error:
            raise UserError(
                f"{config.path} cannot be written ({error.strerror}) and is unchanged. Paste this"
                " into it:\n" + "\n".join(f"    {each}" for each in host_boards.lines(made))
            ) from error
    click.echo(added)


def _write(config: Config, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = config.path.absolute().parent / name
        try:
            fate = put(path, text, _SCRIPT if path.suffix == ".sh" else _TEXT)
        except OSError as error:
            raise UserError(f"{path} cannot be written ({error.strerror}).") from error
        click.echo(fate.sentence(path))


def _doubts(config: Config, made: HostSetup) -> list[str]:
    """Return warnings about what would stop the board from starting the door."""
    doubts = []
    if not made.root.is_dir():
        doubts.append(f"There is no folder {made.root} here: --bbs says where {made.kind.name} is.")
    elif made.kind.starts_doors:
        doubts += _owners(config, made)
    if made.kind.starts_doors:
        doubts.append(_for_doors_alone(config))
    if made.kind.starts_doors and config.bank.events:
        events = ", ".join(event.name for event in config.bank.events)
        doubts.append(
            f"The events of {config.path} close the door too ({events}). Unless you have a reason"
            " for them, write events = [] above the first table, in place of [[events]]."
        )
    return doubts


def _for_doors_alone(config: Config) -> str:
    if not config.listeners:
        return f"{DOORS_ALONE} The first door starts a server, so that you need not run one."
    return (
        "If your callers come through doors alone, write listeners = [] above the first table of"
        f" {config.path}, in place of [[listeners]]: no port is opened then."
    )


def _owners(config: Config, made: HostSetup) -> list[str]:
    theirs, data = made.root.stat().st_uid, config.board.data
    ours = (data if data.exists() else config.path).stat().st_uid
    if theirs == ours:
        return []
    return [
        f"{made.root} and {data} belong to different users. The books must belong to the user that"
        f" {made.kind.name} runs as, or to a group of both: `door docs door-mode`, Setting it up."
    ]


def _trial(config: Config, made: HostSetup) -> list[str]:
    """Return who would come by a drop file like the board's, and what time they would bring."""
    again = load_config(config.path)
    with tempfile.TemporaryDirectory(prefix="bjft-call-") as folder:
        path = Path(folder) / DROP_FILE
        path.write_bytes(drop_file(made))
        try:
            with refusing(DatabaseRefused, BooksFailed):
                asked = DoorOptions(path, made.name if made.says_board else None, None)
                report = examine(again, asked)
        except DropFileRefused as refused:
            raise UserError(str(refused)) from refused
    return ["A caller with such a drop file would come like this:", *report[report.index("") + 1 :]]
