"""The weekly tournament: a sealed shoe that is played for minutes, by each caller once.

The deal is one of deals.py, and so is a caller's try at it. Here is its money. The house puts up
the prizes when the tournament is sealed, up to what the sysop allows in a week, into an account
which is never negative. Callers who can win pay the entry into it, once. Whoever comes first after
the end settles the tournament: the prizes go to the winners' bank accounts, on line or not, each
once, in the transaction that closes it.

Who can win is known long enough, has a bank account of this board that is open, and is no guest of
another board. Everybody else plays for the place alone, and pays nothing.

While the clock is in doubt nothing is sealed, and nothing is settled.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import and_, bindparam, func, select

from timebank.callers import sysop_log
from timebank.callers.notices import Amount, Day, Value, add_notice
from timebank.calls import clock
from timebank.errors import NotEnough, Refused, ShoeGone
from timebank.guests.departure import leave_without_call
from timebank.language import N_, Phrase
from timebank.ledger import reasons
from timebank.ledger.database import Desk
from timebank.ledger.entries import cutoff
from timebank.ledger.entries.posting import Posting
from timebank.ledger.entries.posting import enter as begin_entry
from timebank.ledger.prizes import places_of, shared_out
from timebank.ledger.purse import Receipt
from timebank.ledger.schema import (
    accounts,
    callers,
    deal_tries,
    instant,
    stamp,
    tournaments,
)
from timebank.ledger.schema import (
    deals as sealed,
)
from timebank.ledger.schema import (
    tournament_entries as entries,
)
from timebank.ledger.sql import (
    Prepared,
    Query,
    Reader,
    change,
    columns_of,
    equal,
    insert_into,
    read,
    total,
    value,
)
from timebank.ledger.transfers import Movement, TransferRow, house, prizes, transfer
from timebank.wagers import deals
from timebank.wagers.deals import DealTry
from timebank.wagers.rounds import Json
from timebank.words import clean, is_at_command_line, span_phrase

GAME = "tournament"  # as the house keeps its account of it
WEEK = timedelta(days=7)
LONGEST_REASON = 200  # characters


@dataclass(frozen=True, slots=True)
class Tournament:
    """A tournament and its terms. Amounts are seconds."""

    seal: str
    day: date
    game: str
    rules: Mapping[str, Any]
    hands: int
    starts: datetime
    ends: datetime
    entry: int
    # What each place wins besides its share of the entries.
    prizes: tuple[int, ...]
    put_in: int
    # None while it runs, else as in `schema.tournaments`.
    outcome: str | None
    seed: bytes = field(repr=False)

    @property
    def shown_seed(self) -> str | None:
        return None if self.outcome is None else self.seed.hex()

    def is_open(self, now: datetime) -> bool:
        return self.outcome is None and self.starts <= now < self.ends


class Entry(NamedTuple):
    """One caller's entry. Amounts are seconds; `place` is None until the tournament is settled."""

    for_prize: bool
    paid: int
    place: int | None
    prize: int


class EntryTerms(NamedTuple):
    """What entering now would be for: `price` is in seconds."""

    for_prize: bool
    price: int
    known_on: date | None  # the first day on which this caller can win; None where no day would do


class EnteredTry(NamedTuple):
    """What came of entering: the entry, the try, and the purse after it."""

    entry: Entry
    deal_try: DealTry
    receipt: Receipt


class PlacedEntry(NamedTuple):
    """Somebody who played it to the end, once it is settled."""

    caller_id: int
    name: str
    place: int
    score: int
    cost: int
    prize: int


class Champion(NamedTuple):
    day: date
    names: tuple[str, ...]


class Unweighed(NamedTuple):
    """A try that is over and of which nobody has worked out what its decisions cost."""

    seal: str
    caller_id: int
    game: str
    rules: Mapping[str, Any]
    hands: int
    seed: bytes
    acts: tuple[str, ...]


class Pot(NamedTuple):
    """What there is to be won now, by place, and how many have entered."""

    by_place: tuple[int, ...]
    entered: int
    finished: int


