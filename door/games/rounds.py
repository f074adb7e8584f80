"""Rounds from the journal, of any game."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from door.errors import NoSuchHand
from door.games.engine import journaled
from door.games.engine.game import Kind
from door.games.registry import GAMES
from timebank.errors import JournalDamaged
from timebank.wagers import journal
from timebank.wagers.journal import StoredRound

if TYPE_CHECKING:
    from timebank.ledger.database import Desk


def kind_of(stored: StoredRound) -> Kind:
    """Return the kind of a stored round; raises `JournalDamaged` for an unknown game."""
    game = GAMES.get(stored.game)
    if game is None:
        raise JournalDamaged(stored.id, f"there is no game {stored.game}")
    return game.kind


def rebuild(stored: StoredRound) -> journaled.TableRound[Any]:
    return journaled.rebuild(kind_of(stored), stored)


@contextmanager
def readable(number: int) -> Iterator[None]:
    """Raise `NoSuchHand` for a hand that turns out to be damaged."""
    try:
        yield
    except JournalDamaged as damaged:
        raise NoSuchHand(f"Hand {number}: {str(damaged).rstrip('.')}.") from damaged


def the_hand(desk: Desk, number: int) -> StoredRound:
    """Return a hand of the books; raises `NoSuchHand`."""
    with readable(number):
        stored = journal.stored_round(desk, number)
    if stored is None:
        raise NoSuchHand(f"There is no hand {number} in the books.")
    return stored
