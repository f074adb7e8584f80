"""The journal: shoes and rounds as they were played, for a later resumption or check.

The journal stores rules, actions and results as JSON, and knows nothing of their meaning. A seed is
32 bytes. It is in no `repr`, and `shown_seed` returns it only after the shoe is done.
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
# Also the table of callers who play alone, and of games with one table.
FIRST_TABLE = 1
LARGEST_NUMBER = 2**63 - 1
# The number of rounds whose actions and seats are read together.
BATCH = 200
_ROUNDS = schema.rounds
ByLead: TypeAlias = dict[int, list[Any]]

log = logging.getLogger("timebank")


@dataclass(frozen=True, slots=True)
class Shoe:
    """A shoe as the journal has it."""

    id: int
    # The SHA-256 of the seed, shown before the bet.
    seal: str
    decks: int
    # The number of cards dealt before the round that this shoe belongs to, or so far.
    position: int
    # The caller's words at the cut, "" for none; None until the first hand is dealt.
    cut: str | None
    # Whether no card was dealt yet, so that it can still be cut.
    fresh: bool
    # Whether its last card was dealt, so that its seed may be shown.
    done: bool
    # The owner; None for the shared shoe of a table.
    caller_id: int | None
    seed: bytes = field(repr=False)
    # The number of its table, from 1.
    table: int = FIRST_TABLE
    # The chain of its seed, and the number of the link, from 1; None and 0 for a single seed.
    anchor: str | None = None
    link: int = 0
    # The signature of the drand round that release 1.0 shuffled it with, in hexadecimal, or "".
    signature: str = ""

    @property
    def shown_seed(self) -> str | None:
        return self.seed.hex() if self.done else None


@dataclass(frozen=True, slots=True)
class StoredSeat:
    """A seat of a round: its caller, and the bet in the round's unit."""

    seat: int
    round_id: int
    caller_id: int
    caller: str
    bet: int
    settled: bool


@dataclass(frozen=True, slots=True)
class StoredRound:
    """One seat's round as the journal has it. Amounts are in `unit`."""

    id: int
    game: str
    caller_id: int
    caller: str
    day: date
    dealt: datetime
    rules: Mapping[str, object]
    # The opening bet.
    stake: int
    # The value of a coin at that bet.
    coin: int
    # Its position is where this round began. None for a game without cards.
    shoe: Shoe | None
    # (sequence, action), the bet first.
    actions: tuple[tuple[int, Mapping[str, object]], ...]
    # The number of cards of the shoe that the round has used.
    cards_used: int
    settled: bool
    # "void" for a hand that was not played to its end.
    outcome: str | None
    result: Mapping[str, object] | None
    lost: int
    returned: int
    won: int
    unit: Unit
    seat: int
    # The round that keeps the journal: the first seat's.
    lead: int
    # All seats of the table in order, with this one.
    seats: tuple[StoredSeat, ...]

    @property
    def sequence(self) -> int:
        """The number of the last action; 0 if there is only the bet."""
        return self.actions[-1][0]

    @property
    def start(self) -> int:
        return 0 if self.shoe is None else self.shoe.position


def cards_gone(shoe_id: ColumnElement[int]) -> ColumnElement[int]:
    """Return an expression for the number of cards that a shoe's rounds used; NULL if none did."""
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


# The columns that `_shoe` reads, in its order, before the position.
_SHOE = (
    *(shoes.c.id.label("shoe_id"), shoes.c.seal, shoes.c.decks, shoes.c.cut, shoes.c.closed),
    *(shoes.c.caller_id.label("shoe_of"), shoes.c.seed, shoes.c.at_table),
    *(shoes.c.anchor, shoes.c.link, shoes.c.beacon),
)


def _shoe(row: Sequence[Any]) -> Shoe:
    """Make a shoe of the columns of `_SHOE` and its position."""
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


def _open_shoes(*where: ColumnElement[bool]) -> Query:
    position = func.coalesce(cards_gone(shoes.c.id), 0).label("position")
    return select(*_SHOE, position).where(shoes.c.closed.is_(None), *where)


_IS_OF_GAME = shoes.c.game == bindparam("game")
_OPEN_SHOE = Reader(
    _shoe, lambda: _open_shoes(shoes.c.caller_id == bindparam("caller_id"), _IS_OF_GAME)
)
_OPEN_TABLE_SHOE = Reader(
    _shoe,
    lambda: _open_shoes(
        shoes.c.caller_id.is_(None), _IS_OF_GAME, shoes.c.at_table == bindparam("at_table")
    ),
)
_SEAL = Prepared(
    lambda: insert(shoes).values(
        parameters(
            "caller_id", "game", "decks", "seed", "seal", "opened", "at_table", "anchor", "link"
        )
    )
)

