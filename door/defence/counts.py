"""Who may call and how often they may be wrong: all that is counted about strangers.

Pure: the monotonic second is given. Nobody is shut out for good and nothing has to be lifted by
hand. Each wrong password is a debt of some minutes, which time pays back. A debt may be somebody
else's doing, so it refuses nobody: a password is only checked later (`door.defence.tries`).

- An address and a name each owe for every wrong password. While one of them owes too much, no
  password is checked for a stranger.
- The second half of what may be owed is kept for addresses that have not been wrong about the name
  for days, so that an attacker with a few addresses does not use up what the caller needs. A wrong
  password there costs twice as much, so that an attacker gains no more tries in a day.
- A name has a few tries of its own at an address that it has logged on from, whatever is owed.
- A name has tries of its own for the caller who is on a call under it, and wants another password.

Addresses are counted as the networks that one subscriber has (an IPv4 address, an IPv6 /64), and
names as digests, because what is typed as a name may be a password. Who was wrong about which name
is remembered for an IPv6 /48: all the networks that one customer can have.

Each server of a board counts for itself.
"""

from __future__ import annotations

import heapq
import ipaddress
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import ceil

from door.config.defence import Defences
from door.errors import Fault, NotTaken
from door.lines.rlogin.trust import Network, address_in

DAY = 86_400.0
ROUNDED = 1e-6  # seconds that a sum of parts of a day may be too much
MOST_ADDRESSES = 32_768  # that are remembered at once, each some 200 bytes
MOST_NAMES = 32_768
MOST_PAIRS = 32_768  # of a name and an address

# Wrong passwords after which no more is checked at once, in `wrong_passwords`: the second half is
# for addresses that have not been wrong about the name. There a wrong one costs twice as much.
HALVES = 2
FAILURE_SECONDS = DAY  # until an address is forgiven one wrong password about a name
MOST_FAILURES = 10  # that are remembered of an address and a name
# How many times as slowly a name gets back a try at an address that it has logged on from.
AT_HOME_SLOWER = 20

_SUBSCRIBER_BITS = 64  # of an IPv6 address that one subscriber can change at will
_CUSTOMER_BITS = 16  # of the rest that one customer can change
_DIGEST_BITS = 64
# Of these what may be written down: enough to tell names apart, and too little to find out what was
# typed, which may have been a password.
KEPT_BITS = 20
_AMONG_IPV6 = 1 << 64  # keeps the two kinds of address apart
_PERSON = b"bjft strangers"  # so that the digests are of no use elsewhere

TOO_MANY_NAMES = "too many new names"
TOO_MANY_WRONG = "too many wrong passwords"


@dataclass(frozen=True)
class HeldOff:
    """A subscriber whose next call or new name is refused, or whose next password has to wait."""

    address: str
    why: str  # in words for the log
    wait: float  # seconds, 0 where it is until a line is closed

    @property
    def subscriber(self) -> str:
        return self.address.partition("/")[0]


class Networks:
    """Addresses and networks; asking thousands of them costs no more than a few.

    >>> Networks([ipaddress.ip_network("10.0.0.0/8")]).hold("10.1.2.3")
    True
    """

    def __init__(self, networks: Iterable[Network]) -> None:
        self._prefixes: dict[tuple[int, int], set[int]] = {}
        for network in networks:
            shift = network.max_prefixlen - network.prefixlen
            kept = self._prefixes.setdefault((network.version, shift), set())
            kept.add(int(network.network_address) >> shift)

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
    """What strangers owe, in seconds that pass: of the `most` who were touched last."""

    def __init__(self, most: int) -> None:
        super().__init__()  # by who owes something, the second at which they are free
        self._most = most

    def owed(self, who: int, now: float) -> float:
        return max(0.0, self.get(who, now) - now)

    def above(self, seconds: float, now: float) -> list[tuple[int, float]]:
        limit = now + seconds
        return [(who, free_at - limit) for who, free_at in self.items() if free_at > limit]

    def forget(self, who: int) -> bool:
        """Forgive a debt; tell whether there was any."""
        return self.pop(who, None) is not None

    def add(self, who: int, seconds: float, most: float, now: float) -> float:
        """Add up to `seconds` to a debt, never above `most`; return how many."""
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


