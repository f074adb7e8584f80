"""Transfers for readers: filtered by SQL, and read page by page in short transactions.

Transfers are only added and never change. So pages up to a fixed last number show one moment of the
books without one long transaction. A sysop who reads the ledger for an hour does not block the
write-ahead log, and a million rows are never in memory together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from functools import cache
from itertools import groupby

from sqlalchemy import BindParameter, bindparam, or_, select

from timebank.errors import NothingToList
from timebank.language import N_, Phrase
from timebank.ledger.database import Desk
from timebank.ledger.reasons import CODES
from timebank.ledger.schema import accounts, rounds, source, target, transfers
from timebank.ledger.sql import Query, Reader, equal, highest, read, value
from timebank.ledger.transfers import Extract, extracts_query, game_column

PAGE = 1000

# Opens the books for one short reading transaction.
Look = Callable[[], AbstractContextManager[Desk]]


@dataclass(frozen=True)
class Wanted:
    """Filters of transfers; None passes all.

    `since` and `until` are seconds since 1970, `until` excluded. `first` and `last` are the numbers
    of the first and the last transfer to read, None for the newest.
    """

    caller_id: int | None = None
    game: str | None = None
    kind: str | None = None
    call_id: int | None = None
    round_id: int | None = None
    since: int | None = None
    until: int | None = None
    first: int = 0
    last: int | None = None


def _page(newest_first: bool, filters: Iterable[str]) -> Query:
    """Select the next page of transfers by number that pass these filters of `Wanted`."""
    row = transfers.c
    passes = {
        "caller_id": or_(equal(source.c.caller_id), equal(target.c.caller_id)),
        "game": game_column() == bindparam("game"),
        "kind": equal(row.kind),
        "call_id": equal(row.call_id),
        "round_id": equal(row.round_id),
        "since": row.at >= bindparam("since"),
        "until": row.at < bindparam("until"),
    }
    edge: BindParameter[int] = bindparam("edge")
    return (
        extracts_query()
        .where(row.id < edge if newest_first else row.id > edge)
        .where(row.id >= bindparam("first"), row.id <= bindparam("last"))
        .where(*(passes[name] for name in filters))
        .order_by(row.id.desc() if newest_first else row.id)
        .limit(bindparam("most"))
    )


@cache
def _pages(newest_first: bool, *filters: str) -> Reader[Extract]:
    return read(Extract, lambda: _page(newest_first, filters))


FILTERS = tuple(each.name for each in fields(Wanted) if each.name not in ("first", "last"))
for order in (True, False):
    _pages(order, *FILTERS)


def extracts(look: Look, wanted: Wanted, *, newest_first: bool) -> Iterator[Extract]:
    """Yield the wanted transfers that are in the books now, in the order of their numbers.

    Calls `look` for every page. Its transaction ends before the rows of the page are yielded.
    """
    if (last := wanted.last) is None:
        with look() as desk:
            last = last_number(desk)
    given = {name: value for name in FILTERS if (value := getattr(wanted, name)) is not None}
    pages, edge = _pages(newest_first, *given), last + 1 if newest_first else 0
    more = True
    while more:
        with look() as desk:
            ends = {"first": wanted.first, "last": last, "most": PAGE}
            page = pages.all(desk.connection, edge=edge, **ends, **given)
        yield from page
        more = len(page) == PAGE
        edge = page[-1].number if more else edge


def chosen(desk: Desk, wanted: Wanted) -> list[Extract]:
    return list(extracts(lambda: nullcontext(desk), wanted, newest_first=False))


def entries(rows: Iterator[Extract]) -> Iterator[list[Extract]]:
    for _, group in groupby(rows, key=lambda row: row.entry):
        yield list(group)


_LAST: Reader[int] = value(lambda: select(highest(transfers.c.id)))
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
    return _LAST.one(desk.connection)


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
