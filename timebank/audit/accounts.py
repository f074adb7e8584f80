"""The audit of the books: every rule of the ledger, checked from the rows up.

Triggers and CHECKs of the schema enforce the same rules on writing. The audit does not trust them,
because anybody may have edited the file. It recomputes every balance and sum from the transfers and
names each row that differs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import Any

from sqlalchemy import ColumnElement, exists, func, or_, select

from timebank.audit import callers as people
from timebank.audit import days
from timebank.audit.chain import ALL_ROWS, Chain, check_generations
from timebank.audit.contests import check_contests
from timebank.audit.earned import check_earned
from timebank.audit.findings import Check, Finding, each_is_wrong
from timebank.audit.guests import check_hosts
from timebank.audit.loans import check_loans
from timebank.audit.rounds import check_rounds
from timebank.audit.traces import log_reaches
from timebank.audit.waived import Emptiness, check_waived
from timebank.ledger import dialects, schema
from timebank.ledger.database import Desk
from timebank.ledger.generations import generations
from timebank.ledger.schema import callers, import_lines, imports, outbox, transfers
from timebank.ledger.sql import Prepared, Query
from timebank.words import MINUTE

_ALLOTMENT, ELAPSED, *_ = schema.SYSTEM_ACCOUNTS
# Kinds of account that hold play money, and kinds that hold both play money and time.
FOR_PLAY = frozenset({*schema.PLAY_ACCOUNTS, schema.MINT})
FOR_BOTH = frozenset({"stake", "house"})


def audit(desk: Desk, since_digest: str | None = None) -> list[Finding]:
    """Return every error in the books; the list is empty when there is none.

    `since_digest` is the digest of the last transfer (`ledger.head`) at an earlier audit. The books
    must still contain that transfer.
    """
    findings = _check_rows(desk, since_digest)
    for check in CHECKS:
        findings += check(desk)
    return findings


class _Account:
    """An account: its balance in the books, and the balance that its transfers add up to."""

    __slots__ = (
        *("balance", "caller_id", "empty", "kind", "label", "least", "most", "recomputed", "unit"),
    )

    def __init__(
        self, label: str, kind: str, unit: str, balance: int, caller_id: int | None
    ) -> None:
        self.label = label
        self.caller_id = caller_id
        self.kind = kind
        self.unit = unit
        self.balance = balance
        self.recomputed = 0
        # The times when it was empty, for a caller's `online` only.
        self.empty: Emptiness | None = None
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
        .order_by(_ACCOUNTS.c.id)
    )
)


def _read_accounts(desk: Desk) -> dict[int, _Account]:
    accounts = {}
    for number, kind, unit, balance, game, name, caller_id in _ALL_ACCOUNTS.run_long(
        desk.connection
    ):
        owner = f" of {name} (caller {caller_id})" if name else f" of {game}" if game else ""
        label = f"account {number} ({kind}{owner})"
        accounts[number] = _Account(label, kind, unit, balance, caller_id)
    return accounts


def _check_file(desk: Desk) -> Iterator[Finding]:
    """Check that the database is undamaged and that no trigger is missing or changed."""
    engine = dialects.dialect_of(desk.connection)
    for problem in engine.find_damage(desk.connection):
        yield Finding("database", f"{engine.NAME} says: {problem}.")
    for table, number, parent in engine.broken_references(desk.connection):
        which = "A row" if number is None else f"Row {number}"
        yield Finding(f"table {table}", f"{which} refers to {parent} that do not exist.")
    for name, is_there in engine.wrong_triggers(desk.connection):
        what = "was changed" if is_there else "is missing"
        yield Finding(f"trigger {name}", f"It {what}, so the books are not guarded.")


def _check_rows(desk: Desk, since_digest: str | None) -> list[Finding]:
    """Read the transfers once, and check the chain, the entries and the accounts on the way."""
    accounts = _read_accounts(desk)
    chain, rows = Chain(desk, since_digest), _Rows(desk, accounts)
    rows.follow(chain.follow(ALL_ROWS.run_long(desk.connection)))
    chain.end()
    last_numbers = dialects.dialect_of(desk.connection).last_given_numbers(desk.connection)
    rows.end(last_numbers.get("transfers", 0))
    online = {
        each.caller_id: each.empty for each in accounts.values() if each.empty and each.caller_id
    }
    return [
        *(*chain.findings, *check_generations(desk), *rows.findings),
        *(*_check_accounts(accounts), *check_waived(desk, online)),
    ]


class _Rows:
    """Adds the transfers up, entry by entry and account by account, and collects `findings`."""

    def __init__(self, desk: Desk, accounts: dict[int, _Account]) -> None:
        self.findings: list[Finding] = []
        self._accounts = accounts
        # Numbers that no transfer has, because a restore went past them.
        self._passed = [range(each.after + 1, each.first) for each in generations(desk.connection)]
        self._entries = _Entries()
        self._last: Any = 0
        for account in accounts.values():
            if account.kind == "online":
                account.empty = Emptiness(is_empty=account.recomputed == 0)

    def follow(self, rows: Iterable[Sequence[Any]]) -> None:
        """Check rows with the columns of `Written`.

        There are millions, so the checks that nearly all rows pass are written out here.
        """
        find, continues = self._accounts.get, self._entries.continues
        for number, place, size, at, amount, source_id, target_id, call, _, kind, _, _ in rows:
            if number != self._last + 1:
                self.findings += _missing(self._last + 1, number - 1, self._passed)
            self._last = number
            if not continues(place, size):
                self.findings += self._entries.begin(number, place, size)
            source, target = find(source_id), find(target_id)
            if source is None or target is None:
                self._report(number, "It moves time of an account that does not exist.")
                continue
            if not isinstance(amount, int):
                self._report(number, f"Its amount is {amount!r}, which is not a number.")
                continue
            if amount <= 0 or source is target:
                self._report(number, f"It moves {amount} from {source.label} to {target.label}.")
            if source.unit != target.unit:
                self._report(number, f"It turns one {source.unit} into one {target.unit}.")
            left = source.recomputed = source.recomputed - amount
            if not left and source.empty is not None:
                source.empty.begin(call, self._entries.first, is_charge=kind == "elapsed")
            if not source.least <= left <= source.most and source.fits(left + amount):
                self._report(number, f"It leaves {left} in {source.label}.")
            has = target.recomputed = target.recomputed + amount
            if has == amount and target.empty is not None:
                target.empty.end(call, self._entries.first, at)
            if not target.least <= has <= target.most and target.fits(has - amount):
                self._report(number, f"It leaves {has} in {target.label}.")

    def end(self, used: int) -> None:
        """Check the end of the rows. `used` is the last number that a transfer was given."""
        self.findings += self._entries.end()
        self.findings += _missing(self._last + 1, used, self._passed)

    def _report(self, number: int, sentence: str) -> None:
        self.findings.append(Finding(f"transfer {number}", sentence))


def _missing(first: int, last: int, passed: Iterable[range]) -> Iterator[Finding]:
    """Report the numbers from `first` to `last` as missing, except those in `passed`.

    `passed` are ranges in order.
    """
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
    """Checks that the rows of each entry are consecutive and complete."""

    __slots__ = ("first", "last_place", "size")

    def __init__(self) -> None:
        self.first = 0
        self.size = 0
        self.last_place = 0

    def continues(self, place: Any, size: Any) -> bool:
        """Accept the next row of the current entry; return False for any other row."""
        if self.last_place >= self.size or place != self.last_place + 1 or size != self.size:
            return False
        self.last_place = place
        return True

    def begin(self, number: int, place: Any, size: Any) -> Iterator[Finding]:
        yield from self.end()
        self.first, self.size, self.last_place = number, 0, 0
        if not (isinstance(place, int) and isinstance(size, int)):
            sentence = f"It is row {place!r} of {size!r} of an entry: these are not numbers."
            yield Finding(f"transfer {number}", sentence)
            return
        if place != 1:
            yield Finding(
                f"transfer {number}", f"It is row {place} of an entry that does not precede it."
            )
        self.first = number - place + 1
        self.size = size
        self.last_place = place

    def end(self) -> Iterator[Finding]:
        if self.last_place < self.size:
            yield Finding(
                f"entry {self.first}", f"It ends after row {self.last_place} of {self.size} rows."
            )


def _check_accounts(accounts: dict[int, _Account]) -> Iterator[Finding]:
    totals: defaultdict[str, int] = defaultdict(int)
    for account in accounts.values():
        if not isinstance(account.balance, int):
            sentence = f"Its balance is {account.balance!r}, which is not a number."
            yield Finding(account.label, sentence)
            continue
        totals[account.unit] += account.balance
        if account.balance != account.recomputed:
            yield Finding(
                account.label,
                f"Its balance is {account.balance}, its rows add up to {account.recomputed}.",
            )
        if not account.fits(account.balance):
            yield Finding(account.label, f"It may not hold {account.balance}.")
        if not account.fits_unit():
            yield Finding(account.label, f"It may not hold an amount of the unit {account.unit}.")
    for unit, total in totals.items():
        if total:
            yield Finding(f"unit {unit}", f"All balances add up to {total}, not to zero.")


@each_is_wrong("caller {}", f"{{1}} has {{2}} of {len(schema.CALLER_ACCOUNTS)} accounts.")
def _missing_accounts() -> Query:
    own = _ACCOUNTS.c
    count = (
        select(func.count())
        .where(own.caller_id == callers.c.id, own.unit == "second")
        .where(own.kind.in_(schema.CALLER_ACCOUNTS))
        .scalar_subquery()
    )
    return select(callers.c.id, callers.c.name, count).where(count != len(schema.CALLER_ACCOUNTS))


@each_is_wrong(
    "call {}",
    "Of {1} seconds {2} were charged and {3} waived; its transfers charge {4}.",
)
def _wrong_calls() -> Query:
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
def _charges_without_call() -> Query:
    return select(transfers.c.id).where(
        transfers.c.target == ELAPSED, transfers.c.call_id.is_(None)
    )


@each_is_wrong("transfer {}", "It moves {1} seconds; the records for THEBANK.EXT have {2} minutes.")
def _unrecorded_transfers() -> Query:
    row = transfers.c
    return (
        select(row.id, row.amount, func.coalesce(outbox.c.minutes, 0))
        .select_from(transfers)
        .join(outbox, outbox.c.number == row.id, isouter=True)
        .where(row.kind == "external")
        .where(row.amount.is_distinct_from(outbox.c.minutes * MINUTE))
    )


@each_is_wrong("record {}", "Transfer and record do not belong together.")
def _records_without_transfer() -> Query:
    return (
        select(outbox.c.number)
        .join(transfers, transfers.c.id == outbox.c.number, isouter=True)
        .where(transfers.c.kind.is_distinct_from("external"))
    )


@each_is_wrong("record {}", "It waits for {1}, but its minutes came from {2}.")
def _records_of_strangers() -> Query:
    """Select unwritten records whose name is not their caller's.

    Callers who were renamed are left out, because a record keeps the name of its time.
    """
    bank, log = _ACCOUNTS.c, schema.sysop_log.c
    renamed = exists().where(log.caller_id == callers.c.id, log.what.like("% is called % now"))
    return (
        select(outbox.c.number, outbox.c.name, callers.c.name)
        .join(transfers, transfers.c.id == outbox.c.number)
        .join(_ACCOUNTS, bank.id == transfers.c.source)
        .join(callers, callers.c.id == bank.caller_id)
        .where(outbox.c.state != "appended", outbox.c.name != callers.c.name)
        .where(callers.c.board.is_(None), ~renamed, log_reaches(outbox.c.at))
    )


@each_is_wrong("transfer {}", "It was imported, but no line of a file records it.")
def _imports_without_line() -> Query:
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


@each_is_wrong("import {}, line {}", "It names transfer {2}, which is not an import.")
def _lines_of_other_transfers() -> Query:
    return _lines(transfers.c.kind.is_distinct_from("import"))


@each_is_wrong("import {}, line {}", "It was applied, but the file was read only to byte {3}.")
def _unread_lines() -> Query:
    return _lines(import_lines.c.start >= imports.c.bytes)


CHECKS: tuple[Check, ...] = (
    *(
        check_rounds,
        _check_file,
        _missing_accounts,
        *days.CHECKS,
        check_earned,
        _wrong_calls,
        _charges_without_call,
    ),
    *(
        _unrecorded_transfers,
        _records_of_strangers,
        _records_without_transfer,
        _imports_without_line,
    ),
    *(_lines_of_other_transfers, _unread_lines, *people.CHECKS),
    *(check_hosts, check_loans, check_contests),
)
