"""The books as text: for the sysop's eye and printer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from timebank.ledger.schema import CALLER_ACCOUNTS, PLAY_ACCOUNTS, instant
from timebank.ledger.sentences import Part, describe
from timebank.ledger.transfers import Balance, Extract
from timebank.settings.schedule import Schedule
from timebank.words import Unit, clock, minutes, money, title

# Where this many digits of hours go, a longer amount pushes its line out and stays readable.
AMOUNT = 12
# Play money has longer ones, with the name of its unit.
PLAY_AMOUNT = 15
# What a caller has; the bank that they face alone is not theirs.
COLUMNS = CALLER_ACCOUNTS
PLAY_COLUMNS = ("bankroll", "stake", "tab")
NOT_THEIRS = "casino"
UNITS: Mapping[Unit, str] = {"usd-cent": "dollars", "frf-cent": "francs"}


def accounts_table(balances: Sequence[Balance]) -> Iterator[str]:
    held: defaultdict[int, dict[str, int]] = defaultdict(dict)
    names: dict[int, str] = {}
    play: dict[tuple[int, Unit], dict[str, int]] = {}
    for balance in balances:
        if balance.caller_id is not None and balance.caller and not balance.deleted:
            names[balance.caller_id] = balance.caller
            if balance.unit == "second":
                held[balance.caller_id][balance.kind] = balance.amount
            else:
                whose = balance.caller_id, balance.unit
                play.setdefault(whose, {})[balance.kind] = balance.amount
    headings = "".join(f"{kind.capitalize():>{AMOUNT}}" for kind in CALLER_ACCOUNTS)
    yield f"{'Caller':<24}{headings}"
    for caller_id, name in names.items():
        amounts = "".join(f"{clock(held[caller_id][kind]):>{AMOUNT}}" for kind in CALLER_ACCOUNTS)
        yield f"{printable(name):<24}{amounts}"
    if not names:
        yield "Nobody has registered yet."
    yield ""
    if play:
        yield from _play_accounts(play, names)
        yield ""
    yield f"{'Account':<36}{'Balance':>{AMOUNT}}"
    for balance in balances:
        if balance.caller_id is None:
            label = balance.kind
            if balance.game is not None:
                label = f"{balance.kind}, {title(balance.game)}"
            yield f"{label:<36}{amount(balance.amount, balance.unit):>{AMOUNT}}"
    totals: defaultdict[Unit, int] = defaultdict(int)
    for balance in balances:
        totals[balance.unit] += balance.amount
    for unit, total in totals.items():
        yield f"{'all accounts together':<36}{amount(total, unit):>{AMOUNT}}"


def limits_table(limits: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Write what callers have set for themselves, names beside clauses; nothing where none has."""
    if limits:
        yield ""
        yield f"{'Limits of their own':<24}"
    for name, sentence in limits:
        yield f"{printable(name):<24}{sentence}"


def _play_accounts(
    play: Mapping[tuple[int, Unit], Mapping[str, int]], names: Mapping[int, str]
) -> Iterator[str]:
    headings = "".join(f"{kind.capitalize():>{PLAY_AMOUNT}}" for kind in PLAY_ACCOUNTS)
    yield f"{'Play money':<24}{headings}"
    for (caller_id, unit), own in play.items():
        amounts = "".join(
            f"{amount(own.get(kind, 0), unit):>{PLAY_AMOUNT}}" for kind in PLAY_ACCOUNTS
        )
        yield f"{printable(names[caller_id]):<24}{amounts}"


def ledger_table(rows: Iterator[Extract], schedule: Schedule) -> Iterator[str]:
    first = next(rows, None)  # before the headings, lest books that cannot be read have any
    yield (
        f"{'Number':>7} {'Entry':>7}  {'When':<19}  {'Caller':<24}{'From':<11}{'To':<11}"
        f"{'Amount':>{AMOUNT}} {'Call':>6} {'Hand':>6}  Why"
    )
    if first is None:
        yield "No transfers."
        return
    for row in chain((first,), rows):
        when = schedule.local(instant(row.at))
        yield (
            f"{row.number:>7} {row.entry:>7}  {when:%Y-%m-%d %H:%M:%S}"
            f"  {printable(row.caller or '-'):<24}{row.source:<11}{row.target:<11}"
            f"{amount(row.amount, row.unit):>{AMOUNT}}"
            f" {row.call_id or '-':>6} {row.round_id or '-':>6}  {printable(row.why)}"
        )


