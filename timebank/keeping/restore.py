"""What becomes of books that were put back to an earlier state, before anything is dealt from them.

A copy of the books knows nothing of what happened after it was taken. Seeds were shown since, hands
played to their end, records written, minutes given back to other boards. So whatever was open or on
its way in the copy is closed or in doubt:

- shoes are closed: their seals were seen, their seeds may have been;
- the deal of the day is closed: somebody may have played it to its end, and would know its cards;
- a tournament that runs ends without a winner, for the same reason, and because its prizes may have
  been paid in the books that are gone: entries go back, and what the house has put in;
- chains of seeds are closed: shoes that the copy knows nothing of were dealt from them;
- hands in play are void, and what stood on the table is returned: their cards may be known;
- calls are closed and charged to their last renewal, visits of other boards' callers end;
- what waited for THEBANK.EXT or for a host is doubtful: only the sysop can tell whether it went;
- events that were started early are those of the books that are replaced, where they can tell;
- recovery codes are void, and nothing that was taken away since comes back (access.py);
- numbers go on past any that were ever given, in a new generation (generations.py).

`timebank restore` does it to the copy before that takes the place of the books. Books that somebody
put in place by hand are known by their mark (live_mark.py), and whoever would serve from them does
the same first. All of it is one transaction.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from sqlalchemy import Integer, Text, bindparam, delete, func, insert, select

from timebank.callers import sysop_log
from timebank.callers.notices import Amount, GameNamed, tell_hand, written
from timebank.calls import calls
from timebank.errors import BooksUnavailable
from timebank.guests.departure import leave_without_call
from timebank.keeping import access
from timebank.keeping.access import Key, Rights
from timebank.language import N_
from timebank.ledger import generations, schema
from timebank.ledger.database import Database, Desk
from timebank.ledger.entries.posting import Posting
from timebank.ledger.generations import NUMBERED, ClosedWithCopy, Generation
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
    insert_into,
    value,
)
from timebank.ledger.sqlite import dialect as sqlite
from timebank.ledger.sqlite import high_water, live_mark
from timebank.ledger.sqlite.database import SqliteDatabase
from timebank.ledger.sqlite.live_mark import Note
from timebank.servers import registry
from timebank.settings.settings import BankSettings
from timebank.thebank import bookings
from timebank.wagers import deals, tournaments
from timebank.wagers import rounds as hands
from timebank.wagers.rounds import VOID, WHY_VOID, Settlement
from timebank.wagers.stakes import Stakes

BY_HAND = "the board"
DOUBT = "the books were restored: it may have gone out after their copy was taken"
# Tables whose numbers callers, sysops and other programs see.
SEEN = ("transfers", "rounds", "shoes", "calls", "callers", "imports")
# How far numbers go ahead of those that are known: as many as a board can give since, and more. It
# grows by the second: of one copy that is put back twice, on machines that know nothing of each
# other, the later books go on behind all that the earlier ones gave.
LEAST_AHEAD = 1_000_000
AHEAD_A_SECOND = 100

log = logging.getLogger("timebank")


@dataclass(frozen=True)
class Given:
    """What is known of the numbers that were given before a restore.

    `at` is the time up to which they are known, in seconds since 1970; None when they are known to
    the last one. `rights` say how callers stand in the books that are replaced, None where those
    cannot tell. `commits` is how many transactions were counted (high_water.py).
    """

    generation: int = 1
    numbers: Mapping[str, int] = field(default_factory=dict)
    at: int | None = None
    rights: Mapping[Key, Rights] | None = None
    commits: int = 0
    # Rows of `early_events` there; None where those cannot tell.
    early_events: Sequence[tuple[object, ...]] | None = None

    def and_also(self, other: Given) -> Given:
        """Put together what is known from two places, of which the later one counts."""
        tables = {*self.numbers, *other.numbers}
        numbers = {
            table: max(self.numbers.get(table, 0), other.numbers.get(table, 0)) for table in tables
        }
        exact = self.at is None or other.at is None
        at = None if exact else max(self.at or 0, other.at or 0)
        rights = self.rights if other.rights is None else other.rights
        commits = max(self.commits, other.commits)
        generation = max(self.generation, other.generation)
        early = self.early_events if other.early_events is None else other.early_events
        return Given(generation, numbers, at, rights, commits, early)

    def firsts(self, now: datetime) -> dict[str, int]:
        """Give the first number of every table past all of these and all that may have been."""
        ahead = 0
        if self.at is not None:
            ahead = LEAST_AHEAD + max(0, stamp(now) - self.at) * AHEAD_A_SECOND
        return {table: self.numbers.get(table, 0) + ahead + 1 for table in NUMBERED}


@dataclass(frozen=True)
class Treated:
    """What was done to restored books. `files` hold minutes that these books do not know."""

    generation: Generation
    hands: tuple[int, ...]
    records: int
    given_back: int
    files: tuple[Path, ...]
    # What changed for whom who comes in.
    admission: tuple[str, ...]
    # On which the tournament opened that was running.
    tournament: date | None = None

    def sentences(self) -> tuple[str, ...]:
        row, firsts = self.generation, self.generation.firsts
        said = [f"Generation {row.number} of the books begins: {row.why}."]
        if row.shoes:
            whose = "its" if row.shoes == 1 else "their"
            closed = _count(row.shoes, "open shoe")
            said.append(f"Closed {closed}: none of {whose} cards is dealt again.")
        if self.hands:
            which = ", ".join(map(str, self.hands))
            stakes = "its stake" if len(self.hands) == 1 else "their stakes"
            word = "hand" if len(self.hands) == 1 else "hands"
            said.append(f"Made {word} {which} void, and returned {stakes}.")
        if self.tournament is not None:
            said.append(
                f"Ended the tournament of {self.tournament} without a winner: its entries are with"
                " those who paid them."
            )
        if row.calls:
            said.append(f"Closed {_count(row.calls, 'call')} that the copy had open.")
        if self.records:
            said.append(
                f"{_count(self.records, 'record')} may be in THEBANK.EXT already:"
                " see `timebank outbox`."
            )
        if self.given_back:
            gifts = "1 gift" if self.given_back == 1 else f"{self.given_back} gifts"
            said.append(f"{gifts} may be with other boards already: see `timebank boards`.")
        said += [
            f"{path} was read by other books than these: `timebank import` applies it to them."
            for path in self.files
        ]
        said += self.admission
        numbers = ", ".join(f"{NUMBERED[table]} {firsts[table]}" for table in SEEN)
        said.append(f"Numbers go on from: {numbers}.")
        return tuple(said)


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


def treat(desk: Desk, given: Given, by: str, why: str) -> Treated:
    """Close or put in doubt whatever a restored copy has open, and begin a new generation.

    `given` is what is known of numbers beside the copy itself; `why` is a clause for the log. The
    copy is the books from then on: its mark is that of the caller to set.
    """
    books = desk.connection
    known = given.and_also(_given_by(desk, exact=given.at is None))
    in_play = list(_IN_PLAY(books).all())
    closed = ClosedWithCopy(_OPEN_SHOES.one(books), len(in_play), _OPEN_CALLS.one(books))
    copied = live_mark.copied_at(desk.connection)
    generation = generations.begin(
        desk.connection,
        known.generation + 1,
        known.firsts(desk.now),
        closed,
        desk.now,
        copied,
        by,
        # It may have the name of a copy in it, which need not be UTF-8 as the books are.
        why.encode("utf-8", "backslashreplace").decode(),
    )
    high_water.go_on_past(desk.connection, known.commits)
    # What waits for a host first: the end of a visit that can give nothing back would keep it.
    given_back = _put_gifts_in_doubt(desk)
    calls.close_all_calls(desk, "the books were restored")
    registry.forget_all(desk)
    for number, caller_id in in_play:
        _make_void(desk, number, caller_id)
    # Then what these ends have brought about: in the books that are gone it came about before.
    given_back += _put_gifts_in_doubt(desk)
    records = _DOUBT_RECORDS(books, mark=DOUBT).rowcount
    _CLOSE_SHOES(books, closed=stamp(desk.now))
    _CLOSE_CHAINS(books, closed=stamp(desk.now))
    tournament = tournaments.end_restored(desk)
    deals.close_all(desk)
    files = bookings.find_again(desk)
    _tell_callers(desk, copied)
    _keep_early_events(desk, given)
    admission = tuple(access.admit(desk, given.rights, by))
    treated = Treated(
        generation,
        tuple(number for number, _ in in_play),
        records,
        given_back,
        files,
        admission,
        None if tournament is None else tournament.day,
    )
    for sentence in treated.sentences():
        sysop_log.note(desk, by, None, sentence.rstrip("."))
    return treated


def _given_by(desk: Desk, *, exact: bool) -> Given:
    """Tell what the copy itself knows; `exact` where others know the rest."""
    connection = desk.connection
    at = max(_LATEST(connection).one())
    numbers = generations.last_numbers(connection)
    return Given(generations.current(connection), numbers, None if exact else at)


def _put_gifts_in_doubt(desk: Desk) -> int:
    """Have the sysop asked about everything that hosts may have been given since; count it."""
    return _DOUBT_GIFTS(desk.connection, why=DOUBT, changed=stamp(desk.now)).rowcount


def _make_void(desk: Desk, round_id: int, caller_id: int) -> None:
    """End a hand that nobody may play on, and return what stands on the table of it.

    What was settled of it before, such as a lost insurance, stays settled.
    """
    posting = Posting.of_caller(desk, caller_id, leave_without_call)
    played = posting.in_play
    assert played is not None  # it was found in play, and nobody else writes
    posting.belong_to(round_id)
    stakes = Stakes(posting, played.game, played.unit, played.house_id)
    standing = stakes.standing
    settlement = Settlement(0, standing, 0, VOID, WHY_VOID, final=True)
    hands.settle(stakes, played.game, settlement)
    hands.write_settlement(posting, played, settlement)
    posting.finish()
    tell_hand(
        desk,
        caller_id,
        round_id,
        N_(
            "Your open hand at {game} is void: the board was restored from a backup. {amount} came"
            " back from the table."
        ),
        game=GameNamed(played.game),
        amount=Amount(standing, played.unit),
    )


def _tell_callers(desk: Desk, copied: int | None) -> None:
    schedule = desk.settings.schedule
    state = _LATEST_BEFORE.one(desk.connection) if copied is None else copied
    if state is None:
        return
    was, now = schedule.local(schema.instant(state)), schedule.local(desk.now)
    told = N_(
        "The books of this board were restored on {now}, as they were on {then}. What happened in"
        " between is not in them."
    )
    when = {"now": f"{now:%Y-%m-%d %H:%M}", "then": f"{was:%Y-%m-%d %H:%M}"}
    _TELL_ALL(desk.connection, at=stamp(desk.now), text=written(told, {**when}))


def given_by_note(path: Path) -> Given:
    note, commits = live_mark.read_note(path), high_water.read(path)
    if note is None:
        return Given(at=0, commits=commits)
    return Given(note.generation, note.numbers, note.at, commits=commits)


def given_by_old(old: sqlite3.Connection, path: Path) -> Given:
    """Tell what books to be replaced, which `old` reads, know of numbers and of their callers.

    Only those that were served last know all of it; what cannot be read is not known.
    """
    try:
        numbers = sqlite.numbers_of(old, NUMBERED.keys())
        (generation,) = sqlite.ask(old, generations.CURRENT).fetchone()
        identity = sqlite.ask(old, live_mark.IDENTITY).fetchone()
        mark, copied, commits = identity or (live_mark.UNMARKED, None, 0)
        rights = access.rights_in_file(old)
        early = sqlite.ask(old, _EARLY_EVENTS).fetchall()
    except sqlite3.DatabaseError:
        return Given(at=0)
    note = live_mark.read_note(path)
    unmarked = note is None and mark == live_mark.UNMARKED
    is_marked = unmarked or (note is not None and mark in note.marks)
    is_last = copied is None and is_marked and commits >= high_water.read(path)
    kept = {table: number for table, number in numbers.items() if table in NUMBERED}
    # Books older than the copy do not know what was allowed since.
    at = None if is_last else 0
    if not is_last:
        return Given(generation, kept, at, commits=commits)
    return Given(generation, kept, at, rights, commits, early)


def given_in(desk: Desk) -> Given:
    """Tell what books to be replaced know, of which it is known that they were the last."""
    books = desk.connection
    return Given(
        generations.current(books),
        generations.last_numbers(books),
        rights=access.rights_in(desk),
        commits=high_water.count_of(books),
        early_events=[tuple(row) for row in _EARLY_EVENTS(books)],
    )


def recognise(database: Database, settings: BankSettings, now: datetime) -> Treated | None:
    """Look whether the file is the books that were served last; treat it as restored if not.

    To be done by whoever would serve from it, before anything else. Returns what was done, None for
    the books themselves. Raises `BooksUnavailable` when it cannot be told or cannot be done.
    """
    path = _file_of(database)
    if path is None or suspicion(database, settings, now) is None:
        return None
    with _saying(live_mark.beside(path)), database.transaction(settings, now) as desk:
        # Another process may have changed the mark, or done all of this, since.
        before, why = live_mark.read_note(path), remark(desk, path)
        if why is None:
            return None
        treated = treat(desk, given_by_note(path), BY_HAND, why)
        mark = live_mark.new_mark()
        live_mark.set_mark(desk.connection, mark, None)
        # The mark that was accepted stays so: should the COMMIT fail, this file is not touched.
        marks = [mark] if before is None else [*before.marks, mark]
        live_mark.write_note(path, live_mark.note_of(desk.connection, marks, now))
    renew(database, settings, now)
    for sentence in treated.sentences():
        log.warning("%s", sentence)
    return treated


def renew(database: Database, settings: BankSettings, now: datetime) -> str | None:
    """Change the mark of the books, so that copies taken before are known as such.

    Returns a sentence for the sysop when that could not be done: the mark stays as it was then.
    """
    path = _file_of(database)
    if path is None:
        return None
    try:
        with _saying(live_mark.beside(path)):
            for step in (live_mark.renew, live_mark.settle):
                with database.transaction(settings, now) as desk:
                    if (why := remark(desk, path)) is not None:
                        return f"{why}: close the board, and start it again."
                    step(desk.connection, path, now)
    except BooksUnavailable as error:
        return str(error)
    return None


def take_up(database: Database, settings: BankSettings, now: datetime) -> Treated | None:
    """Do what a process owes the books before it writes: `recognise`, then `renew`."""
    treated = recognise(database, settings, now)
    if treated is None and (problem := renew(database, settings, now)):
        log.warning("%s A copy of the books put in their place would not be noticed.", problem)
    return treated


def _file_of(database: Database) -> Path | None:
    """Give the file that the books are in; nobody puts another in the place of a server."""
    return database.path if isinstance(database, SqliteDatabase) else None


@contextlib.contextmanager
def _saying(name: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BooksUnavailable(f"{name} cannot be used: {error.strerror}.") from error


def remark(desk: Desk, path: Path) -> str | None:
    """Tell why the books are not those that were served last, None when they are.

    For a transaction that keeps others from writing. Raises `OSError` when it cannot be told.
    """
    return _remark(desk, live_mark.read_note(path), high_water.read(path), path)


def suspicion(database: Database, settings: BankSettings, now: datetime) -> str | None:
    """Tell the same without keeping anybody from writing, so of a mark just changed wrongly.

    Raises `BooksUnavailable` when it cannot be told.
    """
    path = _file_of(database)
    if path is None:
        return None
    # Read first: others may write into the books meanwhile.
    with _saying(live_mark.beside(path)):
        note = live_mark.read_note(path)
    with _saying(high_water.beside(path)):
        noted = high_water.read(path)
    with database.reading(settings, now) as desk:
        return _remark(desk, note, noted, path)


def _remark(desk: Desk, note: Note | None, noted: int, path: Path) -> str | None:
    why = live_mark.doubt(desk.connection, note, path)
    return high_water.doubt(desk.connection, noted, path) if why is None else why


def marked_as_copy(connection: sqlite3.Connection, now: datetime) -> None:
    sqlite.ask(connection, live_mark.MARK_AS_COPY, copied=stamp(now))


_EARLY_EVENTS = Prepared(lambda: select(schema.early_events))
_FORGET_EARLY_EVENTS = Prepared(lambda: delete(schema.early_events))
_ADD_EARLY_EVENT = Prepared(
    lambda: insert_into(schema.early_events, " ".join(schema.early_events.c.keys()))
)


def _keep_early_events(desk: Desk, given: Given) -> None:
    """Let an event that was started early since the copy was taken close the board still, and none
    that was taken back since."""
    if given.early_events is None:
        return
    _FORGET_EARLY_EVENTS(desk.connection)
    for row in given.early_events:
        names = schema.early_events.c.keys()
        _ADD_EARLY_EVENT(desk.connection, **dict(zip(names, row, strict=True)))
