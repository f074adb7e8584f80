"""[defence] of sysop.toml: who may call, and how often they may be wrong."""

from __future__ import annotations

from dataclasses import dataclass

from door.lines.rlogin.trust import Network, networks
from timebank.settings.toml import TomlTable

# This machine: the sysop, and their front ends that do not say who is calling.
HOME = ("127.0.0.0/8", "::1")


@dataclass(frozen=True)
class Defences:
    """What holds for strangers, but not for addresses in `allow`.

    `calls_per_address` counts lines that are open at once, `logons` all lines of the board that are
    not on a node. After `wrong_passwords` one more may be tried every `try_minutes`.
    """

    allow: tuple[Network, ...] = networks(HOME)
    block: tuple[Network, ...] = ()
    calls_per_address: int = 5
    calls_per_minute: int = 30
    logons: int = 200
    wrong_passwords: int = 5
    try_minutes: int = 3
    new_names_per_day: int = 10


USUAL = Defences()


def read_defence(table: TomlTable) -> Defences:
    return Defences(
        allow=read_networks(table, "allow", HOME),
        block=read_networks(table, "block"),
        calls_per_address=table.whole("calls_per_address", USUAL.calls_per_address, 1, 9999),
        calls_per_minute=table.whole("calls_per_minute", USUAL.calls_per_minute, 1, 9999),
        logons=table.whole("logons", USUAL.logons, 1, 9999),
        wrong_passwords=table.whole("wrong_passwords", USUAL.wrong_passwords, 1, 1000),
        try_minutes=table.whole("try_minutes", USUAL.try_minutes, 1, 1440),
        new_names_per_day=table.whole("new_names_per_day", USUAL.new_names_per_day, 1, 9999),
    )


def read_networks(table: TomlTable, key: str, default: tuple[str, ...] = ()) -> tuple[Network, ...]:
    """Read a list of addresses and networks, each wrong one noted by itself."""
    found: list[Network] = []
    for text in table.texts(key, default):
        try:
            found.extend(networks([text]))
        except ValueError as error:
            reason = "must be addresses or networks such as 192.0.2.7 or 10.0.0.0/8"
            table.refuse(key, f"{reason}: {error}")
    return tuple(found)