class LeftHands(NamedTuple):
    """Where a hand waits for a caller that all play alike."""

    deal: bool
    tournament: bool


class Outlook(NamedTuple):
    """Whether there is a tournament to be played or to be looked at; moves and seals nothing."""

    until: datetime | None  # one is open until then, sealed or not
    is_over: bool  # one is over and not settled
    last: Tournament | None  # one that was settled within the last week


class _Finisher(NamedTuple):
    caller_id: int
    name: str
    score: int
    cost: int | None
    for_prize: int
    is_away: int  # deleted, locked or frozen


class _Paid(NamedTuple):
    caller_id: int
    paid: int


_COLUMNS = (
    *(tournaments.c.seal, sealed.c.day, tournaments.c.game, sealed.c.rules, tournaments.c.hands),
    *(tournaments.c.starts, tournaments.c.ends, tournaments.c.entry, tournaments.c.prizes),
    *(tournaments.c.put_in, tournaments.c.outcome, sealed.c.seed),
)


def _tournaments() -> Query:
    return select(*_COLUMNS).join_from(tournaments, sealed, sealed.c.seal == tournaments.c.seal)


def _tournament(row: Iterable[Any]) -> Tournament:
    """Make one of a row of _COLUMNS."""
    seal, day, game, rules, hands, starts, ends, entry, prizes, put_in, outcome, seed = row
    return Tournament(
        seal=seal,
        day=date.fromisoformat(day),
        game=game,
        rules=json.loads(rules),
        hands=hands,
        starts=instant(starts),
        ends=instant(ends),
        entry=entry,
        prizes=tuple(json.loads(prizes)),
        put_in=put_in,
        outcome=outcome,
        seed=seed,
    )


_RUNNING = Reader(_tournament, lambda: _tournaments().where(tournaments.c.running == 1))
_OF_SEAL = Reader(_tournament, lambda: _tournaments().where(equal(tournaments.c.seal)))
_LISTED = Reader(
    _tournament,
    lambda: (
        _tournaments().order_by(sealed.c.opened.desc(), tournaments.c.seal).limit(bindparam("most"))
    ),
)
_LAST = Reader(
    _tournament,
    lambda: (
        _tournaments()
        .where(tournaments.c.outcome == "settled")
        .order_by(tournaments.c.ends.desc(), tournaments.c.seal)
        .limit(1)
    ),
)
# One that the books were put back under is played anew, with other cards.
_WAS_HELD: Reader[int] = value(
    lambda: (
        select(func.count())
        .select_from(tournaments)
        .where(equal(tournaments.c.starts))
        .where(tournaments.c.outcome.is_distinct_from("restored"))
    )
)
_PUT_IN_SINCE: Reader[int] = value(
    lambda: (
        select(total(tournaments.c.put_in))
        .where(tournaments.c.starts > bindparam("since"))
        .where(tournaments.c.taken_back_id.is_(None))
    )
)
_HOLDS: Reader[int] = value(lambda: select(accounts.c.balance).where(equal(accounts.c.id)))
_ADD = Prepared(
    lambda: insert_into(
        tournaments, "seal game hands starts ends entry prizes put_in put_in_id", running=1
    )
)
_END = Prepared(
    lambda: change(
        tournaments, "outcome", equal(tournaments.c.seal), tournaments.c.running == 1, running=None
    )
)
_TAKEN_BACK = Prepared(lambda: change(tournaments, "taken_back_id", equal(tournaments.c.seal)))
_OF_CALLER = equal(entries.c.seal, entries.c.caller_id)
_ENTRY = Prepared(
    lambda: select(*columns_of(entries, "for_prize paid place prize")).where(_OF_CALLER)
)
_ENTER = Prepared(lambda: insert_into(entries, "seal caller_id at day for_prize paid paid_id"))
_PLACE = Prepared(lambda: change(entries, "place passed", _OF_CALLER))
_PAY = Prepared(lambda: change(entries, "prize prize_id", _OF_CALLER, entries.c.prize_id.is_(None)))
_GIVE_BACK = Prepared(lambda: change(entries, "back_id", _OF_CALLER, entries.c.back_id.is_(None)))
_PAID = read(
    _Paid,
    lambda: (
        select(entries.c.caller_id, entries.c.paid)
        .join_from(entries, callers, callers.c.id == entries.c.caller_id)
        .where(equal(entries.c.seal), entries.c.paid > 0, entries.c.back_id.is_(None))
        .where(callers.c.deleted.is_(None))
        .order_by(entries.c.at, entries.c.caller_id)
    ),
)
_ALL_PAID: Reader[int] = value(lambda: select(total(entries.c.paid)).where(equal(entries.c.seal)))
_ENTERED: Reader[int] = value(
    lambda: select(func.count()).select_from(entries).where(equal(entries.c.seal))
)
_TRY_ENDED = and_(
    deal_tries.c.seal == entries.c.seal, deal_tries.c.caller_id == entries.c.caller_id
)


