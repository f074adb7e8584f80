"""The audit of the books: every rule of the ledger, checked from the rows up.

The triggers and CHECKs of the schema keep these rules while the books are written. The audit does
not trust them: it reads the rows as if anybody could have edited the file, recomputes everything
that is kept beside them, and names each row that does not fit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, func, or_, select

from timebank.audit.chain import ALL_ROWS, Chain, check_generations
from timebank.audit.finding import Check, Finding, each_is_wrong
from timebank.audit.guests import check_hosts
from timebank.audit.loans import check_loans
from timebank.audit.rounds import check_rounds
from timebank.ledger import dialects, schema
from timebank.ledger.database import Desk
from timebank.ledger.generations import generations
from timebank.ledger.schema import callers, days, import_lines, imports, outbox, transfers
from timebank.ledger.sql import Prepared, Query
from timebank.words import MINUTE

ALLOTMENT, ELAPSED, *_ = schema.SYSTEM_ACCOUNTS
# The kinds of account that hold play money, and those of them that hold time too.
FOR_PLAY = frozenset({*schema.PLAY_ACCOUNTS, schema.MINT})
FOR_BOTH = frozenset({"stake", "house"})


def audit(desk: Desk, since_digest: str | None = None) -> list[Finding]:
    """Check the books and name every row that is off; an empty list when all is well.

    `since_digest` is that of the last transfer (`ledger.head`) as noted down from an earlier audit,
    in whole: the books must continue the ones that it ended.
    """
    return [finding for part in PARTS.values() for finding in part(desk, since_digest)]


class _Account:
    """An account as the books keep it, and as its rows add up to it."""

    def __init__(self, label: str, kind: str, unit: str, kept: int) -> None:
        self.label = label
        self.kind = kind
        self.unit = unit
        self.kept = kept
        self.recomputed = 0
        # What it may hold.
        self.least = 0 if kind in schema.NEVER_NEGATIVE else -inf
        self.most = 0 if kind in schema.NEVER_POSITIVE else inf

    def fits(self, amount: int) -> bool:
        return self.least <= amount <= self.most

    def fits_unit(self) -> bool:
        if self.unit == "second":
            return self.kind not in FOR_PLAY - FOR_BOTH
        return self.kind in FOR_PLAY | FOR_BOTH


_ACCOUNTS = schema.accounts
_ALL_ACCOUNTS = Prepared(
    lambda: (
        select(
            *(_ACCOUNTS.c.id, _ACCOUNTS.c.kind, _ACCOUNTS.c.unit, _ACCOUNTS.c.balance),
            *(_ACCOUNTS.c.game, callers.c.name, callers.c.id),
        )
        .select_from(_ACCOUNTS)
        .join(callers, callers.c.id == _ACCOUNTS.c.caller_id, isouter=True)
    )
)


def _read_accounts(desk: Desk) -> dict[int, _Account]:
    accounts = {}
    for number, kind, unit, balance, game, name, caller_id in _ALL_ACCOUNTS.long(desk.connection):
        owner = f" of {name} (caller {caller_id})" if name else f" of {game}" if game else ""
        label = f"account {number} ({kind}{owner})"
        accounts[number] = _Account(label, kind, unit, balance)
    return accounts


def _check_file(desk: Desk) -> Iterator[Finding]:
    engine = dialects.of(desk.connection)
    for problem in engine.damages(desk.connection):
        yield Finding("database", f"{engine.NAME} says: {problem}.")
    for table, number, parent in engine.broken_references(desk.connection):
        which = "a row" if number is None else f"row {number}"
        yield Finding(f"table {table}", f"In {which}, the {parent} referred to do not exist.")
    for name, is_there in engine.unguarded(desk.connection):
        what = "was changed" if is_there else "is missing"
        yield Finding(f"trigger {name}", f"It {what}, so the books are not guarded.")


def _check_rows(desk: Desk, since_digest: str | None) -> list[Finding]:
    """Go through all transfers once, along the chain and from account to account."""
    accounts = _read_accounts(desk)
    chain, rows = Chain(desk, since_digest), _Rows(desk, accounts)
    for row in ALL_ROWS.long(desk.connection):
        chain.next(row)
        rows.next(row)
    chain.end()
    rows.end(dialects.of(desk.connection).given_numbers(desk.connection).get("transfers", 0))
    return [
        *(*chain.findings, *check_generations(desk)),
        *(*rows.findings, *_check_accounts(desk, accounts)),
    ]


class _Rows:
    """Follows the transfers through their entries and accounts; `findings` are what is off."""

    def __init__(self, desk: Desk, accounts: dict[int, _Account]) -> None:
        self.findings: list[Finding] = []
        self._accounts = accounts
        # Numbers that no transfer has, because a restore went past them.
        self._passed = [range(each.after + 1, each.first) for each in generations(desk.connection)]
        self._entries = _Entries()
        self._last: Any = 0

    def next(self, row: Sequence[Any]) -> None:
        """Take the next row, whose values are those of `Written`."""
        number, place, size, _, amount, source_id, target_id, *_ = row
        if number != self._last + 1:
            self.findings += _missing(self._last + 1, number - 1, self._passed)
        self._last = number
        if not self._entries.goes_on(place, size):
            self.findings += self._entries.begin(number, place, size)
        source, target = self._accounts.get(source_id), self._accounts.get(target_id)
        if source is None or target is None:
            self._tell(number, "It moves time of an account that does not exist.")
            return
        if not isinstance(amount, int):
            self._tell(number, f"Its amount is {amount!r}, which is not a number.")
            return
        if amount <= 0 or source is target:
            self._tell(number, f"It moves {amount} from {source.label} to {target.label}.")
        if source.unit != target.unit:
            self._tell(number, f"It turns one {source.unit} into one {target.unit}.")
        for account, change in ((source, -amount), (target, amount)):
            before = account.recomputed
            account.recomputed = after = before + change
            if not account.least <= after <= account.most and account.fits(before):
                self._tell(number, f"It leaves {after} in {account.label}.")

    def end(self, used: int) -> None:
        """Say that there are no more; `used` is the last number that was given to a transfer."""
        self.findings += self._entries.end()
        self.findings += _missing(self._last + 1, used, self._passed)

    def _tell(self, number: int, sentence: str) -> None:
        self.findings.append(Finding(f"transfer {number}", sentence))


def _missing(first: int, last: int, passed: Iterable[range]) -> Iterator[Finding]:
    """Name the numbers from `first` to `last`, but for those in `passed` (ranges in order)."""
    for gap in passed:
        if first < gap.start <= last:
            yield from _missing(first, gap.start - 1, ())
        if first < gap.stop and last >= gap.start:
            first = gap.stop
    if first == last:
        yield Finding(f"transfer {first}", "It is missing.")
    elif first < last:
        yield Finding(f"transfers {first} to {last}", "They are missing.")


class _Entries:
    """Watches that the rows of every entry follow one another and are all there."""

    def __init__(self) -> None:
        self.first = 0
        self.size = 0
        self.seen = 0

    def goes_on(self, place: Any, size: Any) -> bool:
        """Take a row that goes on with the entry; others begin one."""
        if self.seen >= self.size or place != self.seen + 1 or size != self.size:
            return False
        self.seen = place
        return True

    def begin(self, number: int, place: Any, size: Any) -> Iterator[Finding]:
        yield from self.end()
        if place != 1:
            yield Finding(
                f"transfer {number}", f"It is row {place} of an entry that does not precede it."
            )
        self.first = number - place + 1
        self.size = size
        self.seen = place

    def end(self) -> Iterator[Finding]:
        if self.seen < self.size:
            yield Finding(
                f"entry {self.first}", f"It ends after row {self.seen} of {self.size} rows."
            )


def _check_accounts(desk: Desk, accounts: dict[int, _Account]) -> Iterator[Finding]:
    totals: defaultdict[str, int] = defaultdict(int)
    for account in accounts.values():
        totals[account.unit] += account.kept
        if account.kept != account.recomputed:
            yield Finding(
                account.label,
                f"Its balance is {account.kept}, its rows add up to {account.recomputed}.",
            )
        if not account.fits(account.kept):
            yield Finding(account.label, f"It may not hold {account.kept}.")
        if not account.fits_unit():
            yield Finding(account.label, f"It may not hold an amount of the unit {account.unit}.")
    for unit, total in totals.items():
        if total:
            yield Finding(f"unit {unit}", f"All balances add up to {total}, not to zero.")


@each_is_wrong("caller {}", f"{{1}} has {{2}} of {len(schema.CALLER_ACCOUNTS)} accounts.")
def _incomplete() -> Query:
    own = _ACCOUNTS.c
    found = (
        select(func.count())
        .where(own.caller_id == callers.c.id, own.unit == "second")
        .where(own.kind.in_(schema.CALLER_ACCOUNTS))
        .scalar_subquery()
    )
    return select(callers.c.id, callers.c.name, found).where(found != len(schema.CALLER_ACCOUNTS))


@each_is_wrong("transfer {}", "It is a grant that no day of its caller accounts for.")
def _grants() -> Query:
    accounted = (
        exists().where(
            table.c.grant_id == transfers.c.id, table.c.caller_id == _ACCOUNTS.c.caller_id
        )
        for table in (days, schema.mended_days)
    )
    return (
        select(transfers.c.id)
        .join(_ACCOUNTS, _ACCOUNTS.c.id == transfers.c.target)
        .where(or_(transfers.c.kind == "grant", transfers.c.source == ALLOTMENT))
        .where(*(~each for each in accounted))
    )


@each_is_wrong("caller {}", "The grant of {1} should be transfer {2}, and is not.")
def _days() -> Query:
    row = transfers.c
    return (
        select(days.c.caller_id, days.c.day, days.c.grant_id)
        .join(transfers, row.id == days.c.grant_id, isouter=True)
        .where(days.c.grant_id.is_not(None))
        .where(or_(row.id.is_(None), row.kind != "grant", row.id <= days.c.after))
    )


@each_is_wrong(
    "caller {}", "Of their stake {2} are left of a day before {1}, and they have staked {3}."
)
def _standing() -> Query:
    who, own = callers.c, _ACCOUNTS.c
    today = and_(who.id == days.c.caller_id, who.day == days.c.day, who.deleted.is_(None))
    stake = and_(own.caller_id == who.id, own.kind == "stake", own.unit == "second")
    return (
        select(days.c.caller_id, days.c.day, days.c.standing, own.balance)
        .select_from(days)
        .join(callers, today)
        .join(_ACCOUNTS, stake)
        .where(days.c.standing > own.balance)
    )


@each_is_wrong("caller {}", "The day last seen is {1}, the last begun {2}.")
def _last_days() -> Query:
    last = select(func.max(days.c.day)).where(days.c.caller_id == callers.c.id).scalar_subquery()
    return select(callers.c.id, callers.c.day, last).where(callers.c.day.is_distinct_from(last))


@each_is_wrong(
    "call {}",
    "Of {1} seconds {2} were charged and {3} waived; its transfers charge {4}.",
)
def _calls() -> Query:
    used = (
        select(transfers.c.call_id, func.sum(transfers.c.amount).label("posted"))
        .where(transfers.c.target == ELAPSED)
        .group_by(transfers.c.call_id)
        .subquery()
    )
    call, posted = schema.calls.c, func.coalesce(used.c.posted, 0)
    return (
        select(call.id, call.ticked, call.charged, call.waived, posted)
        .select_from(schema.calls)
        .join(used, used.c.call_id == call.id, isouter=True)
        .where(or_(call.charged != posted, call.ticked != call.charged + call.waived))
    )


@each_is_wrong("transfer {}", "It charges time used and names no call.")
def _of_no_call() -> Query:
    return select(transfers.c.id).where(
        transfers.c.target == ELAPSED, transfers.c.call_id.is_(None)
    )


def _outbox(tells: ColumnElement[bool]) -> Query:
    row = transfers.c
    return (
        select(row.id, row.amount, outbox.c.minutes)
        .select_from(transfers)
        .join(outbox, outbox.c.number == row.id, isouter=True)
        .where(row.kind == "external", tells)
        .where(row.amount.is_distinct_from(outbox.c.minutes * MINUTE))
    )


@each_is_wrong("transfer {}", "No record for THEBANK.EXT tells of it.")
def _of_no_record() -> Query:
    return _outbox(outbox.c.minutes.is_(None))


@each_is_wrong("record {}", "It says {2} minutes, transfer {0} {1} seconds.")
def _of_another_record() -> Query:
    return _outbox(outbox.c.minutes.is_not(None))


@each_is_wrong("record {}", "Transfer and record do not belong together.")
def _of_no_transfer() -> Query:
    return (
        select(outbox.c.number)
        .join(transfers, transfers.c.id == outbox.c.number, isouter=True)
        .where(transfers.c.kind.is_distinct_from("external"))
    )


@each_is_wrong("transfer {}", "It was imported, and no line of a file tells of it.")
def _of_no_line() -> Query:
    return (
        select(transfers.c.id)
        .join(import_lines, import_lines.c.transfer_id == transfers.c.id, isouter=True)
        .where(transfers.c.kind == "import", import_lines.c.import_id.is_(None))
    )


def _lines(wrong: ColumnElement[bool]) -> Query:
    line = import_lines.c
    return (
        select(*(line.import_id, line.line, line.transfer_id), imports.c.bytes)
        .select_from(import_lines)
        .join(transfers, transfers.c.id == line.transfer_id, isouter=True)
        .join(imports, imports.c.id == line.import_id, isouter=True)
        .where(line.transfer_id.is_not(None), wrong)
    )


@each_is_wrong("import {}, line {}", "Transfer {2}, which it tells of, is not its own.")
def _lines_of_others() -> Query:
    return _lines(transfers.c.kind.is_distinct_from("import"))


@each_is_wrong("import {}, line {}", "It was applied, and the file is read to byte {3} only.")
def _lines_not_read() -> Query:
    return _lines(import_lines.c.start >= imports.c.bytes)


CHECKS: tuple[Check, ...] = (
    *(_incomplete, _grants, _days, _standing, _last_days, _calls, _of_no_call),
    *(_of_no_record, _of_another_record, _of_no_transfer, _of_no_line, _lines_of_others),
    *(_lines_not_read, check_hosts, check_loans),
)


def _check_the_rest(desk: Desk) -> Iterator[Finding]:
    for check in CHECKS:
        yield from check(desk)


# What of the audit can be done beside the others, in the order in which findings are told. The
# rows take the most time, and then the hands.
PARTS: Mapping[str, Callable[[Desk, str | None], Iterable[Finding]]] = {
    "rows": _check_rows,
    "hands": lambda desk, _: check_rounds(desk),
    "file": lambda desk, _: _check_file(desk),
    "rest": lambda desk, _: _check_the_rest(desk),
}
