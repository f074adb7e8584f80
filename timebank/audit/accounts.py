"""The audit of the books: every rule of the ledger, checked from the rows up.

The triggers and CHECKs of the schema keep these rules while the books are written. The audit does
not trust them: it reads the rows as if anybody could have edited the file, recomputes everything
that is kept beside them, and names each row that does not fit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from timebank.audit.chain import check_chain
from timebank.audit.finding import Finding
from timebank.audit.generations import check_generations
from timebank.audit.guests import check_hosts
from timebank.audit.loans import check_loans
from timebank.audit.rounds import check_rounds
from timebank.ledger.database import Desk
from timebank.ledger.generations import generations
from timebank.ledger.schema import (
    CALLER_ACCOUNTS,
    GENERATION_TRIGGERS,
    MINT,
    NEVER_NEGATIVE,
    NEVER_POSITIVE,
    PLAY_ACCOUNTS,
    SYSTEM_ACCOUNTS,
    TRIGGERS,
)
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


def _read_accounts(desk: Desk) -> dict[int, _Account]:
    found = desk.connection.exec_driver_sql(
        "SELECT a.id, a.kind, a.unit, a.balance, a.game, c.name, c.id"
        " FROM accounts a LEFT JOIN callers c ON c.id = a.caller_id"
    )
    accounts = {}
    for number, kind, unit, balance, game, name, caller_id in found:
        owner = f" of {name} (caller {caller_id})" if name else f" of {game}" if game else ""
        label = f"account {number} ({kind}{owner})"
        accounts[number] = _Account(label, kind, unit, balance)
    return accounts


def _check_file(desk: Desk) -> Iterator[Finding]:
    run = desk.connection.exec_driver_sql
    for problem in run("PRAGMA integrity_check(100)").scalars():
        if problem != "ok":
            yield Finding("database", f"SQLite says: {problem}.")
    for table, number, parent, _ in run("PRAGMA foreign_key_check"):
        which = "a row" if number is None else f"row {number}"
        yield Finding(f"table {table}", f"In {which}, the {parent} referred to do not exist.")
    for name, sql in {**TRIGGERS, **GENERATION_TRIGGERS}.items():
        stored = run("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).scalar()
        if stored is None:
            yield Finding(f"trigger {name}", "It is missing, so the books are not guarded.")
        elif stored.split() != sql.split():
            yield Finding(f"trigger {name}", "It was changed, so the books are not guarded.")


def _check_transfers(desk: Desk, accounts: dict[int, _Account]) -> Iterator[Finding]:
    """Go through all transfers once, in order, adding them up."""
    run = desk.connection.exec_driver_sql
    entries = _Entries()
    # Numbers that no transfer has, because a restore went past them.
    passed = [range(each.after + 1, each.first) for each in generations(desk.connection)]
    last = 0
    for number, place, size, amount, source_id, target_id in run(
        "SELECT id, place, size, amount, source, target FROM transfers ORDER BY id"
    ):
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
    used = run("SELECT seq FROM sqlite_sequence WHERE name = 'transfers'").scalar()
    yield from _missing(last + 1, used or 0, passed)


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
    for number, name, found in desk.connection.exec_driver_sql(
        "SELECT c.id, c.name, (SELECT count(*) FROM accounts a WHERE a.caller_id = c.id"
        f" AND a.unit = 'second' AND a.kind IN {CALLER_ACCOUNTS}) AS found FROM callers c"
        f" WHERE found <> {len(CALLER_ACCOUNTS)}"
    ):
        yield Finding(f"caller {number}", f"{name} has {found} of {len(CALLER_ACCOUNTS)} accounts.")


# Grants that no day of the caller who got them accounts for.
GRANTS = f"""
SELECT t.id FROM transfers t JOIN accounts g ON g.id = t.target
WHERE (t.kind = 'grant' OR t.source = {ALLOTMENT}) AND NOT EXISTS (
    SELECT 1 FROM days d WHERE d.grant_id = t.id AND d.caller_id = g.caller_id)
AND NOT EXISTS (
    SELECT 1 FROM mended_days m WHERE m.grant_id = t.id AND m.caller_id = g.caller_id)