def _finishers() -> Query:
    is_away = func.coalesce(callers.c.deleted, 0) + callers.c.locked + callers.c.frozen
    return (
        select(
            *(callers.c.id, callers.c.name, deal_tries.c.score, deal_tries.c.cost),
            *(entries.c.for_prize, is_away),
        )
        .select_from(entries)
        .join(deal_tries, _TRY_ENDED)
        .join(callers, callers.c.id == entries.c.caller_id)
        .where(equal(entries.c.seal), deal_tries.c.finished.is_not(None))
        .order_by(
            deal_tries.c.cost.is_(None),
            deal_tries.c.cost,
            deal_tries.c.score.desc(),
            callers.c.name,
            callers.c.id,
        )
    )


_FINISHERS = read(_Finisher, _finishers)
_UNWEIGHED = Prepared(
    lambda: (
        select(
            *(tournaments.c.seal, deal_tries.c.caller_id, tournaments.c.game, sealed.c.rules),
            *(tournaments.c.hands, sealed.c.seed, deal_tries.c.acts),
        )
        .select_from(tournaments)
        .join(sealed, sealed.c.seal == tournaments.c.seal)
        .join(deal_tries, deal_tries.c.seal == tournaments.c.seal)
        .where(tournaments.c.running == 1, deal_tries.c.finished.is_not(None))
        .where(deal_tries.c.cost.is_(None))
        .order_by(deal_tries.c.caller_id)
    )
)
_STANDINGS = read(
    PlacedEntry,
    lambda: (
        select(
            *(callers.c.id, callers.c.name, entries.c.place, deal_tries.c.score),
            *(deal_tries.c.cost, entries.c.prize),
        )
        .select_from(entries)
        .join(deal_tries, _TRY_ENDED)
        .join(callers, callers.c.id == entries.c.caller_id)
        .where(equal(entries.c.seal), entries.c.place.is_not(None))
        .where(callers.c.deleted.is_(None), callers.c.locked == 0)
        .order_by(entries.c.place, callers.c.name, callers.c.id)
    ),
)


# What there is.


def running(desk: Desk) -> Tournament | None:
    """Find the one that is open, or over and not settled."""
    return _RUNNING.first(desk.connection)


def outlook(desk: Desk) -> Outlook:
    found, last = running(desk), last_settled(desk)
    if last is not None and last.ends <= desk.now - WEEK:
        last = None
    if found is not None and desk.now < found.ends:
        return Outlook(found.ends if found.starts <= desk.now else None, False, last)
    terms = desk.settings.tournament
    starts, ends = terms.latest(desk.settings.schedule, desk.now)
    is_time = terms.on and desk.now < ends and clock.is_certain(desk)
    if is_time and not _WAS_HELD.one(desk.connection, starts=stamp(starts)):
        return Outlook(ends, found is not None, last)
    return Outlook(None, found is not None, last)


def waiting(desk: Desk, caller_id: int) -> LeftHands:
    """Find what a caller has begun, and may go on with."""
    today, found = deals.open_today(desk), running(desk)
    return LeftHands(
        today is not None and deals.is_left(desk, today.seal, caller_id),
        found is not None
        and found.is_open(desk.now)
        and deals.is_left(desk, found.seal, caller_id),
    )


