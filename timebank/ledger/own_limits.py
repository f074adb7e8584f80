"""The limits that callers set for themselves, as they hold at an instant.

A stricter limit holds at once. A looser one takes effect after `LOOSENING_SECONDS`, counted to an
instant that has passed for certain, so a clock in doubt loosens nothing. `callers/own_limits.py`
sets the limits. The entry of every bet checks them (`OwnLosses.refuse`).
"""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, case, select

from timebank.errors import OwnLimit
from timebank.language import Phrase
from timebank.ledger.schema import clocks, instant, own_limits, stamp
from timebank.ledger.sql import columns_of
from timebank.settings.schedule import Schedule
from timebank.words import date_time_words, span_phrase

LOOSENING_SECONDS = 86_400
HOUR = 3_600


class OwnLimits(NamedTuple):
    """A row of `own_limits`: instants are whole seconds since 1970, amounts seconds."""

    # The daily limit of losses; None for no limit.
    most_lost: int | None = None
    # The looser limit that holds from `later_from` on; 0 for no limit. Both None without a change.
    later_lost: int | None = None
    later_from: int | None = None
    # The end of a pause without bets.
    paused_until: int | None = None
    # 1 for a summary of stakes and losses every hour, and when it ends; None for never.
    hourly: int = 0
    hourly_until: int | None = None
    # When the caller last saw the summary.
    told: int | None = None

    def in_force(self, sure: int) -> OwnLimits:
        """Return the limits that hold at `sure`, an instant that has passed for certain.

        >>> limits = OwnLimits(600, 0, 50)
        >>> limits.in_force(49).most_lost, limits.in_force(50).most_lost
        (600, None)
        """
        now = self
        if now.later_from is not None and sure >= now.later_from:
            now = now._replace(most_lost=now.later_lost or None, later_lost=None, later_from=None)
        if now.paused_until is not None and sure >= now.paused_until:
            now = now._replace(paused_until=None)
        if now.hourly_until is not None and sure >= now.hourly_until:
            now = now._replace(hourly=0, hourly_until=None)
        return now

    def is_due(self, sure: int) -> bool:
        """Return whether the hourly summary is due at `sure`."""
        now = self.in_force(sure)
        return bool(now.hourly) and sure - (now.told or 0) >= HOUR


class OwnLosses(NamedTuple):
    """The limits of a caller that hold now, and the losses that count. Amounts are seconds.

    While the clock is in doubt, the caller's new day may not have come. Then the greatest loss
    since any day counts, from the last certain day on.
    """

    limits: OwnLimits
    # An instant that has passed for certain.
    sure: int = 0
    # Lost today, negative when won; `in_play` is the part of the round in play.
    lost: int = 0
    in_play: int = 0
    is_in_doubt: bool = False

    def on_new_day(self) -> OwnLosses:
        return self if self.is_in_doubt else self._replace(lost=self.in_play)

    def stake_left(self, stake: int) -> int | None:
        """Return how many seconds may still be staked on top of `stake`; None without a limit."""
        most = self.limits.most_lost
        return None if most is None else max(0, most - self.lost - stake)

    def refuse(self, amount: int, stake: int, now: datetime, schedule: Schedule) -> None:
        """Raise `OwnLimit` if the limits refuse `amount` more seconds on top of `stake`.

        `amount` is 0 for play money.
        """
        paused, left = self.limits.paused_until, self.stake_left(stake)
        if paused is not None:
            if paused <= stamp(now):
                raise OwnLimit(Phrase("Your pause lasts until the board is sure what time it is."))
            raise OwnLimit(
                Phrase(
                    "You've paused yourself: you can bet again on {time}.",
                    time=partial(date_time_words, schedule.local(instant(paused))),
                )
            )
        if left is not None and amount > left:
            raise OwnLimit(
                Phrase(
                    "Your own limit of {limit} a day lets you bet {left} more today.",
                    limit=span_phrase(self.limits.most_lost or 0),
                    left=span_phrase(left),
                )
            )

    def purse_fields(self, stake: int) -> dict[str, Any]:
        """Return the fields of `Purse` that show these limits."""
        until = self.limits.paused_until
        return {
            "stake_left": self.stake_left(stake),
            "paused_until": None if until is None else instant(until),
            "summary_is_due": self.limits.is_due(self.sure),
        }


NAMES = " ".join(OwnLimits._fields)
COLUMNS = columns_of(own_limits, NAMES)


def in_doubt_since() -> ColumnElement[float]:
    """Select the last instant that had passed for certain; NULL unless the clock is in doubt."""
    last = select(clocks.c.certain, clocks.c.sure).order_by(clocks.c.number.desc()).limit(1)
    belief = last.subquery()
    return select(case((belief.c.certain == 0, belief.c.sure))).scalar_subquery()


def sure_instant(now: int, passed: float | None) -> int:
    """Return an instant that has passed for certain; `passed` is as from `in_doubt_since`."""
    return now if passed is None else min(now, int(passed))
