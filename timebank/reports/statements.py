"""The books as text, for the sysop's screen and printer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from timebank.callers.history import part_of
from timebank.ledger.schema import CALLER_ACCOUNTS, PLAY_ACCOUNTS, instant
from timebank.ledger.sentences import describe
from timebank.ledger.transfers import Balance, Extract
from timebank.reports.tables import Column, Listing, Loud, Piece, Row, figures
from timebank.settings.schedule import Schedule
from timebank.words import Unit, clock, clock_time, money, title

# The least widths of columns: of names, which stay whole, of sentences, and of short words.
NAME, WORDS, SHORT = 24, 20, 10
# Columns of a caller's accounts. The casino that they face is not theirs.
COLUMNS = CALLER_ACCOUNTS
PLAY_COLUMNS = ("bankroll", "stake", "tab")
NOT_THEIRS = "casino"
UNITS: Mapping[Unit, str] = {"usd-cent": "dollars", "frf-cent": "francs"}


States = Mapping[int, Sequence[str]]
"""The states of `callers.states`, by caller."""


def accounts_table(balances: Sequence[Balance], states: States) -> Iterator[Piece]:
    """Yield the table of callers' accounts, then that of the board's accounts if there are any."""
    held: defaultdict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    names: dict[int, str] = {}
    play: dict[tuple[int, Unit], dict[str, int]] = {}
    for balance in balances:
        is_kept = not balance.deleted or balance.amount  # a removed caller has nothing
        if balance.caller_id is not None and balance.caller and is_kept:
            names[balance.caller_id] = balance.caller
            if balance.unit == "second":
                held[balance.caller_id][balance.kind] = balance.amount
            else:
                whose = balance.caller_id, balance.unit
                play.setdefault(whose, {})[balance.kind] = balance.amount
    headings = (
        Column("Caller", least=NAME),
        *(
            Column(kind.capitalize(), right=True, goes={"stake": 1, "held": 2}.get(kind, 0))
            for kind in CALLER_ACCOUNTS
        ),
    )
    rows = [
        (
            *(printable(name), *(clock(held[number][kind]) for kind in CALLER_ACCOUNTS)),
            Loud(", ".join(states.get(number, ()))),
        )
        for number, name in names.items()
    ]
    columns = (*headings, Column("State", least=6))
    yield Listing(columns, rows, "Nobody has registered yet.")
    if play:
        yield ""
        yield _play_accounts(play, names)
    if any(each.caller_id is None for each in balances):
        yield ""
        yield Listing((Column("Account"), *figures("Balance")), list(_of_the_board(balances)), "")


def _of_the_board(balances: Sequence[Balance]) -> Iterator[Row]:
    for balance in balances:
        if balance.caller_id is None:
            label = balance.kind
            if balance.game is not None:
                label = f"{balance.kind}, {title(balance.game)}"
            yield label, amount(balance.amount, balance.unit)
    totals: defaultdict[Unit, int] = defaultdict(int)
    for balance in balances:
        totals[balance.unit] += balance.amount
    for unit, total in totals.items():
        yield "all accounts together", amount(total, unit)


def limits_table(limits: Sequence[tuple[str, str]]) -> Listing:
    """Return the table of callers' own limits: (name, clause) pairs."""
    columns = (Column("Limits of their own", least=NAME), Column("", least=WORDS))
    rows = [(printable(name), sentence) for name, sentence in limits]
    return Listing(columns, rows, "Nobody has set a limit.")


def _play_accounts(
    play: Mapping[tuple[int, Unit], Mapping[str, int]], names: Mapping[int, str]
) -> Listing:
    columns = (
        Column("Play money", least=NAME),
        *figures(*(kind.capitalize() for kind in PLAY_ACCOUNTS)),
    )
    rows = [
        (printable(names[number]), *(amount(own.get(kind, 0), unit) for kind in PLAY_ACCOUNTS))
        for (number, unit), own in play.items()
    ]
    return Listing(columns, rows, "")


LEDGER = (
    *(Column("Number", right=True), Column("Entry", right=True, goes=1), Column("When")),
    *(Column("Caller", least=NAME), Column("From", goes=4), Column("To", goes=4)),
    *(Column("Amount", right=True), Column("Call", right=True, goes=2)),
    *(Column("Hand", right=True, goes=3), Column("Why", least=WORDS)),
)


def ledger_table(rows: Iterable[Extract], schedule: Schedule) -> Listing:
    return Listing(LEDGER, (_ledger_row(row, schedule) for row in rows), "No transfers.")


def _ledger_row(row: Extract, schedule: Schedule) -> Row:
    when = schedule.local(instant(row.at))
    return (
        *(str(row.number), str(row.entry), f"{when:%Y-%m-%d %H:%M:%S}"),
        *(printable(row.caller or "-"), row.source, row.target, amount(row.amount, row.unit)),
        *(str(row.call_id or "-"), str(row.round_id or "-"), printable(row.why)),
    )


class HeldThen(NamedTuple):
    """The balance of a caller's account at some transfer, in its unit."""

    kind: str
    unit: Unit
    amount: int