def of_seal(desk: Desk, seal: str) -> Tournament:
    return _OF_SEAL.one(desk.connection, seal=seal)


def last_settled(desk: Desk) -> Tournament | None:
    return _LAST.first(desk.connection)


def listing(desk: Desk, most: int) -> list[Tournament]:
    """List the last ones, the newest first."""
    return _LISTED.all(desk.connection, most=most)


def entry_of(desk: Desk, seal: str, caller_id: int) -> Entry | None:
    row = _ENTRY(desk.connection, seal=seal, caller_id=caller_id).first()
    if row is None:
        return None
    return Entry(bool(row.for_prize), row.paid, row.place, row.prize)


def standings(desk: Desk, seal: str) -> list[PlacedEntry]:
    """List who stood where in one that is settled, but for those who are deleted or locked."""
    return _STANDINGS.all(desk.connection, seal=seal)


def champion(desk: Desk) -> Champion | None:
    """Name who won the last one, those together who were alike; None where there was none, or
    where none of them is here any more."""
    last = last_settled(desk)
    if last is None:
        return None
    names = tuple(each.name for each in standings(desk, last.seal) if each.place == 1)
    return Champion(last.day, names) if names else None


def pot(desk: Desk, tournament: Tournament) -> Pot:
    """Say what would be won by place if nobody were alike, with what is paid by now."""
    seal = tournament.seal
    places = range(1, max(1, len(tournament.prizes)) + 1)
    paid = _ALL_PAID.one(desk.connection, seal=seal)
    finished = len(_FINISHERS.all(desk.connection, seal=seal))
    by_place = shared_out(tournament.prizes, paid, places)
    entered = _ENTERED.one(desk.connection, seal=seal)
    return Pot(tuple(each for each in by_place if each), entered, finished)


# How one is sealed.


def current(
    desk: Desk, seed: bytes, seal: str, game: str, rules: Json, hands: int
) -> Tournament | None:
    """Find the tournament of now; where it is time for one and there is none, seal it.

    One that is over is settled first, where that can be done: see `settle`.
    """
    found = running(desk)
    if found is not None and settle(desk):
        found = None
    terms = desk.settings.tournament
    if found is not None or not terms.on or not clock.is_certain(desk):
        return found
    starts, ends = terms.latest(desk.settings.schedule, desk.now)
    if desk.now >= ends or _WAS_HELD.one(desk.connection, starts=stamp(starts)):
        return None
    day = desk.settings.schedule.local(starts).date()
    prizes_up, put_in, row = _put_up(desk, starts)
    deals.add(desk, seal, day, seed, rules, is_daily=False)
    _ADD(
        desk.connection,
        seal=seal,
        game=game,
        hands=hands,
        starts=stamp(starts),
        ends=stamp(ends),
        entry=_entry(desk),
        prizes=json.dumps(prizes_up),
        put_in=put_in,
        put_in_id=row,
    )
    return of_seal(desk, seal)


def _entry(desk: Desk) -> int:
    """Without a time bank nobody could be paid, so nobody pays."""
    return 0 if desk.settings.mode == "none" else desk.settings.tournament.entry


def _put_up(desk: Desk, starts: datetime) -> tuple[list[int], int, int | None]:
    """Have the house put in what is missing for the prizes, up to what it may in a week.

    A week is one from opening to opening: who comes first seals it, at any time after.
    Returns the prizes that there are minutes for, what was put in, and by which transfer.
    """
    terms, schedule = desk.settings.tournament, desk.settings.schedule
    wanted = () if desk.settings.mode == "none" else terms.prizes
    if not wanted:
        return [], 0, None
    account = prizes(desk)
    holds = _HOLDS.one(desk.connection, id=account.id)
    week_before, _ends = terms.latest(schedule, starts - timedelta(seconds=1))
    since = _PUT_IN_SINCE.one(desk.connection, since=stamp(week_before))
    put_in = min(max(0, sum(wanted) - holds), max(0, terms.from_house - since))
    row: int | None = None
    if put_in:
        day = schedule.local(starts).date()
        source, reason = house(desk, GAME, "second"), reasons.PutUp(day.isoformat())
        moved = transfer(desk, [Movement(source, account, put_in, reason, None, None)])
        row = moved[0].number
    left, found = holds + put_in, []
    for prize in wanted:
        found.append(min(prize, left))
        left -= found[-1]
    return [each for each in found if each], put_in, row


