"""How `door nodes` and `door refused` show what a running server has answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from door.wording import clock_time
from timebank.reports.exports import Record
from timebank.reports.statements import NAME, SHORT, WORDS
from timebank.reports.tables import Column, Listing, Piece, figures
from timebank.words import MINUTE, span

NODE_FIELDS = ("node", "name", "server", "where", "since", "idle", "left", "address")
REFUSAL_FIELDS = ("address", "wait", "why")


class AnswerShown(NamedTuple):
    """How the rows of an answer are shown: as text, and as records with these fields."""

    table: Callable[[Mapping[str, Any]], list[Piece]]
    fields: Sequence[str]
    records: Callable[[Mapping[str, Any]], Iterator[Record]]


def table(answer: Mapping[str, Any]) -> list[Piece]:
    servers = answer.get("servers", ())  # one of an earlier version gives none
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
        f"A door has started server {server['name']}. It ends when nobody has been on for"
        f" {span(server['stays'] * MINUTE)}."
        for server in servers
        if "stays" in server and not server["draining"]
    ]
    return lines


def _node_row(on: Mapping[str, Any], several: bool) -> list[str]:
    since = "-" if on["since"] is None else _hour(on["since"])
    server = [on.get("server") or "-"] if several else []
    return [
        *(str(on["node"]), on["name"], *server, on["where"], since),
        *(_span(on["idle"]), _span(on["left"]), on["address"]),
    ]


def _node_records(answer: Mapping[str, Any]) -> Iterator[Record]:
    for on in answer["nodes"]:
        yield {field: on.get(field) for field in NODE_FIELDS}


def refusals(answer: Mapping[str, Any]) -> list[Piece]:
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


def _hour(instant: str) -> str:
    return f"{datetime.fromisoformat(instant):%H:%M}"  # by the board's clock


def _span(seconds: int | None) -> str:
    return "-" if seconds is None else clock_time(seconds)


NODES = AnswerShown(table, NODE_FIELDS, _node_records)
REFUSALS = AnswerShown(refusals, REFUSAL_FIELDS, _refusal_records)
