"""Replays a round from its rules, shoe and actions.

Nothing here reads a file, a clock or a database. Resuming, the audit and `door replay` use it.
Every mistake in the input is a `ReplayError` with a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from door.games.engine.cards import Card
from door.games.engine.errors import ReplayError, RoundRefused
from door.games.engine.game import Act, Kind
from timebank.settings.quoting import printable

# A deal apart from its bet in journals: in release 1.0 a deal could wait for a round of drand.
DEAL = "deal"


def replay_round(
    kind: Kind,
    rules: Mapping[str, object],
    cards: Sequence[Card],
    stakes: Sequence[int],
    actions: Iterable[Act],
    chance: Callable[[Any], Act | None] | None = None,
    *,
    scale: int = 1,
) -> Any:
    """Replay a round and return it, open or finished.

    `cards` begin with the first one dealt. `scale` parts of the stakes' unit make one unit of the
    rules. `chance` returns the action that the shoe's seed decides, which `actions` must repeat.
    Raises ReplayError for a wrong key, stake or action, and for missing cards.
    """
    at, acts = "", tuple(actions)
    try:
        game, _ = kind.deal(rules, cards, stakes, scale)
        for number, act in enumerate(acts, start=1):
            if game.over:
                rest = ", ".join(printable(str(left)) for left in acts[number - 1 : number + 3])
                raise ReplayError(f"the hand was over before action {number}; left over: {rest}.")
            at = f"action {number}"
            due = None if chance is None else chance(game)
            if due not in (None, act):
                raise RoundRefused(
                    f"must be {due} by the seed of the shoe, is {printable(str(act))}"
                )
            game, _ = kind.act(game, act)
    except RoundRefused as refusal:
        raise ReplayError(_sentence(at, str(refusal).rstrip("."))) from None
    return game


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