# How it is played.


def enter(desk: Desk, call_id: int, ticked: int, seal: str, agreed: int) -> EnteredTry:
    """Enter a caller, who pays what it costs them, or find their entry: there is one alone.

    `agreed` are the seconds that they know of: a day can have made a new caller one who can win.

    Raises `CallClosed`; `ShoeGone` where the tournament is not open; `Refused` where it costs
    more than was agreed; `NotEnough` and `OwnLimit`.
    """
    tournament = _open(desk, seal)
    posting = begin_entry(desk, call_id, ticked)
    caller_id = posting.caller_id
    if entry_of(desk, seal, caller_id) is None:
        for_prize = _can_win(posting)
        price = tournament.entry if for_prize else 0
        if price > agreed:
            raise Refused(
                Phrase(
                    "You can win minutes now, and it costs {price} to enter.",
                    price=span_phrase(price),
                )
            )
        posting.keep_own_limits(price)
        if price:
            _pay_in(posting, tournament, price)
        else:
            _note_entry(desk, posting, seal, for_prize, 0, None)
    receipt = posting.finish()
    found = entry_of(desk, seal, caller_id)
    assert found is not None  # it was there, or is now
    return EnteredTry(found, deals.begin(desk, seal, caller_id), receipt)


def terms_for(desk: Desk, call_id: int, seal: str) -> EntryTerms:
    """Say what a caller could win by entering now, and what it would cost; moves nothing.

    Raises `CallClosed`.
    """
    known_on = _could_win_on(Posting.of_call(desk, call_id))
    for_prize = _is_reached(desk, known_on)
    return EntryTerms(for_prize, of_seal(desk, seal).entry if for_prize else 0, known_on)


def act(
    desk: Desk, seal: str, caller_id: int, before: Sequence[str], word: str, score: int | None
) -> None:
    """Add a decision to a caller's try, as `deals.act`; `ShoeGone` once the time is over."""
    _open(desk, seal)
    deals.act(desk, seal, caller_id, before, word, score)


def _open(desk: Desk, seal: str) -> Tournament:
    found = of_seal(desk, seal)
    if not found.is_open(desk.now):
        raise ShoeGone(Phrase("This tournament is over."))
    return found


_KNOWN = Prepared(
    lambda: select(callers.c.created, callers.c.frozen, callers.c.locked).where(equal(callers.c.id))
)


def _can_win(posting: Posting) -> bool:
    """Tell whether a prize could be paid to this caller, and may: see the top."""
    return _is_reached(posting.desk, _could_win_on(posting))


def _is_reached(desk: Desk, day: date | None) -> bool:
    return day is not None and day <= desk.settings.schedule.day_of(desk.now)


def _could_win_on(posting: Posting) -> date | None:
    """Find the first day on which this caller can win something; None where no day would do."""
    desk, settings = posting.desk, posting.desk.settings
    if posting.visit is not None or settings.mode == "none" or settings.is_barred(posting.name):
        return None
    row = _KNOWN(desk.connection, id=posting.caller_id).one()
    return None if row.frozen or row.locked else settings.known_on(instant(row.created))


def _pay_in(posting: Posting, tournament: Tournament, price: int) -> None:
    desk = posting.desk
    if price > posting.state.usable:
        raise NotEnough(
            Phrase(
                "It costs {price} to enter, and you can use {amount} now.",
                price=span_phrase(price),
                amount=span_phrase(posting.state.usable),
            )
        )
    reason = reasons.Entered(tournament.day.isoformat())
    posting.move("online", prizes(desk), price, reason)
    posting.has_lost(price)

    def note(rows: tuple[TransferRow, ...]) -> None:
        (number,) = (row.number for row in rows if row.reason == reason)
        _note_entry(desk, posting, tournament.seal, True, price, number)

    posting.afterwards(note)