class StatementEntry(NamedTuple):
    """An entry as one caller sees it: the change of their accounts in one unit.

    `after` has their balances after it, by kind of account. `change` is the change of their sum.
    """

    number: int
    # Whole seconds since 1970, UTC.
    at: int
    unit: Unit
    change: int
    after: dict[str, int]
    what: str
    # Its transfers in this unit.
    rows: Sequence[Extract]

    @property
    def balance(self) -> int:
        return sum(self.after.values())

    @property
    def hand(self) -> int | None:
        """The hand that it belongs to, if any."""
        return next((row.round_id for row in self.rows if row.round_id is not None), None)

    @property
    def used_on(self) -> int | None:
        """The call whose used time it is and nothing else, if it is that."""
        return self.rows[0].call_id if all(row.kind == "elapsed" for row in self.rows) else None


def statement(
    entries: Iterable[Sequence[Extract]], caller_id: int, opening: Iterable[HeldThen] = ()
) -> Iterator[StatementEntry]:
    """Yield a caller's entries. `opening` has the caller's balances before the first of them."""
    balances: defaultdict[Unit, dict[str, int]] = defaultdict(dict)
    for held in opening:
        balances[held.unit][held.kind] = 0 if held.kind == NOT_THEIRS else held.amount
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
        for unit, change in changes.items():
            moves = [row for row in rows if row.unit == unit]
            numbers = rows[0].entry, rows[0].at, unit, change
            what = _describe(moves, caller_id)
            yield StatementEntry(*numbers, dict(balances[unit]), what, moves)


def folded(entries: Iterable[StatementEntry], caller_id: int) -> Iterator[StatementEntry]:
    """Join the entries of a hand, with the time used in it, and the used time of a call.

    `entries` are of one unit. What is said of a hand that ended leaves its bets out.
    """
    lines: list[list[StatementEntry]] = []
    for entry in entries:
        if lines and _goes_on(lines[-1], entry):
            lines[-1].append(entry)
        else:
            lines.append([entry])
    for line in lines:
        rows = [row for entry in line for row in entry.rows]
        is_paid = any(row.source == "stake" for row in rows)
        what = _describe([row for row in rows if row.target != "stake" or not is_paid], caller_id)
        change = sum(entry.change for entry in line)
        yield line[-1]._replace(number=line[0].number, change=change, what=what, rows=rows)


def _goes_on(line: Sequence[StatementEntry], entry: StatementEntry) -> bool:
    first = line[0]
    if entry.used_on is None:
        return entry.hand is not None and entry.hand == first.hand
    if first.hand is None:
        return entry.used_on == first.used_on
    return line[-1].after.get("stake", 0) > 0


def _describe(rows: Sequence[Extract], caller_id: int) -> str:
    """Return the words for a caller's part of an entry, with the time used."""
    used = sum(row.amount for row in rows if row.kind == "elapsed")
    parts = [part_of(row, caller_id) for row in rows]
    if used and len({part.reason for part in parts}) == 1:
        parts = [parts[0]._replace(amount=used)]
    words = printable(describe(parts))
    if used and any(row.kind != "elapsed" for row in rows):
        return f"{words}; {clock_time(used)} used"
    return words


def in_words(rows: Sequence[Extract]) -> str:
    return "; ".join(printable(row.why) for row in rows)


def statement_table(
    entries: Iterator[StatementEntry], name: str, schedule: Schedule
) -> Iterator[Piece]:
    """Yield a caller's statement: one line an entry, with the balances after it.

    Each unit of play money has a table of its own after that of the time.
    """
    play: dict[Unit, list[StatementEntry]] = {}

    def in_time() -> Iterator[Row]:
        for entry in entries:
            if entry.unit == "second":
                yield _entry_row(entry, COLUMNS, schedule)
            else:
                play.setdefault(entry.unit, []).append(entry)

    yield f"Statement of {printable(name)}"
    yield Listing(_columns(COLUMNS), in_time(), "No entries.")
    for unit, own_entries in play.items():
        yield ""
        yield f"In {UNITS[unit]}"
        rows = (_entry_row(entry, PLAY_COLUMNS, schedule) for entry in own_entries)
        yield Listing(_columns(PLAY_COLUMNS), rows, "")


# The columns to drop first in a narrow window: those that are mostly 0 or follow from others.
_GOING = {"stake": 2, "loan": 3, "held": 4, "tab": 3, "online": 5}


def _columns(kinds: Collection[str]) -> tuple[Column, ...]:
    return (
        *(Column("Entry", right=True, goes=1), Column("When"), Column("Change", right=True)),
        *(Column(kind.capitalize(), right=True, goes=_GOING.get(kind, 0)) for kind in kinds),
        *(Column("Together", right=True), Column("What", least=WORDS)),
    )


def _entry_row(entry: StatementEntry, columns: Sequence[str], schedule: Schedule) -> Row:
    when = schedule.local(instant(entry.at))
    amounts = (entry.change, *(entry.after.get(kind, 0) for kind in columns), entry.balance)
    return (
        *(str(entry.number), f"{when:%Y-%m-%d %H:%M:%S}"),
        *(amount(value, entry.unit) for value in amounts),
        entry.what,
    )


def amount(quantity: int, unit: Unit) -> str:
    """Return an amount as text: time as h:mm:ss, play money with its currency.

    >>> amount(3600, "second"), amount(-1250, "usd-cent")
    ('1:00:00', '-$12.50')
    """
    return clock(quantity) if unit == "second" else money(quantity, unit)


def printable(text: str) -> str:
    r"""Return a text with spaces for control characters, which callers may have put into it.

    >>> printable("for you\x1b[2J\n")
    'for you [2J '
    """
    if text.isprintable():  # fast path: exports call this for every cell
        return text
    return "".join(letter if letter.isprintable() else " " for letter in text)
