"""The journal: shoes and rounds as they were played, to be found again after a crash or a year.

The journal stores what the tables give it and never looks inside: rules, actions and results are
JSON, a seed is 32 bytes. What it does see to: a seed stays out of every `repr`, and `shown_seed`
gives it only when the shoe is done.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType
from typing import Any, TypeAlias

from sqlalchemy import (
    ColumnElement,
    and_,
    bindparam,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    union,
    update,
)

from timebank.errors import JournalDamaged, RoundInPlay, ShoeGone
from timebank.language import Phrase
from timebank.ledger import schema
from timebank.ledger.database import Desk
from timebank.ledger.schema import actions, callers, instant, shoes, stamp
from timebank.ledger.sql import Prepared, Query, Reader, among, highest, parameters, value
from timebank.wagers import chains
from timebank.words import Unit

OVERDUE_AFTER = timedelta(days=1)
# The table of a game that has one alone, and of whoever plays alone.
FIRST_TABLE = 1
_LARGEST = 2**63 - 1
# Rounds whose actions and seats are read together.
AT_ONCE = 200
_ROUNDS = schema.rounds
ByLead: TypeAlias = dict[int, list[Any]]

log = logging.getLogger("timebank")


@dataclass(frozen=True, slots=True)
class Shoe:
    id: int
    # The SHA-256 of the seed, to be shown before the bet.
    seal: str
    decks: int
    # Cards dealt from it before the hand in question, or so far.
    position: int
    # What the caller said at the cut, '' for nothing; None until the first hand is dealt.
    cut: str | None
    # Nothing was dealt from it yet, so it may still be cut.
    fresh: bool
    # It will not be dealt from again, so its seed may be shown.
    done: bool
    # Whose it is; None for the one that all at a table share.
    caller_id: int | None
    seed: bytes = field(repr=False)
    # Which of the game's tables shares it, from 1.
    table: int = FIRST_TABLE
    # The chain that its seed is of, and which of its links, from 1; None and 0: a seed by itself.
    anchor: str | None = None
    link: int = 0
    # Of the round of drand that release 1.0 shuffled it with, in hexadecimal; "" for none.
    signature: str = ""

    @property
    def shown_seed(self) -> str | None:
        return self.seed.hex() if self.done else None


@dataclass(frozen=True, slots=True)
class StoredSeat:
    """One of those who play a round: whose it is, and what they bet in the round's unit."""

    seat: int
    round_id: int
    caller_id: int
    caller: str
    bet: int
    settled: bool


@dataclass(frozen=True, slots=True)
class StoredRound:
    """A round as the journal has it, for one seat. Amounts are in `unit`."""

    id: int
    game: str
    caller_id: int
    caller: str
    day: date
    dealt: datetime
    rules: Mapping[str, object]
    # The opening bet.
    stake: int
    # What a coin was worth when it was placed.
    coin: int
    # With the position that this round began at; None for a game without cards.
    shoe: Shoe | None
    # (sequence, action), the bet first.
    actions: tuple[tuple[int, Mapping[str, object]], ...]
    # Cards of the shoe that the round has used.
    cards_used: int
    settled: bool
    # "void" when the caller was deleted with the hand still open.
    outcome: str | None
    result: Mapping[str, object] | None
    lost: int
    returned: int
    won: int
    unit: Unit
    seat: int
    # The round that the actions are journaled under; its own number where it is the first seat's.
    lead: int
    # All who play it, this one included, by their seats.
    seats: tuple[StoredSeat, ...]

    @property
    def sequence(self) -> int:
        """The number of the last action, 0 while there is only the bet; there must be that."""
        return self.actions[-1][0]

    @property
    def start(self) -> int:
        return 0 if self.shoe is None else self.shoe.position