def _note_entry(
    desk: Desk, posting: Posting, seal: str, for_prize: bool, paid: int, row: int | None
) -> None:
    _ENTER(
        desk.connection,
        seal=seal,
        caller_id=posting.caller_id,
        at=stamp(desk.now),
        day=posting.state.day,
        for_prize=int(for_prize),
        paid=paid,
        paid_id=row,
    )


# How it ends.


def unweighed(desk: Desk) -> list[Unweighed]:
    """List the tries at the tournament of now that are over, and still to be held against the book
    (`deals.weigh`): before that it cannot be settled."""
    return [
        Unweighed(
            *(row.seal, row.caller_id, row.game, json.loads(row.rules), row.hands, row.seed),
            tuple(row.acts.split()),
        )
        for row in _UNWEIGHED(desk.connection)
    ]


def is_due(desk: Desk) -> bool:
    """Tell whether there is one that is over and not settled, by a clock that can be believed."""
    found = running(desk)
    return found is not None and desk.now >= found.ends and clock.is_certain(desk)


def settle(desk: Desk) -> Tournament | None:
    """Pay out the tournament that is over, and close it; it is given back then.

    None, and nothing is moved, where none is over, the clock is in doubt, or a try is still to be
    weighed. Where nobody has played it to the end, entries and what was put in go back.
    """
    found = running(desk)
    if found is None or desk.now < found.ends or not clock.is_certain(desk):
        return None
    finishers = _FINISHERS.all(desk.connection, seal=found.seal)
    if any(each.cost is None for each in finishers):
        return None
    if not finishers:
        _end(desk, found, "empty")
        _undo(desk, found)
        return of_seal(desk, found.seal)
    _end(desk, found, "settled")
    away = {
        each.caller_id for each in finishers if each.is_away or desk.settings.is_barred(each.name)
    }
    here = [each for each in finishers if each.caller_id not in away]
    placed = places_of([(each.cost, each.score) for each in here])
    places = dict(zip((each.caller_id for each in here), placed, strict=True))
    _PLACE.each(
        desk.connection,
        [
            {
                "seal": found.seal,
                "caller_id": each.caller_id,
                "place": places.get(each.caller_id),
                "passed": int(each.caller_id in away),
            }
            for each in finishers
        ],
    )
    won = _pay_winners(desk, found, [each for each in here if each.for_prize], places)
    _tell_places(desk, found, places, won)
    return of_seal(desk, found.seal)


def _pay_winners(
    desk: Desk, found: Tournament, winners: Sequence[_Finisher], places: Mapping[int, int]
) -> dict[int, int]:
    """Pay those who can win, in order; return who has won how much."""
    paid = _ALL_PAID.one(desk.connection, seal=found.seal)
    shares = shared_out(found.prizes, paid, places_of([(w.cost, w.score) for w in winners]))
    won = {each.caller_id: prize for each, prize in zip(winners, shares, strict=True) if prize}
    for caller_id, prize in won.items():
        reason = reasons.PrizeWon(found.day.isoformat(), places[caller_id])
        row = _to_bank(desk, caller_id, prize, reason)
        of_caller = {"seal": found.seal, "caller_id": caller_id}
        if not _PAY(desk.connection, prize=prize, prize_id=row, **of_caller).rowcount:
            raise ValueError(f"paid already: {caller_id} in the tournament {found.seal}")
    return won


def _tell_places(
    desk: Desk, found: Tournament, places: Mapping[int, int], won: Mapping[int, int]
) -> None:
    """Leave a notice for everybody who won something, or stands first."""
    for caller_id, place in places.items():
        told: dict[str, Value] = {"day": Day(found.day.isoformat()), "all": len(places)}
        if caller_id in won:
            said = (
                N_(
                    "You won the tournament of {day}, first of {all}. {amount} went to your time"
                    " bank."
                )
                if place == 1
                else N_(
                    "You took place {place} of {all} in the tournament of {day}. {amount} went to"
                    " your time bank."
                )
            )
            told |= {"place": place, "amount": Amount(won[caller_id])}
            add_notice(desk, caller_id, said, **told)
        elif place == 1:
            said = N_("You won the tournament of {day}, first of {all}.")
            add_notice(desk, caller_id, said, **told)


