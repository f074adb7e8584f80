"""What a table is worth to a careful caller, in a sentence; and which settings would turn it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from door.games.engine.descriptor import Game
from door.games.engine.errors import RulesRefused
from door.games.solver.cache import odds_of
from door.games.solver.odds_text import percent

# What a sysop may set less generously, the least change of the game first.
_MEANER: tuple[tuple[str, object], ...] = (
    ("ties", "dealer"),
    ("charlie_pays", 2),
    ("natural_pays", 2.5),
    ("twenty_one_pays", 2),
    ("natural_pays", 2),
    ("win_pays", 1.5),
)


def edge(game: Game, rules: Any) -> str:
    """Return who gains at a table, for its sysop; a caller's gain comes with what would end it: one
    key, or the fewest of them one after the other."""
    gain = _careful(game, rules)
    if gain <= 0:
        return f"{game.title}: the house keeps {percent(gain)[1:]} of what a careful caller stakes."
    told = f"{game.title}: a careful caller gains {percent(gain)[1:]} of every stake"
    if game.has_tutor:
        told += ", and the tutor makes any caller careful"
    for words, changed in _less_generous(game, rules):
        then = _careful(game, changed)
        if then < 0:
            told += f"; {words} would make it {percent(then)}"
            break
    return f"{told}. See docs/odds.md."


def _careful(game: Game, rules: Any) -> float:
    return odds_of(game, rules).strategies["perfect"].mean


def _less_generous(game: Game, rules: Any) -> Iterator[tuple[str, Any]]:
    """Single keys first, then more and more of them."""
    together, said = rules, ""
    more: list[tuple[str, Any]] = []
    for key, value in _MEANER:
        try:
            changed = game.kind.vary({key: value}, rules)
        except RulesRefused:  # no key of this game, or none that has this value there
            continue
        if not _is_meaner(value, getattr(rules, key)):
            continue
        words = f'`{key} = "{value}"`' if isinstance(value, str) else f"`{key} = {value}`"
        yield words, changed
        together, said = game.kind.vary({key: value}, together), f"{said}, {words}".lstrip(", ")
        more.append((said, together))
    yield from more[1:]


def _is_meaner(value: Any, now: Any) -> bool:
    return bool(value != now if isinstance(value, str) else value < now)
