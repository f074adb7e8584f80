"""Limits on strangers' calls, passwords and new names: all that is counted about strangers.

Pure: the caller of each function gives the monotonic second. Nobody is shut out for good, and no
limit has to be lifted by hand. Each wrong password adds a debt of some minutes, which time pays
back. Somebody else may have caused a debt, so a debt refuses nobody: a password is only checked
later (`door.defence.tries`).

- An address and a name each owe for every wrong password. While one of them owes too much, no
  password is checked for a stranger.
- The second half of the largest debt is reserved for addresses that have not been wrong about the
  name for days. So an attacker with a few addresses does not use up the caller's tries. A wrong
  password in that half costs twice as much, so that an attacker gains no more tries in a day.
- A name has a few tries of its own at an address that it has logged on from, whatever is owed.
- A name has separate tries for its caller who is online and wants another password.

An address counts as the network of one subscriber: an IPv4 address, or an IPv6 /64. Names are
counted by digest, because a caller may have typed a password as the name. Wrong passwords of an
address about a name are remembered for an IPv6 /48: all the networks that one customer can have.

Each server of a board counts for itself.
"""

from __future__ import annotations

import heapq
import ipaddress
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import ceil

from door.config.defence import Defences
from door.errors import Fault, NotAdmitted
from door.lines.rlogin.trust import Network, address_in

DAY = 86_400.0
ROUNDED = 1e-6  # seconds; tolerance for sums of parts of a day
MOST_ADDRESSES = 32_768  # remembered at once, each in some 200 bytes
MOST_NAMES = 32_768
MOST_PAIRS = 32_768  # of a name and an address

# Wrong passwords after which no more is checked at once, in `wrong_passwords`: the second half is
# for addresses that have not been wrong about the name. There a wrong one costs twice as much.
HALVES = 2
FAILURE_SECONDS = DAY  # until an address is forgiven one wrong password about a name
MOST_FAILURES = 10  # remembered of an address and a name
# How much slower a name gets back a try at an address that it has logged on from.
AT_HOME_SLOWER = 20

_SUBSCRIBER_BITS = 64  # of an IPv6 address that one subscriber can change at will
_CUSTOMER_BITS = 16  # of the rest that one customer can change
_DIGEST_BITS = 64
_AMONG_IPV6 = 1 << 64  # keeps the two kinds of address apart
_PERSON = b"bjft strangers"  # makes these digests useless elsewhere

TOO_MANY_NAMES = "too many new names"
TOO_MANY_WRONG = "too many wrong passwords"


@dataclass(frozen=True)
class HeldOff:
    """A subscriber whose next call or new name is refused, or whose next password must wait."""

    address: str
    why: str  # in words for the log
    wait: float  # seconds; 0 if the subscriber must first close a line

    @property
    def subscriber(self) -> str:
        return self.address.partition("/")[0]


class Networks:
    """Addresses and networks; a lookup among thousands costs no more than among a few.

    >>> Networks([ipaddress.ip_network("10.0.0.0/8")]).hold("10.1.2.3")
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


class Debts(OrderedDict[int, float]):
    """Debts in seconds, which pass with time; keeps the `most` debtors touched last."""

    def __init__(self, most: int) -> None:
        super().__init__()  # by debtor, the second at which the debt is paid
        self._most = most

    def owed(self, who: int, now: float) -> float:
        return max(0.0, self.get(who, now) - now)

    def above(self, seconds: float, now: float) -> list[tuple[int, float]]:
        limit = now + seconds
        return [(who, free_at - limit) for who, free_at in self.items() if free_at > limit]

    def forget(self, who: int) -> bool:
        """Forgive a debt; return whether there was one."""
        return self.pop(who, None) is not None

    def add(self, who: int, seconds: float, most: float, now: float) -> float:
        """Add up to `seconds` to a debt, never above `most`; return the seconds added."""
        owed = self.owed(who, now)
        added = max(0.0, min(seconds, most - owed))
        self[who] = now + owed + added
        self.move_to_end(who)
        while self and (len(self) > self._most or next(iter(self.values())) <= now):
            self.popitem(last=False)
        return added

    def take_back(self, who: int, seconds: float) -> None:
        if who in self:
            self[who] -= seconds


class Recent(OrderedDict[int, int]):
    """The last `most` keys, each with a value."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def add(self, key: int, value: int = 0) -> None:
        self[key] = value
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)