def call_off(desk: Desk, why: str, by: str) -> Tournament:
    """End the tournament that runs: all entries go back, and what the house has put in.

    Raises `Refused` without a reason, and where none runs.
    """
    why = clean(why, LONGEST_REASON).rstrip(".")
    if not why:
        raise Refused(Phrase("Please give a reason: it goes into the books."))
    found = running(desk)
    if found is None:
        raise Refused(Phrase("No tournament runs just now."))
    _end(desk, found, "called off")
    _undo(desk, found)
    sysop_log.note(desk, by, None, f"The tournament of {found.day} was called off: {why}")
    said = N_("The tournament of {day} was called off by the sysop: {why}.")
    if not is_at_command_line(by):
        said = N_("The tournament of {day} was called off by {by}: {why}.")
    for caller_id in _CALLERS.all(desk.connection, seal=found.seal):
        add_notice(desk, caller_id, said, day=Day(found.day.isoformat()), why=why, by=by)
    return of_seal(desk, found.seal)


_CALLERS: Reader[int] = value(
    lambda: (
        select(entries.c.caller_id)
        .join_from(entries, callers, callers.c.id == entries.c.caller_id)
        .where(equal(entries.c.seal), callers.c.deleted.is_(None))
        .order_by(entries.c.caller_id)
    )
)


def end_restored(desk: Desk) -> Tournament | None:
    """End the one that books which were put back have open: its cards may be known, and its prizes
    paid in the books that are gone. What they hold of it goes back where it came from."""
    found = running(desk)
    if found is None:
        return None
    _end(desk, found, "restored")
    _undo(desk, found)
    said = N_("The tournament of {day} ended without a winner: the board was restored.")
    for caller_id in _CALLERS.all(desk.connection, seal=found.seal):
        add_notice(desk, caller_id, said, day=Day(found.day.isoformat()))
    return found


def _end(desk: Desk, found: Tournament, outcome: str) -> None:
    """Close it, once: whoever comes second changes nothing, and moves nothing."""
    if not _END(desk.connection, outcome=outcome, seal=found.seal).rowcount:
        raise ValueError(f"ended already: the tournament {found.seal}")
    deals.close(desk, found.seal)


def _undo(desk: Desk, found: Tournament) -> None:
    """Give back every entry but those of callers who are deleted, and what the house has put in.

    An entry goes to the bank account: its day may be over.
    """
    day = found.day.isoformat()
    for caller_id, paid in _PAID.all(desk.connection, seal=found.seal):
        row = _to_bank(desk, caller_id, paid, reasons.EntryBack(day))
        of_caller = {"seal": found.seal, "caller_id": caller_id}
        if not _GIVE_BACK(desk.connection, back_id=row, **of_caller).rowcount:
            raise ValueError(f"given back already: {caller_id} in {found.seal}")
    if found.put_in:
        of_house, reason = house(desk, GAME, "second"), reasons.TakenBack(day)
        moved = transfer(desk, [Movement(prizes(desk), of_house, found.put_in, reason, None, None)])
        _TAKEN_BACK(desk.connection, taken_back_id=moved[0].number, seal=found.seal)


def _to_bank(desk: Desk, caller_id: int, amount: int, reason: reasons.Reason) -> int:
    """Move time from the account of prizes to a caller's bank, wherever they are; its number."""
    posting = Posting.of_caller(desk, caller_id, leave_without_call)
    waiting = posting.state.bank % 60
    posting.move(prizes(desk), "bank", amount, reason)
    if desk.settings.mode == "external":
        posting.apply(cutoff.pass_on, waiting + amount, "Tournament")
    numbers: list[int] = []
    posting.afterwards(
        lambda rows: numbers.extend(row.number for row in rows if row.reason == reason)
    )
    posting.write()
    return numbers[0]
