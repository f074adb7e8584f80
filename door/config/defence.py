"""[defence] of sysop.toml: who may call, and how often they may be wrong."""

from __future__ import annotations

from dataclasses import dataclass

from door.lines.rlogin.trust import NETWORKS, Network
from timebank.settings.forms import Number, setting

# This machine: the sysop, and their front ends that do not say who is calling.
HOME = ["127.0.0.0/8", "::1"]


@dataclass(frozen=True)
class Defences:
    """What holds for strangers, but not for addresses in `allow`.

    `calls_per_address` counts lines that are open at once, `logons` all lines of the board that are
    not on a node. After `wrong_passwords` one more may be tried every `try_minutes`.
    """

    allow: tuple[Network, ...] = setting(NETWORKS, HOME)
    block: tuple[Network, ...] = setting(NETWORKS, [])
    calls_per_address: int = setting(Number(1, 9999), 5)
    calls_per_minute: int = setting(Number(1, 9999), 30)
    logons: int = setting(Number(1, 9999), 200)
    wrong_passwords: int = setting(Number(1, 1000), 5)
    try_minutes: int = setting(Number(1, 1440), 3)
    new_names_per_day: int = setting(Number(1, 9999), 10)


USUAL = Defences()
