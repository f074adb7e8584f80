"""Signs of a front end on this machine that does not say who is calling.

The addresses of this machine are in `allow` unless the sysop changes that. Behind HAProxy or
stunnel every call comes from one of them. Without the PROXY protocol (`proxies`) nothing is then
counted against any caller, so the sysop needs a warning. The signs are things that no single person
at this machine would do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from door.defence.counts import DAY, Debts, Networks, key_of
from door.lines.rlogin.trust import Network, address_in

if TYPE_CHECKING:
    from door.config.config import Config

NAMES = 4  # different callers from one address of this machine
MOST_NAMED = 100  # callers whose addresses are remembered


@dataclass(frozen=True)
class Sign:
    """Evidence about an address of this machine that is in `allow`."""

    address: str
    evidence: str

    def __str__(self) -> str:
        return (
            f"{self.evidence} from {self.address}. That is this machine and in `allow`, so nothing"
            " in [defence] holds for them. If a front end (HAProxy, stunnel) passes callers on, let"
            f' it send the PROXY protocol and set proxies = ["{self.address}"] in [[listeners]];'
            " else take the address out of `allow`."
        )


class Lookout:
    def __init__(self, config: Config) -> None:
        self._wrong = Debts(MOST_NAMED)
        self._named: dict[str, set[str]] = {}
        self.keep_to(config)

    def keep_to(self, config: Config) -> None:
        self._rules = config.defence
        self._allowed = Networks(config.defence.allow)
        self._known = Networks(known_networks(config))

    def watches(self, address: str) -> bool:
        """Return whether an address is this machine's and allowed, and no known front end."""
        return (
            is_this_machine(address)
            and self._allowed.hold(address)
            and not self._known.hold(address)
        )

    def lines(self, address: str, number: int) -> Sign | None:
        if number <= self._rules.calls_per_address or not self.watches(address):
            return None
        return Sign(address, f"{number} calls are open at once")

    def wrong(self, address: str, now: float) -> Sign | None:
        key = key_of(address)
        if key is None or not self.watches(address):
            return None
        cost = DAY / self._rules.wrong_passwords
        self._wrong.add(key, cost, 2 * DAY, now)
        if self._wrong.owed(key, now) <= DAY:
            return None
        return Sign(
            address, f"More than {self._rules.wrong_passwords} wrong passwords in a day came"
        )

    def logged_on(self, address: str, name: str) -> Sign | None:
        if not self.watches(address):
            return None
        names = self._named.setdefault(address, set()) if len(self._named) < MOST_NAMED else set()
        if len(names) < NAMES:
            names.add(name)
        return Sign(address, f"{NAMES} callers and more logged on") if len(names) >= NAMES else None


def signs_in(config: Config, calls: Iterable[tuple[str, str]]) -> list[Sign]:
    """Return the signs in past calls, given as (name, address)."""
    lookout, signs = Lookout(config), {}
    for name, address in calls:
        sign = lookout.logged_on(address, name)
        if sign is not None:
            signs[address] = sign
    return list(signs.values())


def known_networks(config: Config) -> list[Network]:
    """Return the networks of known boards and of front ends."""
    boards = [network for each in config.boards.values() for network in each.trusted.addresses]
    fronts = (each.proxies + each.forwarded for each in config.listeners)
    return [*boards, *(network for networks in fronts for network in networks)]


def is_this_machine(address: str) -> bool:
    parsed = address_in(address)
    return parsed is not None and parsed.is_loopback
