"""The Vegas table as it stands: who sits where, what lies on it, what its clock runs for.

No books, no queue, no waiting here. The table's own task changes this state; visits and scenes
look at it between two changes, which never leave it half done.
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
    """A caller's visit, as the table knows it, however they called. Its methods return at once."""

    @property
    def caller(self) -> Caller:
        """Who visits."""

    def hears(self, happened: Sequence[News]) -> None:
        """Learn what happened, nothing for a change to look at; the table is as it was after it."""

    def awaits_receipt(self) -> None:
        """Keep the figures of the purse back, which changes next, until the cards are shown."""

    def receives(self, receipt: Receipt) -> None:
        """Learn what an entry moved for the caller; their purse has been adopted."""


@dataclass
class Chair:
    chair: int
    caller_id: int
    name: str
    guest: SeatedGuest | None
    bet: int = 0  # seconds for the next round, which its caller is ready for
    silent: bool = False  # let a bell or a countdown pass, and was not heard of since
    stood: bool = False  # what is left to decide in this round is decided for them
    kept_until: float = 0.0  # monotonic: how long a seat without a guest is waited for


@dataclass(frozen=True)
class Committed:
    """A phrase that cuts the shoe at the deal, and what was told of it before."""

    caller_id: int
    name: str
    phrase: str
    commitment: str


@dataclass(frozen=True)
class Alarm:
    """What the clock of the table runs for."""

    what: str  # "bell", "turn", "return" or "retry"
    at: float  # monotonic
    name: str = ""  # who is waited for


@dataclass
class TableState:
    set_now: Callable[[], VegasSettings]  # what the sysop has set by now
    seats: dict[int, Chair] = field(default_factory=dict)
    standing: list[SeatedGuest] = field(default_factory=list)  # who waits for a seat, in order
    hand: VegasRound | None = None  # the last one stays until the next
    shoe: Shoe | None = None
    cut: str = ""
    cut_by: dict[str, int] = field(default_factory=dict)  # the writers of words, where known
    # In the order they were told in: who leaves before the deal stays in.
    commitments: list[Committed] = field(default_factory=list)
    seed: str = ""  # of the shoe that was done last, in hexadecimal, until the next deal
    alarm: Alarm | None = None
    _terms: VegasSettings | None = None  # of the last bet, or of a hand from the journal

    @property
    def house(self) -> VegasSettings:
        """The settings of this table: those of the bets that lie on it, or of the round in play.
        New settings begin with the next bet on an empty table."""
        has_begun = not self.is_between_rounds or any(seat.bet for seat in self.seats.values())
        return self._terms if has_begun and self._terms is not None else self.set_now()

    @property
    def in_play(self) -> VegasRound | None:
        """The round on the table that is not over."""
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
    def first(self) -> Chair | None:
        """The first seat with somebody in it, who may cut a shoe that is fresh."""
        return next((seat for seat in self.seated() if seat.guest is not None), None)

    @property
    def may_be_cut(self) -> bool:
        """Whether nothing was dealt from the shoe yet."""
        return self.is_between_rounds and self.shoe is not None and self.shoe.fresh

    @property
    def is_cut_by_all(self) -> bool:
        """Whether every seat cuts the shoe: its seed was sealed ahead."""
        return self.shoe is not None and self.shoe.anchor is not None

    def commit(self, committed: Committed) -> None:
        """Take the phrase of a caller behind all others, in the place of one they had."""
        rest = [each for each in self.commitments if each.caller_id != committed.caller_id]
        self.commitments = [*rest, committed]

    @property
    def has_company(self) -> bool:
        """Whether somebody is here who would have to wait for another."""
        return len(self.guests()) > 1

    def seated(self) -> list[Chair]:
        return [self.seats[chair] for chair in sorted(self.seats)]

    def bettors(self) -> list[Chair]:
        return [seat for seat in self.seated() if seat.bet and seat.guest is not None]

    def guests(self) -> list[SeatedGuest]:
        return [*(seat.guest for seat in self.seated() if seat.guest is not None), *self.standing]

    def seat_of(self, caller_id: int) -> Chair | None:
        return next((seat for seat in self.seats.values() if seat.caller_id == caller_id), None)

    def place_of(self, caller_id: int) -> int | None:
        return None if self.in_play is None else self.in_play.place_of(caller_id)

    # Told.

    def tell(self, *happened: News) -> None:
        """Tell everybody what happened; nothing, when there is only something to look at."""
        self.tell_to(self.guests(), *happened)

    @staticmethod
    def tell_to(guests: Iterable[SeatedGuest], *happened: News) -> None:
        """Tell some, each in their language; what goes wrong with the screen of one is no matter of
        the others."""
        for guest in guests:
            try:
                with speaking_to(guest.caller.console.viewer):
                    guest.hears(happened)
            except Exception:
                log.exception("%s could not be told", guest.caller.record.name)

    # Changed, by the table's task.

    def place_bet(self, seat: Chair, seconds: int) -> None:
        """Lay a bet on the table; the first one of a round fixes its terms."""
        self._terms = self.house
        seat.bet = seconds

    def let_go(self, guest: SeatedGuest) -> Chair | None:
        if guest in self.standing:
            self.standing.remove(guest)
        seat = self.seat_of(guest.caller.record.id)
        if seat is None or seat.guest is not guest:
            return None
        seat.guest, seat.bet = None, 0
        return seat

    def clear_chairs(self) -> None:
        """Free the chairs whose callers have gone; to be done between rounds."""
        self.seats = {seat.chair: seat for seat in self.seated() if seat.guest is not None}

    def fill_chairs(self, chairs: int) -> list[Chair]:
        """Seat those who wait, as far as there are chairs; return the seats they were given."""
        given = []
        for chair in range(1, chairs + 1):
            if self.standing and chair not in self.seats:
                guest = self.standing.pop(0)
                record = guest.caller.record
                self.seats[chair] = Chair(chair, record.id, record.name, guest)
                given.append(self.seats[chair])
        return given

    def lay(self, hand: VegasRound, kept_until: float) -> None:
        """Put a round from the journal on the table; its callers may be here or not. Whoever sits
        here and was not dealt in waits for a seat again."""
        here = {guest.caller.record.id: guest for guest in self.guests()}
        self.seats = {
            bet.seat: Chair(
                *(bet.seat, bet.caller_id, bet.name, here.pop(bet.caller_id, None)),
                kept_until=kept_until,
            )
            for bet in hand.bets
        }
        self.standing = list(here.values())
        rules, coin = VEGAS_KIND.read_rules(hand.rules), hand.coin // MINUTE
        self._terms = replace(self.set_now(), coin_minutes=coin, rules=rules)
        self.hand = hand
        self.shoe, self.cut, self.seed = hand.shoe, hand.shoe.cut or "", ""
        self.cut_by = {}

    def start_over(self) -> None:
        """Take everything off the table; who sits there stays."""
        self.hand = self.shoe = None
        self.seed = ""
        for seat in self.seats.values():
            seat.bet, seat.stood = 0, False

    def end_round(self) -> None:
        for seat in self.seats.values():
            seat.stood = False
