"""How a hand gets into the books: its rows in the journal, and what its settlement moves.

What the actions, rules and results mean is the table's business: they are stored as it gives them.
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
from timebank.wagers.journal import gone
from timebank.wagers.stakes import PlayPurse, Stakes
from timebank.words import Unit

Json = Mapping[str, object]
FIRST_SEAT = 1
# The outcome of a hand that was never played to its end.
VOID = "void"
# Its result where the books were restored with the hand open.
WHY_VOID: Json = {"void": "restored"}

# Made once: json.dumps with options of its own builds an encoder for every text.
encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Settlement(NamedTuple):
    """What becomes of a stake: `lost` to the house, `returned`, and `won` from the house.

    A final one ends the round and must dispose of all that stands on the table. One that is not
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
    game: str
    # What is bet on each seat.
    amounts: Mapping[int, int]
    # What must stay on line after any stake of time; of play money, the amount that counts as one.
    coin: int
    # Turns a day of this game, of those played for time; None for no limit.
    turns_limit: int | None
    # None for a game without cards.
    shoe_id: int | None
    # The words with which the caller cut; None when they did not.
    cut: str | None
    rules: Json
    # The action that is number 0 of the round.
    action: Json
    # Cards that the deal itself takes from the shoe.
    cards_used: int = 0
    unit: Unit = "second"
    # What play money is staked out of; None for time.
    purse: PlayPurse | None = None
    # Where in the shoe the round begins; None for behind the last one.
    start: int | None = None
    # The shoe is not the caller's own, but the one that all at the game's table share.
    is_shoe_shared: bool = False


class Move(NamedTuple):
    round_id: int
    # One more than that of the action before; the bet is 0.
    sequence: int
    action: Json
    # Cards of the shoe used by the round so far.
    cards_used: int
    # Put on the table by this action, 0 for none; one that stakes must say the next two.
    stake: int = 0
    # What the stake is: "insurance", "double", ...
    kind: str = ""
    # What must stay on line after any stake, above 0.
    coin: int = 0
    # Whose it is; a caller alone has the first seat.
    seat: int = FIRST_SEAT


_ROUNDS = schema.rounds
_SHOE = bindparam("shoe", type_=Integer)
_SAID = bindparam("said", type_=Text)
_CUT = Prepared(
    lambda: (
        update(shoes)
        .values(cut=func.coalesce(shoes.c.cut, _SAID, ""))
        .where(shoes.c.id == _SHOE, shoes.c.closed.is_(None))
        .where(shoes.c.caller_id.is_not_distinct_from(bindparam("owner", type_=Integer)))
        .where(shoes.c.game == bindparam("game"))
        .where(or_(shoes.c.cut.is_(None), shoes.c.cut == func.coalesce(_SAID, shoes.c.cut)))
    )
)
_POSITION = Prepared(lambda: select(gone(_SHOE)))
_GIVEN = (
    *("caller_id", "game", "day", "call_id", "shoe_id", "bet", "coin", "rules", "dealt", "lost"),
    *("returned", "won", "settled", "outcome", "result", "unit", "seat", "lead"),
)
_OPEN = Prepared(
    lambda: (
        insert(_ROUNDS)
        .values(parameters(*_GIVEN))
        .values(
            start_position=func.coalesce(
                bindparam("start", type_=Integer), gone(bindparam("shoe_id", type_=Integer)), 0
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
    """Commit the cut of a new shoe, which is this caller's (None: shared).

    A cut changes the order of the cards, so a shoe that was dealt from takes no other. Give the
    result to `refuse_gone` after the next statement.
    """
    of = {"shoe": shoe_id, "owner": owner, "game": wager.game}
    return _CUT.defer(desk.connection, said=wager.cut, **of)


def refuse_gone(cut: DeferredWrite) -> None:
    """Raise `ShoeGone` for a cut that no shoe has taken."""
    if not cut.rowcount:
        raise ShoeGone(Phrase("This shoe is done, or was cut already."))


def position(desk: Desk, shoe_id: int) -> int:
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
    """Write the row of a new hand, and count it if the deal settles it; returns its number.

    `together` is how many hands are settled at the table, this one among them.
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
    """Put on the table what an action stakes; ValueError for what is no stake."""
    if move.stake < 0 or not move.kind or move.coin <= 0:
        raise ValueError(f"not a stake: {move}")
    stakes.allow(move.stake, move.coin)
    stakes.put_down(move.stake, BetRaised(move.kind, game))


def settle(stakes: Stakes, game: str, settlement: Settlement) -> None:
    """Take the stakes off the table; ValueError, our bug, for what does not fit them."""
    parts = (settlement.lost, settlement.returned, settlement.won)
    settled, standing = settlement.lost + settlement.returned, stakes.standing
    fits = settled == standing if settlement.final else settled < standing
    if min(parts) < 0 or not fits:
        raise ValueError(f"{settlement} does not fit the {standing} on the table")
    stakes.settle(*parts, game, settlement.outcome)


def write_settlement(
    posting: Posting, hand: InPlay, settlement: Settlement, together: int = 1
) -> None:
    """Write what a settlement makes of a hand in play, and count the hand if it ends.

    `together` as in `open_round`.
    """
    desk = posting.desk
    now = {f"{name}_now": getattr(settlement, name) for name in _AMOUNTS}
    _SETTLE.defer(desk.connection, **now, round_id=hand.round_id, **_ending(desk, settlement))
    if settlement.final:
        _end(posting, hand, settlement, together)


def _end(posting: Posting, hand: InPlay, settlement: Settlement, together: int) -> None:
    """Note that the caller was not told yet, and count the hand unless it became void."""
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
    hand_totals.count(posting.desk, posting.totals_ever, ended)


def leave_notice(desk: Desk, caller_id: int, round_id: int) -> None:
    tell_end(desk, caller_id, round_id, LEFT_OPEN)


# How a round ends that has not ended.
_OPEN_END: Json = {"settled": None, "outcome": None, "result": None}


def _ending(desk: Desk, settlement: Settlement) -> Json:
    if not settlement.final:
        return _OPEN_END
    outcome, result = settlement.outcome, encode(settlement.result)
    return {"settled": stamp(desk.now), "outcome": outcome, "result": result}