_IS_IN_PLAY_FROM = (_ROUNDS.c.shoe_id == bindparam("shoe_id"), _ROUNDS.c.settled.is_(None))
_IS_DEALT_FROM = Prepared(lambda: select(literal(1)).select_from(_ROUNDS).where(*_IS_IN_PLAY_FROM))
_CLOSE_SHOE = Prepared(
    lambda: (
        update(shoes)
        .values(parameters("closed"))
        .where(shoes.c.id == bindparam("shoe_id"), shoes.c.closed.is_(None))
        .where(~exists().where(*_IS_IN_PLAY_FROM))
    )
)
_CLOSE_OWN_SHOES = Prepared(
    lambda: (
        update(shoes)
        .values(parameters("closed"))
        .where(_IS_OF_GAME, shoes.c.caller_id.is_not(None), shoes.c.closed.is_(None))
        .where(~exists().where(_ROUNDS.c.shoe_id == shoes.c.id, _ROUNDS.c.settled.is_(None)))
    )
)


def open_shoe(
    desk: Desk,
    owner: int | None,
    game: str,
    decks: int,
    root: bytes,
    table: int = FIRST_TABLE,
) -> Shoe:
    """Return a caller's open shoe for a game, or make a new one from the next link of a chain.

    Without an `owner`, it is the shared shoe of the game's `table`. A shoe with another number of
    decks is closed and replaced, because the sysop has changed the rules. So is one without a
    chain, which release 1.0 could seal. Then its seed may be shown. `root` is for a new chain, if
    one must begin.
    """
    if owner is None:
        shoe = _OPEN_TABLE_SHOE.first(desk.connection, game=game, at_table=table)
    else:
        shoe = _OPEN_SHOE.first(desk.connection, caller_id=owner, game=game)
    if shoe is not None and shoe.decks == decks and shoe.anchor is not None:
        return shoe
    if shoe is not None:
        close_shoe(desk, shoe.id)
    link = chains.take_link(desk, owner, game, table, root)
    number = _SEAL.insert(
        desk.connection,
        caller_id=owner,
        game=game,
        decks=decks,
        seed=link.seed,
        seal=link.seal,
        opened=stamp(desk.now),
        at_table=table,
        anchor=link.anchor,
        link=link.number,
    )
    return Shoe(
        *(number, link.seal, decks, 0, None),
        fresh=True,
        done=False,
        caller_id=owner,
        seed=link.seed,
        table=table,
        anchor=link.anchor,
        link=link.number,
    )


def close_shoe(desk: Desk, shoe_id: int) -> None:
    """Close a shoe, so that it deals no further card and its seed may be shown.

    Raises `RoundInPlay` while a hand from it is open, `ShoeGone` if it is closed already.
    """
    if _CLOSE_SHOE.count_changed(desk.connection, closed=stamp(desk.now), shoe_id=shoe_id):
        return
    if _IS_DEALT_FROM(desk.connection, shoe_id=shoe_id).scalar():
        raise RoundInPlay(Phrase("A hand from this shoe is still in play."))
    raise ShoeGone(Phrase("This shoe is done already."))


def close_own_shoes(desk: Desk, game: str) -> None:
    """Close the callers' own shoes of a game whose tables now share theirs.

    Release 1.0 dealt from own shoes too. A shoe with an open hand stays open.
    """
    _CLOSE_OWN_SHOES(desk.connection, game=game, closed=stamp(desk.now))


def round_in_play(desk: Desk, caller_id: int) -> StoredRound | None:
    """Return the caller's open hand, None without one; raises `JournalDamaged`."""
    return _only(_stored(desk, _IN_PLAY, caller_id=caller_id))


def games_in_play(desk: Desk, caller_ids: Collection[int]) -> dict[int, str]:
    """Return the games at which these callers have an open hand, by caller."""
    rows = _GAMES_IN_PLAY(desk.connection, caller_ids=json.dumps(list(caller_ids)))
    return dict(map(tuple, rows))


def stored_round(desk: Desk, round_id: int) -> StoredRound | None:
    """Return a round by its number, None if there is none; raises `JournalDamaged`."""
    return _only(_stored(desk, _BY_NUMBER, number=round_id))


def last_revealed_round(desk: Desk, caller_id: int, game: str) -> StoredRound | None:
    """Return a caller's last settled round of a game whose seed may be shown; None without one.

    Raises `JournalDamaged`.
    """
    number = _LAST_DONE(desk.connection, caller_id=caller_id, game=game).scalar()
    return None if number is None else stored_round(desk, number)


