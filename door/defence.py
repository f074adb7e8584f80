"""Who may call and how often he may be wrong: all that is counted about strangers.

Nothing here knows sockets or clocks: the monotonic second is given. Nobody is shut out for good and
nothing has to be lifted by hand. Each wrong password is a debt of some minutes which time pays
back; whoever owes too much waits until he owes less. Three debts are kept apart, so that whoever
attacks a name does not shut out the one whose name it is:

- of an address, for names that have never logged on from there;
- of a name, for addresses that it has never logged on from;
- of a name at an address that it has logged on from, which neither of the others touches.

Addresses are counted as the networks that one subscriber has (an IPv4 address, an IPv6 /64), and
names as digests, for what is typed as a name may be a password.
"""

from __future__ import annotations

import heapq
import ipaddress
import secrets
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from hashlib import blake2b

from door.config_defence import Defences, Network

DAY = 86_400.0
ROUNDED = 1e-6  # seconds that a sum of parts of a day may be too much
MOST_ADDRESSES = 32_768  # that are remembered at once, each some 200 bytes
MOST_NAMES = 32_768
MOST_PAIRS = 32_768  # of a name and an address that it logs on from

_SUBSCRIBER_BITS = 64  # of an IPv6 address that one subscriber can change as he likes
_DIGEST_BITS = 64
_AMONG_IPV6 = 1 << 64  # keeps the two kinds of address apart


class Fault(Enum):
    """Why a call is not taken, in words for the log."""

    BLOCKED = "the address is blocked"
    AT_ONCE = "too many calls at once"
    TOO_FAST = "too many calls in a minute"
    SHUT_OUT = "too many wrong passwords"
    CROWDED = "too many are at the log-on already"

    @property
    def his_own(self) -> bool:
        """Whether the caller, and not the board or others, is the reason."""
        return self is not Fault.CROWDED


TOO_MANY_NAMES = "too many new names"


@dataclass(frozen=True)
class Held:
    """A subscriber whose next call, password or new name is refused, and why, in words for the log.

    `wait` is for how many seconds still, 0 where that is as long as his lines are open.
    """

    address: str
    why: str
    wait: float

    @property
    def subscriber(self) -> str:
        """An address of his."""
        return self.address.partition("/")[0]


class NotTaken(Exception):
    """A call is refused; `wait` says for how many seconds, 0 where that is not known."""

    def __init__(self, fault: Fault, wait: float = 0.0) -> None:
        """Say why."""
        super().__init__(fault.value)
        self.fault = fault
        self.wait = wait


class Networks:
    """Addresses and networks, of which thousands cost no more to ask than a few.

    >>> Networks([ipaddress.ip_network("10.0.0.0/8")]).hold("10.1.2.3")
    True
    """

    def __init__(self, networks: Iterable[Network]) -> None:
        """Sort them by version and length."""
        self._prefixes: dict[tuple[int, int], set[int]] = {}
        for network in networks:
            shift = network.max_prefixlen - network.prefixlen
            kept = self._prefixes.setdefault((network.version, shift), set())
            kept.add(int(network.network_address) >> shift)

    def hold(self, text: str) -> bool:
        """Tell whether this is an address in one of them."""
        address = _address(text)
        if address is None:
            return False
        number = int(address)
        return any(
            version == address.version and number >> shift in prefixes
            for (version, shift), prefixes in self._prefixes.items()
        )


class Debts:
    """What many strangers owe, in seconds that pass by themselves; who owes nothing is forgotten.

    Of more than `most` the one that is longest untouched is forgotten.
    """

    def __init__(self, most: int) -> None:
        """Begin with nobody owing anything."""
        self._most = most
        self._free_at: OrderedDict[int, float] = OrderedDict()

    def __len__(self) -> int:
        """How many are remembered."""
        return len(self._free_at)

    def __iter__(self) -> Iterator[int]:
        """Go through who is remembered."""
        return iter(self._free_at)

    def owed(self, who: int, now: float) -> float:
        """Return how many seconds somebody owes."""
        return max(0.0, self._free_at.get(who, now) - now)

    def above(self, seconds: float, now: float) -> list[tuple[int, float]]:
        """List who owes more than so much, and how much more."""
        limit = now + seconds
        return [(who, free_at - limit) for who, free_at in self._free_at.items() if free_at > limit]

    def forget(self, who: int) -> bool:
        """Let somebody off what he owes; tell whether it was anything."""
        return self._free_at.pop(who, None) is not None

    def add(self, who: int, seconds: float, most: float, now: float) -> None:
        """Let somebody owe `seconds` more, though never more than `most`."""
        self._free_at[who] = now + min(self.owed(who, now) + seconds, most)
        self._free_at.move_to_end(who)
        while self._free_at and (len(self) > self._most or self._oldest() <= now):
            self._free_at.popitem(last=False)

    def _oldest(self) -> float:
        return next(iter(self._free_at.values()))


