"""The state of a Vegas table: its seats, its cards and the alarm of its clock.

This module has no books, no queue and no waiting. The table's task changes the state. Visits and
scenes read it between two changes, each of which is complete.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from door.games.vegas.game import VEGAS_KIND
from door.tables.vegas.table_round import VegasRound, chair_at_turn
from timebank.language import speaking_to
from timebank.words import MINUTE

if TYPE_CHECKING:
    from door.call.caller import Caller
    from door.games.vegas.game import VegasSettings
    from door.tables.vegas.news import News
    from timebank.ledger.purse import Receipt
    from timebank.wagers.journal import Shoe

log = logging.getLogger("door.tables")


class SeatedGuest(Protocol):
    """A caller's visit, as the table knows it. Its methods return at once."""

    @property
    def caller(self) -> Caller:
        """The caller of the visit."""

    def on_news(self, happened: Sequence[News]) -> None:
        """Called after the table has changed; `happened` is empty for a change without news."""

    def expect_receipt(self) -> None:
        """Called before the purse changes; freeze its figures until the cards are shown."""

    def on_receipt(self, receipt: Receipt) -> None:
        """Called with the caller's receipt of an entry, after their purse has changed."""


@dataclass
class Chair:
    chair: int
    caller_id: int
    name: str
    guest: SeatedGuest | None
    bet: int = 0  # seconds for the next round, 0 before the caller has bet
    silent: bool = False  # no key since the caller missed a bell or a countdown
    stood: bool = False  # the dealer stands the hand in this round
    held_until: float = 0.0  # monotonic: when the table stops waiting for an absent caller


@dataclass(frozen=True)
class Committed:
    """A phrase that cuts the shoe at the deal, and its published commitment."""

    caller_id: int
    name: str
    phrase: str
    commitment: str
    is_own: bool = False  # the caller's own words, not drawn by the house


@dataclass(frozen=True)
class Alarm:
    """The event that the clock of the table waits for."""

    what: str  # "bell", "turn", "return" or "retry"
    at: float  # monotonic
    name: str = ""  # the caller whom the table waits for


@dataclass
class TableState:
    set_now: Callable[[], VegasSettings]  # returns the current settings
    seats: dict[int, Chair] = field(default_factory=dict)
    waiting: list[SeatedGuest] = field(default_factory=list)  # guests without a seat, in order
    hand: VegasRound | None = None  # a finished round stays until the next deal
    shoe: Shoe | None = None
    cut: str = ""
    cut_by: dict[str, int] = field(default_factory=dict)  # the writer of each cut, where known
    # In order of publication. A caller who leaves before the deal stays in.
    commitments: list[Committed] = field(default_factory=list)
    seed: str = ""  # of the last finished shoe, in hexadecimal, until the next deal
    alarm: Alarm | None = None
    _terms: VegasSettings | None = None  # of the last bet, or of a hand from the journal

    @property
    def house(self) -> VegasSettings:
        """The settings of the bets on the table or of the round in play.

        New settings apply from the next bet on an empty table.
        """
        has_begun = not self.is_between_rounds or any(seat.bet for seat in self.seats.values())
        return self._terms if has_begun and self._terms is not None else self.set_now()

    @property
    def in_play(self) -> VegasRound | None:
        """The round on the table, unless it is over."""
        return self.hand if self.hand is not None and not self.hand.over else None

    @property
    def is_between_rounds(self) -> bool:
        """Whether bets may be placed."""
        return self.in_play is None

    @property
    def at_turn(self) -> Chair | None:
        chair = chair_at_turn(self.in_play) if self.in_play is not None else None
        return None if chair is None else self.seats[chair]

    @property
    def may_be_cut(self) -> bool:
        """Whether the shoe is fresh and no round is in play."""
        return self.is_between_rounds and self.shoe is not None and self.shoe.fresh

    def commit(self, committed: Committed) -> None:
        """Append a commitment, which replaces an earlier one of the same caller."""
        rest = [each for each in self.commitments if each.caller_id != committed.caller_id]
        self.commitments = [*rest, committed]

    @property
    def has_several_guests(self) -> bool:
        """Whether a slow guest would keep another one waiting."""
        return len(self.guests()) > 1

    def seated(self) -> list[Chair]:
        return [self.seats[chair] for chair in sorted(self.seats)]

    def bettors(self) -> list[Chair]:
        return [seat for seat in self.seated() if seat.bet and seat.guest is not None]

    def guests(self) -> list[SeatedGuest]:
        return [*(seat.guest for seat in self.seated() if seat.guest is not None), *self.waiting]

    def seat_of(self, caller_id: int) -> Chair | None:
        return next((seat for seat in self.seats.values() if seat.caller_id == caller_id), None)

    def place_of(self, caller_id: int) -> int | None:
        return None if self.in_play is None else self.in_play.place_of(caller_id)

    # News.

    def tell(self, *happened: News) -> None:
        """Tell all guests what happened; without news they only repaint."""
        self.tell_to(self.guests(), *happened)

    @staticmethod
    def tell_to(guests: Iterable[SeatedGuest], *happened: News) -> None:
        """Tell some guests, each in their language. An error at one guest is logged."""
        for guest in guests:
            try:
                with speaking_to(guest.caller.console.viewer):
                    guest.on_news(happened)
            except Exception:
                log.exception("%s could not be told", guest.caller.record.name)

    # Changes, made by the table's task.

    def place_bet(self, seat: Chair, seconds: int) -> None:
        """Place a bet; the first bet of a round fixes the terms."""
        self._terms = self.house
        seat.bet = seconds

    def release(self, guest: SeatedGuest) -> Chair | None:
        if guest in self.waiting:
            self.waiting.remove(guest)
        seat = self.seat_of(guest.caller.record.id)
        if seat is None or seat.guest is not guest:
            return None
        seat.guest, seat.bet = None, 0
        return seat

    def clear_chairs(self) -> None:
        """Free the chairs of callers who have left. Call it between rounds."""
        self.seats = {seat.chair: seat for seat in self.seated() if seat.guest is not None}

    def fill_chairs(self, chairs: int) -> list[Chair]:
        """Seat waiting guests in free chairs, and return their seats."""
        seated = []
        for chair in range(1, chairs + 1):
            if self.waiting and chair not in self.seats:
                guest = self.waiting.pop(0)
                record = guest.caller.record
                self.seats[chair] = Chair(chair, record.id, record.name, guest)
                seated.append(self.seats[chair])
        return seated

    def lay(self, hand: VegasRound, held_until: float) -> None:
        """Put a round from the journal on the table.

        Its callers may be absent. Guests who were not dealt in wait for a seat again.
        """
        here = {guest.caller.record.id: guest for guest in self.guests()}
        self.seats = {
            bet.seat: Chair(
                *(bet.seat, bet.caller_id, bet.name, here.pop(bet.caller_id, None)),
                held_until=held_until,
            )
            for bet in hand.bets
        }
        self.waiting = list(here.values())
        rules, coin = VEGAS_KIND.read_rules(hand.rules), hand.coin // MINUTE
        self._terms = replace(self.set_now(), coin_minutes=coin, rules=rules)
        self.hand = hand
        self.shoe, self.cut, self.seed = hand.shoe, hand.shoe.cut or "", ""
        self.cut_by = {}

    def start_over(self) -> None:
        """Clear the table; the guests stay."""
        self.hand = self.shoe = None
        self.seed = ""
        for seat in self.seats.values():
            seat.bet, seat.stood = 0, False

    def end_round(self) -> None:
        for seat in self.seats.values():
            if seat.guest is not None:
                seat.stood = False
