"""Limits on strangers' calls, passwords and new names: all that is counted about strangers.

Pure: the caller of each function gives the monotonic second. Each limit is an `Allowance`: so many
at once, then one more each time some seconds have passed. So nobody is shut out for good, and no
limit has to be lifted by hand. Wrong passwords count against three:

- the address together with the name, with `wrong_passwords` at once and one more each half hour;
- the address, for all names together, with `MANY` times as many, as often;
- the name, for all strangers' addresses together, with `MANY` times as many, as often.

An address from which any caller has logged on is no stranger's. Guesses from elsewhere do not make
a caller wait there. The rule looks at the address alone, so that nobody learns from a wait which
names exist or where they log on.

An address counts as the network of one subscriber: an IPv4 address, or an IPv6 /64. Names are
counted by a hash, because a caller may have typed a password as the name.

Each server of a board counts for itself.
"""

from __future__ import annotations

import heapq
from collections import Counter, OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Generic, TypeVar

from door.clock import ROUNDING
from door.config.defence import Defences
from door.errors import Fault, NotAdmitted
from door.lines.addresses import Network, address_in, subscriber
from timebank.names.names import fold

DAY = 86_400.0
RETRY_SECONDS = 1800.0  # until an address may be wrong about a name once more
MANY = 10
MOST = 20_000  # keys that an allowance remembers, each in some 300 bytes

K = TypeVar("K", bound=Hashable)

TOO_MANY_NAMES = "too many new names"
TOO_MANY_FOR_A_NAME = "too many wrong passwords for a name"
TOO_MANY_WRONG = "too many wrong passwords"


@dataclass(frozen=True)
class HeldOff:
    """A subscriber whose next call or new name is refused, or whose next password must wait."""

    address: str
    why: str  # in words for the log
    wait: float  # seconds; 0 if the subscriber must first close a line


class Networks:
    """Addresses and networks; a lookup among thousands costs no more than among a few.

    >>> from door.lines.addresses import networks
    >>> Networks(networks(["10.0.0.0/8"])).hold("10.1.2.3")
    True
    """

    def __init__(self, networks: Iterable[Network]) -> None:
        self._prefixes: dict[tuple[int, int], set[int]] = {}
        for network in networks:
            shift = network.max_prefixlen - network.prefixlen
            prefixes = self._prefixes.setdefault((network.version, shift), set())
            prefixes.add(int(network.network_address) >> shift)

    def hold(self, text: str) -> bool:
        address = address_in(text)
        if address is None:
            return False
        number = int(address)
        return any(
            version == address.version and number >> shift in prefixes
            for (version, shift), prefixes in self._prefixes.items()
        )


class Allowance(OrderedDict[K, float], Generic[K]):
    """So many tries at once, then one more every `seconds`; for the MOST keys used last.

    The value of a key is the second at which all its tries are given back.
    """

    def __init__(self) -> None:
        super().__init__()
        self.allow(1, DAY)

    def allow(self, tries: int, seconds: float) -> None:
        self.tries, self.seconds = tries, seconds

    def used(self, key: K, now: float) -> int:
        """Return how many tries are not given back yet."""
        return ceil((self.get(key, now) - now) / self.seconds - ROUNDING)

    def due(self, given_back: float) -> float:
        """Return when one more is allowed to a key with this value."""
        return given_back - (self.tries - 1) * self.seconds

    def wait(self, key: K, now: float) -> float:
        """Return the seconds until one more is allowed."""
        wait = self.due(self.get(key, now)) - now
        return wait if wait > ROUNDING else 0.0

    def use(self, key: K, now: float) -> None:
        self[key] = max(self.get(key, now), now) + self.seconds
        self.move_to_end(key)
        while self and (len(self) > MOST or next(iter(self.values())) <= now):
            self.popitem(last=False)

    def give_back(self, key: K) -> None:
        if key in self:
            self[key] -= self.seconds

    def waits(self, now: float) -> list[tuple[float, K]]:
        """Return all waits, each with its key."""
        return [(wait, key) for key in self if (wait := self.wait(key, now))]


Counts = tuple[tuple[Allowance[Any], Any], ...]  # what a password is counted against
Rank = tuple[int, int]  # the order in which passwords are checked, the lowest first
FIRST: Rank = (0, 0)


def wait_of(counts: Counts, now: float) -> float:
    """Return the seconds until one more password may be checked, if nobody waits before it."""
    return max((allowance.wait(key, now) for allowance, key in counts), default=0.0)


def use(counts: Counts, now: float) -> None:
    """Count a password as wrong; `give_back` reverses that."""
    for allowance, key in counts:
        allowance.use(key, now)


def give_back(counts: Counts) -> None:
    for allowance, key in counts:
        allowance.give_back(key)


