"""Replays a round from its rules, shoe and actions.

Nothing here reads a file, a clock or a database. Resuming, the audit and `door replay` use it.
Every mistake in the input is a `ReplayError` with a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from door.games.engine.cards import Card
from door.games.engine.errors import ReplayError, RoundRefused
from door.games.engine.game import Act, Kind, Totals
from door.games.engine.quoting import shown_key

# A deal apart from its bet in journals: in release 1.0 a deal could wait for a round of drand.
DEAL = "deal"


@dataclass(frozen=True, slots=True)
class Replayed:
    """A round after its actions, and all its events."""

    kind: Kind
    seats: int
    round: Any
    events: tuple[object, ...]

    @property
    def totals(self) -> Totals:
        seats = [self.kind.totals(self.round, seat) for seat in range(self.seats)]
        return Totals(
            staked=sum(seat.staked for seat in seats),
            lost=sum(seat.lost for seat in seats),
            returned=sum(seat.returned for seat in seats),
            won=sum(seat.won for seat in seats),
        )

    @property
    def outcome(self) -> str:
        """The outcomes of the hands, separated by spaces; "" before the first."""
        each = (self.kind.outcome(self.round, seat) for seat in range(self.seats))
        return " ".join(outcome for outcome in each if outcome)


def replay_round(
    kind: Kind,
    rules: Mapping[str, object],
    cards: Sequence[Card],
    stakes: Sequence[int],
    actions: Iterable[Act],
    chance: Callable[[Any], Act | None] | None = None,
    *,
    scale: int = 1,
) -> Replayed:
    """Replay a round and return it, open or finished.

    `cards` begin with the first one dealt. `scale` parts of the stakes' unit make one unit of the
    rules. `chance` returns the action that the shoe's seed decides, which `actions` must repeat.
    Raises ReplayError for a wrong key, stake or action, and for missing cards.
    """
    at, acts = "", tuple(actions)
    try:
        game, happened = kind.deal(rules, cards, stakes, scale)
        events = list(happened)
        for number, act in enumerate(acts, start=1):
            if game.over:
                rest = ", ".join(shown_key(str(left)) for left in acts[number - 1 : number + 3])
                raise ReplayError(f"the hand was over before action {number}; left over: {rest}.")
            at = f"action {number}"
            due = None if chance is None else chance(game)
            if due not in (None, act):
                raise RoundRefused(
                    f"must be {due} by the seed of the shoe, is {shown_key(str(act))}"
                )
            game, happened = kind.act(game, act)
            events += happened
    except RoundRefused as refusal:
        raise ReplayError(_sentence(at, str(refusal).rstrip("."))) from None
    return Replayed(kind, len(stakes), game, tuple(events))


def journaled_actions(journal: Iterable[tuple[int, Mapping[str, object]]]) -> tuple[Act, ...]:
    """Return the actions of a journal for `replay_round`: in order, without bet and deal.

    >>> [str(act) for act in journaled_actions([(1, {"action": "hit"}), (0, {"action": "bet"})])]
    ['hit']
    """
    ordered = sorted(journal, key=lambda entry: entry[0])
    acts = (Act.of_entry(entry) for _, entry in ordered)
    return tuple(act for act in acts if act.word not in ("bet", DEAL))


def _sentence(at: str, refusal: str) -> str:
    if not at:
        return f"{refusal}."
    return f"{at} {refusal}." if refusal.startswith("must be") else f"{at}: {refusal}."