def rounds_between(desk: Desk, first: int, last: int) -> Iterator[StoredRound | JournalDamaged]:
    """Yield the rounds from number `first` to `last`, both included.

    An unreadable one is yielded as an error.
    """
    return _stored(desk, _BETWEEN, first=first, last=last)


def last_round(desk: Desk) -> int:
    """Return the highest number of a round; 0 if there is none."""
    return _LAST_ROUND.one(desk.connection)


def overdue_rounds(desk: Desk) -> list[StoredRound]:
    """Return the open rounds whose day ended more than a day ago, each by its lead."""
    yesterday = desk.settings.schedule.day_of(desk.now) - OVERDUE_AFTER
    stored_rounds = _stored(desk, _OVERDUE, before=yesterday.isoformat())
    return list(_readable(stored_rounds, "is overdue"))


def undealt_rounds(desk: Desk) -> list[StoredRound]:
    """Return the open rounds of release 1.0, each by its lead, that still wait for their cards.

    Release 1.0 took the bets before the round of drand that shuffled the shoe.
    """
    in_play = _readable(_stored(desk, _WITH_BEACON), "is in play")
    return [stored for stored in in_play if not stored.cards_used]


def overdue_round_numbers(desk: Desk) -> list[int]:
    """Return the numbers of the leads of `overdue_rounds`, without reading the rounds."""
    yesterday = desk.settings.schedule.day_of(desk.now) - OVERDUE_AFTER
    return list(_OVERDUE_NUMBERS(desk.connection, before=yesterday.isoformat()).scalars())


def shared_rounds(desk: Desk, game: str) -> dict[int, int]:
    """Return the rounds in play from shared shoes of a game: the table's number by the lead."""
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


def shoe_results(desk: Desk, shoe_id: int, count: int) -> list[Mapping[str, Any]]:
    """Return the results of the last `count` settled rounds of a shoe, in their order."""
    results = _RESULTS.all(desk.connection, shoe_id=shoe_id, count=count)
    return [json.loads(result) for result in reversed(results) if result]


def rounds_at_table(desk: Desk, first: StoredRound, last: int | None) -> list[StoredRound]:
    """Return the rounds at a table from `first` to number `last`, or to the end of its day.

    At a shared table these are the rounds of all seats, each by the seat of the caller of `first`
    or else by its lead. Elsewhere they are that caller's rounds. Unreadable rounds are left out and
    named in the log.
    """
    shoe = first.shoe
    is_shared = shoe is not None and shoe.caller_id is None
    values = {
        "first": first.lead,
        "last": LARGEST_NUMBER if last is None else last,
        "since": first.day.isoformat(),
        "until": "9999-12-31" if last is not None else first.day.isoformat(),
        "game": first.game,
    }
    if not is_shared or shoe is None:
        mine = _stored(desk, _OF_CALLER_FROM, caller_id=first.caller_id, **values)
        return list(_readable(mine, "is asked for"))
    at_table = _stored(desk, _AT_TABLE_FROM, at_table=shoe.table, **values)
    by_lead: dict[int, StoredRound] = {}
    for stored in _readable(at_table, "is asked for"):
        if stored.lead not in by_lead or stored.caller_id == first.caller_id:
            by_lead[stored.lead] = stored
    return [by_lead[lead] for lead in sorted(by_lead)]


def _readable(rounds: Iterator[StoredRound | JournalDamaged], state: str) -> Iterator[StoredRound]:
    """Yield the readable rounds. Name the others and their `state`, a clause, in the log."""
    for stored in rounds:
        if isinstance(stored, JournalDamaged):
            log.error("hand %d %s, but %s", stored.number, state, stored)
        else:
            yield stored


def _signature(beacon: str) -> str:
    signature = _object(beacon).get("signature", "")
    if not isinstance(signature, str):
        raise TypeError("the round of drand that its shoe is shuffled with cannot be read")
    return signature


def _select_rounds(*where: ColumnElement[bool]) -> Query:
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
    """Select the leads of rounds in which a seat is still in play."""
    seat = _ROUNDS.alias()
    leads = select(func.coalesce(seat.c.lead, seat.c.id)).where(seat.c.settled.is_(None))
    return and_(_ROUNDS.c.lead.is_(None), _ROUNDS.c.id.in_(leads))


