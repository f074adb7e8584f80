"""Make a ledger of today's out of one that was written before the first release.

    python tools/convert_ledger.py OLD NEW

Ledgers of before were of schema 3 or 4 and said in prose why time was moved. NEW holds the same
rows under the same numbers, with facts in place of prose where the prose can be made of them again
letter for letter; where it cannot, the sentence stays as it stands (code "told"). The digests of
the chain are made anew, so note down the one that is printed. OLD is only read, its chain is
followed, and NEW must not be there yet. Close the board before. The result is audited; one that is
not in order is not kept.
"""

from __future__ import annotations

import re
import sqlite3
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, get_args
from zoneinfo import ZoneInfo

from timebank.audit.accounts import audit
from timebank.ledger import chain
from timebank.ledger import reasons as r
from timebank.ledger.generations import Generation
from timebank.ledger.reasons import Cutoff, Reason
from timebank.ledger.schema import BEFORE_RELEASE, metadata
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.ledger.sqlite.dialect import RESULT_TRIGGERS, TRIGGERS
from timebank.ledger.sqlite.migrations import (
    AWARDS_OF_HANDS,
    COUNT_RESULTS,
    COUNT_RESULTS_EVER,
)
from timebank.names import look_alikes
from timebank.settings.settings import BankSettings
from timebank.wagers.play_money import FULL_BANK
from timebank.words import Unit
from tools.sentences_before import end_of_call, sentence

KNOWN = (3, 4)
# Made anew, or not taken along: NEW is no copy of OLD that a board could mistake for it.
ANEW = {
    *("transfers", "generations", "results", "results_ever", "awards", "identity"),
    *("servers", "leases"),
}
# Kinds of transfer by the names that they have now.
RENAMED = {"withdrawal": "withdraw"}
FORFEITED = ": forfeited, this board keeps no time bank"


class CannotConvert(Exception):
    """There is no ledger to convert, or it is not in order; the text says which."""


class Old(NamedTuple):
    """A transfer of OLD with what its facts are made of."""

    number: int
    place: int
    size: int
    at: int
    amount: int
    source_id: int
    target_id: int
    call_id: int | None
    round_id: int | None
    kind: str
    why: str
    unit: Unit
    # Whose accounts it moved; the board of one who is another board's; game and end of its hand.
    giver: str | None
    taker: str | None
    board: str | None
    game: str | None
    outcome: str | None
    digest: str


TRANSFERS = """
SELECT t.id, t.place, t.size, t.at, t.amount, t.source, t.target, t.call_id, t.round_id, t.kind,
       t.why, s.unit, sc.name, gc.name, coalesce(sc.board, gc.board),
       coalesce(r.game, s.game, g.game), r.outcome, t.digest
FROM transfers t JOIN accounts s ON s.id = t.source JOIN accounts g ON g.id = t.target
LEFT JOIN callers sc ON sc.id = s.caller_id LEFT JOIN callers gc ON gc.id = g.caller_id
LEFT JOIN rounds r ON r.id = t.round_id ORDER BY t.id
"""
TOTALS = (COUNT_RESULTS, COUNT_RESULTS_EVER, AWARDS_OF_HANDS)


def convert(old_path: Path, new_path: Path) -> str:
    """Write NEW and say what came of it; raises `CannotConvert`, and leaves no NEW then."""
    if new_path.exists():
        raise CannotConvert(f"{new_path} is there already.")
    with closing(_open(old_path)) as old:
        database = SqliteDatabase(new_path)
        try:
            database.open()
            database.close()
            with closing(sqlite3.connect(new_path, isolation_level=None)) as new:
                told = _fill(old, new)
            findings = _findings(new_path)
            if findings:
                raise CannotConvert("\n".join(["The result is not in order:", *findings]))
        except BaseException:
            for ending in ("", "-wal", "-shm"):
                new_path.with_name(new_path.name + ending).unlink(missing_ok=True)
            raise
    return told


def _open(path: Path) -> sqlite3.Connection:
    """Open OLD for reading, in one transaction."""
    if not path.is_file():
        raise CannotConvert(f"There is no ledger at {path}.")
    old = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        old.execute("BEGIN")
        (program,) = old.execute("PRAGMA application_id").fetchone()
        (version,) = old.execute("PRAGMA user_version").fetchone()
        (state,) = old.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        raise CannotConvert(f"{path} cannot be read: {error}.") from error
    if program != BEFORE_RELEASE or version not in KNOWN:
        raise CannotConvert(f"{path} is no ledger of schema 3 or 4 of before the first release.")
    if state != "ok":
        raise CannotConvert(f"{path} is damaged: {state}.")
    return old


