"""The sysop's commands to the running server: who is online, who waits, and how to end calls."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import click

from door import closed
from door.cli.common import config_option, load_config, rows_option
from door.config import config
from door.errors import NoAnswer
from door.lines import hand_over
from door.server import control_client as asking
from door.server import server_note
from timebank import serving
from timebank.cli.common import by_option, tell
from timebank.cli.errors import UserError, refusing
from timebank.errors import SettingsError
from timebank.reports.statements import NAME, SHORT, WORDS
from timebank.reports.tables import Column, Listing, Piece, figures
from timebank.words import MINUTE, clock_time, span

if TYPE_CHECKING:
    from timebank.reports.exports import Record

F = TypeVar("F", bound=Callable[..., object])

NODE_FIELDS = ("node", "name", "server", "where", "since", "idle", "left", "address")
REFUSAL_FIELDS = ("address", "wait", "why")
LONGEST_NODE = 4  # digits
START_SECONDS, START_POLL_SECONDS = 20.0, 0.1  # for a server to start
WATCH_SECONDS = 2.0  # between two looks of `door nodes --watch`

# A sysop.toml, and the data folder if that is given.
Where = tuple[Path, Path | None]


class AnswerShown(NamedTuple):
    """How to show the rows of an answer: as text, and as records with these fields."""

    table: Callable[[Mapping[str, Any]], list[Piece]]
    fields: Sequence[str]
    records: Callable[[Mapping[str, Any]], Iterator[Record]]


def server_options(command: F) -> F:
    """Give a command the options that choose the server: `where`, for `_asked`."""
    data = click.option(
        "--data",
        type=click.Path(path_type=Path, file_okay=False),
        help="The server's data folder, instead of reading sysop.toml.",
    )

    @wraps(command)
    def asking(config_path: Path, data: Path | None, **values: object) -> object:
        return command(where=(config_path, data), **values)

    return cast(F, config_option(data(asking)))


def _node(_context: click.Context, _parameter: click.Parameter, typed: str) -> int:
    return _number(typed, "")


def _node_or_all(_context: click.Context, _parameter: click.Parameter, typed: str) -> int | None:
    return None if typed == "all" else _number(typed, ', or "all"')


def _number(typed: str, or_else: str) -> int:
    if not (typed.isascii() and typed.isdecimal() and len(typed) <= LONGEST_NODE):
        raise UserError(f"NODE is a number that `door nodes` shows{or_else}, and not {typed!r}.")
    return int(typed)


@click.command()
@server_options
@rows_option
@click.option("--watch", is_flag=True, help="Show it again every two seconds, until Ctrl-C.")
def nodes(where: Where, form: str, watch: bool) -> None:
    """Show who is on: where, since when, how long idle, time left.

    As JSON and CSV, times are in seconds.
    """
    if not watch:
        _show(where, "nodes", form, NODES)
        return

    with suppress(KeyboardInterrupt):
        while True:
            click.clear()  # does nothing if the output is no terminal
            with suppress(click.exceptions.Exit):  # the failure was printed
                _show(where, "nodes", form, NODES)
            time.sleep(WATCH_SECONDS)


@click.command()
@server_options
@by_option
@click.argument("node", metavar="NODE", callback=_node)
@click.option("--why", default="", help="The reason, for the caller.")
def kick(where: Where, by: str, node: int, why: str) -> None:
    """End the call on a node. The caller sees why, and an open hand waits for them."""
    _tell(where, "kick", node=node, why=why, by=by)


@click.command()
@server_options
@click.argument("node", metavar="NODE|all", callback=_node_or_all)
@click.argument("text")
def say(where: Where, node: int | None, text: str) -> None:
    """Send a message to the caller on a node, or to all."""
    _tell(where, "say", node=node, text=text)


@click.command()
@server_options
@rows_option
def refused(where: Where, form: str) -> None:
    """Show which addresses have to wait, and why. As JSON and CSV, times are in seconds."""
    _show(where, "refused", form, REFUSALS)


@click.command()
@server_options
@by_option
@click.argument("who", metavar="ADDRESS|NAME")
def forgive(where: Where, by: str, who: str) -> None:
    """Clear what counts against an address or a name."""
    _tell(where, "forgive", who=who, by=by)


@click.command("reload")
@server_options
@by_option
def reload_(where: Where, by: str) -> None:
    """Have the running board read its settings again.

    The answer says what that changes. Open calls keep the old settings. If the file has a mistake,
    nothing changes.
    """
    _tell(where, "reload", by=by)


@click.command()
@server_options
@by_option
def drain(where: Where, by: str) -> None:
    """Take no more calls; close when the last caller is gone. A second drain closes now."""
    _folder_without_server(*where)  # waits for a server that is starting
    _tell(where, "drain", by=by)


@click.command()
@server_options
@by_option
def stop(where: Where, by: str) -> None:
    """Close the board now. Callers are told, and no hand is lost.

    Doors let nobody in until `door open` or `door serve`, even if no server runs now.
    """
    folder = _folder_without_server(*where)
    if folder is None:
        _tell(where, "stop", by=by)
        return
    _or_refuse(closed.close(folder, f"{by} with `door stop`"))
    click.echo(f"No server runs in {folder}. {closed.sentence(folder)}")


@click.command("open")
@server_options
def open_(where: Where) -> None:
    """Open a closed board for doors again. `door serve` opens it for all callers."""
    path, data = where
    folder = str(load_config(path).board.data if data is None else data)
    if not closed.is_closed(folder):
        click.echo("The board is not closed.")
        return
    _or_refuse(closed.reopen(folder))
    click.echo("The board is open for doors again.")


def _or_refuse(problem: str) -> None:
    if problem:
        raise UserError(problem)


def _folder_without_server(path: Path, data: Path | None) -> str | None:
    """Return the data folder of a board that no server serves; None if that is not known.

    Waits for a server that is starting.
    """
    try:
        settings = config.load(path)
    except SettingsError:
        return None
    folder = settings.board.data
    is_other = data is not None and data.resolve() != folder.resolve()
    until = time.monotonic() + START_SECONDS
    while not is_other and serving.is_starting(settings.bank.lock) and time.monotonic() < until:
        time.sleep(START_POLL_SECONDS)
    if is_other or serving.is_held(settings.bank.lock):
        return None
    if wire := hand_over.dial_if_any(str(folder)):  # a server of release 1.0 holds no lock
        wire.close()
    return None if wire else str(folder)


def _tell(where: Where, command: str, **what: object) -> None:
    """Send a command to the server, and print its answer."""
    answer = _asked(where, command, what)
    click.echo(answer["words"])
    _tell_silent(answer)


def _show(where: Where, command: str, form: str, shown: AnswerShown) -> None:
    """Print the rows that the server answers with."""
    answer = _asked(where, command, {})
    if form == "json":
        click.echo(json.dumps(answer, indent=2))
    else:
        tell(form, shown.table(answer), shown.fields, shown.records(answer), paged=False)
    if command == "nodes" and form == "text":
        _tell_state(where)
    _tell_silent(answer)


def _tell_state(where: Where) -> None:
    """Print whether the board is closed for doors, and whether its server runs another release."""
    path, data = where
    folders = [data] if data is not None else [Path(s.data) for s in server_note.servers_of(path)]
    for folder in folders:
        for words in (closed.sentence(str(folder)), server_note.release_warning(folder)):
            if words:
                click.echo(words)


def _asked(where: Where, command: str, what: dict[str, object]) -> Mapping[str, Any]:
    path, data = where
    with refusing(NoAnswer):
        answer: Mapping[str, Any] = asking.ask_server(path, data, command, what)
    return answer


def _tell_silent(answer: Mapping[str, Any]) -> None:
    """Print which servers did not answer, and exit with 1 if there are any."""
    silent = answer.get("silent", ())  # servers of older releases send none
    for words in silent:
        click.echo(words, err=True)
    if silent:
        click.get_current_context().exit(1)


# How answers are shown.


def nodes_table(answer: Mapping[str, Any]) -> list[Piece]:
    servers = answer.get("servers", ())  # servers of older releases send none
    several = len(servers) > 1 or bool(answer.get("silent"))
    columns = (
        *(Column("Node", right=True), Column("Caller", least=NAME)),
        *((Column("Server", least=SHORT),) if several else ()),
        *(Column("Where", least=SHORT), Column("Since", goes=1), *figures("Idle", "Left")),
        Column("Address", goes=2),
    )
    rows = [_node_row(on, several) for on in answer["nodes"]]
    lines: list[Piece] = [Listing(columns, rows, "Nobody is online.")]
    if answer["log_ons"]:
        lines.append(f"Logging on: {answer['log_ons']}.")
    if answer.get("event"):
        lines.append(answer["event"])
    if answer["draining"]:
        lines.append(
            "The board is draining: it takes no more calls and closes when the last caller leaves."
        )
    else:
        lines += [
            f"Server {server['name']} is draining: it takes no more calls and closes when its last"
            " caller leaves."
            for server in servers
            if server["draining"]
        ]
    lines += [
        f"A door has started server {server['name']}. It ends after"
        f" {span(server['stays'] * MINUTE)} without callers."
        for server in servers
        if "stays" in server and not server["draining"]
    ]
    return lines


def _node_row(on: Mapping[str, Any], several: bool) -> list[str]:
    since = "-" if on["since"] is None else f"{datetime.fromisoformat(on['since']):%H:%M}"
    server = [on.get("server") or "-"] if several else []
    return [
        *(str(on["node"]), on["name"], *server, on["where"], since),
        *(_span(on["idle"]), _span(on["left"]), on["address"]),
    ]


def _node_records(answer: Mapping[str, Any]) -> Iterator[Record]:
    for on in answer["nodes"]:
        yield {field: on.get(field) for field in NODE_FIELDS}


def refusals_table(answer: Mapping[str, Any]) -> list[Piece]:
    columns = (Column("Address"), *figures("Wait"), Column("Why", least=WORDS))
    rows = [(each["address"], _span(each["wait"] or None), each["why"]) for each in answer["held"]]
    lines: list[Piece] = [Listing(columns, rows, "")] if rows else []
    if answer["more"]:
        lines.append(f"And {answer['more']} more.")
    if answer["names"]:
        names = "1 name" if answer["names"] == 1 else f"{answer['names']} names"
        lines.append(f"Strangers have to wait for {names}; the names are not recorded.")
    if not lines:
        return ["Nobody has to wait."]
    return [*lines, "`door forgive` clears an address or a name."]


def _refusal_records(answer: Mapping[str, Any]) -> Iterator[Record]:
    for held in answer["held"]:
        yield {field: held.get(field) for field in REFUSAL_FIELDS}


def _span(seconds: int | None) -> str:
    return "-" if seconds is None else clock_time(seconds)


NODES = AnswerShown(nodes_table, NODE_FIELDS, _node_records)
REFUSALS = AnswerShown(refusals_table, REFUSAL_FIELDS, _refusal_records)
