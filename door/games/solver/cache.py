"""The odds of the tables' rules and their strategy cards, worked out once and kept on disk.

They are kept by the game, its rules, and the program that worked them out, in the user's own cache
(`XDG_CACHE_HOME`, else `~/.cache`). What cannot be read or is not what was written is thrown away,
and where nothing can be written nothing is kept: it is only worked out again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from door.games.engine.descriptor import Game
from door.games.registry import GAMES
from door.games.solver.odds import Odds
from door.games.solver.strategy_card import StrategyCard, card_of_plain

T = TypeVar("T")

FOLDER = "blackjack-for-time"

_GAMES = Path(__file__).parent.parent


def odds_of(game: Game, rules: Any) -> Odds:
    """Return the odds of a game under some rules, kept or worked out."""
    path = _path("odds", game.name, rules)
    kept = _kept(path, Odds.of_plain)
    if kept is not None:
        return kept
    odds = game.odds(game.name, rules)
    _keep(path, odds.plain())
    return odds


def card_of(game: Game, rules: Any) -> StrategyCard:
    """Return the strategy card of a game under some rules, kept or made."""
    path = _path("card", game.name, rules)
    kept = _kept(path, card_of_plain)
    if kept is not None:
        return kept
    card = game.card(game.title, rules, odds_of(game, rules))
    _keep(path, asdict(card))
    return card


def card_at(table: str, rules: Any) -> StrategyCard:
    """Return the strategy card of a table by its name, which another process can be sent."""
    return card_of(GAMES[table], rules)


def _path(kind: str, name: str, rules: Any) -> Path:
    given = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(given) if os.path.isabs(given) else Path.home() / ".cache"
    what = f"{name}\n{rules!r}\n{_program()}"
    return folder / FOLDER / f"{kind}-{hashlib.sha256(what.encode()).hexdigest()}.json"


@cache
def _program() -> str:
    """Return the digest of all that odds are made by: another program has others."""
    digest = hashlib.sha256()
    for file in sorted(_GAMES.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _kept(path: Path, read: Callable[[Mapping[str, Any]], T]) -> T | None:
    try:
        seal, _, text = path.read_text("utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    if seal == _seal(text):
        with contextlib.suppress(AttributeError, LookupError, TypeError, ValueError):
            return read(json.loads(text))
    with contextlib.suppress(OSError):
        path.unlink()
    return None


def _keep(path: Path, plain: Mapping[str, object]) -> None:
    text = json.dumps(plain)
    own = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(f"{_seal(text)}\n{text}", "utf-8")
        own.replace(path)


def _seal(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
