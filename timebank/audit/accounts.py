"""The audit of the books: every rule of the ledger, checked from the rows up.

The triggers and CHECKs of the schema keep these rules while the books are written. The audit does
not trust them: it reads the rows as if anybody could have edited the file, recomputes everything
that is kept beside them, and names each row that does not fit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from sqlalchemy import and_, exists, func, or_, select

from timebank.audit.chain import check_chain
from timebank.audit.finding import Finding
from timebank.audit.generations import check_generations
from timebank.audit.guests import check_hosts
from timebank.audit.loans import check_loans
from timebank.audit.rounds import check_rounds
from timebank.ledger import schema, sqlite
from timebank.ledger.database import Desk
from timebank.ledger.generations import generations
from timebank.ledger.schema import (
    CALLER_ACCOUNTS,
    MINT,
    NEVER_NEGATIVE,
    NEVER_POSITIVE,
    PLAY_ACCOUNTS,
    SYSTEM_ACCOUNTS,
    callers,
    calls,
    days,
    import_lines,
    imports,
    mended_days,
    outbox,
    transfers,
)
from timebank.ledger.sql import Prepared, Query
from timebank.words import MINUTE

ALLOTMENT, ELAPSED, *_ = SYSTEM_ACCOUNTS
# The kinds of account that hold play money, and those of them that hold time too.
FOR_PLAY = frozenset({*PLAY_ACCOUNTS, MINT})
FOR_BOTH = frozenset({"stake", "house"})


def audit(desk: Desk, since_digest: str | None = None) -> list[Finding]:
    """Check the books and name every row that is off; an empty list when all is well.

    `since_digest` is that of the last transfer (`ledger.head`) as noted down from an earlier audit,
    in whole: the books must continue the ones that it ended.
    """
    accounts = _read_accounts(desk)
    return [
        *_check_file(desk),
        *check_chain(desk, since_digest),
        *check_generations(desk),
        *_check_transfers(desk, accounts),
        *_check_accounts(desk, accounts),
        *check_rounds(desk),
        *_check_days(desk),
        *_check_calls(desk),
        *_check_outbox(desk),
        *_check_imports(desk),
        *check_hosts(desk),
        *check_loans(desk),
    ]


class _Account:
    """An account as the books keep it, and as its rows add up to it."""

    def __init__(self, label: str, kind: str, unit: str, kept: int) -> None:
        self.label = label
        self.kind = kind
        self.unit = unit
        self.kept = kept
        self.recomputed = 0

    def fits(self, amount: int) -> bool:
        """Tell whether an account of this kind may hold `amount`."""
        if self.kind in NEVER_NEGATIVE:
            return amount >= 0
        return amount <= 0 or self.kind not in NEVER_POSITIVE

    def fits_unit(self) -> bool:
        """Tell whether there are accounts of this kind in its unit."""
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
    for number, kind, unit, balance, game, name, caller_id in _ALL_ACCOUNTS(desk.connection):
        owner = f" of {name} (caller {caller_id})" if name else f" of {game}" if game else ""
        label = f"account {number} ({kind}{owner})"
        accounts[number] = _Account(label, kind, unit, balance)
    return accounts


def _check_file(desk: Desk) -> Iterator[Finding]:
    for problem in sqlite.damages(desk.connection):
        yield Finding("database", f"SQLite says: {problem}.")
    for table, number, parent in sqlite.broken_references(desk.connection):
        which = "a row" if number is None else f"row {number}"
        yield Finding(f"table {table}", f"In {which}, the {parent} referred to do not exist.")
    for name, sql in sqlite.TRIGGERS.items():
        stored = sqlite.definition(desk.connection, name)
        if stored is None:
            yield Finding(f"trigger {name}", "It is missing, so the books are not guarded.")
        elif stored.split() != sql.split():
            yield Finding(f"trigger {name}", "It was changed, so the books are not guarded.")


_TRANSFERS = Prepared(
    lambda: select(
        *(transfers.c.id, transfers.c.place, transfers.c.size, transfers.c.amount),
        *(transfers.c.source, transfers.c.target),
    ).order_by(transfers.c.id)
)


def _check_transfers(desk: Desk, accounts: dict[int, _Account]) -> Iterator[Finding]:
    """Go through all transfers once, in order, adding them up."""
    entries = _Entries()
    # Numbers that no transfer has, because a restore went past them.
    passed = [range(each.after + 1, each.first) for each in generations(desk.connection)]
    last = 0
    for number, place, size, amount, source_id, target_id in _TRANSFERS(desk.connection):
        where = f"transfer {number}"
        yield from _missing(last + 1, number - 1, passed)
        last = number
        yield from entries.next(number, place, size)
        source, target = accounts.get(source_id), accounts.get(target_id)
        if source is None or target is None:
            yield Finding(where, "It moves time of an account that does not exist.")
            continue
        if not isinstance(amount, int):
            yield Finding(where, f"Its amount is {amount!r}, which is no number.")
            continue
        if amount <= 0 or source is target:
            yield Finding(where, f"It moves {amount} from {source.label} to {target.label}.")
        if source.unit != target.unit:
            yield Finding(where, f"It turns one {source.unit} into one {target.unit}.")
        for account, change in ((source, -amount), (target, amount)):
            before = account.recomputed
            account.recomputed += change
            if account.fits(before) and not account.fits(account.recomputed):
                yield Finding(where, f"It leaves {account.recomputed} in {account.label}.")
    yield from entries.end()
    used = sqlite.given_numbers(desk.connection).get("transfers", 0)
    yield from _missing(last + 1, used, passed)


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

    def next(self, number: int, place: int, size: int) -> Iterator[Finding]:
        continues = self.seen < self.size and place == self.seen + 1 and size == self.size
        if not continues:
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


def _incomplete() -> Query:
    """Choose callers who do not have each of their accounts."""
    found = (
        select(func.count())
        .where(_ACCOUNTS.c.caller_id == callers.c.id, _ACCOUNTS.c.unit == "second")
        .where(_ACCOUNTS.c.kind.in_(CALLER_ACCOUNTS))
        .scalar_subquery()
    )
    return select(callers.c.id, callers.c.name, found).where(found != len(CALLER_ACCOUNTS))


_INCOMPLETE = Prepared(_incomplete)


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
    for number, name, found in _INCOMPLETE(desk.connection):
        yield Finding(f"caller {number}", f"{name} has {found} of {len(CALLER_ACCOUNTS)} accounts.")


def _grants() -> Query:
    """Choose grants that no day of the caller who got them accounts for."""
    accounted = (
        exists().where(
            table.c.grant_id == transfers.c.id, table.c.caller_id == _ACCOUNTS.c.caller_id
        )
        for table in (days, mended_days)
    )
    return (
        select(transfers.c.id)
        .join(_ACCOUNTS, _ACCOUNTS.c.id == transfers.c.target)
        .where(or_(transfers.c.kind == "grant", transfers.c.source == ALLOTMENT))
        .where(*(~each for each in accounted))
    )


_GRANTS = Prepared(_grants)
# Days whose grant is no grant.
_DAYS = Prepared(
    lambda: (
        select(days.c.caller_id, days.c.day, days.c.grant_id)
        .join(transfers, transfers.c.id == days.c.grant_id, isouter=True)
        .where(days.c.grant_id.is_not(None))
        .where(
            or_(
                transfers.c.id.is_(None),
                transfers.c.kind != "grant",
                transfers.c.id <= days.c.after,
            )
        )
    )
)


def _standing() -> Query:
    """Choose callers of whose stake more is left of an earlier day than is on the table."""
    today = and_(
        callers.c.id == days.c.caller_id, callers.c.day == days.c.day, callers.c.deleted.is_(None)
    )
    stake = and_(
        _ACCOUNTS.c.caller_id == callers.c.id,
        _ACCOUNTS.c.kind == "stake",
        _ACCOUNTS.c.unit == "second",
    )
    return (
        select(days.c.caller_id, days.c.day, days.c.standing, _ACCOUNTS.c.balance)
        .select_from(days)
        .join(callers, today)
        .join(_ACCOUNTS, stake)
        .where(days.c.standing > _ACCOUNTS.c.balance)
    )


_STANDING = Prepared(_standing)


def _last_days() -> Query:
    """Choose callers whose day was never begun, or is not their last."""
    last = select(func.max(days.c.day)).where(days.c.caller_id == callers.c.id).scalar_subquery()
    return select(callers.c.id, callers.c.day, last).where(callers.c.day.is_distinct_from(last))


_LAST_DAYS = Prepared(_last_days)


def _check_days(desk: Desk) -> Iterator[Finding]:
    books = desk.connection
    for number in _GRANTS(books).scalars():
        yield Finding(f"transfer {number}", "It is a grant that no day of its caller accounts for.")
    for caller_id, day, grant_id in _DAYS(books):
        yield Finding(
            f"caller {caller_id}", f"The grant of {day} should be transfer {grant_id}, and is not."
        )
    for caller_id, day, standing, stake in _STANDING(books):
        yield Finding(
            f"caller {caller_id}",
            f"Of his stake {standing} are left of a day before {day}, and he has staked {stake}.",
        )
    for caller_id, day, last in _LAST_DAYS(books):
        yield Finding(f"caller {caller_id}", f"The day last seen is {day}, the last begun {last}.")


def _calls() -> Query:
    """Choose calls whose seconds are not those that their transfers charge."""
    used = (
        select(transfers.c.call_id, func.sum(transfers.c.amount).label("posted"))
        .where(transfers.c.target == ELAPSED)
        .group_by(transfers.c.call_id)
        .subquery()
    )
    call, posted = calls.c, func.coalesce(used.c.posted, 0)
    return (
        select(call.id, call.ticked, call.charged, call.waived, posted)
        .select_from(calls)
        .join(used, used.c.call_id == call.id, isouter=True)
        .where(or_(call.charged != posted, call.ticked != call.charged + call.waived))
    )


_CALLS = Prepared(_calls)
_OF_NO_CALL = Prepared(
    lambda: select(transfers.c.id).where(
        transfers.c.target == ELAPSED, transfers.c.call_id.is_(None)
    )
)


def _check_calls(desk: Desk) -> Iterator[Finding]:
    for number, ticked, charged, waived, posted in _CALLS(desk.connection):
        yield Finding(
            f"call {number}",
            f"Of {ticked} seconds {charged} were charged and {waived} waived;"
            f" its transfers charge {posted}.",
        )
    for number in _OF_NO_CALL(desk.connection).scalars():
        yield Finding(f"transfer {number}", "It charges time used and names no call.")


_OUTBOX = Prepared(
    lambda: (
        select(transfers.c.id, transfers.c.amount, outbox.c.minutes)
        .select_from(transfers)
        .join(outbox, outbox.c.number == transfers.c.id, isouter=True)
        .where(transfers.c.kind == "external")
        .where(transfers.c.amount.is_distinct_from(outbox.c.minutes * MINUTE))
    )
)
_NO_RECORD = Prepared(
    lambda: (
        select(outbox.c.number)
        .join(transfers, transfers.c.id == outbox.c.number, isouter=True)
        .where(transfers.c.kind.is_distinct_from("external"))
    )
)


def _check_outbox(desk: Desk) -> Iterator[Finding]:
    for number, amount, minutes in _OUTBOX(desk.connection):
        if minutes is None:
            yield Finding(f"transfer {number}", "No record for THEBANK.EXT tells of it.")
        else:
            yield Finding(
                f"record {number}",
                f"It says {minutes} minutes, transfer {number} {amount} seconds.",
            )
    for number in _NO_RECORD(desk.connection).scalars():
        yield Finding(f"record {number}", "Transfer and record do not belong together.")


_OF_NO_LINE = Prepared(
    lambda: (
        select(transfers.c.id)
        .join(import_lines, import_lines.c.transfer_id == transfers.c.id, isouter=True)
        .where(transfers.c.kind == "import", import_lines.c.import_id.is_(None))
    )
)


def _lines() -> Query:
    """Choose lines of files that were applied by no transfer of their own, or not read yet."""
    line = import_lines.c
    return (
        select(
            *(line.import_id, line.line, line.transfer_id, transfers.c.kind, line.start),
            imports.c.bytes,
        )
        .select_from(import_lines)
        .join(transfers, transfers.c.id == line.transfer_id, isouter=True)
        .join(imports, imports.c.id == line.import_id, isouter=True)
        .where(line.transfer_id.is_not(None))
        .where(or_(transfers.c.kind.is_distinct_from("import"), line.start >= imports.c.bytes))
    )


_LINES = Prepared(_lines)


def _check_imports(desk: Desk) -> Iterator[Finding]:
    """Compare what was imported with the lines of files that say so."""
    for number in _OF_NO_LINE(desk.connection).scalars():
        yield Finding(f"transfer {number}", "It was imported, and no line of a file tells of it.")
    for number, line, transfer_id, kind, start, read in _LINES(desk.connection):
        where = f"import {number}, line {line}"
        if kind != "import":
            yield Finding(where, f"Transfer {transfer_id}, which it tells of, is not its own.")
        if read is not None and start >= read:
            yield Finding(where, f"It was applied, and the file is read to byte {read} only.")
