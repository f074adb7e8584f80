"""The books in the language of beancount, with which another program can prove that they balance.

Every unit is a commodity. Callers' accounts are assets, and their loans liabilities. The daily
grant and the house are income (negative when callers got it), and used and forfeited time are
expenses. Time from outside the board, play money from the mint, and the casino are equity. Each
entry is one transaction with two postings a transfer. All balances are asserted on the day after
the last transfer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from sqlalchemy import func, select, union_all

from timebank.ledger.database import Desk
from timebank.ledger.schema import instant, transfers
from timebank.ledger.sql import Prepared, Query, Reader, highest, value
from timebank.ledger.transfers import Balance, Extract
from timebank.reports.statements import in_words, printable
from timebank.settings.schedule import Schedule
from timebank.words import Unit, title

COMMODITIES: Mapping[Unit, tuple[str, str]] = {
    "second": ("SECOND", "Time on line, in seconds"),
    "usd-cent": ("USDCENT", "Play dollars, in cents"),
    "frf-cent": ("FRFCENT", "Play francs, in centimes"),
}
ROOTS = {
    "loan": "Liabilities",
    "allotment": "Income",
    "house": "Income",
    "elapsed": "Expenses",
    "forfeit": "Expenses",
    "external": "Equity",
    "adjustment": "Equity",
    "mint": "Equity",
    "casino": "Equity",
}
A_DAY = timedelta(days=1)


@dataclass(frozen=True)
class UsedAccount:
    """An account with transfers, and the time of its first one in seconds since 1970."""

    balance: Balance
    first: int


def _used() -> Query:
    ends = union_all(
        *(
            select(end.label("account"), func.min(transfers.c.at).label("first")).group_by(end)
            for end in (transfers.c.source, transfers.c.target)
        )
    ).subquery()
    first = func.min(ends.c.first).label("first")
    return select(ends.c.account, first).group_by(ends.c.account)


# The second option is the commodity in which programs such as Fava show sums.
_HEAD = 'option "title" "{title}"\noption "operating_currency" "SECOND"\n'

_USED = Prepared(_used)
_LAST: Reader[int] = value(lambda: select(highest(transfers.c.at)))


def used_accounts(desk: Desk, balances: Iterable[Balance]) -> list[UsedAccount]:
    first = {row.account: row.first for row in _USED(desk.connection)}
    return [
        UsedAccount(balance, first[balance.account_id])
        for balance in balances
        if balance.account_id in first
    ]


def last_instant(desk: Desk) -> int:
    """Return the time of the latest transfer, which need not be the last; 0 if there is none."""
    return _LAST.one(desk.connection)


def as_beancount(
    used: Sequence[UsedAccount], last: int, entries: Iterable[list[Extract]], schedule: Schedule
) -> Iterator[str]:
    """Yield the books, directive by directive.

    `last` is `last_instant`. All arguments must be of one moment.
    """
    yield _HEAD.format(title="Black Jack For Time")
    start = _day(min((account.first for account in used), default=0), schedule)
    for unit in sorted({account.balance.unit for account in used}):
        commodity, name = COMMODITIES[unit]
        yield f"\n{start} commodity {commodity}\n  name: {_quoted(name)}\n"
    for account in used:
        yield from _opening(account, schedule)
    for rows in entries:
        yield from _transaction(rows, schedule)
    # An assertion is made at the first instant of its day.
    end = _day(last, schedule) + A_DAY
    yield "\n"
    for account in used:
        balance = account.balance
        yield f"{end} balance {_name_of(balance)} {balance.amount} {COMMODITIES[balance.unit][0]}\n"


def some_as_beancount(entries: Iterable[list[Extract]], schedule: Schedule) -> Iterator[str]:
    """Yield some entries in any order, and open their accounts.

    Asserts no balance, because the earlier balances of these accounts are unknown.
    """
    yield _HEAD.format(title="Black Jack For Time: a part of the books")
    opened: dict[tuple[str, str], date] = {}
    for rows in entries:
        yield from _transaction(rows, schedule)
        day = _day(rows[0].at, schedule)
        for row in rows:
            commodity = COMMODITIES[row.unit][0]
            for name in _ends(row):
                known = opened.get((name, commodity), day)
                opened[name, commodity] = min(known, day)
    for (name, commodity), day in sorted(opened.items()):
        yield f"\n{day} open {name} {commodity}\n"


def _opening(account: UsedAccount, schedule: Schedule) -> Iterator[str]:
    balance = account.balance
    opened = _day(account.first, schedule)
    yield f"\n{opened} open {_name_of(balance)} {COMMODITIES[balance.unit][0]}\n"
    yield f"  account: {balance.account_id}\n"
    if balance.caller is not None:
        yield f"  caller: {_quoted(balance.caller)}\n"


def _transaction(rows: list[Extract], schedule: Schedule) -> Iterator[str]:
    first = rows[0]
    names = dict.fromkeys(name for row in rows for name in (row.source_caller, row.target_caller))
    payee = ", ".join(name for name in names if name)
    yield f"\n{_day(first.at, schedule)} * {_quoted(payee)} {_quoted(in_words(rows))}\n"
    yield f"  entry: {first.entry}\n"
    yield f"  generation: {first.generation}\n"
    yield f"  at: {_quoted(schedule.local(instant(first.at)).isoformat())}\n"
    for row in rows:
        commodity = COMMODITIES[row.unit][0]
        source, target = _ends(row)
        yield f"  {source} -{row.amount} {commodity}\n"
        yield f"    transfer: {row.number}\n    kind: {_quoted(row.kind)}\n"
        for key, number in (("call", row.call_id), ("hand", row.round_id)):
            if number is not None:
                yield f"    {key}: {number}\n"
        yield f"  {target} {row.amount} {commodity}\n"


def _ends(row: Extract) -> tuple[str, str]:
    """Return the names of a transfer's source and target."""
    game, unit = row.game, row.unit
    return (
        account_name(row.source, row.source_caller_id, row.source_caller, game, unit),
        account_name(row.target, row.target_caller_id, row.target_caller, game, unit),
    )


def _name_of(balance: Balance) -> str:
    return account_name(balance.kind, balance.caller_id, balance.caller, balance.game, balance.unit)


def account_name(
    kind: str, caller_id: int | None, caller: str | None, game: str | None, unit: Unit
) -> str:
    """Return the name of an account. The caller's number distinguishes names that look alike.

    >>> account_name("online", 12, "Mr. O'Neil", None, "second")
    'Assets:Caller:12-Mr-O-Neil:Online'
    >>> account_name("house", None, None, "vegas", "usd-cent")
    'Income:House:Vegas:USDCENT'
    """
    parts = [ROOTS.get(kind, "Assets")]
    if caller_id is not None:
        owner = [str(caller_id), _component(caller or "")]
        parts += ["Caller", "-".join(part for part in owner if part)]
    parts.append(kind.capitalize())
    if kind == "house":
        parts.append(_component(title(game or "")))
    if unit != "second":
        parts.append(COMMODITIES[unit][0])
    return ":".join(parts)


def _component(text: str) -> str:
    """Return a text with only the letters and digits that beancount allows, without accents."""
    bare = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[^A-Za-z0-9]+", "-", bare).strip("-")


def _quoted(text: str) -> str:
    return '"' + printable(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _day(at: int, schedule: Schedule) -> date:
    return schedule.day_of(instant(at))
