"""Between a round and the books: what it settles, and how a journal becomes the round again."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from door.games.engine import replay
from door.games.engine.game import Act, Dealt, Kind, Totals
from door.games.engine.rules import MOST_DECKS
from timebank.errors import JournalDamaged
from timebank.wagers.journal import Shoe, StoredRound
from timebank.wagers.single import Settlement

NOTHING = Totals(0, 0, 0, 0)


def settlement_of(kind: Kind, before: Any, after: Any, seat: int) -> Settlement | None:
    """Return what a step settles of a seat (from 0), in the unit of its stake; `None` for nothing.

    `before` is None when the step is the deal, or when nothing of the round was settled yet. It is
    final when the round is over, and then carries outcome and cards for the journal.
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


def is_done(kind: Kind, shoe: Shoe, rules: Mapping[str, object], round_: Dealt, seats: int) -> bool:
    """Tell whether nothing is dealt from a shoe after `round_`, which was dealt from its position:
    the cards are shuffled before the next one."""
    dealt = shoe.position + round_.cards_used
    return round_.over and kind.is_used_up(rules, shoe.decks, dealt, seats)


def seat_of(stored: StoredRound) -> int:
    """Return where in its round this seat is, from 0."""
    return [seat.seat for seat in stored.seats].index(stored.seat)


def rebuild(kind: Kind, stored: StoredRound) -> Any:
    """Return a round of `kind` as its journal left it; the same three, the same round.

    Raises `JournalDamaged` when its rules, shoe and actions give no round.
    """
    shoe = stored.shoe
    if shoe is None:
        raise JournalDamaged(stored.id, "it was dealt from no shoe")
    if shoe.decks not in range(1, MOST_DECKS + 1):
        raise JournalDamaged(stored.id, f"its shoe is of {shoe.decks} decks")
    try:
        cut = shoe.cut or ""
        cards = kind.cards(shoe.seed, cut, shoe.decks, shoe.position)
        stakes = [seat.bet for seat in stored.seats]
        chance = partial(kind.by_chance, seed=shoe.seed, cut=cut, position=shoe.position)
        acts = acts_of(stored)
        return replay.replay_round(kind, stored.rules, cards, stakes, acts, chance).round
    except (ValueError, TypeError) as error:  # ReplayError among them
        raise JournalDamaged(stored.id, error) from error


def acts_of(stored: StoredRound) -> tuple[Act, ...]:
    """Return the actions of a round, their seats counted among those that were dealt in."""
    places = {seat.seat: place for place, seat in enumerate(stored.seats, start=1)}
    return tuple(
        act if act.seat is None else act._replace(seat=places.get(act.seat, act.seat))
        for act in replay.journaled_actions(stored.actions)
    )