def _fill(old: sqlite3.Connection, new: sqlite3.Connection) -> str:
    new.execute("PRAGMA foreign_keys = OFF")
    new.execute("BEGIN IMMEDIATE")
    # Balances and totals are copied, or added up at the end.
    for trigger in (*TRIGGERS, *RESULT_TRIGGERS):
        new.execute(f"DROP TRIGGER {trigger}")
    new.execute("DELETE FROM accounts")
    for table in sorted(metadata.tables.keys() - ANEW):
        _copy(old, new, table)
    counted = _Counted()
    new.executemany(
        "INSERT INTO transfers (id, place, size, at, amount, source, target, call_id, round_id,"
        f" kind, facts, digest) VALUES ({', '.join('?' * 12)})",
        _chained(old, new, counted),
    )
    for number, behind, board in new.execute(
        "SELECT id, held_behind, board FROM callers WHERE held_behind IS NOT NULL"
    ).fetchall():
        cutoff = _cutoff(behind, board)
        new.execute("UPDATE callers SET held_behind = ? WHERE id = ?", (cutoff.encode(), number))
    for statement in TOTALS:
        new.execute(statement)
    look_alikes.renew(new.execute)
    for name, last in old.execute("SELECT name, seq FROM sqlite_sequence"):
        new.execute("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
        new.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, last))
    for statement in (*TRIGGERS.values(), *RESULT_TRIGGERS.values()):
        new.execute(statement)
    for row in new.execute("PRAGMA foreign_key_check"):
        raise CannotConvert(f"Row {row[1]} of {row[0]} refers to no row of {row[2]}.")
    new.execute("COMMIT")
    new.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (
        f"{counted.rows} transfers are in the new ledger, {counted.told} of them with the sentence"
        f" as it stood. The last digest is {counted.digest}."
    )


def _copy(old: sqlite3.Connection, new: sqlite3.Connection, table: str) -> None:
    """Copy the columns that a table had; the others keep what is meant where nothing is known."""
    there = {name for _, name, *_ in old.execute(f"PRAGMA table_info({table})")}
    here = [name for _, name, *_ in new.execute(f"PRAGMA table_info({table})") if name in there]
    if here:
        names = ", ".join(f'"{name}"' for name in here)
        new.executemany(
            f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(here))})",
            old.execute(f"SELECT {names} FROM {table}"),
        )


class _Counted:
    """How far the chain has come; `before` is where that of OLD has."""

    rows = told = 0
    digest = before = chain.GENESIS

    def follow(self, what: str, made: str, stands: str) -> None:
        """Go on in the chain of OLD: what was tampered with must not be sealed anew."""
        if made != stands:
            raise CannotConvert(f"The old ledger is not in order: {what} does not fit the chain.")
        self.before = stands


def _chained(
    old: sqlite3.Connection, new: sqlite3.Connection, counted: _Counted
) -> Iterator[tuple[object, ...]]:
    """Give every transfer with its facts and its digest; generations are written on the way."""
    to_come = deque(_generations(old))
    for found in map(Old._make, old.execute(TRANSFERS)):
        while to_come and to_come[0].first <= found.number:
            _begin(new, to_come.popleft(), counted)
        made = chain.digest(counted.before, *found[:9], found.kind, found.why)
        counted.follow(f"transfer {found.number}", made, found.digest)
        reason = reason_of(found)
        kind, facts = reason.kind, r.encode(reason)
        counted.digest = chain.digest(counted.digest, *found[:9], kind, facts)
        counted.rows += 1
        counted.told += isinstance(reason, r.Told)
        yield (*found[:9], kind, facts, counted.digest)
    while to_come:
        _begin(new, to_come.popleft(), counted)


def _generations(old: sqlite3.Connection) -> list[Generation]:
    if not list(old.execute("PRAGMA table_info(generations)")):
        return []
    names = ", ".join(f'"{name}"' for name in Generation._fields)
    rows = old.execute(f"SELECT {names} FROM generations ORDER BY number")
    return [Generation(*row) for row in rows]