"""
# Days whose grant is no grant, and callers whose day was never begun.
DAYS = """
SELECT d.caller_id, d.day, d.grant_id FROM days d LEFT JOIN transfers t ON t.id = d.grant_id
WHERE d.grant_id IS NOT NULL AND (t.id IS NULL OR t.kind <> 'grant' OR t.id <= d.after)
"""
# Callers of whose stake more is left of an earlier day than there is on the table.
STANDING = """
SELECT d.caller_id, d.day, d.standing, a.balance FROM days d
JOIN callers c ON c.id = d.caller_id AND c.day = d.day AND c.deleted IS NULL
JOIN accounts a ON a.caller_id = c.id AND a.kind = 'stake' AND a.unit = 'second'
WHERE d.standing > a.balance
"""
LAST_DAYS = """
SELECT c.id, c.day, (SELECT max(d.day) FROM days d WHERE d.caller_id = c.id) AS last
FROM callers c WHERE c.day IS NOT last
"""


def _check_days(desk: Desk) -> Iterator[Finding]:
    run = desk.connection.exec_driver_sql
    for number in run(GRANTS).scalars():
        yield Finding(f"transfer {number}", "It is a grant that no day of its caller accounts for.")
    for caller_id, day, grant_id in run(DAYS):
        yield Finding(
            f"caller {caller_id}", f"The grant of {day} should be transfer {grant_id}, and is not."
        )
    for caller_id, day, standing, stake in run(STANDING):
        yield Finding(
            f"caller {caller_id}",
            f"Of his stake {standing} are left of a day before {day}, and he has staked {stake}.",
        )
    for caller_id, day, last in run(LAST_DAYS):
        yield Finding(f"caller {caller_id}", f"The day last seen is {day}, the last begun {last}.")


CALLS = f"""
SELECT k.id, k.ticked, k.charged, k.waived, coalesce(u.posted, 0)
FROM calls k LEFT JOIN (
    SELECT call_id, sum(amount) AS posted FROM transfers
    WHERE target = {ELAPSED} GROUP BY call_id) u ON u.call_id = k.id
WHERE k.charged <> coalesce(u.posted, 0) OR k.ticked <> k.charged + k.waived
"""


def _check_calls(desk: Desk) -> Iterator[Finding]:
    run = desk.connection.exec_driver_sql
    for number, ticked, charged, waived, posted in run(CALLS):
        yield Finding(
            f"call {number}",
            f"Of {ticked} seconds {charged} were charged and {waived} waived;"
            f" its transfers charge {posted}.",
        )
    for number in run(
        f"SELECT id FROM transfers WHERE target = {ELAPSED} AND call_id IS NULL"
    ).scalars():
        yield Finding(f"transfer {number}", "It charges time used and names no call.")


OUTBOX = """
SELECT t.id, t.amount, o.minutes FROM transfers t LEFT JOIN outbox o ON o.number = t.id
WHERE t.kind = 'external' AND t.amount IS NOT o.minutes * ?
"""


def _check_outbox(desk: Desk) -> Iterator[Finding]:
    run = desk.connection.exec_driver_sql
    for number, amount, minutes in run(OUTBOX, (MINUTE,)):
        if minutes is None:
            yield Finding(f"transfer {number}", "No record for THEBANK.EXT tells of it.")
        else:
            yield Finding(
                f"record {number}",
                f"It says {minutes} minutes, transfer {number} {amount} seconds.",
            )
    for number in run(
        "SELECT o.number FROM outbox o LEFT JOIN transfers t ON t.id = o.number"
        " WHERE t.kind IS NOT 'external'"
    ).scalars():
        yield Finding(f"record {number}", "Transfer and record do not belong together.")


def _check_imports(desk: Desk) -> Iterator[Finding]:
    """Compare what was imported with the lines of files that say so."""
    run = desk.connection.exec_driver_sql
    for number in run(
        "SELECT t.id FROM transfers t LEFT JOIN import_lines l ON l.transfer_id = t.id"
        " WHERE t.kind = 'import' AND l.import_id IS NULL"
    ).scalars():
        yield Finding(f"transfer {number}", "It was imported, and no line of a file tells of it.")
    for number, line, transfer_id, kind, start, read in run(
        "SELECT l.import_id, l.line, l.transfer_id, t.kind, l.start, i.bytes FROM import_lines l"
        " LEFT JOIN transfers t ON t.id = l.transfer_id LEFT JOIN imports i ON i.id = l.import_id"
        " WHERE l.transfer_id IS NOT NULL AND (t.kind IS NOT 'import' OR l.start >= i.bytes)"
    ):
        where = f"import {number}, line {line}"
        if kind != "import":
            yield Finding(where, f"Transfer {transfer_id}, which it tells of, is not its own.")
        if read is not None and start >= read:
            yield Finding(where, f"It was applied, and the file is read to byte {read} only.")
