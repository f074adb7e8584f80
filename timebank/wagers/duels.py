"""Duels: a contest of two callers for minutes. The better result takes both stakes.

The challenger's stake waits in the account `duels` from the challenge on, the rival's from the
acceptance. Each stake obeys the rules of a gift to the other caller, so no duel moves more than a
gift could. More coins win, then the smaller cost against the book. After three days a caller who
has finished wins against one who has begun. In every other case both stakes go home to the callers'
bank accounts. While the clock is in doubt no duel expires. A duel that began under a clock that was
ahead would be open for longer: it ends three days after the clock was corrected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, case, func, or_, select

from timebank.callers import sysop_log
from timebank.callers.notices import Amount, add_notice
from timebank.calls import clock
from timebank.errors import LimitReached, NotEnough, OutOfStep, Refused, ShoeGone
from timebank.language import N_, Phrase
from timebank.ledger import reasons
from timebank.ledger.database import Desk
from timebank.ledger.entries.posting import Posting, enter
from timebank.ledger.purse import Receipt
from timebank.ledger.schema import callers, deal_tries, deals, duels, instant, stamp
from timebank.ledger.schema import contest_entries as entries
from timebank.ledger.sql import Prepared, Query, Reader, change, equal, insert_into, read, total
from timebank.ledger.transfers import Account, duel_stakes
from timebank.wagers import contests
from timebank.wagers.contests import Contest, ContestResult, ContestTry
from timebank.wagers.rounds import Json
from timebank.window.allowance import (
    Allowed,
    Bound,
    Window,
    account_of,
    refuse_beyond,
    strictest,
)
from timebank.window.corrections import reason_given
from timebank.window.teller import gift_bounds, sender_rules, window_of, words_refusal
from timebank.words import MINUTE, span_phrase

OPEN_FOR = timedelta(days=3)

# What callers who have put up a stake read when it comes home.
_HOME = {
    "even": N_("Your duel with {name} ended even: your stake of {amount} is back."),
    "declined": N_("{name} declined your duel: your stake of {amount} is back."),
    "expired": N_("Your duel with {name} was not played in time: your stake of {amount} is back."),
    "called off": N_("Your duel with {name} was called off: your stake of {amount} is back."),
    "restored": N_(
        "Your duel with {name} has ended, as the board was restored: your stake of {amount} is"
        " back."
    ),
}
# What the winner and the loser read.
_WON = (
    N_("You won the duel with {name}: {amount} of theirs, and your stake is back."),
    N_("{name} won your duel: your stake of {amount} is theirs. From the menu: D, then U."),
)
_WON_IN_TIME = (
    N_(
        "{name} did not finish your duel in time: you win their stake of {amount}, and yours is"
        " back."
    ),
    N_("You did not finish your duel with {name} in time: your stake of {amount} is theirs."),
)


class Duelist(NamedTuple):
    caller_id: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Duel(Contest):
    """A duel and its terms. The stake is in seconds."""

    SOURCE: ClassVar[str] = "Duel"
    OVER: ClassVar[str] = N_("This duel is over.")

    hands: int
    ends: datetime
    game: str
    challenger: Duelist
    rival: Duelist
    stake: int
    is_accepted: bool
    finished: int  # tries
    # None while it is open, then as in `schema.duels`.
    outcome: str | None

    @staticmethod
    def account(desk: Desk) -> Account:
        return duel_stakes(desk)

    def other(self, caller_id: int) -> Duelist:
        return self.rival if caller_id == self.challenger.caller_id else self.challenger

    @property
    def state(self) -> str:
        return self.outcome or ("accepted" if self.is_accepted else "challenged")

    @property
    def names(self) -> tuple[str, str]:
        return self.challenger.name, self.rival.name


class DuelRecord(NamedTuple):
    """How many duels of a caller ended how."""

    won: int
    lost: int
    even: int


def _duel(row: Sequence[Any]) -> Duel:
    challenger_id, challenger, rival_id, rival, entered, finished = row[5:11]
    game, hands, stake, ends, outcome = row[11:]
    return Duel(
        **contests.shoe(row[:5]),
        game=game,
        hands=hands,
        stake=stake,
        ends=instant(ends),
        outcome=outcome,
        challenger=Duelist(challenger_id, challenger),
        rival=Duelist(rival_id, rival),
        is_accepted=entered == 2,
        finished=finished,
    )


def _duels(*where: ColumnElement[bool]) -> Query:
    one, other = callers.alias("challenger"), callers.alias("rival")
    entered = select(func.count()).where(entries.c.seal == duels.c.seal)
    finished = select(func.count()).where(
        deal_tries.c.seal == duels.c.seal, deal_tries.c.finished.is_not(None)
    )
    return (
        select(
            *contests.SHOE,
            *(one.c.id, one.c.name, other.c.id, other.c.name),
            *(entered.scalar_subquery(), finished.scalar_subquery()),
            *(duels.c.game, duels.c.hands, duels.c.stake, duels.c.ends, duels.c.outcome),
        )
        .select_from(duels)
        .join(deals, deals.c.seal == duels.c.seal)
        .join(one, one.c.id == duels.c.challenger_id)
        .join(other, other.c.id == duels.c.rival_id)
        .where(*where)
        .order_by(deals.c.opened.desc(), duels.c.seal)
    )


def _of_caller() -> ColumnElement[bool]:
    number: Any = bindparam("caller_id")
    return or_(duels.c.challenger_id == number, duels.c.rival_id == number)


_IS_OPEN = duels.c.outcome.is_(None)
_OF_SEAL = Reader(_duel, lambda: _duels(equal(duels.c.seal)))
_OPEN = Reader(_duel, lambda: _duels(_IS_OPEN))
_OPEN_OF = Reader(_duel, lambda: _duels(_IS_OPEN, _of_caller()))
_OF_CALLER = Reader(_duel, lambda: _duels(_of_caller()).limit(bindparam("most")))
_LISTED = Reader(_duel, lambda: _duels().limit(bindparam("most")))
_ADD = Prepared(lambda: insert_into(duels, "seal challenger_id rival_id game hands stake ends"))
_SET_END = Prepared(lambda: change(duels, "ends", equal(duels.c.seal)))
_END = Prepared(lambda: change(duels, "outcome", equal(duels.c.seal), _IS_OPEN))
_ENDED_AS = and_(entries.c.seal == duels.c.seal, entries.c.caller_id == bindparam("caller_id"))


def _record() -> Query:
    won = and_(duels.c.outcome == "won", entries.c.prize > 0)
    lost = and_(duels.c.outcome == "won", entries.c.prize == 0)
    return select(
        *(total(case((how, 1), else_=0)) for how in (won, lost, duels.c.outcome == "even"))
    ).join_from(duels, entries, _ENDED_AS)


_RECORD = read(DuelRecord, _record)
_MOST_WON = Prepared(
    lambda: (
        select(callers.c.name, func.count())
        .join_from(entries, duels, duels.c.seal == entries.c.seal)
        .join(callers, callers.c.id == entries.c.caller_id)
        .where(entries.c.prize > 0, callers.c.deleted.is_(None))
        .group_by(callers.c.id, callers.c.name)
        .order_by(func.count().desc(), callers.c.name)
        .limit(bindparam("most"))
    )
)


# The duels in the books.


def of_seal(desk: Desk, seal: str) -> Duel | None:
    return _OF_SEAL.first(desk.connection, seal=seal)


def of_caller(desk: Desk, caller_id: int, most: int) -> list[Duel]:
    """List a caller's last duels, the newest first."""
    return _OF_CALLER.all(desk.connection, caller_id=caller_id, most=most)


