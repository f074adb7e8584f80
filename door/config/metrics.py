"""`[metrics]` in sysop.toml: where `door metrics` tells numbers of the board, and whom."""

from __future__ import annotations

from dataclasses import dataclass

from door.config.defence import HOME
from door.lines.rlogin.trust import NETWORKS, Network, address_in
from timebank.settings.forms import Number, Text, setting


def _host(text: str) -> str:
    address = address_in(text)
    if address is None:
        raise ValueError(f"is {text}, which is not an IP address of this machine")
    return str(address)


@dataclass(frozen=True)
class MetricsSettings:
    host: str = setting(Text(_host), "127.0.0.1")
    port: int = setting(Number(0, 65535), 9523)
    allow: tuple[Network, ...] = setting(NETWORKS, HOME)  # who is told