def _begin(new: sqlite3.Connection, generation: Generation, counted: _Counted) -> None:
    made = generation.made(counted.before)
    counted.follow(f"generation {generation.number}", made, generation.digest)
    counted.digest = generation.made(counted.digest)
    names = ", ".join(f'"{name}"' for name in Generation._fields)
    new.execute(
        f"INSERT INTO generations ({names}) VALUES ({', '.join('?' * len(Generation._fields))})",
        generation._replace(digest=counted.digest),
    )


def reason_of(old: Old) -> Reason:
    """Give the facts of which the sentence can be made again, or the sentence as it stands."""
    for reason in _guesses(old):
        if sentence(reason, old.amount, old.unit) == old.why:
            return reason
    return r.Told(RENAMED.get(old.kind, old.kind), old.why)


def _guesses(old: Old) -> Iterator[Reason]:
    """Give reasons that the sentence may have been made of; most of them it was not."""
    find = _FINDERS.get(old.kind)
    if find is not None:
        yield from find(old)
    elif old.game is not None:
        yield r.BetRaised(old.kind, old.game)


def _used(old: Old) -> Iterator[Reason]:
    if node := re.match(r"Time used on node (\d+)", old.why):
        yield r.Used(int(node[1]))
        yield r.Waited(int(node[1]), old.board or "")


def _of_day(*makers: Callable[[str], Reason]) -> Callable[[Old], Iterator[Reason]]:
    def find(old: Old) -> Iterator[Reason]:
        for day in re.findall(r"\d{4}-\d\d-\d\d", old.why):
            for make in makers:
                yield make(day)

    return find


def _forfeited(old: Old) -> Iterator[Reason]:
    yield r.OldStake()
    yield from _of_day(r.LeftOfDay)(old)


def _earned(old: Old) -> Iterator[Reason]:
    for banked in (True, False):
        yield from _of_day(lambda day, banked=banked: r.Earned(day, banked))(old)  # type: ignore[misc]


def _cutoff(text: str, board: str | None) -> Cutoff:
    """Read the name and the time of an event; `board` is that of a caller of another one."""
    named = re.fullmatch(r"(.*) at (\d\d:\d\d)", text, re.S)
    name, at = (named[1], named[2]) if named else (text, "")
    if board is not None and name == end_of_call(board):
        return Cutoff(board, at, host=True)
    return Cutoff(name, at, host=False)


def _released(old: Old) -> Iterator[Reason]:
    yield r.Released(*_cutoff(old.why.partition(" back after ")[2], old.board))


def _held(old: Old) -> Iterator[Reason]:
    event = old.why.partition(" more after ")[2]
    # First: left in the event, these words would make the same sentence.
    of_another_day = event.removesuffix(", on another day")
    yield r.HeldBack(*_cutoff(of_another_day, old.board), another_day=True)
    yield r.HeldBack(*_cutoff(event, old.board), another_day=False)


def _clamped(old: Old) -> Iterator[Reason]:
    event = old.why.partition(" won past ")[2]
    for banked, done in (
        (True, ": put in the bank"),
        (False, FORFEITED),
    ):
        yield r.Clamped(*_cutoff(event.removesuffix(done), old.board), banked)


def _shared(old: Old) -> Iterator[Reason]:
    yield r.LoanShare(None)
    yield from _of_day(r.LoanShare)(old)


def _paid(old: Old) -> Iterator[Reason]:
    yield r.PaidFromBank()
    yield from (r.PaidOfOwn(total) for total in _spans(old.why)[:1])


def _spans(text: str) -> list[int]:
    """Find the lengths of time in a sentence, in seconds."""
    found = re.finditer(r"(?:(\d+) minutes?)?(?: ?(\d+) seconds?)?", text)
    return [60 * int(each[1] or 0) + int(each[2] or 0) for each in found if each[0].strip()]


def _deposited(old: Old) -> Iterator[Reason]:
    yield r.Deposited(at_log_off=False)
    yield r.Deposited(at_log_off=True)


def _transferred(old: Old) -> Iterator[Reason]:
    giver, taker = old.giver or "", old.taker or ""
    message = old.why.partition(f" to {taker}")[2]
    yield r.Sent(giver, taker, message.removeprefix(': "').removesuffix('"'))
    by, colon, note = old.why.partition(f" to {taker} by ")[2].partition(": ")
    if colon:
        yield r.SysopMoved(giver, taker, by, note)