def listing(desk: Desk, most: int) -> list[Duel]:
    """List the last duels, the newest first."""
    return _LISTED.all(desk.connection, most=most)


def winner(desk: Desk, duel: Duel) -> str:
    """Return the name of the caller who won a duel, "" for none."""
    found = [each.name for each in contests.results(desk, duel.seal) if each.prize]
    return found[0] if found else ""


def record(desk: Desk, caller_id: int) -> DuelRecord:
    return _RECORD.one(desk.connection, caller_id=caller_id)


def most_won(desk: Desk, most: int) -> list[tuple[str, int]]:
    """List the callers who won most duels, with the number of these."""
    return [(name, number) for name, number in _MOST_WON(desk.connection, most=most)]


def is_waiting(desk: Desk, caller_id: int) -> bool:
    """Return whether a duel waits for a caller's answer or hands."""
    return any(
        waits_for(desk, each, caller_id)
        for each in _OPEN_OF.all(desk.connection, caller_id=caller_id)
    )


def waits_for(desk: Desk, duel: Duel, caller_id: int) -> bool:
    if not duel.is_open(desk.now):
        return False
    if not duel.is_accepted:
        return caller_id == duel.rival.caller_id
    found = contests.try_of(desk, duel.seal, caller_id)
    return found is None or found.score is None


# Challenge and answer.


