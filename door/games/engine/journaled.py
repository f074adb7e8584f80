"""Rounds and the books: what a round settles, and how a journal is rebuilt into a round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from door.games.engine import replay
from door.games.engine.game import Act, Dealt, Kind, Totals
from door.games.engine.rules import MOST_DECKS
from door.games.engine.shuffle import Cut, Phrases, randomness
from timebank.errors import JournalDamaged
from timebank.wagers.journal import Shoe, StoredRound
from timebank.wagers.rounds import Move, Settlement
from timebank.words import Unit

NOTHING = Totals(0, 0, 0, 0)

R = TypeVar("R", bound=Dealt)


class Bet(NamedTuple):
    """A caller's bet on a seat, in the smallest unit of the stakes."""

    seat: int
    caller_id: int
    name: str
    amount: int


class TableRound(NamedTuple, Generic[R]):
    """A round on a table, as in the books.

    Seats count from 1 and may have gaps. Places are the seats of the engine, from 0.
    """

    kind: Kind
    # The number of the round that keeps the journal.
    lead: int
    # With the position of the round's first card.
    shoe: Shoe
    # In the form of the journal.
    rules: Mapping[str, object]
    unit: Unit
    coin: int
    # In the order of the seats.
    bets: tuple[Bet, ...]
    round: R
    # The number of the last action, 0 for the bets.
    sequence: int

    @property
    def over(self) -> bool:
        return self.round.over

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(bet.name for bet in self.bets)

    @property
    def cards_gone(self) -> int:
        return self.shoe.position + self.round.cards_used

    @property
    def is_shoe_done(self) -> bool:
        """Whether this is the shoe's last round, so that its seed may be shown."""
        done = (self.rules, self.shoe.decks, self.cards_gone, len(self.bets))
        return self.over and self.kind.is_used_up(*done)

    def place_of(self, caller_id: int) -> int | None:
        places = (place for place, bet in enumerate(self.bets) if bet.caller_id == caller_id)
        return next(places, None)

    def tossed(self) -> Act | None:
        """Return the action that the shoe's seed decides now; None where a caller decides."""
        shoe = self.shoe
        return self.kind.by_chance(self.round, shoe.seed, mixed_into(shoe), shoe.position)

    def after(
        self, act: Act, stake: int = 0, stake_kind: str = ""
    ) -> tuple[TableRound[R], Sequence[Any], Move]:
        """Return the round after an action, its events, and the move for the journal.

        The seat of `act` is a place, from 1. Raises `RoundRefused`.
        """
        round_, events = self.kind.act(self.round, act)
        seat = self.bets[(act.seat or 1) - 1].seat
        move = Move(
            round_id=self.lead,
            sequence=self.sequence + 1,
            action=(act if act.seat is None else act._replace(seat=seat)).entry(),
            cards_used=round_.cards_used,
            stake=stake,
            kind=stake_kind,
            coin=self.coin,
            seat=seat,
        )
        return self._replace(round=round_, sequence=move.sequence), events, move

    def settlements(self, before: R | None) -> dict[int, Settlement]:
        """Return the settlements by seat since the round `before`, None for since the deal.

        A game of one seat settles at each step, a game of several seats after the round.
        """
        if self.kind.most_seats > 1:
            before = None
            if not self.over:
                return {}
        due = {
            bet.seat: settlement_of(self.kind, before, self.round, place)
            for place, bet in enumerate(self.bets)
        }
        return {seat: settlement for seat, settlement in due.items() if settlement is not None}


def settlement_of(kind: Kind, before: Any, after: Any, seat: int) -> Settlement | None:
    """Return the settlement of a seat (from 0) for a step, `None` for none.

    `before` is None for the deal, or when nothing of the round was settled before. A settlement
    is final when the round is over, and then has outcome and cards for the journal.
    """
    was = NOTHING if before is None else kind.totals(before, seat)
    now = kind.totals(after, seat)
    lost, returned, won = now.lost - was.lost, now.returned - was.returned, now.won - was.won
    if not after.over and not (lost or returned or won):
        return None
    return Settlement(
        lost=lost,
        returned=returned,
        won=won,
        final=after.over,
        outcome=kind.outcome(after, seat) if after.over else "",
        result=kind.result(after, seat) if after.over else {},
    )


def mixed_into(shoe: Shoe) -> Cut:
    """Return the cut of a shoe for its version of the shuffle."""
    cut = shoe.cut or ""
    if shoe.anchor is None:
        return cut
    return Phrases(cut, shoe.link, randomness(shoe.signature) if shoe.signature else "")


def seat_of(stored: StoredRound) -> int:
    """Return the place of this seat in its round, from 0."""
    return [seat.seat for seat in stored.seats].index(stored.seat)


def rebuild(kind: Kind, stored: StoredRound) -> TableRound[Any]:
    """Return the round of `kind` that a journal makes. Raises `JournalDamaged`."""
    shoe = _shoe_of(stored)
    try:
        cut = mixed_into(shoe)
        cards = kind.cards(shoe.seed, cut, shoe.decks, shoe.position)
        stakes = [seat.bet for seat in stored.seats]
        chance = partial(kind.by_chance, seed=shoe.seed, cut=cut, position=shoe.position)
        acts = acts_of(stored)
        again = replay.replay_round(kind, stored.rules, cards, stakes, acts, chance)
    except (ValueError, TypeError) as error:  # ReplayError among them
        raise JournalDamaged(stored.id, error) from error
    return TableRound(
        kind=kind,
        lead=stored.lead,
        shoe=shoe,
        rules=stored.rules,
        unit=stored.unit,
        coin=stored.coin,
        bets=tuple(Bet(each.seat, each.caller_id, each.caller, each.bet) for each in stored.seats),
        round=again,
        sequence=stored.sequence,
    )


def play_out(hand: TableRound[Any]) -> tuple[list[Move], TableRound[Any]]:
    """Return the moves for absent callers up to the end, and the finished round."""
    moves: list[Move] = []
    while not hand.over:
        hand, _, move = hand.after(hand.tossed() or hand.kind.absent(hand.round))
        moves.append(move)
    return moves, hand


def _shoe_of(stored: StoredRound) -> Shoe:
    shoe = stored.shoe
    if shoe is None:
        raise JournalDamaged(stored.id, "it was dealt from no shoe")
    if shoe.decks not in range(1, MOST_DECKS + 1):
        raise JournalDamaged(stored.id, f"its shoe is of {shoe.decks} decks")
    if not stored.actions:
        raise JournalDamaged(stored.id, "it has no bet")
    return shoe


def acts_of(stored: StoredRound) -> tuple[Act, ...]:
    """Return the actions of a round, with places (from 1) for seats."""
    places = {seat.seat: place for place, seat in enumerate(stored.seats, start=1)}
    return tuple(
        act if act.seat is None else act._replace(seat=places.get(act.seat, act.seat))
        for act in replay.journaled_actions(stored.actions)
    )
