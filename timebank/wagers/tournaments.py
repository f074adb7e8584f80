"""The weekly tournament: a contest for minutes, which callers enter once.

The house puts up prizes when the tournament is sealed, up to the sysop's limit for a week. They go
into an account that is never negative. Callers who can win pay the entry into it. The first caller
or job after the end settles the tournament. Prizes go to the winners' bank accounts, online or not,
in the transaction that closes it.

A caller can win who is known long enough, has an open bank account of this board, and is no guest
of another board. All others play for rank and pay nothing.

While the clock is in doubt nothing is sealed or settled.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, ClassVar, NamedTuple

from sqlalchemy import bindparam, func, select

from timebank.callers import sysop_log
from timebank.callers.notices import Amount, Day, Value, add_notice
from timebank.calls import clock
from timebank.errors import NotEnough, Refused
from timebank.language import N_, Phrase
from timebank.ledger import reasons
from timebank.ledger.database import Desk
from timebank.ledger.entries.posting import Posting
from timebank.ledger.entries.posting import enter as begin_entry
from timebank.ledger.prizes import prize_shares, shared_places
from timebank.ledger.purse import Receipt
from timebank.ledger.schema import accounts, callers, deals, instant, stamp, tournaments
from timebank.ledger.schema import contest_entries as entries
from timebank.ledger.sql import Prepared, Query, Reader, change, equal, insert_into, total, value
from timebank.ledger.transfers import Movement, house, transfer
from timebank.wagers import contests
from timebank.wagers.contests import Contest, ContestResult, ContestTry, Entry
from timebank.wagers.rounds import Json
from timebank.window.corrections import reason_given
from timebank.words import is_at_command_line, span_phrase

GAME = "tournament"  # of the house account
WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tournament(Contest):
    """A tournament and its terms. Amounts are seconds."""

    SOURCE: ClassVar[str] = "Tournament"
    OVER: ClassVar[str] = N_("This tournament is over.")

    hands: int
    starts: datetime
    ends: datetime
    game: str
    entry: int
    # What each place wins besides its share of the entries.
    prizes: tuple[int, ...]
    put_in: int
    # None while it runs, then as in `schema.tournaments`.
    outcome: str | None


class EntryTerms(NamedTuple):
    """What a caller could win by entering now, and the price in seconds."""

    for_prize: bool
    price: int
    known_on: date | None  # the first day on which this caller can win; None for never


class EnteredTry(NamedTuple):
    """The entry, the try, and the purse after entering."""

    entry: Entry
    deal_try: ContestTry
    receipt: Receipt


class Champion(NamedTuple):
    day: date
    names: tuple[str, ...]


class Pot(NamedTuple):
    """What can be won now, by place, and how many callers have entered and finished."""

    by_place: tuple[int, ...]
    entered: int
    finished: int


class Outlook(NamedTuple):
    """Whether a tournament can be played or looked at."""

    until: datetime | None  # the end of the open one, sealed or not
    is_over: bool  # one is over and not settled
    last: Tournament | None  # one that was settled within the last week


_COLUMNS = (
    *contests.SHOE,
    *(tournaments.c.game, tournaments.c.hands, tournaments.c.starts, tournaments.c.ends),
    *(tournaments.c.entry, tournaments.c.prizes, tournaments.c.put_in, tournaments.c.outcome),
)


def _tournaments() -> Query:
    return select(*_COLUMNS).join_from(tournaments, deals, deals.c.seal == tournaments.c.seal)


def _tournament(row: Iterable[Any]) -> Tournament:
    """Make a tournament of a row of _COLUMNS."""
    *shoe, game, hands, starts, ends, entry, prizes, put_in, outcome = row
    return Tournament(
        **contests.shoe(shoe),
        game=game,
        hands=hands,
        starts=instant(starts),
        ends=instant(ends),
        entry=entry,
        prizes=tuple(json.loads(prizes)),
        put_in=put_in,
        outcome=outcome,
    )


_RUNNING = Reader(_tournament, lambda: _tournaments().where(tournaments.c.running == 1))
_OF_SEAL = Reader(_tournament, lambda: _tournaments().where(equal(tournaments.c.seal)))
_LISTED = Reader(
    _tournament,
    lambda: (
        _tournaments().order_by(deals.c.opened.desc(), tournaments.c.seal).limit(bindparam("most"))
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
# A tournament that ended with a restore is played again, with other cards.
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
_ENTERED: Reader[int] = value(
    lambda: select(func.count()).select_from(entries).where(equal(entries.c.seal))
)


# The tournaments in the books.


def running(desk: Desk) -> Tournament | None:
    """Return the tournament that is open, or over and not settled."""
    return _RUNNING.first(desk.connection)


def outlook(desk: Desk) -> Outlook:
    """Return what callers can play or look at. Moves and seals nothing."""
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


def of_seal(desk: Desk, seal: str) -> Tournament:
    return _OF_SEAL.one(desk.connection, seal=seal)


def last_settled(desk: Desk) -> Tournament | None:
    return _LAST.first(desk.connection)


def listing(desk: Desk, most: int) -> list[Tournament]:
    """List the last tournaments, the newest first."""
    return _LISTED.all(desk.connection, most=most)


def standings(desk: Desk, seal: str) -> list[ContestResult]:
    """List the results with a place in a settled tournament, without deleted or locked callers."""
    return [
        each
        for each in contests.results(desk, seal)
        if each.place is not None and not each.is_deleted and not each.is_locked
    ]


def champion(desk: Desk) -> Champion | None:
    """Name the winners of the last tournament, None if it has none or none of them is left."""
    last = last_settled(desk)
    if last is None:
        return None
    names = tuple(each.name for each in standings(desk, last.seal) if each.place == 1)
    return Champion(last.day, names) if names else None


def pot(desk: Desk, tournament: Tournament) -> Pot:
    """Return what each place would win now if no results were equal."""
    seal = tournament.seal
    places = range(1, max(1, len(tournament.prizes)) + 1)
    paid = contests.ALL_PAID.one(desk.connection, seal=seal)
    by_place = prize_shares(tournament.prizes, paid, places)
    entered = _ENTERED.one(desk.connection, seal=seal)
    return Pot(tuple(filter(None, by_place)), entered, len(contests.results(desk, seal)))


# Sealing.


def current(
    desk: Desk, seed: bytes, seal: str, game: str, rules: Json, hands: int
) -> Tournament | None:
    """Return the current tournament; seal it if it is due. Settles an earlier one first."""
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
    contests.add(desk, seal, day, seed, rules, is_daily=False)
    _ADD(
        desk.connection,
        seal=seal,
        game=game,
        hands=hands,
        starts=stamp(starts),
        ends=stamp(ends),
        # Without a time bank no one could be paid, so no one pays.
        entry=0 if desk.settings.mode == "none" else terms.entry,
        prizes=json.dumps(prizes_up),
        put_in=put_in,
        put_in_id=row,
    )
    return of_seal(desk, seal)


def _put_up(desk: Desk, starts: datetime) -> tuple[list[int], int, int | None]:
    """Move what the prizes lack from the house, up to its limit for a week.

    A week goes from opening to opening. Returns the prizes that are covered, the seconds put in,
    and the number of the transfer.
    """
    terms, schedule = desk.settings.tournament, desk.settings.schedule
    wanted = () if desk.settings.mode == "none" else terms.prizes
    if not wanted:
        return [], 0, None
    account = Tournament.account(desk)
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


# Entering.


def enter(desk: Desk, call_id: int, ticked: int, seal: str, agreed: int) -> EnteredTry:
    """Enter a caller, who pays the entry, or return their only entry.

    `agreed` are the seconds that the caller agreed to pay. A new day can let them win, and pay.

    Raises `CallClosed`; `ShoeGone` if the tournament is not open; `Refused` if it costs more than
    `agreed`; `NotEnough` and `OwnLimit`.
    """
    tournament = of_seal(desk, seal)
    contests.refuse_closed(desk, tournament)
    posting = begin_entry(desk, call_id, ticked)
    caller_id = posting.caller_id
    if contests.entry_of(desk, seal, caller_id) is None:
        for_prize = _is_reached(desk, _could_win_on(posting))
        price = tournament.entry if for_prize else 0
        _refuse_price(posting, price, agreed)
        reason = reasons.Entered(tournament.day.isoformat())
        contests.enter(posting, tournament, "online", price, reason, for_prize=for_prize)
    receipt = posting.finish()
    found = contests.entry_of(desk, seal, caller_id)
    assert found is not None
    return EnteredTry(found, contests.begin(desk, tournament, caller_id), receipt)


def _refuse_price(posting: Posting, price: int, agreed: int) -> None:
    if price > agreed:
        text = N_("You can win minutes now, and it costs {price} to enter.")
        raise Refused(Phrase(text, price=span_phrase(price)))
    posting.check_may_bet(price)
    usable = posting.state.usable
    if price > usable:
        text = N_("It costs {price} to enter, and you can use {amount} now.")
        raise NotEnough(Phrase(text, price=span_phrase(price), amount=span_phrase(usable)))


def terms_for(desk: Desk, call_id: int, seal: str) -> EntryTerms:
    """Return what entering now is for, and its price. Moves nothing. Raises `CallClosed`."""
    known_on = _could_win_on(Posting.of_call(desk, call_id))
    for_prize = _is_reached(desk, known_on)
    return EntryTerms(for_prize, of_seal(desk, seal).entry if for_prize else 0, known_on)


_KNOWN = Prepared(
    lambda: select(callers.c.created, callers.c.frozen, callers.c.locked).where(equal(callers.c.id))
)


def _is_reached(desk: Desk, day: date | None) -> bool:
    return day is not None and day <= desk.settings.schedule.day_of(desk.now)


def _could_win_on(posting: Posting) -> date | None:
    """Return the first day on which this caller can win, None for never."""
    desk, settings = posting.desk, posting.desk.settings
    if posting.visit is not None or settings.mode == "none" or settings.is_barred(posting.name):
        return None
    row = _KNOWN(desk.connection, id=posting.caller_id).one()
    return None if row.frozen or row.locked else settings.known_on(instant(row.created))


# The end.


def is_due(desk: Desk) -> bool:
    """Return whether a tournament is over and not settled, by a clock that is certain."""
    found = running(desk)
    return found is not None and desk.now >= found.ends and clock.is_certain(desk)


def settle(desk: Desk) -> Tournament | None:
    """Pay out the tournament that is over, close it and return it.

    Returns None, and moves nothing, if none is over, the clock is in doubt, or a try has no cost.
    If no try was finished, entries and the house's share go back.
    """
    found = running(desk)
    if found is None or desk.now < found.ends or not clock.is_certain(desk):
        return None
    finished = contests.results(desk, found.seal)
    if any(each.cost is None for each in finished):
        return None
    contests.end(desk, found, _END, "settled" if finished else "empty")
    if not finished:
        _undo(desk, found)
        return of_seal(desk, found.seal)
    here = contests.placed([each for each in finished if not contests.is_shut(desk, each)])
    places = {each.caller_id: each.place for each in here}
    passed = dict.fromkeys(each.caller_id for each in finished)
    contests.place(desk, found.seal, {**passed, **places})
    _tell_places(desk, found, here, _pay_winners(desk, found, here))
    return of_seal(desk, found.seal)


def _pay_winners(desk: Desk, found: Tournament, here: Sequence[ContestResult]) -> dict[int, int]:
    """Pay those of the results in order who can win; return the prizes by caller."""
    winners = [each for each in here if each.for_prize]
    paid = contests.ALL_PAID.one(desk.connection, seal=found.seal)
    shares = prize_shares(found.prizes, paid, shared_places([(w.cost, w.score) for w in winners]))
    won: dict[int, int] = {}
    for each, prize in zip(winners, shares, strict=True):
        if prize and each.place is not None:
            won[each.caller_id] = prize
            reason = reasons.PrizeWon(found.day.isoformat(), each.place)
            contests.pay(desk, found, each.caller_id, prize, reason)
    return won


def _tell_places(
    desk: Desk, found: Tournament, here: Sequence[ContestResult], won: Mapping[int, int]
) -> None:
    """Leave a notice for the winners of prizes and of first place."""
    for each in here:
        told: dict[str, Value] = {"day": Day(found.day.isoformat()), "all": len(here)}
        if each.caller_id in won and each.place is not None:
            said = (
                N_(
                    "You won the tournament of {day}, first of {all}. {amount} went to your time"
                    " bank."
                )
                if each.place == 1
                else N_(
                    "You took place {place} of {all} in the tournament of {day}. {amount} went to"
                    " your time bank."
                )
            )
            told |= {"place": each.place, "amount": Amount(won[each.caller_id])}
            add_notice(desk, each.caller_id, said, **told)
        elif each.place == 1:
            said = N_("You won the tournament of {day}, first of {all}.")
            add_notice(desk, each.caller_id, said, **told)


def call_off(desk: Desk, why: str, by: str) -> Tournament:
    """End the running tournament. Entries and the house's share go back.

    Raises `Refused` without a reason, and if none runs.
    """
    why = reason_given(why)
    found = running(desk)
    if found is None:
        raise Refused(Phrase("No tournament runs just now."))
    said = N_("The tournament of {day} was called off by the sysop: {why}.")
    if not is_at_command_line(by):
        said = N_("The tournament of {day} was called off by {by}: {why}.")
    _break_off(desk, found, "called off", said, why=why, by=by)
    sysop_log.note(desk, by, None, f"The tournament of {found.day} was called off: {why}")
    return of_seal(desk, found.seal)


def end_restored(desk: Desk) -> Tournament | None:
    """End the running tournament of restored books, and return it.

    Its cards may be known, and the lost books may have paid its prizes. What the restored books
    hold of it goes back.
    """
    found = running(desk)
    if found is not None:
        said = N_("The tournament of {day} ended without a winner: the board was restored.")
        _break_off(desk, found, "restored", said)
    return found


def _break_off(desk: Desk, found: Tournament, outcome: str, said: str, **told: Value) -> None:
    contests.end(desk, found, _END, outcome)
    _undo(desk, found)
    for caller_id in contests.entrants(desk, found.seal):
        add_notice(desk, caller_id, said, day=Day(found.day.isoformat()), **told)


def _undo(desk: Desk, found: Tournament) -> None:
    """Give back the entries and the house's share."""
    day = found.day.isoformat()
    contests.give_back(desk, found, reasons.EntryBack(day))
    if found.put_in:
        of_house, account = house(desk, GAME, "second"), found.account(desk)
        back = Movement(account, of_house, found.put_in, reasons.TakenBack(day), None, None)
        moved = transfer(desk, [back])
        _TAKEN_BACK(desk.connection, taken_back_id=moved[0].number, seal=found.seal)
