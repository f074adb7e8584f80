"""Rounds out of the journal, whichever game they are of."""

from __future__ import annotations

from typing import Any

from door.games.engine import journaled
from door.games.engine.game import Kind
from door.games.registry import GAMES
from timebank.errors import JournalDamaged
from timebank.wagers.journal import StoredRound


def kind_of(stored: StoredRound) -> Kind:
    """Return the game of a stored round; raises `JournalDamaged` when the house has no such."""
    game = GAMES.get(stored.game)
    if game is None:
        raise JournalDamaged(stored.id, f"there is no game {stored.game}")
    return game.kind


def found(stored: StoredRound) -> journaled.TableRound[Any]:
    return journaled.found(kind_of(stored), stored)
