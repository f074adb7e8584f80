"""What the bank says no with: each a sentence that the caller may read as it stands."""

from __future__ import annotations

from datetime import datetime


class Refused(Exception):
    """The operation is refused and nothing of it was done; `str()` is a sentence for the caller."""


class NotEnough(Refused):
    """The account does not hold what was asked of it."""


class NoRoom(Refused):
    """The time would reach past the next system event."""


class WindowClosed(Refused):
    """The bank's window is closed to the caller: by its mode, its hours, or the sysop."""


class LimitReached(Refused):
    """A limit that the sysop has set allows less than was asked."""


class CallClosed(Refused):
    """The call is not, or no longer, the caller's open one."""


class AlreadyOnline(Refused):
    """The caller has another call whose lease is live; he may take it over."""

    def __init__(self, node: int, since: datetime, call_id: int) -> None:
        """Remember where (node), since when (UTC) and under which number he is on line."""
        super().__init__(f"You are already on line on node {node}.")
        self.node = node
        self.since = since
        self.call_id = call_id


class CallerOnline(Refused):
    """What was asked cannot be done to a caller while he is on a call."""


class CallerLocked(Refused):
    """The sysop has locked the caller out."""


class UnknownCaller(Refused):
    """There is no such caller."""


class NameTaken(Refused):
    """Another caller has this name, or one that looks like it."""


class TurnsUsed(Refused):
    """The caller has played all his turns of the day."""


class RoundInPlay(Refused):
    """The caller has another hand in play, which must be finished first."""


class RoundOver(Refused):
    """The hand is settled, or is not this caller's."""


class OutOfStep(Refused):
    """The hand has gone on meanwhile: the action is not the next one."""


class ShoeGone(Refused):
    """The shoe is done, or is not this caller's for this game."""


class SeatRefused(Refused):
    """One of those at a table cannot bet, so nothing was done for any of them."""

    def __init__(self, seat: int, refusal: Refused) -> None:
        """Remember which seat it is, and what he is told."""
        super().__init__(str(refusal))
        self.seat = seat
        self.refusal = refusal