Charge = tuple[tuple[Debts, int, float], ...]  # debts, debtor and the seconds added
Rank = tuple[int, int]  # the order in which passwords are checked, the lowest first
FIRST: Rank = (0, 0)


class Defence:
    def __init__(self, rules: Defences) -> None:
        self._lines: Counter[int] = Counter()  # open lines of each address
        self._connects = Debts(MOST_ADDRESSES)
        self._wrong_from = Debts(MOST_ADDRESSES)
        self._wrong_for = Debts(MOST_NAMES)
        self._wrong_about = Debts(MOST_PAIRS)  # of pairs of a name and an address, for days
        self._wrong_at_home = Debts(MOST_PAIRS)
        self._wrong_on_call = Debts(MOST_NAMES)
        self._last_wrong = Recent(MOST_NAMES)  # the last address that was wrong about each name
        self._names_asked = Debts(MOST_ADDRESSES)
        self._callers_live_at = Recent(MOST_ADDRESSES)
        self._homes = Recent(MOST_PAIRS)
        self.keep_to(rules)

    def keep_to(self, rules: Defences, friends: Sequence[Network] = ()) -> None:
        """Change the rules; `friends` are the networks of front ends and known boards."""
        self._rules = rules
        self._allowed = Networks((*rules.allow, *friends))
        self._blocked = Networks(rules.block)

    # Calls.

    def take(self, address: str, waiting: int, now: float, *, has_room: bool = False) -> int | None:
        """Admit one more call and return a token for `end`; raise `NotAdmitted` if it is refused.

        `waiting` is the number of calls at the log-on or on their way there. Addresses where
        callers live may have twice as many. `has_room` allows one more, because the call takes
        another's place.
        """
        rules, who = self._rules, key_of(address)
        if who is None or self._allowed.hold(address):
            return None
        if self._blocked.hold(address):
            raise NotAdmitted(Fault.BLOCKED)
        if self._lines[who] >= rules.calls_per_address:
            raise NotAdmitted(Fault.AT_ONCE)
        lives_here = who in self._callers_live_at
        minute, cost = 60.0, 60.0 / rules.calls_per_minute
        owed = self._connects.owed(who, now)
        if owed + cost > minute + ROUNDED:
            raise NotAdmitted(Fault.TOO_FAST, owed + cost - minute)
        most = rules.logons * 2 if lives_here else rules.logons + has_room
        if waiting >= most:
            raise NotAdmitted(Fault.CROWDED)
        self._connects.add(who, cost, minute + cost, now)
        self._lines[who] += 1
        return who

    def end(self, taken: int | None) -> None:
        if taken is not None:
            self._lines[taken] -= 1
            if not self._lines[taken]:
                del self._lines[taken]

    def is_crowded(self, waiting: int) -> bool:
        return waiting >= self._rules.logons

    def is_allowed(self, address: str) -> bool:
        """Return whether no limit holds for an address, such as a board's or a front end's."""
        return self._allowed.hold(address)

    def is_blocked(self, address: str) -> bool:
        return self._blocked.hold(address) and not self._allowed.hold(address)

    def callers_live_at(self, address: str) -> bool:
        """Return whether a caller has logged on from an address, or no limit holds for it."""
        who = key_of(address)
        return who is None or who in self._callers_live_at or self._allowed.hold(address)

    def wrong_lately(self, address: str, now: float) -> float:
        """Return the seconds that an address owes for wrong passwords."""
        who = self.counted(address)
        return 0.0 if who is None else self._wrong_from.owed(who, now)

    # Passwords. `name` comes from `digest`, and `who`, an address, from `counted`.

    def digest(self, name: str) -> int:
        """Return the number that stands for a folded name (`timebank.names.names.fold`)."""
        return _hash(name.encode("utf-8", "surrogatepass"))

    def counted(self, address: str) -> int | None:
        """Return the number that stands for an address; None if nothing is counted against it."""
        return None if self._allowed.hold(address) else key_of(address)

    def about(self, who: int, name: int) -> int:
        """Return the number that stands for a name together with an address and its kin."""
        return self._pair(kin_of(who), name)

    def failures(self, about: int, now: float) -> int:
        """Return how many wrong passwords of an address and its kin about a name are remembered."""
        owed = self._wrong_about.owed(about, now)
        return ceil(owed / FAILURE_SECONDS - ROUNDED) if owed else 0

    def wait_for_name(self, name: int, now: float, *, clean: bool) -> float:
        """Return the seconds until a name may be tried; `clean`: from an address not wrong yet."""
        return max(0.0, self._wrong_for.owed(name, now) - self.free(clean=clean))

    def wait_for_address(self, who: int, now: float, *, clean: bool) -> float:
        """Return the seconds until an address may try any name; `clean` as in `wait_for_name`."""
        return max(0.0, self._wrong_from.owed(who, now) - self.free(clean=clean))

    def owed_for(self, name: int, now: float) -> float:
        return self._wrong_for.owed(name, now)

    def free(self, *, clean: bool) -> float:
        """Return the largest debt in seconds with which one more password may be checked."""
        return (self._rules.wrong_passwords * (HALVES if clean else 1) - 1) * self._cost

    def costs(self, owed: float) -> float:
        """Return the cost in seconds of a wrong password at a debt of `owed` seconds."""
        return self._cost * (2 if owed > self.free(clean=False) else 1)

    def begin(self, who: int, name: int, now: float) -> Charge:
        """Count a password as wrong before it is checked; `take_back` reverses that."""
        about = self.about(who, name)
        most = (HALVES * self._rules.wrong_passwords + 1) * self._cost
        charge = []
        for debts, key in ((self._wrong_from, who), (self._wrong_for, name)):
            cost = self.costs(debts.owed(key, now))
            charge.append((debts, key, debts.add(key, cost, most, now)))
        most = MOST_FAILURES * FAILURE_SECONDS
        added = self._wrong_about.add(about, FAILURE_SECONDS, most, now)
        return (*charge, (self._wrong_about, about, added))

    def take_back(self, charge: Charge) -> None:
        """Reverse the charge for a password that was right or could not be checked."""
        for debts, key, seconds in charge:
            debts.take_back(key, seconds)

    def blame(self, who: int, name: int) -> None:
        self._last_wrong.add(name, who)

    def last_wrong(self, name: int) -> str | None:
        who = self._last_wrong.get(name)
        return None if who is None else text_of(who)

    def rank(self, who: int, name: int, now: float) -> Rank:
        """Return the order in which passwords that are due are checked, the lowest rank first.

        Few recent failures come first, and among equals an address where callers live. The rank
        does not depend on where the name has logged on: the time of a check must not reveal that.
        """
        lately = ceil(self._wrong_from.owed(who, now) / self._cost - ROUNDED)
        return lately + self.failures(self.about(who, name), now), int(
            who not in self._callers_live_at
        )

    def may_look_early(self, who: int, name: int, now: float) -> Charge | None:
        """Charge for a password that may be checked before its turn; return None if it may not.

        A right password is then believed only if `has_logged_on_from`. All names are treated alike
        at an address where any caller lives, so that nobody learns which of them log on there.
        """
        if who not in self._callers_live_at:
            return None
        pair, cost = self._pair(who, name), AT_HOME_SLOWER * self._cost
        tries = self._rules.wrong_passwords
        if self._wrong_at_home.owed(pair, now) > (tries - 1) * cost:
            return None
        added = self._wrong_at_home.add(pair, cost, tries * cost, now)
        return ((self._wrong_at_home, pair, added),)

    def has_logged_on_from(self, who: int, name: int) -> bool:
        """Return whether a name has logged on from an address. Callers must not learn it."""
        return self._pair(who, name) in self._homes

    def logged_on(self, address: str, name: int) -> None:
        """Remember that a name has logged on from an address. This forgives no debt."""
        who = key_of(address)
        if who is not None:
            self._callers_live_at.add(who)
            self._homes.add(self._pair(who, name))

    # Passwords that online callers type again for their own names.

    def wait_on_call(self, address: str, name: int, now: float) -> float:
        """Return the seconds until a password may be asked for on a call under this name."""
        if self.counted(address) is None:
            return 0.0
        return max(0.0, self._wrong_on_call.owed(name, now) - self.free(clean=False))

    def wrong_on_call(self, address: str, name: int, now: float) -> None:
        """Count a wrong password on a call, at the log-on as well."""
        who = self.counted(address)
        if who is None:
            return
        most = self._rules.wrong_passwords * self._cost
        self._wrong_on_call.add(name, self._cost, most, now)
        for debts, key in ((self._wrong_from, who), (self._wrong_for, name)):
            debts.add(key, self._cost, most, now)
        self.blame(who, name)

    # New callers.

    def may_ask_for_a_name(self, address: str, now: float) -> bool:
        """Return whether an address may ask for one more new name today, and count the question.

        Names that are taken count as well, because each answer shows whether a name exists.
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

    def held(self, now: float, most: int) -> tuple[list[HeldOff], int]:
        """Return the `most` with the longest waits, and the number of all who are held off."""
        rules = self._rules
        minute, day = 60.0 - 60.0 / rules.calls_per_minute, DAY - DAY / rules.new_names_per_day
        waiting: list[tuple[float, int, str]] = []
        for debts, free, why in (
            (self._wrong_from, self.free(clean=False), TOO_MANY_WRONG),
            (self._names_asked, day, TOO_MANY_NAMES),
            (self._connects, minute, Fault.TOO_FAST.value),
        ):
            waits = debts.above(free + ROUNDED, now)
            waiting += [(wait + ROUNDED, who, why) for who, wait in waits]
        waiting += [
            (0.0, who, Fault.AT_ONCE.value)
            for who, lines in self._lines.items()
            if lines >= rules.calls_per_address
        ]
        held = [
            HeldOff(text_of(who), why, wait) for wait, who, why in heapq.nlargest(most, waiting)
        ]
        # Older counts against an address that is allowed now hold nobody off.
        return [each for each in held if not self._allowed.hold(each.subscriber)], len(waiting)

    def names_held(self, now: float) -> int:
        """Return how many names strangers have to wait for. The names themselves are not stored."""
        return len(self._wrong_for.above(self.free(clean=False), now))

    def forgive_address(self, address: str) -> bool:
        """Forgive a subscriber's debts; return whether there were any."""
        who = key_of(address)
        debts = (self._connects, self._wrong_from, self._names_asked)
        return who is not None and sum(each.forget(who) for each in debts) > 0

    def forgive_name(self, name: str) -> bool:
        """Forgive all wrong passwords for a folded name; return whether there were any."""
        digest = self.digest(name)
        forgiven = self._wrong_for.forget(digest) | self._wrong_on_call.forget(digest)
        for debts in (self._wrong_about, self._wrong_at_home):
            for pair in [pair for pair in debts if pair >> _DIGEST_BITS == digest]:
                forgiven |= debts.forget(pair)
        return forgiven

    # Inside.

    @property
    def _cost(self) -> float:  # of a wrong password, in seconds
        return 60.0 * self._rules.try_minutes

    def _pair(self, who: int, name: int) -> int:
        # The name is in the upper bits, so that `forgive_name` finds all pairs of a name.
        return name << _DIGEST_BITS | _hash(b"%d" % who)