def gone(shoe_id: ColumnElement[int]) -> ColumnElement[int]:
    """Count the cards of a shoe that are gone behind its last round; NULL for one without any."""
    dealt = _ROUNDS.alias()
    used = (
        select(func.max(actions.c.cards_used))
        .where(actions.c.round_id == func.coalesce(dealt.c.lead, dealt.c.id))
        .correlate(dealt)
        .scalar_subquery()
    )
    return (
        select(dealt.c.start_position + used)
        .where(dealt.c.shoe_id == shoe_id)
        .order_by(dealt.c.id.desc())
        .limit(1)
        .correlate_except(dealt)
        .scalar_subquery()
    )


# What is asked of a shoe, under the names by which `_shoe` reads it.
_SHOE = (
    *(shoes.c.id.label("shoe_id"), shoes.c.seal, shoes.c.decks, shoes.c.cut, shoes.c.closed),
    *(shoes.c.caller_id.label("shoe_of"), shoes.c.seed, shoes.c.at_table),
    *(shoes.c.anchor, shoes.c.link, shoes.c.beacon),
)


def _shoe(row: Sequence[Any]) -> Shoe:
    """Make a shoe of the columns of `_SHOE`, and its position."""
    number, seal, decks, cut, closed, owner, seed, table, anchor, link, beacon, position = row
    return Shoe(
        id=number,
        seal=seal,
        decks=decks,
        position=position,
        cut=cut,
        fresh=cut is None,
        done=closed is not None,
        caller_id=owner,
        seed=seed,
        table=table,
        anchor=anchor,
        link=link or 0,
        signature="" if beacon is None else _signature(beacon),
    )


def _open_shoes(*of: ColumnElement[bool]) -> Query:
    position = func.coalesce(gone(shoes.c.id), 0).label("position")
    return select(*_SHOE, position).where(shoes.c.closed.is_(None), *of)


_OF_GAME = shoes.c.game == bindparam("game")
_OPEN_SHOE = Reader(
    _shoe, lambda: _open_shoes(shoes.c.caller_id == bindparam("caller_id"), _OF_GAME)
)
_OPEN_TABLE_SHOE = Reader(
    _shoe,
    lambda: _open_shoes(
        shoes.c.caller_id.is_(None), _OF_GAME, shoes.c.at_table == bindparam("at_table")
    ),
)
_SEAL = Prepared(
    lambda: insert(shoes).values(
        parameters(
            "caller_id", "game", "decks", "seed", "seal", "opened", "at_table", "anchor", "link"
        )
    )
)
# A hand from a shoe that is still in play.
_DEALT_FROM = (_ROUNDS.c.shoe_id == bindparam("shoe_id"), _ROUNDS.c.settled.is_(None))
_IS_DEALT_FROM = Prepared(lambda: select(literal(1)).select_from(_ROUNDS).where(*_DEALT_FROM))
_CLOSE_SHOE = Prepared(
    lambda: (
        update(shoes)
        .values(parameters("closed"))
        .where(shoes.c.id == bindparam("shoe_id"), shoes.c.closed.is_(None))
        .where(~exists().where(*_DEALT_FROM))
    )
)
_CLOSE_OWN_SHOES = Prepared(
    lambda: (
        update(shoes)
        .values(parameters("closed"))
        .where(_OF_GAME, shoes.c.caller_id.is_not(None), shoes.c.closed.is_(None))
        .where(~exists().where(_ROUNDS.c.shoe_id == shoes.c.id, _ROUNDS.c.settled.is_(None)))
    )
)


