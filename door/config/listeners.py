"""[[listeners]] of sysop.toml: where callers reach the board, and what is spoken there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from door.config.defence import read_networks
from door.lines.rlogin.trust import Network, address_in
from timebank.settings.toml import TomlTable, shown

ListenerKind = Literal["telnet", "telnets", "rlogin"]
LISTENER_KINDS: tuple[ListenerKind, ...] = get_args(ListenerKind)
USUAL_PORTS: Mapping[ListenerKind, int] = {"telnet": 2323, "telnets": 2992, "rlogin": 2513}

EVERY_ADDRESS = "0.0.0.0"  # of IPv4
EVERY_ADDRESS_OF_BOTH = "::"


@dataclass(frozen=True)
class ListenerSettings:
    kind: ListenerKind
    host: str  # an address in its usual spelling
    port: int  # 0 for any free one
    proxies: tuple[Network, ...] = ()  # front ends that say who is calling
    certificate: Path | None = None  # with `key`, for telnets alone
    key: Path | None = None


def read_listeners(root: TomlTable) -> tuple[ListenerSettings, ...]:
    tables = root.tables("listeners")
    if tables is None:
        return (ListenerSettings("telnet", EVERY_ADDRESS, USUAL_PORTS["telnet"]),)
    if not tables and root.sound("listeners"):
        root.refuse("listeners", "needs at least one, or nobody could call")
    listeners: list[ListenerSettings] = []
    for table in tables:
        listener = _listener(table)
        if table.sound("host", "port") and _taken(listener, listeners):
            table.refuse("port", f"{listener.port} is taken by a listener above")
        listeners.append(listener)
    return tuple(listeners)


def _listener(table: TomlTable) -> ListenerSettings:
    kind = table.choice("kind", LISTENER_KINDS[0], LISTENER_KINDS)
    certificate, key = (_file(table, name, kind) for name in ("certificate", "key"))
    return ListenerSettings(
        kind=kind,
        host=_host(table),
        port=table.whole("port", USUAL_PORTS[kind], 0, 65535),
        proxies=read_networks(table, "proxies"),
        certificate=certificate,
        key=key,
    )


def _file(table: TomlTable, name: str, kind: ListenerKind) -> Path | None:
    path = table.optional_path(name)
    if table.sound("kind", name) and (path is not None) != (kind == "telnets"):
        if path is None:
            table.refuse(name, 'must name the file when kind is "telnets"')
        else:
            table.refuse(name, f'is for kind "telnets" only, and this one is "{kind}"')
    return path


def _host(table: TomlTable) -> str:
    host = table.text("host", EVERY_ADDRESS)
    address = address_in(host)
    if address is None:
        reason = (
            f'must be an IP address of this machine, "{EVERY_ADDRESS}" for every IPv4'
            f' address or "{EVERY_ADDRESS_OF_BOTH}" for every address'
        )
        table.refuse("host", f"{reason}, is {shown(host)}")
        return EVERY_ADDRESS
    return str(address)


def _taken(listener: ListenerSettings, others: Sequence[ListenerSettings]) -> bool:
    return listener.port != 0 and any(
        other.port == listener.port and _overlap(other.host, listener.host) for other in others
    )


def _overlap(one: str, other: str) -> bool:
    both = {one, other}
    if len(both) == 1 or EVERY_ADDRESS_OF_BOTH in both:
        return True
    return EVERY_ADDRESS in both and not any(":" in host for host in both)
