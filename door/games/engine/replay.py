"""A round again: a function of (rules, shoe, actions), so whoever has the three can have it.

Nothing here reads a file, a clock or a database; resuming, auditing and `door replay` all come
this way. Every mistake in what is given is a `ReplayError`, a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from door.games.engine.cards import Card
from door.games.engine.errors import ReplayError, RoundRefused
from door.games.engine.game import Act, Kind, Totals
from door.games.engine.quoting import shown_key

# What journals call a deal that did not come with its bet: release 1.0 could have it wait for a
# round of drand.
DEAL = "deal"


@dataclass(frozen=True, slots=True)
class Replayed:
    """A round as far as its actions take it, and everything that happened in it."""

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
        """The outcomes of its hands, parted by spaces; empty while none is settled."""
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
    """Play a round again: `cards` from the first that was dealt, `stakes` in their smallest unit,
    of which `scale` make one of the rules.

    Who knows the seed of the shoe gives in `chance` what it decides in a round at one moment; the
    actions must say the same. The round may still be open after the last action. Raises ReplayError
    when the rules do not know a key, a stake or an action, or when cards or turns run out.
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
    """The actions of a journaled round as `replay_round` takes them: in order, without the bet
    and the deal that came after it.

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
