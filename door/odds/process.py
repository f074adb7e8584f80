"""A process that does one sum: a question, pickled, on standard input; its answer as a line of
JSON on standard output.

Questions are ("card", game, rules), which is answered by a strategy card, and ("lucks", hands),
answered by the luck of each table.
"""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any

from door.games.registry import GAMES
from door.odds.keeping import card_of
from door.odds.played import for_the_bank
from timebank.reports.house import FinishedHand, lucks_of


def main() -> None:
    what, *question = pickle.load(sys.stdin.buffer)
    print(json.dumps(_ANSWERS[what](*question)), flush=True)


def _card(name: str, rules: Any) -> object:
    return asdict(card_of(GAMES[name], rules))


def _lucks(hands: Iterable[tuple[Any, ...]]) -> object:
    return lucks_of((FinishedHand(*hand) for hand in hands), for_the_bank)


_ANSWERS: Mapping[str, Callable[..., object]] = {"card": _card, "lucks": _lucks}