def open_shoe(
    desk: Desk,
    owner: int | None,
    game: str,
    decks: int,
    seed: bytes,
    seal: str,
    table: int = FIRST_TABLE,
    ahead: int = 0,
) -> Shoe:
    """Give the open shoe for a game of a caller, or seal a new one from `seed`.

    Without an `owner`, it is the one that all at this `table` of the game share. A shoe of another
    number of decks (the sysop has changed the rules) is closed and replaced, which lets its seed be
    seen. `seed` and `seal` are not used when there is a shoe.

    With `ahead`, seeds come from a chain that seals so many of them (chains.py): `seed` is the root
    of a new one, where one has to begin.
    """
    if owner is None:
        shoe = _OPEN_TABLE_SHOE.first(desk.connection, game=game, at_table=table)
    else:
        shoe = _OPEN_SHOE.first(desk.connection, caller_id=owner, game=game)
    if shoe is not None and shoe.decks == decks:
        return shoe
    if shoe is not None:
        close_shoe(desk, shoe.id)
    anchor, link = None, 0
    if ahead:
        taken = chains.take_link(desk, owner, game, table, seed, ahead)
        anchor, link, seed, seal = taken.anchor, taken.number, taken.seed, taken.seal
    number = _SEAL.insert(
        desk.connection,
        caller_id=owner,
        game=game,
        decks=decks,
        seed=seed,
        seal=seal,
        opened=stamp(desk.now),
        at_table=table,
        anchor=anchor,
        link=link or None,
    )
    return Shoe(
        *(number, seal, decks, 0, None),
        fresh=True,
        done=False,
        caller_id=owner,
        seed=seed,
        table=table,
        anchor=anchor,
        link=link,
    )


def close_shoe(desk: Desk, shoe_id: int) -> None:
    """Declare a shoe done: nothing more is dealt from it and its seed may be shown.

    Raises `RoundInPlay` while a hand from it is open, `ShoeGone` when it is done already.
    """
    if _CLOSE_SHOE.count_changed(desk.connection, closed=stamp(desk.now), shoe_id=shoe_id):
        return
    if _IS_DEALT_FROM(desk.connection, shoe_id=shoe_id).scalar():
        raise RoundInPlay(Phrase("A hand from this shoe is still in play."))
    raise ShoeGone(Phrase("This shoe is done already."))


def close_own_shoes(desk: Desk, game: str) -> None:
    """Declare done all shoes of callers alone, for a game that deals from those of tables only.

    Release 1.0 dealt from such shoes too. One from which a hand is open stays.
    """
    _CLOSE_OWN_SHOES(desk.connection, game=game, closed=stamp(desk.now))


def round_in_play(desk: Desk, caller_id: int) -> StoredRound | None:
    """Find the caller's open hand; raises `JournalDamaged`."""
    return _only(_stored(desk, _IN_PLAY, caller_id=caller_id))


def games_in_play(desk: Desk, caller_ids: Collection[int]) -> dict[int, str]:
    """Give the games at which these callers have an open hand; those without one are left out."""
    rows = _GAMES_IN_PLAY(desk.connection, caller_ids=json.dumps(list(caller_ids)))
    return dict(map(tuple, rows))


def stored_round(desk: Desk, round_id: int) -> StoredRound | None:
    """Find a round by its number; raises `JournalDamaged`."""
    return _only(_stored(desk, _BY_NUMBER, number=round_id))


def last_open_to_all(desk: Desk, caller_id: int, game: str) -> StoredRound | None:
    """Find a caller's last round of a game that is settled, and whose seed may be seen; raises
    `JournalDamaged`."""
    number = _LAST_DONE(desk.connection, caller_id=caller_id, game=game).scalar()
    return None if number is None else stored_round(desk, number)


def rounds(desk: Desk, caller_id: int | None) -> Iterator[StoredRound | JournalDamaged]:
    """Go through the rounds of a caller, or of all; an error stands for one that cannot be read."""
    if caller_id is None:
        return _stored(desk, _ALL)
    return _stored(desk, _OF_CALLER, caller_id=caller_id)


def rounds_between(desk: Desk, first: int, last: int) -> Iterator[StoredRound | JournalDamaged]:
    """Go through the rounds from one number to another, both included, in the same way."""
    return _stored(desk, _BETWEEN, first=first, last=last)


def last_round(desk: Desk) -> int:
    """The highest number of a round; 0 without any."""
    return _LAST_ROUND.one(desk.connection)


def overdue(desk: Desk) -> list[StoredRound]:
    """List the rounds left open past the end of the day after theirs, each by its lead."""
    yesterday = desk.settings.schedule.day_of(desk.now) - OVERDUE_AFTER
    found = _stored(desk, _OVERDUE, before=yesterday.isoformat())
    return list(_readable(found, "is overdue"))


