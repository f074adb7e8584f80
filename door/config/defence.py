"""[defence] of sysop.toml: limits on calls, log-ons and wrong passwords."""

from __future__ import annotations

from dataclasses import dataclass

from door.lines.addresses import NETWORKS, Network
from timebank.settings.forms import Number, setting

# This machine: the sysop, and front ends that do not say who is calling.
HOME = ["127.0.0.0/8", "::1"]


@dataclass(frozen=True)
class Defences:
    """Limits for strangers; addresses in `allow` have none.

    `calls_per_address` counts open lines. `logons` counts the lines of the board that are not on a
    node. `door.defence.counts` says how `wrong_passwords` are counted.
    """

    allow: tuple[Network, ...] = setting(NETWORKS, HOME)
    block: tuple[Network, ...] = setting(NETWORKS, [])
    calls_per_address: int = setting(Number(1, 9999), 5)
    calls_per_minute: int = setting(Number(1, 9999), 30)
    logons: int = setting(Number(1, 9999), 200)
    wrong_passwords: int = setting(Number(1, 1000), 10)
    new_names_per_day: int = setting(Number(1, 9999), 10)


USUAL = Defences()