class StatementEntry(NamedTuple):
    """An entry as one caller sees it: what it did to their accounts in one unit.

    `after` are their balances by kind of account once it was made, `change` their sum's change.
    """

    number: int
    # Whole seconds since 1970, UTC.
    at: int
    unit: Unit
    change: int
    after: dict[str, int]
    what: str

    @property
    def balance(self) -> int:
        return sum(self.after.values())


def statement(
    entries: Iterator[list[Extract]], caller_id: int, since: int | None, until: int | None
) -> Iterator[StatementEntry]:
    """Follow a caller's accounts through all their entries, and give those made in time.

    `entries` must begin with their first, so that the balances are right; `since` and `until` are
    whole seconds since 1970, the first included, the second not.
    """
    balances: defaultdict[Unit, dict[str, int]] = defaultdict(dict)
    for rows in entries:
        changes: defaultdict[Unit, int] = defaultdict(int)
        for row in rows:
            for kind, owner, quantity in (
                (row.source, row.source_caller_id, -row.amount),
                (row.target, row.target_caller_id, row.amount),
            ):
                if owner == caller_id:
                    own = balances[row.unit]
                    moved = 0 if kind == NOT_THEIRS else quantity
                    own[kind] = own.get(kind, 0) + moved
                    changes[row.unit] += moved
        at = rows[0].at
        if (since is None or at >= since) and (until is None or at < until):
            for unit, change in changes.items():
                what = _told([row for row in rows if row.unit == unit], caller_id)
                yield StatementEntry(rows[0].entry, at, unit, change, dict(balances[unit]), what)


def _told(rows: Sequence[Extract], caller_id: int) -> str:
    """Say what an entry did to a caller, the time used too."""
    said = printable(describe([_part(row, caller_id) for row in rows]))
    used = sum(row.amount for row in rows if row.kind == "elapsed")
    if used and any(row.kind != "elapsed" for row in rows):
        return f"{said}; {minutes(used)} used"
    return said


def _part(row: Extract, caller_id: int) -> Part:
    other = None
    if row.source_caller_id not in (None, caller_id):
        other = row.source_caller
    elif row.target_caller_id not in (None, caller_id):
        other = row.target_caller
    source = row.source if row.source_caller_id in (caller_id, None) else "other"
    target = row.target if row.target_caller_id in (caller_id, None) else "other"
    return Part(row.reason, row.amount, source, target, other, row.unit)


def in_words(rows: Sequence[Extract]) -> str:
    return "; ".join(printable(row.why) for row in rows)


def statement_table(
    entries: Iterator[StatementEntry], name: str, schedule: Schedule
) -> Iterator[str]:
    """Write a caller's statement: an entry a line, what each account held after it.

    Play money has a table of its own for each unit, behind that of their time.
    """
    first = next(entries, None)
    yield f"Statement of {printable(name)}"
    yield _headings(COLUMNS, AMOUNT)
    if first is None:
        yield "No entries."
        return
    play: dict[Unit, list[StatementEntry]] = {}
    for entry in chain((first,), entries):
        if entry.unit == "second":
            yield _entry_line(entry, COLUMNS, AMOUNT, schedule)
        else:
            play.setdefault(entry.unit, []).append(entry)
    for unit, told in play.items():
        yield ""
        yield f"In {UNITS[unit]}"
        yield _headings(PLAY_COLUMNS, PLAY_AMOUNT)
        for entry in told:
            yield _entry_line(entry, PLAY_COLUMNS, PLAY_AMOUNT, schedule)


def _headings(columns: Sequence[str], width: int) -> str:
    words = ("Change", *map(str.capitalize, columns), "Together")
    return f"{'Entry':>7}  {'When':<19}{''.join(f'{word:>{width}}' for word in words)}  What"


def _entry_line(
    entry: StatementEntry, columns: Sequence[str], width: int, schedule: Schedule
) -> str:
    when = schedule.local(instant(entry.at))
    amounts = [entry.change, *(entry.after.get(kind, 0) for kind in columns), entry.balance]
    shown = "".join(f"{amount(value, entry.unit):>{width}}" for value in amounts)
    return f"{entry.number:>7}  {when:%Y-%m-%d %H:%M:%S}{shown}  {entry.what}"


def amount(quantity: int, unit: Unit) -> str:
    """Write an amount of any unit: time as h:mm:ss, play money with its sign.

    >>> amount(3600, "second"), amount(-1250, "usd-cent")
    ('1:00:00', '-$12.50')
    """
    return clock(quantity) if unit == "second" else money(quantity, unit)


def printable(text: str) -> str:
    r"""Take out of a text what a terminal would obey: others than the sysop have a say in it.

    >>> printable("for you\x1b[2J\n")
    'for you [2J '
    """
    return "".join(letter if letter.isprintable() else " " for letter in text)
