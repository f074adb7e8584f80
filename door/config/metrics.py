"""`[metrics]` in sysop.toml: where `door metrics` tells numbers of the board, and whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from door.config.defence import HOME, read_networks
from door.lines.rlogin.trust import Network, address_in, networks

if TYPE_CHECKING:
    from timebank.settings.toml import TomlTable

PORT = 9523


@dataclass(frozen=True)
class MetricsSettings:
    host: str = "127.0.0.1"
    port: int = PORT
    allow: tuple[Network, ...] = networks(HOME)  # who is told


def read_metrics(table: TomlTable) -> MetricsSettings:
    usual = MetricsSettings()
    host = table.text("host", usual.host)
    address = address_in(host)
    if address is None:
        table.refuse("host", f"is {host}, which is not an IP address of this machine")
    return MetricsSettings(
        host=usual.host if address is None else str(address),
        port=table.whole("port", usual.port, 0, 65535),
        allow=read_networks(table, "allow", HOME),
    )
