"""How `door nodes` and `door refused` show what a running server has answered."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from door.wording import clock_time
from timebank.words import MINUTE, span


def table(answer: Mapping[str, Any]) -> list[str]:
    servers = answer.get("servers", ())  # one of an earlier version gives none
    several = len(servers) > 1 or bool(answer.get("silent"))
    lines = [_row(several, "Node", "Caller", "Server", "Where", "Since", "Idle", "Left", "Address")]
    for on in answer["nodes"]:
        since = "-" if on["since"] is None else _hour(on["since"])
        idle, left = (_span(on[key]) for key in ("idle", "left"))
        who = (on["name"], on.get("server") or "-", on["where"])
        lines.append(_row(several, on["node"], *who, since, idle, left, on["address"]))
    if not answer["nodes"]:
        lines = ["Nobody is online."]
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


def _row(
    several: bool,
    node: object,
    caller: str,
    server: str,
    where: str,
    since: str,
    idle: str,
    left: str,
    address: str,
) -> str:
    by = f"{server:<16}" if several else ""
    return f"{node:>4}  {caller:<26}{by}{where:<20}{since:<7}{idle:>6} {left:>8}  {address}"


def refusals(answer: Mapping[str, Any]) -> list[str]:
    lines = []
    if answer["held"]:
        lines.append(f"{'Address':<26}{'Wait':>8}  Why")
        for held in answer["held"]:
            wait = _span(held["wait"] or None)
            lines.append(f"{held['address']:<26}{wait:>8}  {held['why']}")
    if answer["more"]:
        lines.append(f"And {answer['more']} more.")
    if answer["names"]:
        names = "1 name" if answer["names"] == 1 else f"{answer['names']} names"
        lines.append(f"Strangers have to wait for {names}; the names are not recorded.")
    if not lines:
        return ["Nobody has to wait."]
    return [*lines, "`door forgive` clears an address or a name."]


def _hour(instant: str) -> str:
    return f"{datetime.fromisoformat(instant):%H:%M}"  # by the board's clock


def _span(seconds: int | None) -> str:
    return "-" if seconds is None else clock_time(seconds)
