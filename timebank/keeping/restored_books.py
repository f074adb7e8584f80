"""The treatment of restored books, before a board serves from them.

A copy of the books lacks everything that happened after it was taken. Since then seeds were shown,
hands played to their end, records written, and minutes given back to other boards. So everything
open or under way in the copy is closed or put in doubt:

- shoes are closed: callers have seen their seals, and perhaps their seeds;
- the deal of the day is closed: callers who played it to the end know its cards;
- a running tournament ends without a winner, because its cards may be known and its prizes may have
  been paid in the lost books: entries and the house's share are returned;
- chains of seeds are closed: shoes that the copy lacks were dealt from them;
- hands in play are void and their stakes are returned: their cards may be known;
- calls are closed and charged to their last renewal, and visits of other boards' callers end;
- records for THEBANK.EXT and minutes for a host that were waiting are in doubt: only the sysop can
  find out whether they were delivered;
- recovery codes are void, and no right that was taken away comes back (access.py);
- numbers continue past any that were ever given, in a new generation (generations.py).

`timebank restore` does all this to the copy before it becomes the books. A server that finds books
put in place by hand, which it knows by their mark (live_mark.py), does the same before it serves.
All of it is one transaction.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Integer, Text, bindparam, func, insert, select

from timebank.callers import sysop_log
from timebank.callers.notices import DayAndTime, Value, written
from timebank.calls import calls
from timebank.errors import BooksUnavailable
from timebank.keeping import access, deletion
from timebank.keeping.access import Key, Rights
from timebank.language import N_
from timebank.ledger import generations, schema
from timebank.ledger.database import Database, Desk
from timebank.ledger.generations import NUMBERED, ClosedCounts, Generation
from timebank.ledger.schema import (
    callers,
    chains,
    given_back,
    identity,
    rounds,
    shoes,
    stamp,
    transfers,
)
from timebank.ledger.sql import (
    Prepared,
    Reader,
    change,
    columns_of,
    highest,
    value,
)
from timebank.ledger.sqlite import dialect as sqlite
from timebank.ledger.sqlite import high_water, live_mark
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.ledger.sqlite.live_mark import Note
from timebank.servers import registry
from timebank.settings.settings import BankSettings
from timebank.thebank import bookings
from timebank.wagers import contests, duels, tournaments
from timebank.wagers.rounds import WHY_VOID

BY_HAND = "the board"
HAND_VOID = N_(
    "Your open hand at {game} is void: the board was restored from a backup. {amount} came back"
    " from the table."
)
DOUBT = "the books were restored: it may have gone out after their copy was taken"
# Tables whose numbers callers, sysops and other programs see.
SHOWN_NUMBERS = ("transfers", "rounds", "shoes", "calls", "callers", "imports")
# How far new numbers are ahead of the known ones: more than a board can have given since. The
# distance grows by the second. If one copy is restored twice on machines that do not know of each
# other, the later books begin past all numbers of the earlier.
MIN_NUMBERS_AHEAD = 1_000_000
NUMBERS_AHEAD_PER_SECOND = 100

log = logging.getLogger("timebank")


@dataclass(frozen=True)
class PriorBooks:
    """The known state of the books before a restore.

    `numbers` has the last number given in each table. They are known up to `at` (seconds since
    1970), or completely if `at` is None. `rights` are the callers' rights in the replaced books,
    None if unknown. `commits` is the number of counted transactions (high_water.py).
    """

    generation: int = 1
    numbers: Mapping[str, int] = field(default_factory=dict)
    at: int | None = None
    rights: Mapping[Key, Rights] | None = None
    commits: int = 0

    def merged_with(self, other: PriorBooks) -> PriorBooks:
        """Combine two states. The rights of `other` win if both have them."""
        tables = {*self.numbers, *other.numbers}
        numbers = {
            table: max(self.numbers.get(table, 0), other.numbers.get(table, 0)) for table in tables
        }
        exact = self.at is None or other.at is None
        at = None if exact else max(self.at or 0, other.at or 0)
        rights = self.rights if other.rights is None else other.rights
        commits = max(self.commits, other.commits)
        generation = max(self.generation, other.generation)
        return PriorBooks(generation, numbers, at, rights, commits)

    def firsts(self, now: datetime) -> dict[str, int]:
        """Return the first new number of each table, past all numbers that may have been given."""
        ahead = 0
        if self.at is not None:
            ahead = MIN_NUMBERS_AHEAD + max(0, stamp(now) - self.at) * NUMBERS_AHEAD_PER_SECOND
        return {table: self.numbers.get(table, 0) + ahead + 1 for table in NUMBERED}


@dataclass(frozen=True)
class SettledCopy:
    """The treatment of restored books, for the sysop.

    `files` are files for `timebank import` with minutes that these books lack.
    """

    generation: Generation
    hands: tuple[int, ...]
    records: int
    given_back: int
    files: tuple[Path, ...]
    # Sentences about callers' rights.
    admission: tuple[str, ...]
    # The day of the tournament that was running.
    tournament: date | None = None
    duels: int = 0

    def sentences(self) -> tuple[str, ...]:
        row, firsts = self.generation, self.generation.first_numbers
        sentences = [f"Generation {row.number} of the books begins: {row.why}."]
        if row.shoes:
            whose = "its" if row.shoes == 1 else "their"
            closed = _count(row.shoes, "open shoe")
            sentences.append(f"Closed {closed}: none of {whose} cards is dealt again.")
        if self.hands:
            which = ", ".join(map(str, self.hands))
            stakes = "its stake" if len(self.hands) == 1 else "their stakes"
            word = "hand" if len(self.hands) == 1 else "hands"
            sentences.append(f"Made {word} {which} void, and returned {stakes}.")
        if self.tournament is not None:
            sentences.append(
                f"Ended the tournament of {self.tournament} without a winner: its entries are with"
                " those who paid them."
            )
        if self.duels:
            sentences.append(f"Ended {_count(self.duels, 'duel')}: the stakes are back.")
        if row.calls:
            sentences.append(f"Closed {_count(row.calls, 'call')} that the copy had open.")
        if self.records:
            sentences.append(
                f"{_count(self.records, 'record')} may be in THEBANK.EXT already:"
                " see `timebank outbox`."
            )
        if self.given_back:
            gifts = _count(self.given_back, "gift")
            sentences.append(f"{gifts} may be with other boards already: see `timebank boards`.")
        sentences += [
            f"{path} was read by other books than these: `timebank import` applies it to them."
            for path in self.files
        ]
        sentences += self.admission
        numbers = ", ".join(f"{NUMBERED[table]} {firsts[table]}" for table in SHOWN_NUMBERS)
        sentences.append(f"Numbers go on from: {numbers}.")
        return tuple(sentences)


def _count(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"


_CALLS = schema.calls
_IN_PLAY = Prepared(
    lambda: (
        select(*columns_of(rounds, "id caller_id"))
        .where(rounds.c.settled.is_(None))
        .order_by(rounds.c.id)
    )
)
_OPEN_SHOES: Reader[int] = value(
    lambda: select(func.count()).select_from(shoes).where(shoes.c.closed.is_(None))
)
_OPEN_CALLS: Reader[int] = value(
    lambda: select(func.count()).select_from(_CALLS).where(_CALLS.c.closed.is_(None))
)
_DOUBT_RECORDS = Prepared(
    lambda: change(
        schema.outbox, "mark", schema.outbox.c.state.in_(["waiting", "appending"]), state="doubtful"
    )
)
_DOUBT_GIFTS = Prepared(
    lambda: change(
        given_back, "why changed", given_back.c.state.in_(["waiting", "writing"]), state="doubtful"
    )
)
_CLOSE_SHOES = Prepared(lambda: change(shoes, "closed", shoes.c.closed.is_(None)))
_CLOSE_CHAINS = Prepared(lambda: change(chains, "closed", chains.c.closed.is_(None)))
_LATEST = Prepared(
    lambda: select(
        *(
            select(highest(each)).scalar_subquery()
            for each in (transfers.c.at, _CALLS.c.renewed, identity.c.copied)
        )
    )
)
UNKNOWN_UNDONE = "It is unknown what it undoes: the books cannot be read."
_LATEST_BEFORE: Reader[int | None] = value(
    lambda: select(func.max(transfers.c.at)).where(
        transfers.c.id < select(func.max(schema.generations.c.first)).scalar_subquery()
    )
)
_TELL_ALL = Prepared(
    lambda: insert(schema.notices).from_select(
        ["caller_id", "at", "text"],
        select(callers.c.id, bindparam("at", type_=Integer), bindparam("text", type_=Text))
        .where(callers.c.deleted.is_(None))
        .order_by(callers.c.id),
    )
)


# What a restore undoes: the rows of these tables, in words.
_UNDONE_ROWS = ((transfers, "transfer"), (_CALLS, "call"), (rounds, "hand"), (callers, "caller"))
_UNDONE = Prepared(
    lambda: select(
        *(
            select(func.count())
            .where(each.c.id > bindparam(each.name, type_=Integer))
            .scalar_subquery()
            for each, _ in _UNDONE_ROWS
        ),
        select(func.max(transfers.c.at)).scalar_subquery(),
    )
)
_CALLERS_UNDONE = Prepared(
    lambda: select(callers.c.name).where(callers.c.id > bindparam("callers", type_=Integer))
)


def undone(copy: Desk, run: Callable[..., Iterable[Any]]) -> str:
    """Return a sentence about everything in the books to be replaced that the copy lacks, or "".

    `run` runs a statement on these books.
    """
    books, local = copy.connection, copy.settings.schedule.local
    last = generations.last_numbers(books)
    (row,) = run(_UNDONE, **{each.name: last[each.name] for each, _ in _UNDONE_ROWS})
    counts = [_count(n, word) for n, (_, word) in zip(row, _UNDONE_ROWS, strict=False) if n]
    if not counts:
        return ""
    names = [name for (name,) in run(_CALLERS_UNDONE, callers=last["callers"])]
    listed = f" ({', '.join(names)})" if names else ""
    copied = live_mark.copied_at(books) or _LATEST(books).one()[0]
    since, until = (f"{local(schema.instant(at or 0)):%Y-%m-%d %H:%M}" for at in (copied, row[-1]))
    return f"It undoes {', '.join(counts)}{listed}, from {since} to {until}."


def settle_copy(desk: Desk, given: PriorBooks, by: str, why: str) -> SettledCopy:
    """Close everything open in a restored copy, or put it in doubt, and begin a new generation.

    `given` is the state known from outside the copy. `why` is a clause for the log. The code that
    calls this must set the mark of the copy.
    """
    books = desk.connection
    known = given.merged_with(_known_by_copy(desk, exact=given.at is None))
    in_play = list(_IN_PLAY(books).all())
    closed = ClosedCounts(_OPEN_SHOES.one(books), len(in_play), _OPEN_CALLS.one(books))
    copied = live_mark.copied_at(desk.connection)
    generation = generations.begin(
        desk.connection,
        known.generation + 1,
        known.firsts(desk.now),
        closed,
        desk.now,
        copied,
        by,
        # `why` may contain a file's name, which need not be UTF-8.
        why.encode("utf-8", "backslashreplace").decode(),
    )
    high_water.raise_count(desk.connection, known.commits)
    # Put gifts to hosts in doubt first: the end of a visit without a host would keep them here.
    given_back = _doubt_gifts(desk)
    calls.close_all_calls(desk, "the books were restored")
    registry.remove_all(desk)
    for _, caller_id in in_play:
        deletion.make_void(desk, caller_id, WHY_VOID, HAND_VOID)
    # Then those that the closed calls have made: the lost books may have made them before.
    given_back += _doubt_gifts(desk)
    records = _DOUBT_RECORDS(books, mark=DOUBT).rowcount
    _CLOSE_SHOES(books, closed=stamp(desk.now))
    _CLOSE_CHAINS(books, closed=stamp(desk.now))
    tournament = tournaments.end_restored(desk)
    stopped = duels.end_all(desk, "restored")
    contests.close_all(desk)
    files = bookings.relocate_files(desk)
    _tell_callers(desk, copied)
    admission = tuple(access.restrict(desk, given.rights, by))
    settled_copy = SettledCopy(
        generation,
        tuple(number for number, _ in in_play),
        records,
        given_back,
        files,
        admission,
        None if tournament is None else tournament.day,
        len(stopped),
    )
    for sentence in settled_copy.sentences():
        sysop_log.note(desk, by, None, sentence.rstrip("."))
    return settled_copy


def _known_by_copy(desk: Desk, *, exact: bool) -> PriorBooks:
    """Return the state known from the copy itself. `exact` if the rest is known from elsewhere."""
    connection = desk.connection
    at = max(_LATEST(connection).one())
    numbers = generations.last_numbers(connection)
    return PriorBooks(generations.current(connection), numbers, None if exact else at)


def _doubt_gifts(desk: Desk) -> int:
    """Put all gifts that hosts may have received since in doubt, and return their number."""
    return _DOUBT_GIFTS(desk.connection, why=DOUBT, changed=stamp(desk.now)).rowcount


def _tell_callers(desk: Desk, copied: int | None) -> None:
    schedule = desk.settings.schedule
    state = _LATEST_BEFORE.one(desk.connection) if copied is None else copied
    if state is None:
        return
    was, now = schedule.local(schema.instant(state)), schedule.local(desk.now)
    text = N_(
        "The books of this board were restored on {now}, as they were on {then}. What happened in"
        " between is not in them."
    )
    when: dict[str, Value] = {"now": DayAndTime(_minute(now)), "then": DayAndTime(_minute(was))}
    _TELL_ALL(desk.connection, at=stamp(desk.now), text=written(text, when))


def _minute(local: datetime) -> str:
    return f"{local:%Y-%m-%d %H:%M}"


def prior_by_note(path: Path) -> PriorBooks:
    note, commits = live_mark.read_note(path), high_water.read(path)
    if note is None:
        return PriorBooks(at=0, commits=commits)
    return PriorBooks(note.generation, note.numbers, note.at, commits=commits)


def prior_by_file(old: sqlite3.Connection, path: Path) -> PriorBooks:
    """Return the state of the books to be replaced, which `old` reads.

    It is complete only if these are the books that a board served from last. Damaged books yield an
    empty state.
    """
    try:
        numbers = sqlite.highest_numbers(old, NUMBERED.keys())
        (generation,) = sqlite.run_prepared(old, generations.CURRENT).fetchone()
        identity = sqlite.run_prepared(old, live_mark.IDENTITY).fetchone()
        mark, copied, commits = identity or (live_mark.UNMARKED, None, 0)
        rights = access.rights_in_file(old)
    except sqlite3.DatabaseError:
        return PriorBooks(at=0)
    note = live_mark.read_note(path)
    unmarked = note is None and mark == live_mark.UNMARKED
    is_marked = unmarked or (note is not None and mark in note.marks)
    is_last = copied is None and is_marked and commits >= high_water.read(path)
    known_numbers = {table: number for table, number in numbers.items() if table in NUMBERED}
    # Books that are older than the copy do not know the latest rights.
    at = None if is_last else 0
    if not is_last:
        return PriorBooks(generation, known_numbers, at, commits=commits)
    return PriorBooks(generation, known_numbers, at, rights, commits)


def prior_books_in(desk: Desk) -> PriorBooks:
    """Return the complete state of the books to be replaced, which a board served from last."""
    books = desk.connection
    return PriorBooks(
        generations.current(books),
        generations.last_numbers(books),
        rights=access.rights_in(desk),
        commits=high_water.read_count(books),
    )


def recognise(database: Database, settings: BankSettings, now: datetime) -> SettledCopy | None:
    """Treat the file as restored unless it is the books that a board served from last.

    A process that serves from the file must call this before anything else. Returns the treatment,
    or None if the file is those books. Raises `BooksUnavailable` if either step fails.
    """
    path = _file_of(database)
    if path is None or suspicion(database, settings, now) is None:
        return None
    with _as_unavailable(live_mark.file_path(path)), database.transaction(settings, now) as desk:
        # Another process may have changed the mark, or done all of this, since.
        before, why = live_mark.read_note(path), remark(desk, path)
        if why is None:
            return None
        settled_copy = settle_copy(desk, prior_by_note(path), BY_HAND, why)
        mark = live_mark.new_mark()
        live_mark.set_mark(desk.connection, mark, None)
        # The accepted mark stays valid, because the file is unchanged if the COMMIT fails.
        marks = [mark] if before is None else [*before.marks, mark]
        live_mark.write_note(path, live_mark.note_of(desk.connection, marks, now))
    renew(database, settings, now)
    for sentence in settled_copy.sentences():
        log.warning("%s", sentence)
    return settled_copy


def renew(database: Database, settings: BankSettings, now: datetime) -> str | None:
    """Change the mark of the books, so that earlier copies are recognised as copies.

    Returns None, or a sentence for the sysop if the mark could not be changed.
    """
    path = _file_of(database)
    if path is None:
        return None
    try:
        with _as_unavailable(live_mark.file_path(path)):
            for step in (live_mark.renew, live_mark.settle):
                with database.transaction(settings, now) as desk:
                    if (why := remark(desk, path)) is not None:
                        return f"{why}: close the board, and start it again."
                    step(desk.connection, path, now)
    except BooksUnavailable as error:
        return str(error)
    return None


def take_up(database: Database, settings: BankSettings, now: datetime) -> SettledCopy | None:
    """Call `recognise`, then `renew`, which every process must do before it writes."""
    settled_copy = recognise(database, settings, now)
    if settled_copy is None and (problem := renew(database, settings, now)):
        log.warning("%s A copy of the books put in their place would not be noticed.", problem)
    return settled_copy


def _file_of(database: Database) -> Path | None:
    """Return the file of the books, None for books on a server, which nobody can swap."""
    return database.path if isinstance(database, SqliteDatabase) else None


@contextlib.contextmanager
def _as_unavailable(name: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BooksUnavailable(f"{name} cannot be used: {error.strerror}.") from error


def remark(desk: Desk, path: Path) -> str | None:
    """Return why these are not the books that a board served from last, None if they are.

    Needs a writing transaction. Raises `OSError` if a note cannot be read.
    """
    return _remark(desk, live_mark.read_note(path), high_water.read(path), path)


def suspicion(database: Database, settings: BankSettings, now: datetime) -> str | None:
    """Return the same as `remark` without blocking writers.

    May be wrong while another process changes the mark. Raises `BooksUnavailable` if a note cannot
    be read.
    """
    path = _file_of(database)
    if path is None:
        return None
    # Read the notes first, because other processes may write into the books meanwhile.
    with _as_unavailable(live_mark.file_path(path)):
        note = live_mark.read_note(path)
    with _as_unavailable(high_water.file_path(path)):
        noted = high_water.read(path)
    with database.reading(settings, now) as desk:
        return _remark(desk, note, noted, path)


def _remark(desk: Desk, note: Note | None, noted: int, path: Path) -> str | None:
    why = live_mark.mismatch(desk.connection, note, path)
    return high_water.lost_end(desk.connection, noted, path) if why is None else why


def marked_as_copy(connection: sqlite3.Connection, now: datetime) -> None:
    sqlite.run_prepared(connection, live_mark.MARK_AS_COPY, copied=stamp(now))