def _hash(data: bytes) -> int:
    size = _DIGEST_BITS // 8
    return int.from_bytes(blake2b(data, digest_size=size, person=_PERSON).digest(), "big")


def key_of(text: str) -> int | None:
    """Return a number for the subscriber at an address; None if `text` is no address.

    >>> key_of("2001:db8::1") == key_of("2001:db8::ffff"), key_of("::ffff:1.2.3.4")
    (True, 16909060)
    """
    address = address_in(text)
    if address is None:
        return None
    if isinstance(address, ipaddress.IPv4Address):
        return int(address)
    return _AMONG_IPV6 + (int(address) >> _SUBSCRIBER_BITS)


def kin_of(key: int) -> int:
    """Return a number for all networks that one customer can have.

    >>> kin_of(key_of("2001:db8:7:1::1")) == kin_of(key_of("2001:db8:7:ffff::1"))
    True
    """
    return key if key < _AMONG_IPV6 else key >> _CUSTOMER_BITS << _CUSTOMER_BITS


def text_of(key: int) -> str:
    """Return the address or network that `key_of` gave this number.

    >>> text_of(16909060), text_of(key_of("2001:db8::ffff"))
    ('1.2.3.4', '2001:db8::/64')
    """
    if key < _AMONG_IPV6:
        return str(ipaddress.IPv4Address(key))
    network = (key - _AMONG_IPV6) << _SUBSCRIBER_BITS
    return str(ipaddress.IPv6Network((network, 128 - _SUBSCRIBER_BITS)))
