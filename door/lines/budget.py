"""Budgets against floods: how many commands, requests or frames a caller may send."""

from collections.abc import Callable
from dataclasses import dataclass

from door.errors import Flood


@dataclass(frozen=True)
class Rate:
    """`burst` at once, and `a_second` more every second."""

    burst: int
    a_second: float


class Budget:
    """What one caller may still send, on a clock in seconds. `what` names it in the log."""

    def __init__(self, rate: Rate, clock: Callable[[], float], what: str) -> None:
        self._what = what
        self._rate = rate
        self._clock = clock
        self._left = float(rate.burst)
        self._at = clock()

    def pay(self, cost: int) -> None:
        """Spend `cost`; raise `Flood` once nothing is left."""
        now = self._clock()
        earned = (now - self._at) * self._rate.a_second
        self._at = now
        self._left = min(self._left + earned, float(self._rate.burst)) - cost
        if self._left < 0:
            raise Flood(f"more than {self._rate.burst} {self._what} in a burst")
