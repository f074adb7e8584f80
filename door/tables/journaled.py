"""Between a round and the books: what its events settle, and how a journal becomes it again."""

from __future__ import annotations

from collections.abc import Iterable

from door import replay
from door.games import shuffle
from door.games.blackjack import Round
from door.games.blackjack_events import Event, InsuranceSettled, Settled
from door.games.blackjack_rules import MOST_DECKS
from timebank.journal import JournalDamaged, Shoe, StoredRound
from timebank.wagers import Settlement


def settlement_of(round_: Round, events: Iterable[Event]) -> Settlement | None:
    """Return what `events` settle, in seconds; `None` when they settle nothing.

    It is final when the round is over, and then carries outcome and cards for the journal.
    """
    settled = [event for event in events if isinstance(event, Settled | InsuranceSettled)]
    if not settled:
        return None
    return Settlement(
        lost=sum(event.lost for event in settled),
        returned=sum(event.returned for event in settled),
        won=sum(event.won for event in settled),
        final=round_.over,
        outcome=" ".join(round_.outcomes) if round_.over else "",
        result=result_of(round_) if round_.over else {},
    )


def result_of(round_: Round) -> dict[str, object]:
    """Return the outcome of a round that is over, as its journal keeps it."""
    totals = round_.totals
    return {
        "outcomes": [str(outcome) for outcome in round_.outcomes],
        "player": [list(hand.cards) for seat in round_.seats for hand in seat.hands],
        "dealer": list(round_.dealer_hand),
        "net": totals.won - totals.lost,
        "cards_used": round_.cards_used,
    }


def is_done(shoe: Shoe, round_: Round) -> bool:
    """Tell whether nothing is dealt from a shoe after `round_`, which was dealt from its position:
    the cards are shuffled before the next one."""
    return round_.over and round_.rules.shuffle_due(shoe.position + round_.cards_used, 1)


def rebuild(stored: StoredRound) -> Round:
    """Return the round as its journal left it; the same three, the same round.

    Raises `JournalDamaged` when its rules, shoe and actions give no round.
    """
    shoe = stored.shoe
    if shoe is None:
        raise JournalDamaged(stored.id, "it was dealt from no shoe")
    if shoe.decks not in range(1, MOST_DECKS + 1):
        raise JournalDamaged(stored.id, f"its shoe is of {shoe.decks} decks")
    try:
        cards = shuffle.shuffle(shoe.seed, shoe.cut or "", shoe.decks)[shoe.position :]
        actions = replay.journaled_actions(stored.actions)
        return replay.replay_round(stored.game, stored.rules, cards, stored.stake, actions).round
    except (ValueError, TypeError) as error:  # ReplayError among them
        raise JournalDamaged(stored.id, error) from error