def undealt(desk: Desk) -> list[StoredRound]:
    """List the rounds, each by its lead, whose bets release 1.0 took, and whose cards were to come
    with a round of drand."""
    found = _readable(_stored(desk, _BESIDE_DRAND), "is in play")
    return [stored for stored in found if not stored.cards_used]


def overdue_numbers(desk: Desk) -> list[int]:
    yesterday = desk.settings.schedule.day_of(desk.now) - OVERDUE_AFTER
    return list(_OVERDUE_NUMBERS(desk.connection, before=yesterday.isoformat()).scalars())


def shared_rounds(desk: Desk, game: str) -> dict[int, int]:
    """Return the rounds of a game in play that were dealt from the shoe of a table: by the number
    of the seat that keeps the journal, the number of the table."""
    return dict(map(tuple, _SHARED_ROUNDS(desk.connection, game=game)))


_RESULTS: Reader[str | None] = value(
    lambda: (
        select(schema.rounds.c.result)
        .where(schema.rounds.c.shoe_id == bindparam("shoe_id"))
        .where(schema.rounds.c.settled.is_not(None), schema.rounds.c.outcome != "void")
        .order_by(schema.rounds.c.id.desc())
        .limit(bindparam("count"))
    )
)


def results_of_shoe(desk: Desk, shoe_id: int, count: int) -> list[Mapping[str, Any]]:
    """Return what the journal keeps of the last rounds of a shoe that are over, in their order."""
    found = _RESULTS.all(desk.connection, shoe_id=shoe_id, count=count)
    return [json.loads(result) for result in reversed(found) if result]


def rounds_at_table(desk: Desk, first: StoredRound, last: int | None) -> list[StoredRound]:
    """List the rounds from `first` on at its table, up to number `last` or else those of its day.

    Where several share the table, that is theirs, each round by the seat that keeps its journal, or
    by the seat of the caller of `first`; elsewhere it is that caller's. Those that cannot be read
    are left out, and named in the log.
    """
    shoe = first.shoe
    is_shared = shoe is not None and shoe.caller_id is None
    values = {
        "first": first.lead,
        "last": _LARGEST if last is None else last,
        "since": first.day.isoformat(),
        "until": "9999-12-31" if last is not None else first.day.isoformat(),
        "game": first.game,
    }
    if not is_shared or shoe is None:
        mine = _stored(desk, _OF_CALLER_FROM, caller_id=first.caller_id, **values)
        return list(_readable(mine, "is asked for"))
    found = _stored(desk, _AT_TABLE_FROM, at_table=shoe.table, **values)
    by_lead: dict[int, StoredRound] = {}
    for stored in _readable(found, "is asked for"):
        if stored.lead not in by_lead or stored.caller_id == first.caller_id:
            by_lead[stored.lead] = stored
    return [by_lead[lead] for lead in sorted(by_lead)]


def _readable(found: Iterator[StoredRound | JournalDamaged], what: str) -> Iterator[StoredRound]:
    """Leave out what cannot be read, and name it in the log."""
    for stored in found:
        if isinstance(stored, JournalDamaged):
            log.error("hand %d %s, but %s", stored.number, what, stored)
        else:
            yield stored


def _signature(beacon: str) -> str:
    said = _object(beacon).get("signature", "")
    if not isinstance(said, str):
        raise TypeError("the round of drand that its shoe is shuffled with cannot be read")
    return said


def _those(*where: ColumnElement[bool]) -> Query:
    hand = _ROUNDS.c
    return (
        select(
            *(hand.id, func.coalesce(hand.lead, hand.id).label("lead"), hand.game),
            *(hand.caller_id, callers.c.name, hand.day, hand.dealt, hand.rules, hand.bet),
            *(hand.coin, hand.settled, hand.outcome, hand.result, hand.lost, hand.returned),
            *(hand.won, hand.unit, hand.seat),
            *(*_SHOE, hand.start_position.label("position")),
        )
        .select_from(_ROUNDS)
        .join(callers, callers.c.id == hand.caller_id)
        .join(shoes, shoes.c.id == hand.shoe_id, isouter=True)
        .where(*where)
        .order_by(hand.id)
    )