def _adjusted(old: Old) -> Iterator[Reason]:
    said = re.fullmatch(r".*? (?:added|taken out|deposited|withdrawn) by (.*?): (.*)", old.why)
    if said:
        yield from (make(said[1], said[2]) for make in get_args(r.Adjustment))


def _settled(make: Callable[[str, str], Reason]) -> Callable[[Old], Iterator[Reason]]:
    def find(old: Old) -> Iterator[Reason]:
        said = re.search(r" \(([^()]*)\)$", old.why)
        for outcome in (old.outcome or "", said[1].replace(" ", "-") if said else ""):
            yield make(old.game or "", outcome)

    return find


def _deleted(old: Old) -> Iterator[Reason]:
    name = old.why.partition(" was deleted")[0]
    yield r.Deleted(name, in_hand=False)
    yield r.Deleted(name, in_hand=True)


def _brought(old: Old) -> Iterator[Reason]:
    yield r.BroughtIn(old.board or "")
    yield r.Counted(old.board or "")


def _gained(old: Old) -> Iterator[Reason]:
    for total in _spans(old.why)[:1]:
        for banked in (None, True, False):
            yield r.Gained(old.board or "", total, banked)


def _kept(old: Old) -> Iterator[Reason]:
    yield r.Kept(old.board or "", banked=True)
    # What was forfeited moved no account of a caller.
    _, _, said = old.why.partition(" be given back to ")
    yield r.Kept(said.removesuffix(FORFEITED), banked=False)


def _put_back(old: Old) -> Iterator[Reason]:
    board, (total, beyond, most, *_) = old.board or "", [*_spans(old.why), 0, 0, 0]
    for frozen in (False, True):
        yield r.PutBack(board, total, beyond, most, frozen)


def _imported(old: Old) -> Iterator[Reason]:
    said = re.fullmatch(
        r".*? (from|taken by) (.*) \((.*), line (\d+) of import (\d+)(?:, record (-?\d+))?\)",
        old.why,
        re.S,
    )
    if said:
        make = r.CameIn if said[1] == "from" else r.TakenOut
        record = None if said[6] is None else int(said[6])
        yield make(said[2], said[3], int(said[4]), int(said[5]), record)


def _always(*reasons: Reason) -> Callable[[Old], Iterator[Reason]]:
    return lambda old: iter(reasons)


_FINDERS: dict[str, Callable[[Old], Iterator[Reason]]] = {
    "elapsed": _used,
    "grant": _of_day(r.Granted),
    "forfeit": _forfeited,
    "carry": _earned,
    "release": _released,
    "held": _held,
    "clamp": _clamped,
    "mend": _always(r.Mended()),
    "loan share": _shared,
    "loan paid": _paid,
    "external": _always(r.PassedOn()),
    "import": _imported,
    "deposit": _deposited,
    "withdraw": _always(r.Withdrawn()),
    "withdrawal": _always(r.Withdrawn()),
    "transfer": _transferred,
    "loan": _always(r.Borrowed()),
    "repay": _always(r.Repaid()),
    "adjust": _adjusted,
    "deletion": _deleted,
    "stake": lambda old: iter([r.BetPlaced(old.game or "")]),
    "lost": _settled(r.Lost),
    "returned": _settled(r.Returned),
    "won": _settled(r.Won),
    "bankroll": _always(r.Bankroll()),
    "renewal": _of_day(r.Renewed),
    "casino": _always(r.Refilled(FULL_BANK)),
    "brought": _brought,
    "taken home": lambda old: iter([r.TakenHome(old.board or "")]),
    "given back": lambda old: iter([r.GivenBack(old.board or "")]),
    "gain": _gained,
    "kept": _kept,
    "put back": _put_back,
}


def _findings(path: Path) -> list[str]:
    """Audit the result, for which no setting matters."""
    settings = BankSettings(ZoneInfo("UTC"), (), 1, "built-in", None, path)
    database = SqliteDatabase(path)
    try:
        with database.reading(settings, datetime.now(UTC)) as desk:
            return [str(finding) for finding in audit(desk)]
    finally:
        database.close()


def main(words: list[str]) -> int:
    """Convert, and say what came of it."""
    if len(words) != 2:
        print("usage: python tools/convert_ledger.py OLD NEW", file=sys.stderr)
        return 2
    try:
        print(convert(Path(words[0]), Path(words[1])))
    except CannotConvert as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
