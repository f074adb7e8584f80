"""The commands to the running server: who is on, who has to wait, an end for one or for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from door.cli.common import config_option
from door.errors import NoAnswer
from timebank.cli.errors import UserError, refusing

F = TypeVar("F", bound=Callable[..., object])

Where = tuple[Path, Path | None]  # a sysop.toml, and the data folder where that is given


def server_options(command: F) -> F:
    """Give a command the options that say which server is asked: `where`, for `_ask`."""
    data = click.option(
        "--data",
        type=click.Path(path_type=Path, file_okay=False),
        help="The server's data folder, instead of reading sysop.toml.",
    )

    @wraps(command)
    def asking(config_path: Path, data: Path | None, **values: object) -> object:
        return command(where=(config_path, data), **values)

    return cast(F, config_option(data(asking)))


@click.command()
@server_options
@click.option("--json", "as_json", is_flag=True, help="As JSON, with times in seconds.")
def nodes(where: Where, as_json: bool) -> None:
    """Show who is on: where, since when, how long idle, time left."""
    from door.cli import control

    _show(_ask(where, "nodes"), control.table, as_json=as_json)


@click.command()
@server_options
@click.argument("node", type=click.IntRange(0, 9999))
@click.option("--why", default="", help="The reason, for the caller.")
def kick(where: Where, node: int, why: str) -> None:
    """End the call on a node. The caller is told, and an open hand waits for them."""
    click.echo(_ask(where, "kick", node=node, why=why)["words"])


@click.command()
@server_options
@click.argument("node", metavar="NODE|all")
@click.argument("text")
def say(where: Where, node: str, text: str) -> None:
    """Send a message to the caller on a node, or to all."""
    if node != "all" and not (node.isascii() and node.isdecimal()):
        raise UserError('Name a node by its number, or "all".')
    number = None if node == "all" else int(node)
    click.echo(_ask(where, "say", node=number, text=text)["words"])


@click.command()
@server_options
@click.option("--json", "as_json", is_flag=True, help="As JSON, with times in seconds.")
def refused(where: Where, as_json: bool) -> None:
    """Show which addresses have to wait, and why."""
    from door.cli import control

    _show(_ask(where, "refused"), control.refusals, as_json=as_json)


@click.command()
@server_options
@click.argument("who", metavar="ADDRESS|NAME")
def forgive(where: Where, who: str) -> None:
    """Clear the counts against an address, or the wrong passwords for a name."""
    click.echo(_ask(where, "forgive", who=who)["words"])


@click.command()
@server_options
def drain(where: Where) -> None:
    """Take no more calls; close when the last caller is gone. A second drain closes now."""
    click.echo(_ask(where, "drain")["words"])


@click.command()
@server_options
def stop(where: Where) -> None:
    """Close the board now. Callers are told, and no hand is lost."""
    click.echo(_ask(where, "stop")["words"])


def _show(
    answer: Mapping[str, Any], lines: Callable[[Mapping[str, Any]], list[str]], *, as_json: bool
) -> None:
    import json

    click.echo(json.dumps(answer, indent=2) if as_json else "\n".join(lines(answer)))


def _ask(where: Where, command: str, **what: object) -> Mapping[str, Any]:
    from door.cli import control

    with refusing(NoAnswer):
        return control.ask_server(*where, command, what)