def _leads_in_play() -> ColumnElement[bool]:
    """Choose rounds that keep a journal, while any seat of them is in play."""
    seat = _ROUNDS.alias()
    leads = select(func.coalesce(seat.c.lead, seat.c.id)).where(seat.c.settled.is_(None))
    return and_(_ROUNDS.c.lead.is_(None), _ROUNDS.c.id.in_(leads))


_OF_THIS_CALLER = _ROUNDS.c.caller_id == bindparam("caller_id")
_TOO_LONG = _ROUNDS.c.day < bindparam("before")
_ALL = Prepared(_those)
_BETWEEN = Prepared(lambda: _those(_ROUNDS.c.id.between(bindparam("first"), bindparam("last"))))
_LAST_ROUND: Reader[int] = value(lambda: select(highest(_ROUNDS.c.id)))
_BY_NUMBER = Prepared(lambda: _those(_ROUNDS.c.id == bindparam("number")))
_OF_CALLER = Prepared(lambda: _those(_OF_THIS_CALLER))
_LAST_DONE = Prepared(
    lambda: (
        select(_ROUNDS.c.id)
        .join(shoes, shoes.c.id == _ROUNDS.c.shoe_id)
        .where(_OF_THIS_CALLER, _ROUNDS.c.game == bindparam("game"))
        .where(_ROUNDS.c.settled.is_not(None), shoes.c.closed.is_not(None))
        .order_by(_ROUNDS.c.id.desc())
        .limit(1)
    )
)
_FROM = (
    _ROUNDS.c.game == bindparam("game"),
    _ROUNDS.c.id.between(bindparam("first"), bindparam("last")),
    _ROUNDS.c.day.between(bindparam("since"), bindparam("until")),
)
_OF_CALLER_FROM = Prepared(lambda: _those(_OF_THIS_CALLER, *_FROM))
_AT_TABLE_FROM = Prepared(
    lambda: _those(*_FROM, shoes.c.caller_id.is_(None), shoes.c.at_table == bindparam("at_table"))
)
_IN_PLAY = Prepared(lambda: _those(_OF_THIS_CALLER, _ROUNDS.c.settled.is_(None)))
_GAMES_IN_PLAY = Prepared(
    lambda: (
        select(_ROUNDS.c.caller_id, _ROUNDS.c.game)
        .where(_ROUNDS.c.settled.is_(None), among(_ROUNDS.c.caller_id, "caller_ids"))
        .order_by(_ROUNDS.c.caller_id)
    )
)
_SHARED_ROUNDS = Prepared(
    lambda: (
        select(func.coalesce(_ROUNDS.c.lead, _ROUNDS.c.id).label("lead"), shoes.c.at_table)
        .distinct()
        .select_from(_ROUNDS)
        .join(shoes, shoes.c.id == _ROUNDS.c.shoe_id)
        .where(
            _ROUNDS.c.settled.is_(None),
            _ROUNDS.c.game == bindparam("game"),
            shoes.c.caller_id.is_(None),
        )
        .order_by("lead")
    )
)
_BESIDE_DRAND = Prepared(lambda: _those(_leads_in_play(), shoes.c.beacon.is_not(None)))
_OVERDUE = Prepared(lambda: _those(_leads_in_play(), _TOO_LONG))
_OVERDUE_NUMBERS = Prepared(
    lambda: select(_ROUNDS.c.id).where(_leads_in_play(), _TOO_LONG).order_by(_ROUNDS.c.id)
)


def _acts(these: ColumnElement[bool]) -> Query:
    act = actions.c
    return (
        select(act.round_id, act.sequence, act.action, act.cards_used)
        .where(these)
        .order_by(act.round_id, act.sequence)
    )


def _seats(these: ColumnElement[bool]) -> Query:
    hand = _ROUNDS.c
    return (
        select(
            func.coalesce(hand.lead, hand.id).label("lead"),
            *(hand.seat, hand.id, hand.caller_id, callers.c.name, hand.bet, hand.settled),
        )
        .join(callers, callers.c.id == hand.caller_id)
        .where(these)
    )