class Known:
    """Things that were seen, the last `most` of them."""

    def __init__(self, most: int) -> None:
        """Begin with none."""
        self._most = most
        self._seen: OrderedDict[int, None] = OrderedDict()

    def __contains__(self, what: int) -> bool:
        """Tell whether it was seen."""
        return what in self._seen

    def add(self, what: int) -> None:
        """See it."""
        self._seen[what] = None
        self._seen.move_to_end(what)
        if len(self._seen) > self._most:
            self._seen.popitem(last=False)


class Defence:
    """The memory of one board for those who call it."""

    def __init__(self, rules: Defences) -> None:
        """Begin with nobody known."""
        self._secret = secrets.token_bytes(16)
        self._calls: dict[int, int] = {}  # how many lines each address has open
        self._connects = Debts(MOST_ADDRESSES)
        self._wrong_from = Debts(MOST_ADDRESSES)
        self._wrong_for = Debts(MOST_NAMES)
        self._wrong_at_home = Debts(MOST_PAIRS)
        self._names_asked = Debts(MOST_ADDRESSES)
        self._callers_live_at = Known(MOST_ADDRESSES)
        self._homes = Known(MOST_PAIRS)
        self.keep_to(rules)

    def keep_to(self, rules: Defences, friends: Sequence[Network] = ()) -> None:
        """Hold by these rules from now on; `friends` are front ends and boards that are known.

        What was counted stays.
        """
        self._rules = rules
        self._allowed = Networks((*rules.allow, *friends))
        self._blocked = Networks(rules.block)

    # Calls.

    def take(self, address: str, waiting: int, now: float) -> int | None:
        """Take one more call, and return what `end` is to be told; `NotTaken` when it is refused.

        `waiting` is how many are at the log-on or on their way there. A caller from where callers
        live is not refused for that, up to twice as many: he takes somebody else's place.
        """
        rules, who = self._rules, key_of(address)
        if who is None or self._allowed.hold(address):
            return None
        if self._blocked.hold(address):
            raise NotTaken(Fault.BLOCKED)
        if self._calls.get(who, 0) >= rules.calls_per_address:
            raise NotTaken(Fault.AT_ONCE)
        lives_here = who in self._callers_live_at
        wait = self._wait(self._wrong_from, who, now)
        if wait and not lives_here:
            raise NotTaken(Fault.SHUT_OUT, wait)
        minute, cost = 60.0, 60.0 / rules.calls_per_minute
        owed = self._connects.owed(who, now)
        if owed + cost > minute + ROUNDED:
            raise NotTaken(Fault.TOO_FAST, owed + cost - minute)
        if waiting >= rules.logons * (2 if lives_here else 1):
            raise NotTaken(Fault.CROWDED)
        self._connects.add(who, cost, minute + cost, now)
        self._calls[who] = self._calls.get(who, 0) + 1
        return who

    def end(self, taken: int | None) -> None:
        """Count a call as over for which `take` returned this."""
        if taken is not None:
            self._calls[taken] -= 1
            if not self._calls[taken]:
                del self._calls[taken]

    def is_crowded(self, waiting: int) -> bool:
        """Tell whether so many at the log-on are all that there may be."""
        return waiting >= self._rules.logons

    def is_allowed(self, address: str) -> bool:
        """Tell whether an address is allowed everything: a board's or a front end's, for two."""
        return self._allowed.hold(address)

    def callers_live_at(self, address: str) -> bool:
        """Tell whether somebody has logged on from there, or it is allowed everything."""
        who = key_of(address)
        return who is None or who in self._callers_live_at or self._allowed.hold(address)

    # Names and passwords. A folded name is given (`timebank.names.fold`).

    def wait_to_try(self, address: str, name: str, now: float) -> float:
        """Return for how many seconds a right password is not believed; 0 where it is at once.

        This is not to be told: it may say that the name is at home here. See `wait_to_tell`.
        """
        who = key_of(address)
        if who is None or self._allowed.hold(address):
            return 0.0
        pair = self._pair(who, name)
        if pair in self._homes:
            return self._wait(self._wrong_at_home, pair, now)
        return self.wait_to_tell(address, name, now)

    def wait_to_tell(self, address: str, name: str, now: float) -> float:
        """Return for how many seconds a stranger would have to wait, whether or not he is one.

        It is what may be told: the same for names that exist and for those that do not.
        """
        who = key_of(address)
        if who is None or self._allowed.hold(address):
            return 0.0
        return max(
            self._wait(self._wrong_from, who, now),
            self._wait(self._wrong_for, self._digest(name), now),
        )

    def wrong(self, address: str, name: str, now: float) -> None:
        """Count a wrong password."""
        who = key_of(address)
        if who is None or self._allowed.hold(address):
            return
        # What may be told must not depend on who is at home, so these two always count.
        debts = [(self._wrong_from, who), (self._wrong_for, self._digest(name))]
        pair = self._pair(who, name)
        if pair in self._homes:
            debts.append((self._wrong_at_home, pair))
        cost = 60.0 * self._rules.try_minutes
        for kept, key in debts:
            kept.add(key, cost, 2 * self._rules.wrong_passwords * cost, now)

    def right(self, address: str, name: str) -> None:
        """Remember that this name has logged on from there. No debt is let off for it."""
        who = key_of(address)
        if who is not None:
            self._callers_live_at.add(who)
            self._homes.add(self._pair(who, name))

    # New callers.

    def may_ask_for_a_name(self, address: str, now: float) -> bool:
        """Tell whether one more new name may be asked for from there today, and count it.

        Names that can be had and names that cannot count alike: each tells whether it exists.
        """
        who = key_of(address)
        if who is None or self._allowed.hold(address):
            return True
        cost = DAY / self._rules.new_names_per_day
        if self._names_asked.owed(who, now) + cost > DAY + ROUNDED:
            return False
        self._names_asked.add(who, cost, DAY + cost, now)
        return True

    # For the sysop.

    def held(self, now: float, most: int) -> tuple[list[Held], int]:
        """List who is held back now, whom time frees last first; of so many the first `most`, and
        how many there are."""
        rules = self._rules
        minute, day = 60.0 - 60.0 / rules.calls_per_minute, DAY - DAY / rules.new_names_per_day
        found: list[tuple[float, int, str]] = []
        for debts, free, why in (
            (self._wrong_from, self._free(), Fault.SHUT_OUT.value),
            (self._names_asked, day, TOO_MANY_NAMES),
            (self._connects, minute, Fault.TOO_FAST.value),
        ):
            waits = debts.above(free + ROUNDED, now)
            found += [(wait + ROUNDED, who, why) for who, wait in waits]
        found += [
            (0.0, who, Fault.AT_ONCE.value)
            for who, lines in self._calls.items()
            if lines >= rules.calls_per_address
        ]
        held = [Held(text_of(who), why, wait) for wait, who, why in heapq.nlargest(most, found)]
        # What was counted against an address before it was allowed holds nobody back.
        return [each for each in held if not self._allowed.hold(each.subscriber)], len(found)

    def names_held(self, now: float) -> int:
        """Count the names for which strangers have to wait. Which they are is not kept."""
        return len(self._wrong_for.above(self._free(), now))

    def forgive_address(self, address: str) -> bool:
        """Let a subscriber off all he owes; tell whether it was anything."""
        who = key_of(address)
        debts = (self._connects, self._wrong_from, self._names_asked)
        return who is not None and sum(each.forget(who) for each in debts) > 0

    def forgive_name(self, name: str) -> bool:
        """Let a name off all wrong passwords, wherever they came from; tell whether there were any.

        A folded name is given (`timebank.names.fold`).
        """
        digest = self._digest(name)
        forgiven = self._wrong_for.forget(digest)
        for pair in [pair for pair in self._wrong_at_home if pair >> _DIGEST_BITS == digest]:
            forgiven |= self._wrong_at_home.forget(pair)
        return forgiven

    # Inside.

    def _free(self) -> float:
        """Return the debt with which one more password may be tried, in seconds."""
        return (self._rules.wrong_passwords - 1) * 60.0 * self._rules.try_minutes

    def _wait(self, debts: Debts, who: int, now: float) -> float:
        return max(0.0, debts.owed(who, now) - self._free())

    def _digest(self, name: str) -> int:
        return self._hash(name.encode("utf-8", "surrogatepass"))

    def _pair(self, who: int, name: str) -> int:
        # So that all pairs of a name can be found.
        return self._digest(name) << _DIGEST_BITS | self._hash(b"%d" % who)

    def _hash(self, data: bytes) -> int:
        size = _DIGEST_BITS // 8
        return int.from_bytes(blake2b(data, digest_size=size, key=self._secret).digest(), "big")


def key_of(text: str) -> int | None:
    """Return a number for the subscriber at an address; None for what is no address.

    >>> key_of("2001:db8::1") == key_of("2001:db8::ffff"), key_of("::ffff:1.2.3.4")
    (True, 16909060)
    """
    address = _address(text)
    if address is None:
        return None
    if isinstance(address, ipaddress.IPv4Address):
        return int(address)
    return _AMONG_IPV6 + (int(address) >> _SUBSCRIBER_BITS)


def text_of(key: int) -> str:
    """Return the address or network that is counted under a number of `key_of`.

    >>> text_of(16909060), text_of(key_of("2001:db8::ffff"))
    ('1.2.3.4', '2001:db8::/64')
    """
    if key < _AMONG_IPV6:
        return str(ipaddress.IPv4Address(key))
    network = (key - _AMONG_IPV6) << _SUBSCRIBER_BITS
    return str(ipaddress.IPv6Network((network, 128 - _SUBSCRIBER_BITS)))


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address
