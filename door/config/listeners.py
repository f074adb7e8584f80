"""[[listeners]] of sysop.toml: where callers reach the board, and what is spoken there.

Here too: where other servers of the board reach this one, `link` in [server], and where front ends
ask how it is, `health` there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from door.config.defence import read_networks
from door.lines.registry import KINDS, ListenerSettings
from door.lines.rlogin.trust import address_in
from timebank.settings.toml import TomlTable, shown

# What a browser calls the origin of a page: scheme, host and, where it is not the usual, port.
ORIGIN = re.compile(r"https?://[a-z0-9.\-\[\]:]+")

USUAL = "telnet"
LONGEST_HEALTH = 60
DOORS_ALONE = "Callers come through doors alone: the settings have no [[listeners]]."
EVERY_ADDRESS = "0.0.0.0"  # of IPv4
EVERY_ADDRESS_OF_BOTH = "::"

T = TypeVar("T")


@dataclass(frozen=True)
class HealthSettings:
    """Where front ends ask how this server is."""

    host: str  # an address of this machine in its usual spelling, and not that of all
    port: int  # 0 for any free one

    def __str__(self) -> str:
        """Write it as in sysop.toml.

        >>> str(HealthSettings("2001:db8::1", 2330))
        '[2001:db8::1]:2330'
        """
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_listeners(root: TomlTable) -> tuple[ListenerSettings, ...]:
    tables = root.tables("listeners")
    if tables is None:
        return (ListenerSettings(USUAL, EVERY_ADDRESS, KINDS[USUAL].usual_port),)
    listeners: list[ListenerSettings] = []
    for table in tables:
        listener = _listener(table)
        if table.sound("host", "port") and _taken(listener, listeners):
            table.refuse("port", f"{listener.port} is taken by a listener above")
        listeners.append(listener)
    return tuple(listeners)


def read_health(table: TomlTable, listeners: Sequence[ListenerSettings]) -> HealthSettings | None:
    """Read an address of this machine that front ends reach, and a port; None for ""."""
    text = table.optional_text("health", LONGEST_HEALTH)
    if not text:
        return None
    host, colon, port = text.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    address = address_in(bare)
    is_whole = bool(colon) and port.isascii() and port.isdecimal() and int(port) <= 65535
    if address is None or not is_whole or (address.version == 6) != (bare != host):
        examples = '"10.0.0.1:2330" or "[2001:db8::1]:2330"'
        table.refuse("health", f"must be an address and a port, {examples}")
    elif address.is_unspecified:
        table.refuse(
            "health", f"must be one address of this machine that front ends reach, not {host}"
        )
    else:
        place = HealthSettings(str(address), int(port))
        if not _taken(ListenerSettings(USUAL, place.host, place.port), listeners):
            return place
        table.refuse("health", f"has port {port}, which one of the [[listeners]] takes")
    return None


def _listener(table: TomlTable) -> ListenerSettings:
    kind = table.choice("kind", USUAL, tuple(KINDS))
    certificate, key = _pair(table, kind)
    return ListenerSettings(
        kind=kind,
        host=_host(table),
        port=table.whole("port", KINDS[kind].usual_port, 0, 65535),
        proxies=read_networks(table, "proxies"),
        certificate=certificate,
        key=key,
        forwarded=_own(table, "forwarded", kind, read_networks(table, "forwarded"), ()),
        origins=_own(table, "origins", kind, _origins(table), ()),
        telnet=_telnet(table, kind, has_tls=certificate is not None),
    )


def _pair(table: TomlTable, kind: str) -> tuple[Path | None, Path | None]:
    """Read a certificate and its key, which belong together."""
    files = {name: table.optional_path(name) for name in ("certificate", "key")}
    wanted = KINDS[kind].has_certificate
    if wanted is None:
        wanted = any(files.values())
    for name, path in files.items():
        if not table.sound("kind", name) or (path is not None) == wanted:
            continue
        if path is None:
            other = "certificate" if name == "key" else "key"
            when = f'kind is "{kind}"' if KINDS[kind].has_certificate else f"there is a {other}"
            table.refuse(name, f"must name the file when {when}")
        else:
            may = [each for each, row in KINDS.items() if row.has_certificate is not False]
            _refuse_kind(table, name, kind, may)
    return files["certificate"], files["key"]


def _refuse_kind(table: TomlTable, name: str, kind: str, may: Sequence[str]) -> None:
    kinds = " and ".join(f'"{each}"' for each in may)
    table.refuse(name, f'is for kind {kinds} only, and this one is "{kind}"')


def _own(table: TomlTable, name: str, kind: str, found: T, none: T) -> T:
    """Return what was found of a key that only some kinds have; `none` for another kind."""
    if found == none or name in KINDS[kind].own or not table.sound("kind", name):
        return found
    _refuse_kind(table, name, kind, [each for each, row in KINDS.items() if name in row.own])
    return none


def _telnet(table: TomlTable, kind: str, *, has_tls: bool) -> bool:
    if not table.flag("telnet", False):
        return False
    if not table.sound("kind", "telnet", "certificate", "key"):
        return False
    wanted = _own(table, "telnet", kind, True, False)
    if wanted and not has_tls:
        reason = "needs a certificate: without TLS nothing tells a silent browser from a caller"
        table.refuse("telnet", reason)
    return wanted and has_tls


def _origins(table: TomlTable) -> tuple[str, ...]:
    found = []
    for text in table.texts("origins"):
        origin = text.lower()
        if ORIGIN.fullmatch(origin):
            found.append(origin)
        else:
            reason = 'must be origins of pages such as "https://board.example", without a path'
            table.refuse("origins", f"{reason}, has {shown(text)}")
    return tuple(found)


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