def challenge(
    desk: Desk,
    call_id: int,
    ticked: int,
    rival_id: int,
    stake: int,
    shoe: tuple[bytes, str, str, Json, int],
) -> Receipt:
    """Challenge a caller for a stake in seconds, and put it up. The seal makes it happen once.

    `shoe` is seed, seal, game, rules and number of hands. Raises `CallClosed`, `UnknownCaller`,
    `OwnLimit`, and the `Refused` of the first rule that forbids it.
    """
    seed, seal, game, rules, hands = shoe
    posting = enter(desk, call_id, ticked)
    if of_seal(desk, seal) is None:
        most = desk.settings.most_duel
        if not most:
            raise LimitReached(Phrase("There are no duels on this board."))
        if stake > most:
            raise LimitReached(
                Phrase("The stake of a duel is {most} at most.", most=span_phrase(most))
            )
        rival = account_of(desk, rival_id)
        _refuse(posting, rival_id, stake)
        if any(
            rival_id in (each.challenger.caller_id, each.rival.caller_id)
            for each in _OPEN_OF.all(desk.connection, caller_id=posting.caller_id)
        ):
            raise LimitReached(Phrase("You have an open duel with {name}.", name=rival.name))
        today = desk.settings.schedule.day_of(desk.now)
        contests.add(desk, seal, today, seed, rules, is_daily=False)
        _ADD(
            desk.connection,
            seal=seal,
            challenger_id=posting.caller_id,
            rival_id=rival_id,
            game=game,
            hands=hands,
            stake=stake,
            ends=stamp(desk.now + OPEN_FOR),
        )
        _put_up(posting, seal)
        said = N_("{name} challenges you to a duel for {amount}. From the menu: D, then U.")
        add_notice(desk, rival_id, said, name=posting.name, amount=Amount(stake))
    return posting.finish()


def accept(desk: Desk, call_id: int, ticked: int, seal: str) -> Receipt:
    """Accept a challenge and put up the same stake, once.

    Raises `CallClosed`, `ShoeGone` for a duel that is over or another caller's, `OwnLimit`, and the
    `Refused` of the first rule that forbids it.
    """
    posting = enter(desk, call_id, ticked)
    duel = _open_duel(desk, seal, posting.caller_id)
    if duel.rival.caller_id == posting.caller_id and not duel.is_accepted:
        _refuse(posting, duel.challenger.caller_id, duel.stake)
        _put_up(posting, seal)
        said = N_("{name} accepts your duel. From the menu: D, then U.")
        add_notice(desk, duel.challenger.caller_id, said, name=posting.name)
    return posting.finish()


def allowed_stake(
    desk: Desk, call_id: int, rival_id: int | None = None, stake: int = MINUTE
) -> Allowed:
    """Return what a caller may stake against a rival, or against anyone. Writes nothing.

    `stake` is the least that would do, in seconds. Raises as `teller.allowance_to` does.
    """
    return strictest(_bounds(window_of(desk, call_id, 0), rival_id, stake))


