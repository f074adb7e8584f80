"""Shoes without a chain: each comes from one seed, which a test can name.

Release 1.0 could seal shoes so, and such shoes are still replayed, audited and proved. A chain
would make a test search its root for the cards of every shoe.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from unittest import mock

from sqlalchemy import update

from door.call import phrases
from timebank.ledger.database import Desk
from timebank.ledger.schema import shoes
from timebank.wagers import chains, journal
from timebank.wagers.chains import ChainLink
from timebank.wagers.journal import Shoe

# What the house of a test draws for every caller.
PHRASE = "babe-babe-babe-babe-babe"
NO_CHAIN = "-"

_open_shoe = journal.open_shoe


_patched = ExitStack()
_planting: Counter[str] = Counter()  # how many boards there are now


@contextmanager
def planted() -> Iterator[None]:
    """Open single shoes, and draw `PHRASE` for every caller.

    Boards that are open at the same time may end in any order, so the first one patches, and the
    last one to end takes that back.
    """
    if not _planting["boards"]:
        drawn = phrases.CutPhrase(PHRASE, is_own=False)
        for module, name, other in (
            (journal, "open_shoe", _open_single_shoe),
            (chains, "take_link", _single_link),
            (phrases, "drawn", lambda *_: drawn),
        ):
            _patched.enter_context(mock.patch.object(module, name, other))
    _planting["boards"] += 1
    try:
        yield
    finally:
        _planting["boards"] -= 1
        if not _planting["boards"]:
            _patched.close()


def _single_link(desk: Desk, owner: int | None, game: str, table: int, seed: bytes) -> ChainLink:
    return ChainLink(NO_CHAIN, 0, seed)


def _open_single_shoe(
    desk: Desk,
    owner: int | None,
    game: str,
    decks: int,
    seed: bytes,
    table: int = journal.FIRST_TABLE,
) -> Shoe:
    """Return the open shoe as `journal.open_shoe` does, or make one from `seed` alone."""
    run = desk.connection.execute
    singles = update(shoes).where(shoes.c.anchor.is_(None), shoes.c.closed.is_(None))
    run(singles.values(anchor=NO_CHAIN, link=shoes.c.id))
    shoe = _open_shoe(desk, owner, game, decks, seed, table)
    run(update(shoes).where(shoes.c.anchor == NO_CHAIN).values(anchor=None, link=None))
    return shoe if shoe.anchor != NO_CHAIN else replace(shoe, anchor=None, link=0)
