"""Writes hands into the books: their rows in the journal, and the transfers of their settlements.

Actions, rules and results have a meaning only for the table. They are stored as it passes them.
Amounts are in the unit of the wager: seconds, or cents of play money.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import Integer, Text, bindparam, func, insert, or_, select, update

from timebank.callers import hand_totals
from timebank.callers.hand_counts import EndedHand
from timebank.callers.notices import LEFT_OPEN, keep_untold, tell_end
from timebank.errors import ShoeGone
from timebank.language import Phrase
from timebank.ledger import schema
from timebank.ledger.database import Desk
from timebank.ledger.entries.posting import Posting
from timebank.ledger.entries.reading import InPlay
from timebank.ledger.reasons import BetRaised
from timebank.ledger.schema import actions, shoes, stamp
from timebank.ledger.sql import DeferredWrite, Prepared, parameters
from timebank.wagers.journal import cards_gone
from timebank.wagers.stakes import PlayPurse, Stakes
from timebank.words import Unit

Json = Mapping[str, object]
FIRST_SEAT = 1
# The outcome of a hand that was not played to its end.
VOID = "void"
# The result of a hand that was open when the books were restored.
WHY_VOID: Json = {"void": "restored"}

# json.dumps with options would build an encoder for every text.
encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Settlement(NamedTuple):
    """The settlement of a stake: `lost` to the house, `returned`, and `won` from the house.

    A `final` one ends the round, and must settle the whole amount on the table. One that is not
    final (insurance lost in mid-hand) must leave something there.
    """

    lost: int
    returned: int
    won: int
    # One word or two joined by a hyphen: "natural", "dealer-charlie".
    outcome: str
    result: Json
    final: bool


class Wager(NamedTuple):
    """The bets of one round, with all that the journal stores of its beginning."""

    game: str
    # The bet of each seat.
    amounts: Mapping[int, int]
    # The smallest stake. Of time, this amount must stay online after any stake.
    coin: int
    # The limit of a caller's rounds of this game in a day, for time; None for no limit.
    turns_limit: int | None
    # None for a game without cards.
    shoe_id: int | None
    # The caller's words at the cut; None if the caller did not cut.
    cut: str | None
    rules: Json
    # Action number 0 of the round.
    action: Json
    # The number of cards that the deal takes from the shoe.
    cards_used: int = 0
    unit: Unit = "second"
    # The account that stakes play money; None for time.
    purse: PlayPurse | None = None
    # The position in the shoe at which the round begins; None for the end of the last round.
    start: int | None = None
    # Whether the whole table shares the shoe; otherwise it is the caller's own.
    is_shoe_shared: bool = False


class Move(NamedTuple):
    """An action of a seat in a round, and the stake that it puts on the table."""

    # The round that keeps the journal.
    round_id: int
    # One more than the number of the last action; the bet is 0.
    sequence: int
    action: Json
    # The number of cards of the shoe that the round has used so far.
    cards_used: int
    # The amount that the action puts on the table, 0 for none. With one, set the next two fields.
    stake: int = 0
    # The kind of the stake: "insurance", "double", ...
    kind: str = ""
    # The smallest stake, as in the wager.
    coin: int = 0
    seat: int = FIRST_SEAT


_ROUNDS = schema.rounds
_SHOE = bindparam("shoe", type_=Integer)
_CUT_WORDS = bindparam("said", type_=Text)
_CUT = Prepared(
    lambda: (
        update(shoes)
        .values(cut=func.coalesce(shoes.c.cut, _CUT_WORDS, ""))
        .where(shoes.c.id == _SHOE, shoes.c.closed.is_(None))
        .where(shoes.c.caller_id.is_not_distinct_from(bindparam("owner", type_=Integer)))
        .where(shoes.c.game == bindparam("game"))
        .where(or_(shoes.c.cut.is_(None), shoes.c.cut == func.coalesce(_CUT_WORDS, shoes.c.cut)))
    )
)
_POSITION = Prepared(lambda: select(cards_gone(_SHOE)))
_ROUND_COLUMNS = (
    *("caller_id", "game", "day", "call_id", "shoe_id", "bet", "coin", "rules", "dealt", "lost"),
    *("returned", "won", "settled", "outcome", "result", "unit", "seat", "lead"),
)
_OPEN = Prepared(
    lambda: (
        insert(_ROUNDS)
        .values(parameters(*_ROUND_COLUMNS))
        .values(
            start_position=func.coalesce(
                bindparam("start", type_=Integer),
                cards_gone(bindparam("shoe_id", type_=Integer)),
                0,
            )
        )
    )
)
_ACT = Prepared(
    lambda: insert(actions).values(
        parameters("round_id", "sequence", "action", "cards_used", "call_id", "at")
    )
)
_AMOUNTS = ("lost", "returned", "won")
_SETTLE = Prepared(
    lambda: (
        update(_ROUNDS)
        .values({name: _ROUNDS.c[name] + bindparam(f"{name}_now") for name in _AMOUNTS})
        .values(parameters("settled", "outcome", "result"))
        .where(_ROUNDS.c.id == bindparam("round_id"))
    )
)


def cut(desk: Desk, owner: int | None, shoe_id: int, wager: Wager) -> DeferredWrite:
    """Write the cut of a shoe of this `owner`, None for a shared one.

    A shoe that was dealt from accepts no other cut, because a cut changes the order of the cards.
    Pass the result to `check_cut` after the next statement.
    """
    key = {"shoe": shoe_id, "owner": owner, "game": wager.game}
    return _CUT.defer(desk.connection, said=wager.cut, **key)


def check_cut(cut: DeferredWrite) -> None:
    """Raise `ShoeGone` if no shoe accepted the cut."""
    if not cut.rowcount:
        raise ShoeGone(Phrase("This shoe is done, or was cut already."))


def position(desk: Desk, shoe_id: int) -> int:
    """Return the number of cards that were dealt from a shoe."""
    return _POSITION(desk.connection, shoe=shoe_id).scalar() or 0


def open_round(
    posting: Posting,
    wager: Wager,
    settlement: Settlement | None,
    *,
    seat: int,
    lead: int | None,
    together: int,
) -> int:
    """Write the row of a new hand and return its number. Count the hand if the deal settles it.

    `lead` is the round that keeps the journal, None for this one. `together` is the number of hands
    that are settled at the table at once, with this one.
    """
    ending = _OPEN_END if settlement is None else _ending(posting.desk, settlement)
    amounts = {name: getattr(settlement, name, 0) for name in _AMOUNTS}
    number: int = _OPEN.insert(
        posting.desk.connection,
        caller_id=posting.caller_id,
        game=wager.game,
        day=posting.state.day,
        call_id=posting.call_id,
        shoe_id=wager.shoe_id,
        start=wager.start,
        bet=wager.amounts[seat],
        coin=wager.coin,
        rules=encode(wager.rules),
        dealt=stamp(posting.desk.now),
        unit=wager.unit,
        seat=seat,
        lead=lead,
        **amounts,
        **ending,
    )
    if settlement is not None and settlement.final:
        bet, day = wager.amounts[seat], posting.state.day or ""
        hand = InPlay(number, wager.game, 0, None, wager.unit, 0, day, bet, 0, 0)
        _end(posting, hand, settlement, together)
    return number


def write_action(desk: Desk, call_id: int | None, move: Move) -> None:
    _ACT.defer(
        desk.connection,
        round_id=move.round_id,
        sequence=move.sequence,
        action=encode(move.action),
        cards_used=move.cards_used,
        call_id=call_id,
        at=stamp(desk.now),
    )


def raise_stake(stakes: Stakes, game: str, move: Move) -> None:
    """Put the stake of a move on the table. Raises ValueError for a move without a valid stake.

    Raises `OwnLimit` and `NotEnough`.
    """
    if move.stake < 0 or not move.kind or move.coin <= 0:
        raise ValueError(f"not a stake: {move}")
    stakes.allow(move.stake, move.coin)
    stakes.put_down(move.stake, BetRaised(move.kind, game))


def settle(stakes: Stakes, game: str, settlement: Settlement) -> None:
    """Take the stakes off the table. Raises ValueError, a bug, if the settlement does not fit."""
    parts = (settlement.lost, settlement.returned, settlement.won)
    settled, on_table = settlement.lost + settlement.returned, stakes.on_table
    fits = settled == on_table if settlement.final else settled < on_table
    if min(parts) < 0 or not fits:
        raise ValueError(f"{settlement} does not fit the {on_table} on the table")
    stakes.settle(*parts, game, settlement.outcome)


def write_settlement(
    posting: Posting, hand: InPlay, settlement: Settlement, together: int = 1
) -> None:
    """Write a settlement into the row of a hand in play, and count the hand if it ends.

    `together` is as in `open_round`.
    """
    desk = posting.desk
    now = {f"{name}_now": getattr(settlement, name) for name in _AMOUNTS}
    _SETTLE.defer(desk.connection, **now, round_id=hand.round_id, **_ending(desk, settlement))
    if settlement.final:
        _end(posting, hand, settlement, together)


def _end(posting: Posting, hand: InPlay, settlement: Settlement, together: int) -> None:
    """Note that the caller has not seen the end yet, and count the hand unless it is void."""
    keep_untold(posting.desk, posting.caller_id, hand.round_id)
    if settlement.outcome == VOID:
        return
    ended = EndedHand(
        number=hand.round_id,
        caller_id=posting.caller_id,
        game=hand.game,
        unit=hand.unit,
        day=hand.day,
        at=stamp(posting.desk.now),
        outcome=settlement.outcome,
        bet=hand.bet,
        lost=hand.lost + settlement.lost,
        won=hand.won + settlement.won,
        together=together,
    )
    posting.awards += hand_totals.count(posting.desk, posting.totals_ever, ended)


def leave_notice(desk: Desk, caller_id: int, round_id: int) -> None:
    """Leave the caller a notice about the end of a hand that was left open."""
    tell_end(desk, caller_id, round_id, LEFT_OPEN)


# The columns of the ending while a round is open.
_OPEN_END: Json = {"settled": None, "outcome": None, "result": None}


def _ending(desk: Desk, settlement: Settlement) -> Json:
    if not settlement.final:
        return _OPEN_END
    outcome, result = settlement.outcome, encode(settlement.result)
    return {"settled": stamp(desk.now), "outcome": outcome, "result": result}
