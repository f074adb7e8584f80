"""Budgets against floods: how many commands, requests or frames a caller may send."""

from collections.abc import Callable
from dataclasses import dataclass

from door.errors import Flood


@dataclass(frozen=True)
class Allowance:
    """`burst` at once, and `a_second` more every second."""

    burst: int
    a_second: float


class Budget:
    """What is left of one caller's allowance, on a clock in seconds. `what` names it in the log."""

    def __init__(self, allowance: Allowance, clock: Callable[[], float], what: str) -> None:
        self._what = what
        self._allowance = allowance
        self._clock = clock
        self._left = float(allowance.burst)
        self._at = clock()

    def pay(self, cost: int) -> None:
        """Spend `cost`; raise `Flood` once the allowance is used up."""
        now = self._clock()
        earned = (now - self._at) * self._allowance.a_second
        self._at = now
        self._left = min(self._left + earned, float(self._allowance.burst)) - cost
        if self._left < 0:
            raise Flood(f"more than {self._allowance.burst} {self._what} in a burst")