# Of one round, and of many at once: a query for each of these takes four times as long.
_PLAYED = Prepared(lambda: _acts(actions.c.round_id == bindparam("lead")))
_ALL_PLAYED = Prepared(lambda: _acts(among(actions.c.round_id, "leads")))
_SEATS = Prepared(
    lambda: _seats(
        or_(_ROUNDS.c.id == bindparam("lead"), _ROUNDS.c.lead == bindparam("lead"))
    ).order_by(_ROUNDS.c.seat)
)
# Apart: to find what is among either of two, PostgreSQL would go through all there are.
_ALL_SEATS = Prepared(
    lambda: union(
        _seats(among(_ROUNDS.c.id, "leads")), _seats(among(_ROUNDS.c.lead, "leads"))
    ).order_by("lead", "seat")
)


def _only(found: Iterator[StoredRound | JournalDamaged]) -> StoredRound | None:
    stored = next(found, None)
    if isinstance(stored, JournalDamaged):
        raise stored
    return stored


def _stored(
    desk: Desk, those: Prepared, **values: object
) -> Iterator[StoredRound | JournalDamaged]:
    for rows in those.run_long(desk.connection, **values).partitions(AT_ONCE):
        played, seated = _of_leads(desk, {row[1] for row in rows})
        for row in rows:
            number, lead, *rest = row
            try:
                stored = _round(number, lead, rest, played.get(lead, ()), seated.get(lead, ()))
            except (ValueError, TypeError, OverflowError, OSError) as error:
                yield JournalDamaged(number, error)
            else:
                yield stored


def _of_leads(desk: Desk, leads: Collection[int]) -> tuple[ByLead, ByLead]:
    """Give the actions and the seats of rounds, by the numbers of those that keep their journals;
    each row begins with that."""
    books = desk.connection
    if len(leads) == 1:
        (lead,) = leads
        return _by_lead(_PLAYED(books, lead=lead)), _by_lead(_SEATS(books, lead=lead))
    # Damage may have left there what JSON cannot say, and that is no round's number.
    numbers = json.dumps([lead for lead in leads if isinstance(lead, int)])
    return _by_lead(_ALL_PLAYED(books, leads=numbers)), _by_lead(_ALL_SEATS(books, leads=numbers))


def _by_lead(rows: Iterable[Any]) -> ByLead:
    return {lead: list(of_lead) for lead, of_lead in groupby(rows, itemgetter(0))}


def _round(
    number: int, lead: int, row: Sequence[Any], played: Sequence[Any], seated: Sequence[Any]
) -> StoredRound:
    game, caller_id, caller, day, dealt, rules, bet, coin, *rest = row
    settled, outcome, result, lost, returned, won, unit, seat, *shoe = rest
    return StoredRound(
        id=number,
        game=game,
        caller_id=caller_id,
        caller=caller,
        day=date.fromisoformat(day),
        dealt=instant(dealt),
        rules=_read_once(rules),
        stake=bet,
        coin=coin,
        shoe=None if shoe[0] is None else _shoe(shoe),
        actions=tuple([(sequence, _read_once(action)) for _, sequence, action, _ in played]),
        cards_used=max([used for *_, used in played], default=0),
        settled=settled is not None,
        outcome=outcome,
        result=None if result is None else _object(result),
        lost=lost,
        returned=returned,
        won=won,
        unit=unit,
        seat=seat,
        lead=lead,
        seats=tuple(
            [
                StoredSeat(place, of, who, name, stake, ended is not None)
                for _, place, of, who, name, stake, ended in seated
            ]
        ),
    )


@lru_cache(maxsize=256)
def _read_once(text: str) -> Mapping[str, object]:
    """Read what is the same in very many rounds: rules, and most actions."""
    return MappingProxyType(_object(text))


def _object(text: str) -> dict[str, object]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise TypeError(f"{text[:40]} is not a JSON object")
    return found
