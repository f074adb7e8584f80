"""Transfers for readers: all that are sought, read in short transactions.

Transfers are only added and never change. So stretches up to a fixed last number show one moment of
the books without one long transaction. A sysop who reads the ledger for an hour does not block the
write-ahead log, and a million rows are never in memory together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import groupby

from sqlalchemy import select

from timebank.errors import NothingToList
from timebank.language import N_, Phrase
from timebank.ledger.database import Desk
from timebank.ledger.reasons import CODES
from timebank.ledger.schema import accounts, rounds, transfers
from timebank.ledger.sql import Reader, value
from timebank.ledger.transfers import Extract
from timebank.reports import ledger_pages
from timebank.reports.ledger_pages import Sought

# Opens the books for one short reading transaction.
Look = Callable[[], AbstractContextManager[Desk]]


def extracts(
    look: Look,
    sought: Sought,
    *,
    newest_first: bool = False,
    within: tuple[int, int] | None = None,
) -> Iterator[Extract]:
    """Yield the transfers sought that are in the books now, in the order of their numbers.

    Calls `look` for every stretch. Its transaction ends before the rows are yielded. `within` is
    the first number and the one after the last, by default those of the days that are sought.
    """
    if within is None:
        with look() as desk:
            within = ledger_pages.bounds(desk, sought)
    low, end = within
    while low < end:
        with look() as desk:
            if newest_first:
                leaf = ledger_pages.leaf(desk, sought, end, ledger_pages.STRETCH)
                rows, end = leaf.rows, leaf.before or low
            else:
                rows, low = ledger_pages.stretch(desk, sought, low, end)
        yield from rows


def chosen(desk: Desk, sought: Sought) -> list[Extract]:
    return list(extracts(lambda: nullcontext(desk), sought))


def entries(rows: Iterator[Extract]) -> Iterator[list[Extract]]:
    for _, group in groupby(rows, key=lambda row: row.entry):
        yield list(group)


_GAMES: Reader[str] = value(
    lambda: (
        select(accounts.c.game)
        .where(accounts.c.kind == "house")
        .union(select(rounds.c.game))
        .order_by("game")
    )
)
USUAL_KINDS = frozenset(reason.KIND for reason in CODES.values() if reason.KIND)
_KINDS: Reader[str] = value(lambda: select(transfers.c.kind).distinct().order_by(transfers.c.kind))


def last_number(desk: Desk) -> int:
    return ledger_pages.bounds(desk, Sought())[1] - 1


def known_game(desk: Desk, text: str) -> str:
    """Return the key of a game, given its key or title in any case. Raises `NothingToList`."""
    known = _GAMES.all(desk.connection)
    key = "-".join(text.casefold().split())
    if key not in known:
        template = N_("The books know no game {text}. They know: {names}.")
        raise _nothing_known(template if known else N_("The books know no game yet."), text, known)
    return key


def known_kind(desk: Desk, text: str) -> str:
    """Return a kind of transfer, given in any case. Raises `NothingToList`."""
    key = text.casefold()
    if key in USUAL_KINDS:
        return key
    # Other kinds need a scan of all rows, which takes seconds for millions.
    known = _KINDS.all(desk.connection)
    if key not in known:
        template = N_("The books know no kind of transfer {text}. They know: {names}.")
        raise _nothing_known(
            template if known else N_("The books hold no transfer yet."), text, known
        )
    return key


def _nothing_known(template: str, text: str, known: list[str]) -> NothingToList:
    return NothingToList(Phrase(template, text=text, names=", ".join(known)))
