"""The commands to the running server: who is on, who has to wait, an end for one or for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from door.cli_common import Sentence, config_option, load_config


@click.command()
@config_option
@click.option("--json", "as_json", is_flag=True, help="As the server has it, in seconds.")
def nodes(config_path: Path, as_json: bool) -> None:
    """Show who is on the running board: where, since when, idle for how long, with what left."""
    from door import cli_control

    _show(_ask(config_path, "nodes"), cli_control.table, as_json=as_json)


@click.command()
@config_option
@click.argument("node", type=click.IntRange(0, 9999))
@click.option("--why", default="", help="What he is told.")
def kick(config_path: Path, node: int, why: str) -> None:
    """End the call on a node in peace: he is told, his hand waits for him."""
    click.echo(_ask(config_path, "kick", node=node, why=why)["words"])


@click.command()
@config_option
@click.argument("node", metavar="NODE|all")
@click.argument("text")
def say(config_path: Path, node: str, text: str) -> None:
    """Say something to the caller on a node, or to all."""
    if node != "all" and not (node.isascii() and node.isdecimal()):
        raise Sentence('Say it to the number of a node, or to "all".')
    number = None if node == "all" else int(node)
    click.echo(_ask(config_path, "say", node=number, text=text)["words"])


@click.command()
@config_option
@click.option("--json", "as_json", is_flag=True, help="As the server has it, in seconds.")
def refused(config_path: Path, as_json: bool) -> None:
    """Show which addresses have to wait before the running board takes them, and why."""
    from door import cli_control

    _show(_ask(config_path, "refused"), cli_control.refusals, as_json=as_json)


@click.command()
@config_option
@click.argument("who", metavar="ADDRESS|NAME")
def forgive(config_path: Path, who: str) -> None:
    """Forget what is counted against an address, or the wrong passwords for a name."""
    click.echo(_ask(config_path, "forgive", who=who)["words"])


@click.command()
@config_option
def drain(config_path: Path) -> None:
    """Take no more calls, and close the board when the last caller has gone; twice closes now."""
    click.echo(_ask(config_path, "drain")["words"])


@click.command()
@config_option
def stop(config_path: Path) -> None:
    """Close the running board: callers are told, and no hand is lost."""
    click.echo(_ask(config_path, "stop")["words"])


def _show(
    answer: Mapping[str, Any],
    lines: Callable[[Mapping[str, Any]], Iterable[str]],
    *,
    as_json: bool,
) -> None:
    """Print an answer of the server, as it is or in lines to read."""
    import json

    click.echo(json.dumps(answer, indent=2) if as_json else "\n".join(lines(answer)))


def _ask(config_path: Path, command: str, **what: object) -> Mapping[str, Any]:
    """Ask the running server of this board."""
    from door import cli_control

    try:
        return cli_control.ask(load_config(config_path).board.data, command, **what)
    except cli_control.NoAnswer as error:
        raise Sentence(str(error)) from error
