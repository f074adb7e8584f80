"""Visitors of our pages, before one of them calls.

A browser opens half a dozen connections for a page, so they do not count as callers' lines. They
have limits of their own here: on connections, in all and from one subscriber, and on requests. A
caller goes through the board's own gate, and is no visitor then.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from door.errors import CallRefused
from door.lines.addresses import Network, address_in, is_in, subscriber
from door.lines.blame import Blame
from door.lines.budget import Budget, Rate
from door.lines.port.gate import Gate


@dataclass(frozen=True)
class VisitorLimits:
    """`connections` is the limit in all, and `of_one` from one subscriber. `requests` is what a
    subscriber may ask for, counted for the `remembered` who asked last."""

    connections: int
    of_one: int
    requests: Rate
    remembered: int


USUAL_VISITORS = VisitorLimits(
    connections=1024,
    of_one=32,
    requests=Rate(burst=300, a_second=5.0),
    remembered=4096,
)


def nobody(_address: str) -> bool:
    return False


class Visitors:
    """The gate before our pages; `gate` is the board's, for callers."""

    def __init__(
        self,
        gate: Gate,
        clock: Callable[[], float],
        forwarded: tuple[Network, ...] = (),
        is_blocked: Callable[[str], bool] = nobody,
        limits: VisitorLimits = USUAL_VISITORS,
        is_known: Callable[[str], bool] = nobody,
    ) -> None:
        """`forwarded` are front ends, which bring many visitors; `clock` gives seconds. A stranger
        loses a place before an address that `is_known` does."""
        self.gate = gate
        self._clock = clock
        self._forwarded = forwarded
        self._is_blocked = is_blocked
        self._limits = limits
        self._is_known = is_known
        # The address of each visit, and the function that ends it, the longest visit first.
        self._here: OrderedDict[int, tuple[str, Callable[[], None]]] = OrderedDict()
        self._number = 0
        self._of_one: Counter[str] = Counter()
        self._requests: OrderedDict[str, Budget] = OrderedDict()

    def is_front_end(self, address: str) -> bool:
        return is_in(address, self._forwarded)

    # A `Gate`.

    def enter(self, address: str, cut: Callable[[], None]) -> Callable[[], None]:
        who = subscriber(address) or address
        is_one = not self.is_front_end(address)
        if self._is_blocked(address) or (is_one and self._of_one[who] >= self._limits.of_one):
            raise CallRefused("")
        if len(self._here) >= self._limits.connections:
            _, goes = self._here.pop(self._longest())
            goes()
        self._number += 1
        number = self._number
        self._here[number] = address, cut
        if is_one:
            self._of_one[who] += 1

        def leave() -> None:
            self._here.pop(number, None)
            if is_one:
                self._of_one[who] -= 1
                if not self._of_one[who]:
                    del self._of_one[who]

        return leave

    def _longest(self) -> int:
        """Return the visit that makes room: a stranger's longest, or else the longest of all."""
        strangers = (
            number for number, (address, _) in self._here.items() if not self._is_known(address)
        )
        return next(strangers, next(iter(self._here)))

    def malformed(self, address: str, what: str) -> None:
        self.gate.malformed(address, what)

    def cut_off(self, address: str, blame: Blame) -> None:
        self.gate.cut_off(address, blame)

    # For visitors inside

    def ask(self, address: str) -> None:
        """Count a request from an address; raise `Flood` if it is one too many."""
        who = subscriber(address) or address
        budget = self._requests.get(who)
        if budget is None:
            budget = self._requests[who] = Budget(self._limits.requests, self._clock, "requests")
        self._requests.move_to_end(who)
        if len(self._requests) > self._limits.remembered:
            self._requests.popitem(last=False)
        budget.pay(1)

    def caller_behind(self, address: str, forwarded: str) -> str | None:
        """Return the address of the caller that `address` passes on: the last in X-Forwarded-For
        that is no front end. None if the header names no caller.

        >>> from door.lines.port.gate import OpenGate
        >>> from door.lines.addresses import networks
        >>> home = Visitors(OpenGate(), lambda: 0.0, networks(["127.0.0.1"]))
        >>> home.caller_behind("127.0.0.1", "10.0.0.1, 192.0.2.7, 127.0.0.1")
        '192.0.2.7'
        >>> home.caller_behind("192.0.2.7", "10.0.0.1")
        '192.0.2.7'
        """
        if not self.is_front_end(address):
            return address
        for word in reversed(forwarded.split(",")):
            parsed = address_in(word.strip())
            if parsed is None:
                return None
            if not self.is_front_end(str(parsed)):
                return str(parsed)
        return None
