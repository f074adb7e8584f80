"""[[listeners]] of sysop.toml: the ports of the board, and the protocol of each.

Also reads `health` in [server], the port for front ends.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from door.lines.addresses import address_in
from door.lines.registry import KINDS, ListenerSettings
from timebank.settings.forms import Number, OneOf, Text, Texts
from timebank.settings.quoting import shown
from timebank.settings.toml import TomlTable

# The origin of a page, as browsers name it: scheme, host, and the port unless it is the usual one.
ORIGIN = re.compile(r"https?://[a-z0-9.\-\[\]:]+")

USUAL = "telnet"
USUAL_TABLES = ({"kind": USUAL},)
DOORS_ALONE = "Callers come through doors alone: the settings have no [[listeners]]."
EVERY_ADDRESS = "0.0.0.0"  # of IPv4
EVERY_ADDRESS_OF_BOTH = "::"


def _origin(text: str) -> str:
    origin = text.lower()
    if not ORIGIN.fullmatch(origin):
        reason = 'must be origins of pages such as "https://board.example", without a path'
        raise ValueError(f"{reason}, has {shown(text)}")
    return origin


@dataclass(frozen=True)
class HealthSettings:
    """The port at which front ends ask for this server's state."""

    host: str  # one address of this machine in its usual spelling, not the one for all addresses
    port: int  # 0 for any free one

    def __str__(self) -> str:
        """Return the port as in sysop.toml.

        >>> str(HealthSettings("2001:db8::1", 2330))
        '[2001:db8::1]:2330'
        """
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_listeners(root: TomlTable) -> tuple[ListenerSettings, ...]:
    listeners: list[ListenerSettings] = []
    for table in root.tables("listeners", USUAL_TABLES):
        listener = _listener(table)
        if table.is_sound("host", "port") and is_taken(listener.host, listener.port, listeners):
            table.refuse("port", f"{listener.port} is taken by a listener above")
        listeners.append(listener)
    return tuple(listeners)


def read_health(text: str) -> HealthSettings | None:
    """Read an address of this machine and a port; return None for ""."""
    if not text:
        return None
    host, colon, port = text.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    address = address_in(bare)
    is_whole = bool(colon) and port.isascii() and port.isdecimal() and int(port) <= 65535
    if address is None or not is_whole or (address.version == 6) != (bare != host):
        examples = '"10.0.0.1:2330" or "[2001:db8::1]:2330"'
        raise ValueError(f"must be an address and a port, {examples}")
    if address.is_unspecified:
        raise ValueError(f"must be one address of this machine that front ends reach, not {host}")
    return HealthSettings(str(address), int(port))


def _listener(table: TomlTable) -> ListenerSettings:
    kind = table.read("kind", OneOf(tuple(KINDS)), USUAL)
    listener = table.fill(
        ListenerSettings,
        kind=kind,
        host=table.read("host", Text(_host), EVERY_ADDRESS),
        port=table.read("port", Number(0, 65535), KINDS[kind].usual_port),
        origins=table.read("origins", Texts(_origin), []),
    )
    if table.is_sound("kind"):
        _check_pair(table, listener)
        _check_own(table, listener)
    return listener


def _check_pair(table: TomlTable, listener: ListenerSettings) -> None:
    """Check that a certificate and its key are given together."""
    files = {"certificate": listener.certificate, "key": listener.key}
    kind = listener.kind
    wanted = KINDS[kind].has_certificate
    if wanted is None:
        wanted = any(files.values())
    for name, path in files.items():
        if not table.is_sound(name) or (path is not None) == wanted:
            continue
        if path is None:
            other = "certificate" if name == "key" else "key"
            when = f'kind is "{kind}"' if KINDS[kind].has_certificate else f"there is a {other}"
            table.refuse(name, f"must name the file when {when}")
        else:
            may = [each for each, row in KINDS.items() if row.has_certificate is not False]
            _refuse_kind(table, name, kind, may)


def _check_own(table: TomlTable, listener: ListenerSettings) -> None:
    """Check the keys that only some kinds have."""
    for name in sorted({name for row in KINDS.values() for name in row.own_keys}):
        is_set = getattr(listener, name) != getattr(ListenerSettings, name)
        if is_set and name not in KINDS[listener.kind].own_keys:
            may = [each for each, row in KINDS.items() if name in row.own_keys]
            _refuse_kind(table, name, listener.kind, may)


def _refuse_kind(table: TomlTable, name: str, kind: str, may: Sequence[str]) -> None:
    kinds = " and ".join(f'"{each}"' for each in may)
    table.refuse(name, f'is for kind {kinds} only, and this one is "{kind}"')


def _host(text: str) -> str:
    address = address_in(text)
    if address is None:
        raise ValueError(
            f'must be an IP address of this machine, "{EVERY_ADDRESS}" for every IPv4'
            f' address or "{EVERY_ADDRESS_OF_BOTH}" for every address, is {shown(text)}'
        )
    return str(address)


def is_taken(host: str, port: int, others: Sequence[ListenerSettings]) -> bool:
    return port != 0 and any(other.port == port and _overlap(other.host, host) for other in others)


def _overlap(one: str, other: str) -> bool:
    both = {one, other}
    if len(both) == 1 or EVERY_ADDRESS_OF_BOTH in both:
        return True
    return EVERY_ADDRESS in both and not any(":" in host for host in both)