class Defence:
    def __init__(self, rules: Defences, *, trusts_itself: bool = True) -> None:
        """With `trusts_itself` an allowed address of this machine may guess passwords, too."""
        self._trusts_itself = trusts_itself
        self._lines: Counter[str] = Counter()  # open lines of each address
        self._calls: Allowance[str] = Allowance()
        self._names_asked: Allowance[str] = Allowance()
        self._wrong: Allowance[tuple[str, int]] = Allowance()  # of an address about a name
        self._wrong_from: Allowance[str] = Allowance()  # of an address
        self._wrong_for: Allowance[int] = Allowance()  # of strangers about a name
        self._known: OrderedDict[str, None] = OrderedDict()  # addresses of callers, the latest last
        self.keep_to(rules)

    def keep_to(self, rules: Defences, friends: Sequence[Network] = ()) -> None:
        """Change the rules; `friends` are the networks of front ends and known boards."""
        self._rules = rules
        self._allowed = Networks((*rules.allow, *friends))
        self._blocked = Networks(rules.block)
        self._calls.allow(rules.calls_per_minute, 60.0 / rules.calls_per_minute)
        self._names_asked.allow(rules.new_names_per_day, DAY / rules.new_names_per_day)
        self._wrong.allow(rules.wrong_passwords, RETRY_SECONDS)
        for allowance in (self._wrong_from, self._wrong_for):
            allowance.allow(MANY * rules.wrong_passwords, RETRY_SECONDS / MANY)

    # Addresses.

    def counted(self, address: str) -> str | None:
        """Return the subscriber at an address; None if nothing is counted against the address."""
        return None if self._allowed.hold(address) else subscriber(address)

    def is_blocked(self, address: str) -> bool:
        return self._blocked.hold(address) and not self._allowed.hold(address)

    def is_known(self, address: str) -> bool:
        """Return whether a caller has logged on from an address, or no limit holds for it."""
        who = self.counted(address)
        return who is None or who in self._known

    def logged_on(self, address: str) -> None:
        """Remember that a caller has logged on from an address."""
        who = subscriber(address)
        if who is not None:
            self._known[who] = None
            self._known.move_to_end(who)
            if len(self._known) > MOST:
                self._known.popitem(last=False)

    # Calls.

    def take(self, address: str, now: float, *, has_room: bool) -> str | None:
        """Admit one more call and return a token for `end`; raise `NotAdmitted` if it is refused.

        `has_room` is whether the log-on has a place for the call.
        """
        who = self.counted(address)
        if who is None:
            return None
        if self._blocked.hold(address):
            raise NotAdmitted(Fault.BLOCKED)
        if self._lines[who] >= self._rules.calls_per_address:
            raise NotAdmitted(Fault.AT_ONCE)
        if wait := self._calls.wait(who, now):
            raise NotAdmitted(Fault.TOO_FAST, wait)
        if not has_room:
            raise NotAdmitted(Fault.CROWDED)
        self._calls.use(who, now)
        self._lines[who] += 1
        return who

    def end(self, taken: str | None) -> None:
        if taken is not None:
            self._lines[taken] -= 1
            if not self._lines[taken]:
                del self._lines[taken]

    # Passwords.

    def counts(self, address: str, name: str) -> Counts:
        """Return what a password from an address for a name is counted against.

        The address with the name comes first, then the address. Empty: it is not counted.
        """
        who, number = self._guesser(address), hash(fold(name))
        if who is None:
            return ()
        counts: Counts = ((self._wrong, (who, number)), (self._wrong_from, who))
        return counts if who in self._known else (*counts, (self._wrong_for, number))

    def rank(self, address: str, now: float) -> Rank:
        """Return the order in which passwords that are due are checked, the lowest rank first.

        Addresses with few wrong passwords come first, and among equals an address of callers.
        """
        who = self._guesser(address)
        return FIRST if who is None else (self._wrong_from.used(who, now), who not in self._known)

    def _guesser(self, address: str) -> str | None:
        parsed = address_in(address)
        is_here = parsed is not None and parsed.is_loopback and not self._trusts_itself
        return subscriber(address) if is_here else self.counted(address)

    # New callers.

    def may_ask_for_a_name(self, address: str, now: float) -> bool:
        """Return whether an address may ask for one more new name today, and count the question.

        Names that are taken count as well, because each answer shows whether a name exists.
        """
        who = self.counted(address)
        if who is None:
            return True
        if self._names_asked.wait(who, now):
            return False
        self._names_asked.use(who, now)
        return True

    # For the sysop.

    def held(self, now: float, most: int) -> tuple[list[HeldOff], int]:
        """Return the `most` with the longest waits, and the number of all who are held off."""
        most_lines = self._rules.calls_per_address
        full = [(0.0, who) for who, lines in self._lines.items() if lines >= most_lines]
        names_wrong = [(wait, who) for wait, (who, _) in self._wrong.waits(now)]
        waits: dict[tuple[str, str], float] = {}
        for found, why in (
            (names_wrong, TOO_MANY_FOR_A_NAME),
            (self._wrong_from.waits(now), TOO_MANY_WRONG),
            (self._names_asked.waits(now), TOO_MANY_NAMES),
            (self._calls.waits(now), Fault.TOO_FAST.value),
            (full, Fault.AT_ONCE.value),
        ):
            for wait, who in found:
                waits[who, why] = max(wait, waits.get((who, why), 0.0))
        longest = heapq.nlargest(most, waits, key=lambda each: waits[each])
        held = [HeldOff(who, why, waits[who, why]) for who, why in longest]
        # Older counts against an address that is allowed now hold nobody off.
        shown = [each for each in held if self.counted(each.address.partition("/")[0])]
        return shown, len(waits)

    def names_held(self, now: float) -> int:
        """Return how many names strangers have to wait for. The names themselves are not stored."""
        return len(self._wrong_for.waits(now))

    def forgive(self, text: str) -> bool:
        """Forgive an address or a name; return whether anything was counted against it."""
        who: Any = subscriber(text.partition("/")[0]) or hash(fold(text))
        forgiven = [self._wrong.pop(pair) for pair in tuple(self._wrong) if who in pair]
        for allowance in (self._calls, self._names_asked, self._wrong_from, self._wrong_for):
            forgiven.append(allowance.pop(who, 0.0))
        return any(forgiven)