class Known(OrderedDict[int, int]):
    """Things that were seen, the last `most` of them, each with a number that goes with it."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def add(self, what: int, goes_with: int = 0) -> None:
        self[what] = goes_with
        self.move_to_end(what)
        if len(self) > self._most:
            self.popitem(last=False)


Charge = tuple[tuple[Debts, int, float], ...]  # what was added to whose debts
Rank = tuple[int, int]  # the order in which passwords are checked: the lowest is next
FIRST: Rank = (0, 0)


class Defence:
    def __init__(self, rules: Defences, digest: Callable[[str], int] | None = None) -> None:
        """`digest` gives what stands for a folded name."""
        self._digest = digest_of if digest is None else digest
        self._lines: Counter[int] = Counter()  # open from each address
        self._connects = Debts(MOST_ADDRESSES)
        self._wrong_from = Debts(MOST_ADDRESSES)
        self._wrong_for = Debts(MOST_NAMES)
        self._wrong_about = Debts(MOST_PAIRS)  # of an address about a name, for days
        self._wrong_at_home = Debts(MOST_PAIRS)
        self._wrong_on_call = Debts(MOST_NAMES)
        self._last_wrong = Known(MOST_NAMES)  # the address that was wrong about a name last
        self._names_asked = Debts(MOST_ADDRESSES)
        self._callers_live_at = Known(MOST_ADDRESSES)
        self._homes = Known(MOST_PAIRS)
        self.keep_to(rules)

    def keep_to(self, rules: Defences, friends: Sequence[Network] = ()) -> None:
        """Change the rules; `friends` are front ends and boards that are known."""
        self._rules = rules
        self._allowed = Networks((*rules.allow, *friends))
        self._blocked = Networks(rules.block)

    # Calls.

    def take(self, address: str, waiting: int, now: float, *, has_room: bool = False) -> int | None:
        """Take one more call, and return what `end` is to be told; `NotTaken` when it is refused.

        `waiting` is how many are at the log-on or on their way there. There may be twice as many
        for a caller from where callers live, and one more for one who `has_room`: they take
        somebody else's place.
        """
        rules, who = self._rules, key_of(address)
        if who is None or self._allowed.hold(address):
            return None
        if self._blocked.hold(address):
            raise NotTaken(Fault.BLOCKED)
        if self._lines[who] >= rules.calls_per_address:
            raise NotTaken(Fault.AT_ONCE)
        lives_here = who in self._callers_live_at
        minute, cost = 60.0, 60.0 / rules.calls_per_minute
        owed = self._connects.owed(who, now)
        if owed + cost > minute + ROUNDED:
            raise NotTaken(Fault.TOO_FAST, owed + cost - minute)
        most = rules.logons * 2 if lives_here else rules.logons + has_room
        if waiting >= most:
            raise NotTaken(Fault.CROWDED)
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
        """Whether an address is allowed everything: a board's or a front end's, for two."""
        return self._allowed.hold(address)

    def is_blocked(self, address: str) -> bool:
        return self._blocked.hold(address) and not self._allowed.hold(address)

    def callers_live_at(self, address: str) -> bool:
        """Whether somebody has logged on from there, or it is allowed everything."""
        who = key_of(address)
        return who is None or who in self._callers_live_at or self._allowed.hold(address)

    def wrong_lately(self, address: str, now: float) -> float:
        """The seconds that an address owes for wrong passwords."""
        who = self.counted(address)
        return 0.0 if who is None else self._wrong_from.owed(who, now)

    # Passwords. A name is given as `digest` makes it, an address as `counted` does.

    def digest(self, name: str) -> int:
        """What stands for a folded name (`timebank.names.names.fold`)."""
        return self._digest(name)

    def counted(self, address: str) -> int | None:
        """What stands for an address; None where nothing is counted against it."""
        return None if self._allowed.hold(address) else key_of(address)

    def about(self, who: int, name: int) -> int:
        """What stands for a name together with an address and its kin."""
        return self._pair(kin_of(who), name)

    def failures(self, about: int, now: float) -> int:
        """How many wrong passwords about a name are remembered of an address and its kin."""
        owed = self._wrong_about.owed(about, now)
        return ceil(owed / FAILURE_SECONDS - ROUNDED) if owed else 0

    def wait_for_name(self, name: int, now: float, *, clean: bool) -> float:
        """Seconds until a name may be tried; `clean` is an address without failures about it."""
        return max(0.0, self._wrong_for.owed(name, now) - self.free(clean=clean))

    def wait_for_address(self, who: int, now: float, *, clean: bool) -> float:
        """The same for an address, whatever the name."""
        return max(0.0, self._wrong_from.owed(who, now) - self.free(clean=clean))

    def owed_for(self, name: int, now: float) -> float:
        return self._wrong_for.owed(name, now)

    def free(self, *, clean: bool) -> float:
        """The debt in seconds with which one more password may still be checked."""
        return (self._rules.wrong_passwords * (HALVES if clean else 1) - 1) * self._cost

    def costs(self, owed: float) -> float:
        """What a wrong password costs at a debt of so much, in seconds."""
        return self._cost * (2 if owed > self.free(clean=False) else 1)

    def begin(self, who: int, name: int, now: float) -> Charge:
        """Count a password as wrong before it is checked; `take_back` undoes that."""
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
        """Uncount a password that was right, or could not be checked."""
        for debts, key, seconds in charge:
            debts.take_back(key, seconds)

    def blame(self, who: int, name: int) -> None:
        self._last_wrong.add(name, who)

    def last_wrong(self, name: int) -> str | None:
        who = self._last_wrong.get(name)
        return None if who is None else text_of(who)

    def rank(self, who: int, name: int, now: float) -> Rank:
        """The order in which passwords that are due are checked: the lowest rank first.

        Those with few failures lately, and of these from where callers live. It does not depend on
        where the name is at home: how long a check takes must not tell that.
        """
        lately = ceil(self._wrong_from.owed(who, now) / self._cost - ROUNDED)
        return lately + self.failures(self.about(who, name), now), int(
            who not in self._callers_live_at
        )

    def may_look_early(self, who: int, name: int, now: float) -> Charge | None:
        """Count a password as wrong that may be checked before its turn; None where it may not.

        It may be believed then where `is_at_home`, and nowhere else. All names are treated alike
        where any caller lives, so that nobody learns which of them is at home there.
        """
        if who not in self._callers_live_at:
            return None
        pair, cost = self._pair(who, name), AT_HOME_SLOWER * self._cost
        tries = self._rules.wrong_passwords
        if self._wrong_at_home.owed(pair, now) > (tries - 1) * cost:
            return None
        added = self._wrong_at_home.add(pair, cost, tries * cost, now)
        return ((self._wrong_at_home, pair, added),)

    def is_at_home(self, who: int, name: int) -> bool:
        """Whether a name has logged on from there. It is not to be told."""
        return self._pair(who, name) in self._homes

    def logged_on(self, address: str, name: int) -> None:
        """Remember that this name has logged on from there. No debt is forgiven for it."""
        who = key_of(address)
        if who is not None:
            self._callers_live_at.add(who)
            self._homes.add(self._pair(who, name))

    # Passwords that are asked for on a call, under the name of that call.

    def wait_on_call(self, address: str, name: int, now: float) -> float:
        """Seconds for which no password is asked for on a call under this name."""
        if self.counted(address) is None:
            return 0.0
        return max(0.0, self._wrong_on_call.owed(name, now) - self.free(clean=False))

    def wrong_on_call(self, address: str, name: int, now: float) -> None:
        """Count a wrong password on a call. It counts at the log-on as well."""
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
        """Whether one more new name may be asked for from there today, and count it.

        Names that are taken count as well: each answer tells whether a name exists.
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
        """The first `most` who are held back now, the longest first, and how many there are."""
        rules = self._rules
        minute, day = 60.0 - 60.0 / rules.calls_per_minute, DAY - DAY / rules.new_names_per_day
        found: list[tuple[float, int, str]] = []
        for debts, free, why in (
            (self._wrong_from, self.free(clean=False), TOO_MANY_WRONG),
            (self._names_asked, day, TOO_MANY_NAMES),
            (self._connects, minute, Fault.TOO_FAST.value),
        ):
            waits = debts.above(free + ROUNDED, now)
            found += [(wait + ROUNDED, who, why) for who, wait in waits]
        found += [
            (0.0, who, Fault.AT_ONCE.value)
            for who, lines in self._lines.items()
            if lines >= rules.calls_per_address
        ]
        held = [HeldOff(text_of(who), why, wait) for wait, who, why in heapq.nlargest(most, found)]
        # What was counted against an address before it was allowed holds nobody back.
        return [each for each in held if not self._allowed.hold(each.subscriber)], len(found)

    def names_held(self, now: float) -> int:
        """How many names strangers have to wait for. Which they are is not kept."""
        return len(self._wrong_for.above(self.free(clean=False), now))

    def forgive_address(self, address: str) -> bool:
        """Forgive a subscriber's debts; tell whether there were any."""
        who = key_of(address)
        debts = (self._connects, self._wrong_from, self._names_asked)
        return who is not None and sum(each.forget(who) for each in debts) > 0

    def forgive_name(self, name: str) -> bool:
        """Forgive all wrong passwords for a folded name; tell whether there were any."""
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
        # So that all pairs of a name can be found.
        return name << _DIGEST_BITS | _hash(b"%d" % who)