def _bounds(window: Window, rival_id: int | None, stake: int) -> Iterator[Bound]:
    """Yield the bounds of a stake: those of a gift, with two sentences of a duel's own."""
    yield from window.closing_rules()
    yield from window.newcomer_rules(
        N_("You can duel from {first}, when you have been here {days}.")
    )
    held = window.posting.state.bank
    text = N_("The stake comes from your time bank, which holds {held}.")
    if held < stake:
        text = N_(
            "The stake comes from your time bank, which holds {held}: deposit {missing} first (T in"
            " the menu)."
        )
    yield Bound(
        held,
        Phrase(text, held=_minutes(held), missing=_minutes(stake - held // MINUTE * MINUTE)),
        NotEnough,
    )
    if rival_id is None:
        yield from sender_rules.bounds(window)
    else:
        yield from gift_bounds(window, account_of(window.posting.desk, rival_id))


def _minutes(seconds: int) -> Phrase:
    return Phrase.counted("{number} minute", "{number} minutes", seconds // MINUTE)


def _refuse(posting: Posting, other_id: int, stake: int) -> None:
    """Refuse a stake that could not be a gift to the other caller, or breaks an own limit."""
    desk = posting.desk
    refuse_beyond(stake, _bounds(Window(posting), other_id, stake))
    unheard = words_refusal(desk, posting.caller_id, other_id)
    if unheard is not None:
        raise Refused(unheard)
    posting.check_may_bet(stake)


def _put_up(posting: Posting, seal: str) -> None:
    duel = of_seal(posting.desk, seal)
    assert duel is not None
    reason = reasons.Staked(*duel.names)
    contests.enter(posting, duel, "bank", duel.stake, reason, for_prize=True)


def _open_duel(desk: Desk, seal: str, caller_id: int) -> Duel:
    duel = of_seal(desk, seal)
    if duel is None or caller_id not in (duel.challenger.caller_id, duel.rival.caller_id):
        raise ShoeGone(Phrase(Duel.OVER))
    contests.refuse_closed(desk, duel)
    return duel


def decline(desk: Desk, caller_id: int, seal: str) -> None:
    """Decline or withdraw a challenge; the stake goes home. Does nothing for a duel that is over.

    Raises `OutOfStep` once it is accepted.
    """
    duel = of_seal(desk, seal)
    if duel is None or duel.outcome is not None:
        return
    if duel.is_accepted:
        raise OutOfStep(Phrase("This duel is accepted, so it goes on."))
    _end(desk, duel, "declined", tell_home=caller_id == duel.rival.caller_id)
    if caller_id == duel.challenger.caller_id:
        said = N_("{name} withdrew the challenge to a duel.")
        add_notice(desk, duel.rival.caller_id, said, name=duel.challenger.name)


def begin(desk: Desk, seal: str, caller_id: int) -> ContestTry:
    """Begin a caller's try at an accepted duel, or return it. Raises `ShoeGone` and `OutOfStep`."""
    duel = _open_duel(desk, seal, caller_id)
    if not duel.is_accepted:
        raise OutOfStep(Phrase("{name} has not accepted yet.", name=duel.rival.name))
    return contests.begin(desk, duel, caller_id)


# The end.


def due(desk: Desk) -> list[Duel]:
    """List the open duels that `settle` ends, or whose end was set by a clock that was ahead."""
    is_certain = clock.is_certain(desk)
    return [
        each
        for each in _OPEN.all(desk.connection)
        if each.finished == 2
        or not desk.settings.most_duel
        or (is_certain and not desk.now < each.ends <= desk.now + OPEN_FOR)
    ]


def settle(desk: Desk, seal: str) -> Duel | None:
    """End a duel that is due, or correct when it ends. None if it waits for a cost."""
    duel = of_seal(desk, seal)
    if duel is None or duel.outcome is not None:
        return duel
    results = contests.results(desk, seal)
    if len(results) == 2:
        first, second = sorted(results, key=lambda each: (-each.score, each.cost or 0))
        is_decided = first.score != second.score
        if not is_decided and None in (first.cost, second.cost):
            return None
        if is_decided or first.cost != second.cost:
            _pay_winner(desk, duel, first, second)
        else:
            _end(desk, duel, "even")
    elif not desk.settings.most_duel:
        _end(desk, duel, "called off")
    elif not clock.is_certain(desk):
        return duel
    elif duel.ends > desk.now + OPEN_FOR:
        _SET_END(desk.connection, ends=stamp(desk.now + OPEN_FOR), seal=seal)
    elif duel.ends <= desk.now:
        left = contests.unfinished(desk, seal)
        if results and left:
            _pay_winner(desk, duel, results[0], left[0], _WON_IN_TIME)
        else:
            _end(desk, duel, "expired")
    return of_seal(desk, seal)


def _pay_winner(
    desk: Desk,
    duel: Duel,
    winner: ContestResult,
    loser: ContestResult,
    texts: tuple[str, str] = _WON,
) -> None:
    """Pay both stakes to the winner. They go home if an account of the two is shut."""
    if contests.is_shut(desk, winner) or contests.is_shut(desk, loser):
        _end(desk, duel, "called off")
        return
    contests.end(desk, duel, _END, "won")
    contests.place(desk, duel.seal, {winner.caller_id: 1, loser.caller_id: 2})
    both = duel.stake + duel.stake
    contests.pay(desk, duel, winner.caller_id, both, reasons.DuelWon(*duel.names))
    amount, (won, lost) = Amount(duel.stake), texts
    add_notice(desk, winner.caller_id, won, name=loser.name, amount=amount)
    add_notice(desk, loser.caller_id, lost, name=winner.name, amount=amount)


def end_all(desk: Desk, outcome: str, caller_id: int | None = None) -> list[Duel]:
    """End all open duels, or those of a caller, and return them. The stakes go home."""
    ended = _OPEN.all(desk.connection)
    if caller_id is not None:
        ended = _OPEN_OF.all(desk.connection, caller_id=caller_id)
    for each in ended:
        _end(desk, each, outcome)
    return ended


def call_off(desk: Desk, why: str, by: str) -> list[Duel]:
    """End all open duels for the sysop, and return them. Raises `Refused` without a reason."""
    why = reason_given(why)
    ended = end_all(desk, "called off")
    sysop_log.note(desk, by, None, f"{len(ended)} open duels were called off: {why}")
    return ended


def _end(desk: Desk, duel: Duel, outcome: str, *, tell_home: bool = True) -> None:
    """End a duel without a winner. The stakes go home, and `tell_home` says so to their callers."""
    contests.end(desk, duel, _END, outcome)
    contests.give_back(desk, duel, reasons.StakeBack(*duel.names))
    for caller_id in contests.entrants(desk, duel.seal) if tell_home else ():
        name, amount = duel.other(caller_id).name, Amount(duel.stake)
        add_notice(desk, caller_id, _HOME[outcome], name=name, amount=amount)
