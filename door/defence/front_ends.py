"""A front end on this machine that does not say who is calling.

The addresses of this machine are in `allow` unless the sysop changes that. Behind HAProxy or
stunnel every call comes from one of them. Without the PROXY protocol (`proxies`) nothing is then
counted against any caller, so the sysop needs a warning.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from door.defence.counts import Networks
from door.lines.addresses import Network, address_in

if TYPE_CHECKING:
    from door.config.config import Config

NAMES = 4  # of different callers, more than one person at this machine would use


def warnings(config: Config, calls: Iterable[tuple[str, str]]) -> list[str]:
    """Return a warning for each address of this machine that several callers share.

    `calls` are pairs of a caller's name and an address.
    """
    names: dict[str, set[str]] = {}
    for name, address in calls:
        names.setdefault(address, set()).add(name)
    return [
        f"{NAMES} callers and more logged on from {address}. That is this machine and in `allow`,"
        " so nothing in [defence] holds for them. If a front end (HAProxy, stunnel) passes callers"
        f' on, let it send the PROXY protocol and set proxies = ["{address}"] in [[listeners]];'
        " else take the address out of `allow`."
        for address, callers in names.items()
        if len(callers) >= NAMES and hides_callers(config, address)
    ]


def hides_callers(config: Config, address: str) -> bool:
    """Return whether an address is this machine's and allowed, and no known front end or board."""
    parsed = address_in(address)
    return (
        parsed is not None
        and parsed.is_loopback
        and Networks(config.defence.allow).hold(address)
        and not Networks(known_networks(config)).hold(address)
    )


def known_networks(config: Config) -> list[Network]:
    """Return the networks of known boards and of front ends."""
    boards = [network for each in config.boards.values() for network in each.trusted.addresses]
    fronts = (each.proxies + each.forwarded for each in config.listeners)
    return [*boards, *(network for networks in fronts for network in networks)]