def digest_of(name: str) -> int:
    """What stands for a folded name."""
    return _hash(name.encode("utf-8", "surrogatepass"))


def kept_of(digest: int) -> str:
    """What the books may keep of what stands for a name.

    >>> kept_of(0x123456789ABCDEF0)
    'cdef0'
    """
    return f"{digest & (1 << KEPT_BITS) - 1:05x}"


def _hash(data: bytes) -> int:
    size = _DIGEST_BITS // 8
    return int.from_bytes(blake2b(data, digest_size=size, person=_PERSON).digest(), "big")


def key_of(text: str) -> int | None:
    """A number for the subscriber at an address; None for what is no address.

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
    """A number for all subscribers' networks that one customer can have.

    >>> kin_of(key_of("2001:db8:7:1::1")) == kin_of(key_of("2001:db8:7:ffff::1"))
    True
    """
    return key if key < _AMONG_IPV6 else key >> _CUSTOMER_BITS << _CUSTOMER_BITS


def text_of(key: int) -> str:
    """The address or network that is counted under a number of `key_of`.

    >>> text_of(16909060), text_of(key_of("2001:db8::ffff"))
    ('1.2.3.4', '2001:db8::/64')
    """
    if key < _AMONG_IPV6:
        return str(ipaddress.IPv4Address(key))
    network = (key - _AMONG_IPV6) << _SUBSCRIBER_BITS
    return str(ipaddress.IPv6Network((network, 128 - _SUBSCRIBER_BITS)))
