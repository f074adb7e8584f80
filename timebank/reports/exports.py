"""The books for other programs as CSV and JSON, written piece by piece.

Amounts are whole numbers of their unit (seconds, or cents of play money), with a readable form next
to them. Instants are ISO 8601 in the board's time zone. docs/guide/books.md describes each field.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from timebank.ledger.reasons import Unread, facts_of
from timebank.ledger.schema import instant
from timebank.ledger.transfers import Balance, Extract
from timebank.reports.statements import (
    COLUMNS,
    PLAY_COLUMNS,
    StatementEntry,
    States,
    amount,
    printable,
)
from timebank.settings.schedule import Schedule

Record = Mapping[str, object]

LEDGER_FIELDS = (
    *("number", "entry", "at", "kind", "amount", "unit", "shown", "from", "from_caller"),
    *("to", "to_caller", "game", "call", "hand", "why", "digest", "generation"),
    *("code", "facts"),  # new fields come last, for programs that read columns by their number
)
ACCOUNT_FIELDS = (
    *("account", "kind", "caller", "caller_number", "deleted", "game"),
    *("amount", "unit", "shown", "frozen", "locked"),
)
# All kinds of account of all units.
HELD = tuple(dict.fromkeys((*COLUMNS, *PLAY_COLUMNS)))
STATEMENT_FIELDS = ("entry", "at", "unit", "change", *HELD, "together", "shown", "what")


def ledger_record(row: Extract, schedule: Schedule) -> Record:
    reason = row.reason
    facts = (None, None) if isinstance(reason, Unread) else (reason.CODE, facts_of(reason))
    shown = amount(row.amount, row.unit)
    values = (
        *(row.number, row.entry, iso(row.at, schedule), row.kind, row.amount, row.unit, shown),
        *(row.source, row.source_caller, row.target, row.target_caller, row.game, row.call_id),
        *(row.round_id, row.why, row.digest, row.generation, *facts),
    )
    return dict(zip(LEDGER_FIELDS, values, strict=True))


def account_record(balance: Balance, states: States) -> Record:
    """Return an account's record. `frozen` and `locked` are its caller's, None without a caller."""
    so = states.get(balance.caller_id or 0, ())
    marks = (None, None) if balance.caller_id is None else ("frozen" in so, "locked" in so)
    owner = (balance.caller, balance.caller_id, balance.deleted, balance.game)
    held = (balance.amount, balance.unit, amount(balance.amount, balance.unit))
    values = (balance.account_id, balance.kind, *owner, *held, *marks)
    return dict(zip(ACCOUNT_FIELDS, values, strict=True))


def statement_record(entry: StatementEntry, schedule: Schedule) -> Record:
    held = (entry.after.get(kind, 0) for kind in HELD)
    values = (
        *(entry.number, iso(entry.at, schedule), entry.unit, entry.change, *held),
        *(entry.balance, amount(entry.balance, entry.unit), entry.what),
    )
    return dict(zip(STATEMENT_FIELDS, values, strict=True))


def iso(at: int, schedule: Schedule) -> str:
    return schedule.local(instant(at)).isoformat()


def as_csv(fields: Sequence[str], records: Iterable[Record]) -> Iterator[str]:
    """Yield records as lines of CSV (RFC 4180, but with LF), after a line with the field names.

    No cell is a formula to a spreadsheet: see `_harmless`.
    """
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\n")
    writer.writerow(fields)
    for record in records:
        yield line.getvalue()
        line.seek(0)
        line.truncate()
        writer.writerow([_plain(record[field]) for field in fields])
    yield line.getvalue()


def _plain(value: object) -> object:
    """Return a cell's value: bools as 0 or 1, which all spreadsheets read, and harmless texts."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, dict):
        value = one_as_json(value)
    return _harmless(value) if isinstance(value, str) else value


# The beginning of a formula (OWASP, "CSV Injection"), also in full-width characters. It counts at
# the start of a cell, and after each character at which a spreadsheet may be set to split cells.
# Spaces and quotes before it do not help.
_FORMULA = re.compile(r"(^|[,;|])(?=[\s\"']*[=+\-@\uff1d\uff0b\uff0d\uff20])")
# Amounts with a sign that this module writes: -5, -0:05:00, -$12.50, -FR 1,000.
_AMOUNT = re.compile(r"[-+]?(?:\$|FR )?[0-9][0-9,.:]*")


def _harmless(text: str) -> str:
    """Put an apostrophe before a formula, so that a spreadsheet shows it as text.

    Control characters become spaces. Amounts stay as they are.

    >>> _harmless("=cmd|' /C calc'!A0"), _harmless("-0:05:00"), _harmless("Jean-Luc")
    ("'=cmd|' /C calc'!A0", '-0:05:00', 'Jean-Luc')
    """
    if _AMOUNT.fullmatch(text):
        return text
    return _FORMULA.sub(r"\1'", printable(text))


def as_json(records: Iterable[Record]) -> Iterator[str]:
    before = "["
    for record in records:
        yield f"{before}\n{one_as_json(record)}"
        before = ","
    yield "[]\n" if before == "[" else "\n]\n"


# A line end here is between values, because those in texts are escaped already.
_UNPRINTABLE = re.compile(r"[^\n\x20-\x7e]")


def one_as_json(record: Record, indent: int | None = None) -> str:
    """Return one record as JSON. Control characters are escaped, so that no content is lost."""
    text = json.dumps(record, ensure_ascii=False, indent=indent, default=str)
    return text if text.isprintable() else _UNPRINTABLE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return match[0] if match[0].isprintable() else json.dumps(match[0])[1:-1]


def books_as_json(
    balances: Iterable[Balance], states: States, rows: Iterable[Extract], schedule: Schedule
) -> Iterator[str]:
    """Yield the books as one JSON object with the arrays "accounts" and "transfers"."""
    yield f'{{"time_zone": {json.dumps(schedule.zone.key)},\n"accounts": '
    yield from as_json(account_record(balance, states) for balance in balances)
    yield ',"transfers": '
    yield from as_json(ledger_record(row, schedule) for row in rows)
    yield "}\n"