_IS_OF_CALLER = _ROUNDS.c.caller_id == bindparam("caller_id")
_IS_OVERDUE = _ROUNDS.c.day < bindparam("before")
_BETWEEN = Prepared(
    lambda: _select_rounds(_ROUNDS.c.id.between(bindparam("first"), bindparam("last")))
)
_LAST_ROUND: Reader[int] = value(lambda: select(highest(_ROUNDS.c.id)))
_BY_NUMBER = Prepared(lambda: _select_rounds(_ROUNDS.c.id == bindparam("number")))
_LAST_DONE = Prepared(
    lambda: (
        select(_ROUNDS.c.id)
        .join(shoes, shoes.c.id == _ROUNDS.c.shoe_id)
        .where(_IS_OF_CALLER, _ROUNDS.c.game == bindparam("game"))
        .where(_ROUNDS.c.settled.is_not(None), shoes.c.closed.is_not(None))
        .order_by(_ROUNDS.c.id.desc())
        .limit(1)
    )
)
_IS_IN_RANGE = (
    _ROUNDS.c.game == bindparam("game"),
    _ROUNDS.c.id.between(bindparam("first"), bindparam("last")),
    _ROUNDS.c.day.between(bindparam("since"), bindparam("until")),
)
_OF_CALLER_FROM = Prepared(lambda: _select_rounds(_IS_OF_CALLER, *_IS_IN_RANGE))
_AT_TABLE_FROM = Prepared(
    lambda: _select_rounds(
        *_IS_IN_RANGE, shoes.c.caller_id.is_(None), shoes.c.at_table == bindparam("at_table")
    )
)
_IN_PLAY = Prepared(lambda: _select_rounds(_IS_OF_CALLER, _ROUNDS.c.settled.is_(None)))
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
_WITH_BEACON = Prepared(lambda: _select_rounds(_leads_in_play(), shoes.c.beacon.is_not(None)))
_OVERDUE = Prepared(lambda: _select_rounds(_leads_in_play(), _IS_OVERDUE))
_OVERDUE_NUMBERS = Prepared(
    lambda: select(_ROUNDS.c.id).where(_leads_in_play(), _IS_OVERDUE).order_by(_ROUNDS.c.id)
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


# For one round and for many: a query for each of many rounds takes four times as long.
_PLAYED = Prepared(lambda: _acts(actions.c.round_id == bindparam("lead")))
_ALL_PLAYED = Prepared(lambda: _acts(among(actions.c.round_id, "leads")))
_SEATS = Prepared(
    lambda: _seats(
        or_(_ROUNDS.c.id == bindparam("lead"), _ROUNDS.c.lead == bindparam("lead"))
    ).order_by(_ROUNDS.c.seat)
)
# A union, because PostgreSQL would read the whole table for a condition on either column.
_ALL_SEATS = Prepared(
    lambda: union(
        _seats(among(_ROUNDS.c.id, "leads")), _seats(among(_ROUNDS.c.lead, "leads"))
    ).order_by("lead", "seat")
)


def _only(rounds: Iterator[StoredRound | JournalDamaged]) -> StoredRound | None:
    stored = next(rounds, None)
    if isinstance(stored, JournalDamaged):
        raise stored
    return stored


def _stored(
    desk: Desk, those: Prepared, **values: object
) -> Iterator[StoredRound | JournalDamaged]:
    for rows in those.run_long(desk.connection, **values).partitions(BATCH):
        played, seated = _actions_and_seats(desk, {row[1] for row in rows})
        for row in rows:
            number, lead, *rest = row
            try:
                stored = _round(number, lead, rest, played.get(lead, ()), seated.get(lead, ()))
            except (ValueError, TypeError, OverflowError, OSError) as error:
                yield JournalDamaged(number, error)
            else:
                yield stored


def _actions_and_seats(desk: Desk, leads: Collection[int]) -> tuple[ByLead, ByLead]:
    """Return the actions and the seats of rounds by their leads. Each row begins with the lead."""
    books = desk.connection
    if len(leads) == 1:
        (lead,) = leads
        return _by_lead(_PLAYED(books, lead=lead)), _by_lead(_SEATS(books, lead=lead))
    # Damaged rows can contain values that JSON cannot express; these are no numbers of rounds.
    numbers = json.dumps([lead for lead in leads if isinstance(lead, int)])
    return _by_lead(_ALL_PLAYED(books, leads=numbers)), _by_lead(_ALL_SEATS(books, leads=numbers))


def _by_lead(rows: Iterable[Any]) -> ByLead:
    return {lead: list(group) for lead, group in groupby(rows, itemgetter(0))}


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
                StoredSeat(place, round_id, owner, name, stake, ended is not None)
                for _, place, round_id, owner, name, stake, ended in seated
            ]
        ),
    )


@lru_cache(maxsize=256)
def _read_once(text: str) -> Mapping[str, object]:
    """Read and cache JSON that many rounds share: rules, and most actions."""
    return MappingProxyType(_object(text))


def _object(text: str) -> dict[str, object]:
    loaded = json.loads(text)
    if not isinstance(loaded, dict):
        raise TypeError(f"{text[:40]} is not a JSON object")
    return loaded
