"""The audit of the books: every rule of the ledger, checked from the rows up.

The triggers and CHECKs of the schema keep these rules while the books are written. The audit does
not trust them: it reads the rows as if anybody could have edited the file, recomputes everything
that is kept beside them, and names each row that does not fit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, bindparam, exists, func, or_, select

from timebank.audit import callers as people
from timebank.audit import days
from timebank.audit.chain import ROWS, Chain, check_generations, discontinued
from timebank.audit.checkpoints import CheckedAccount, Checkpoint, digest_of_balances
from timebank.audit.earned import check_earned
from timebank.audit.findings import BEGINNING, Check, Finding, Since, bound, chosen, each_is_wrong
from timebank.audit.guests import check_hosts
from timebank.audit.loans import check_loans
from timebank.audit.rounds import check_rounds
from timebank.audit.tournaments import check_tournaments
from timebank.audit.traces import log_reaches
from timebank.audit.waived import Emptiness, check_waived
from timebank.ledger import dialects, schema
from timebank.ledger.database import Desk
from timebank.ledger.generations import generations
from timebank.ledger.schema import callers, import_lines, imports, outbox, transfers
from timebank.ledger.sql import Prepared, Query, Reader, value
from timebank.words import MINUTE

_ALLOTMENT, ELAPSED, *_ = schema.SYSTEM_ACCOUNTS
# The kinds of account that hold play money, and those of them that hold time too.
FOR_PLAY = frozenset({*schema.PLAY_ACCOUNTS, schema.MINT})
FOR_BOTH = frozenset({"stake", "house"})


class Mark(NamedTuple):
    """What a checkpoint is to say, where it is not known before its rows are read."""

    # The last transfer before it, the first call that was open then, and what accounts held.
    last: int
    call: int
    balances: str


class Task(NamedTuple):
    """What an audit is to do: check everything, or what came after a checkpoint.

    `since_digest` is that of the last transfer (`ledger.head`) as noted down from an earlier audit,
    in whole: the books must continue the ones that it ended. `mark` is of the checkpoint that is
    made of it, if any is.
    """

    since_digest: str | None = None
    checkpoint: Checkpoint | None = None
    mark: Mark | None = None

    @property
    def since(self) -> Since:
        return BEGINNING if self.checkpoint is None else self.checkpoint.bounds


class PartFound(NamedTuple):
    """What a part of an audit found; the rows say where those of a checkpoint begin as well."""

    findings: list[Finding]
    # The first transfer of a call from that of the mark on, None without any.
    first_row: int | None = None


def audit(desk: Desk, since_digest: str | None = None) -> list[Finding]:
    """Check the books and name every row that is off; an empty list when all is well."""
    return check(desk, Task(since_digest)).findings


def check(desk: Desk, task: Task) -> PartFound:
    """Do what an audit is to do, one part after the other."""
    if task.checkpoint is not None:
        apart = list(discontinued(desk, task.checkpoint))
        if apart:
            return PartFound(apart)
    return together(part(desk, task) for part in PARTS.values())


def together(parts: Iterable[PartFound]) -> PartFound:
    """Put together what the parts have found, in their order."""
    findings: list[Finding] = []
    first_row: int | None = None
    for found in parts:
        findings += found.findings
        first_row = first_row if found.first_row is None else found.first_row
    return PartFound(findings, first_row)


class _Account:
    """An account as the books keep it, and as its rows add up to it."""

    __slots__ = ("empty", "kept", "kind", "label", "least", "most", "of", "recomputed", "unit")

    def __init__(
        self, label: str, kind: str, unit: str, kept: int, of: tuple[int | None, str | None]
    ) -> None:
        self.label = label
        # The number of its caller, and its game.
        self.of = of
        self.kind = kind
        self.unit = unit
        self.kept = kept
        self.recomputed = 0
        # When it was empty, if it is a caller's `online`.
        self.empty: Emptiness | None = None
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
        .order_by(_ACCOUNTS.c.id)
    )
)


def _read_accounts(desk: Desk) -> dict[int, _Account]:
    accounts = {}
    for number, kind, unit, balance, game, name, caller_id in _ALL_ACCOUNTS.long(desk.connection):
        owner = f" of {name} (caller {caller_id})" if name else f" of {game}" if game else ""
        label = f"account {number} ({kind}{owner})"
        accounts[number] = _Account(label, kind, unit, balance, (caller_id, game))
    return accounts


def _begin_with(checkpoint: Checkpoint, accounts: dict[int, _Account]) -> Iterator[Finding]:
    """Let accounts hold what they held at a checkpoint, and name those that are others now."""
    known = {each.id: each for each in checkpoint.accounts}
    for number, then in known.items():
        account = accounts.get(number)
        if account is None:
            yield Finding(f"account {number}", f"It was there at the checkpoint ({then.kind}).")
            continue
        account.recomputed = then.balance
        now = CheckedAccount(number, account.kind, *account.of, account.unit, then.balance)
        if now != then:
            was = ", ".join(str(each) for each in then[1:5] if each is not None)
            yield Finding(account.label, f"At the checkpoint it was another one: {was}.")
    for number, account in accounts.items():
        if number not in known and number <= checkpoint.last_account:
            yield Finding(account.label, "It was not there at the checkpoint, for all its number.")


def _check_file(desk: Desk, since: Since) -> Iterator[Finding]:
    """See whether the books are guarded, and their file is whole; or what new rows refer to."""
    engine = dialects.of(desk.connection)
    if since.is_the_beginning:
        yield from _check_whole_file(desk)
    else:
        for check in (_no_call, _no_hand):
            yield from check(desk, since)
    for name, is_there in engine.unguarded(desk.connection):
        what = "was changed" if is_there else "is missing"
        yield Finding(f"trigger {name}", f"It {what}, so the books are not guarded.")


def _check_whole_file(desk: Desk) -> Iterator[Finding]:
    engine = dialects.of(desk.connection)
    for problem in engine.damages(desk.connection):
        yield Finding("database", f"{engine.NAME} says: {problem}.")
    for table, number, parent in engine.broken_references(desk.connection):
        which = "a row" if number is None else f"row {number}"
        yield Finding(f"table {table}", f"In {which}, the {parent} referred to do not exist.")


def _of_none(column: ColumnElement[int | None], key: ColumnElement[int]) -> Query:
    """Choose transfers that name what there is not."""
    there = exists().where(key == column)
    return select(transfers.c.id, column).where(
        transfers.c.id > bound("row"), column.is_not(None), ~there
    )


@each_is_wrong("transfer {}", "The call {1} referred to does not exist.")
def _no_call() -> Query:
    return _of_none(transfers.c.call_id, schema.calls.c.id)


@each_is_wrong("transfer {}", "The hand {1} referred to does not exist.")
def _no_hand() -> Query:
    return _of_none(transfers.c.round_id, schema.rounds.c.id)


def _check_rows(desk: Desk, task: Task) -> PartFound:
    """Go through the transfers once, along the chain and from account to account."""
    accounts = _read_accounts(desk)
    begin = task.checkpoint
    others = [] if begin is None else list(_begin_with(begin, accounts))
    chain = Chain(desk, task.since_digest, begin)
    rows = _Rows(desk, accounts, 0 if begin is None else begin.last)
    marking = None if task.mark is None else _Marking(desk, task.mark, task.since, accounts)
    every = chain.follow(chosen(ROWS, desk, task.since))
    if marking is not None:
        every = marking.follow(every)
    rows.follow(every)
    chain.end()
    rows.end(dialects.of(desk.connection).given_numbers(desk.connection).get("transfers", 0))
    online = {each.of[0]: each.empty for each in accounts.values() if each.empty and each.of[0]}
    found = [
        *(*others, *chain.findings, *check_generations(desk, task.since)),
        *(*rows.findings, *_check_accounts(accounts)),
        *check_waived(desk, task.since, online),
    ]
    if marking is None or found:  # balances that are wrong are told already
        return PartFound(found)
    return PartFound(list(marking.end()), marking.first_row)


_FIRST_ROW: Reader[int | None] = value(
    lambda: select(func.min(transfers.c.id)).where(
        transfers.c.id.between(bindparam("first"), bindparam("last")),
        transfers.c.call_id >= bindparam("call"),
    )
)


class _Marking:
    """Watches what a checkpoint is to say go by, before each row is taken."""

    def __init__(self, desk: Desk, mark: Mark, since: Since, accounts: dict[int, _Account]) -> None:
        # Of calls that were open at the checkpoint before already, there are rows before it.
        self.first_row: int | None = _FIRST_ROW.one(
            desk.connection, first=since.first_row, last=mark.last, call=mark.call
        )
        self._mark = mark
        self._accounts = accounts
        self._held: str | None = None

    def follow(self, rows: Iterator[Sequence[Any]]) -> Iterator[Sequence[Any]]:
        """Give rows on, and see what accounts hold where those of the checkpoint end."""
        for row in rows:
            if row[0] > self._mark.last:
                self._hold()
                yield row
                break
            yield row
        yield from rows

    def end(self) -> Iterator[Finding]:
        if self._held is None:
            self._hold()
        if self._held != self._mark.balances:
            said = "The balances were others when the audit began: somebody wrote past the books."
            yield Finding(f"transfer {self._mark.last}", said)

    def _hold(self) -> None:
        balances = ((number, account.recomputed) for number, account in self._accounts.items())
        self._held = digest_of_balances(balances)


class _Rows:
    """Follows the transfers through their entries and accounts; `findings` are what is off."""

    def __init__(self, desk: Desk, accounts: dict[int, _Account], last: int) -> None:
        """Begin after the transfer with the number `last`."""
        self.findings: list[Finding] = []
        self._accounts = accounts
        # Numbers that no transfer has, because a restore went past them.
        self._passed = [range(each.after + 1, each.first) for each in generations(desk.connection)]
        self._entries = _Entries()
        self._last: Any = last
        for account in accounts.values():
            if account.kind == "online":
                account.empty = Emptiness(is_empty=account.recomputed == 0)

    def follow(self, rows: Iterable[Sequence[Any]]) -> None:
        """Take rows whose values are those of `Written`. There are millions, so what nearly all of
        them pass is in line here."""
        find, goes_on = self._accounts.get, self._entries.goes_on
        for number, place, size, at, amount, source_id, target_id, call, _, kind, _, _ in rows:
            if number != self._last + 1:
                self.findings += _missing(self._last + 1, number - 1, self._passed)
            self._last = number
            if not goes_on(place, size):
                self.findings += self._entries.begin(number, place, size)
            source, target = find(source_id), find(target_id)
            if source is None or target is None:
                self._tell(number, "It moves time of an account that does not exist.")
                continue
            if not isinstance(amount, int):
                self._tell(number, f"Its amount is {amount!r}, which is not a number.")
                continue
            if amount <= 0 or source is target:
                self._tell(number, f"It moves {amount} from {source.label} to {target.label}.")
            if source.unit != target.unit:
                self._tell(number, f"It turns one {source.unit} into one {target.unit}.")
            left = source.recomputed = source.recomputed - amount
            if not left and source.empty is not None:
                source.empty.begin(call, self._entries.first, is_charge=kind == "elapsed")
            if not source.least <= left <= source.most and source.fits(left + amount):
                self._tell(number, f"It leaves {left} in {source.label}.")
            has = target.recomputed = target.recomputed + amount
            if has == amount and target.empty is not None:
                target.empty.end(call, self._entries.first, at, kind)
            if not target.least <= has <= target.most and target.fits(has - amount):
                self._tell(number, f"It leaves {has} in {target.label}.")

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

    __slots__ = ("first", "seen", "size")

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
        self.first, self.size, self.seen = number, 0, 0
        if not (isinstance(place, int) and isinstance(size, int)):
            said = f"It is row {place!r} of {size!r} of an entry: these are not numbers."
            yield Finding(f"transfer {number}", said)
            return
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


def _check_accounts(accounts: dict[int, _Account]) -> Iterator[Finding]:
    totals: defaultdict[str, int] = defaultdict(int)
    for account in accounts.values():
        if not isinstance(account.kept, int):
            said = f"Its balance is {account.kept!r}, which is not a number."
            yield Finding(account.label, said)
            continue
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


_charged_otherwise = each_is_wrong(
    "call {}",
    "Of {1} seconds {2} were charged and {3} waived; its transfers charge {4}.",
)


def _charges(these: ColumnElement[bool], rows: ColumnElement[bool]) -> Query:
    """Choose those of some calls that say they were charged otherwise than by some transfers."""
    used = (
        select(transfers.c.call_id, func.sum(transfers.c.amount).label("posted"))
        .where(transfers.c.target == ELAPSED, rows)
        .group_by(transfers.c.call_id)
        .subquery()
    )
    call, posted = schema.calls.c, func.coalesce(used.c.posted, 0)
    return (
        select(call.id, call.ticked, call.charged, call.waived, posted)
        .select_from(schema.calls)
        .join(used, used.c.call_id == call.id, isouter=True)
        .where(these)
        .where(or_(call.charged != posted, call.ticked != call.charged + call.waived))
    )


@_charged_otherwise
def _calls() -> Query:
    return _charges(schema.calls.c.id >= bound("call"), transfers.c.id >= bound("first_row"))


_CHARGED_LATE = Prepared(
    lambda: (
        select(transfers.c.call_id)
        .where(transfers.c.target == ELAPSED, transfers.c.id > bound("row"))
        .where(transfers.c.call_id < bound("call"))
        .distinct()
        .order_by(transfers.c.call_id)
    )
)


def _check_charged_late(desk: Desk, since: Since) -> Iterator[Finding]:
    """See to calls that were over at a checkpoint, and were charged after it."""
    if since.is_the_beginning:
        return
    for (number,) in list(chosen(_CHARGED_LATE, desk, since)):
        yield Finding(f"call {number}", "It was over at the checkpoint, and was charged after it.")


@each_is_wrong("transfer {}", "It charges time used and names no call.")
def _of_no_call() -> Query:
    return select(transfers.c.id).where(
        transfers.c.target == ELAPSED,
        transfers.c.call_id.is_(None),
        transfers.c.id > bound("row"),
    )


def _outbox(tells: ColumnElement[bool]) -> Query:
    row = transfers.c
    return (
        select(row.id, row.amount, outbox.c.minutes)
        .select_from(transfers)
        .join(outbox, outbox.c.number == row.id, isouter=True)
        .where(row.kind == "external", tells, row.id > bound("row"))
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
        .where(transfers.c.kind.is_distinct_from("external"), outbox.c.number > bound("row"))
    )


@each_is_wrong("record {}", "It waits for {1}, and its minutes were those of {2}.")
def _of_another_name() -> Query:
    """Choose records on their way under a name that its caller neither has nor had since."""
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


@each_is_wrong("transfer {}", "It was imported, and no line of a file tells of it.")
def _of_no_line() -> Query:
    return (
        select(transfers.c.id)
        .join(import_lines, import_lines.c.transfer_id == transfers.c.id, isouter=True)
        .where(transfers.c.kind == "import", import_lines.c.import_id.is_(None))
        .where(transfers.c.id > bound("row"))
    )


def _lines(wrong: ColumnElement[bool]) -> Query:
    line = import_lines.c
    return (
        select(*(line.import_id, line.line, line.transfer_id), imports.c.bytes)
        .select_from(import_lines)
        .join(transfers, transfers.c.id == line.transfer_id, isouter=True)
        .join(imports, imports.c.id == line.import_id, isouter=True)
        .where(line.transfer_id > bound("row"), wrong)
    )


@each_is_wrong("import {}, line {}", "Transfer {2}, which it tells of, is not its own.")
def _lines_of_others() -> Query:
    return _lines(transfers.c.kind.is_distinct_from("import"))


@each_is_wrong("import {}, line {}", "It was applied, and the file is read to byte {3} only.")
def _lines_not_read() -> Query:
    return _lines(import_lines.c.start >= imports.c.bytes)


CHECKS: tuple[Check, ...] = (
    *(_incomplete, *days.CHECKS, check_earned, _calls, _of_no_call),
    _check_charged_late,
    *(_of_no_record, _of_another_record, _of_another_name, _of_no_transfer, _of_no_line),
    *(_lines_of_others, _lines_not_read, *people.CHECKS),
    *(check_hosts, check_loans, check_tournaments),
)


def _check_the_rest(desk: Desk, since: Since) -> Iterator[Finding]:
    for check in CHECKS:
        yield from check(desk, since)


def _part(check: Check) -> Callable[[Desk, Task], PartFound]:
    return lambda desk, task: PartFound(list(check(desk, task.since)))


# What of the audit can be done beside the others, in the order in which findings are told. The
# rows take the most time, and then the hands.
PARTS: Mapping[str, Callable[[Desk, Task], PartFound]] = {
    "rows": _check_rows,
    "hands": _part(check_rounds),
    "file": _part(_check_file),
    "rest": _part(_check_the_rest),
}
