"""A round of the Vegas table and the books: dealt, played and found again.

All seats of a round share one journal, kept under the round of the first of them (the lead). Every
function here makes an entry durable before it gives the new round back; it draws nothing and knows
no caller but as a `Sitter`. Chairs count from 1 and may have gaps; places are what the engine
calls seats: 0 for the first chair that was dealt in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from door.games.blackjack.events import Event
from door.games.blackjack.round import BlackjackAction, BlackjackRound
from door.games.blackjack.rules import BlackjackRules, rules_to_mapping
from door.games.engine import shuffle
from door.games.engine.game import Act
from door.games.engine.journaled import is_done, rebuild, settlement_of
from door.games.vegas.kind import VEGAS_KIND
from timebank.callers.notices import note_seen, tell_hand
from timebank.calls.calls import live_call
from timebank.errors import JournalDamaged, RoundInPlay
from timebank.wagers import journal
from timebank.wagers.journal import open_shoe as bank_open_shoe
from timebank.wagers.journal import open_table_shoe, table_rounds
from timebank.wagers.rounds import Move, Wager
from timebank.wagers.wagers import TablePlaced, act_at_table, place_table_bets
from timebank.words import span

if TYPE_CHECKING:
    from door.call.books import Books
    from door.call.caller import Caller
    from timebank.ledger.database import Desk
    from timebank.ledger.purse import Receipt
    from timebank.wagers.journal import Shoe, StoredRound
    from timebank.wagers.rounds import Settlement
    from timebank.wagers.wagers import SeatBet, Sitter


# What a caller can pay at the Vegas table, and how he says how much.


def affordable(hand: TableRound, caller: Caller) -> list[BlackjackAction]:
    """Return what cards and rules allow and the pot can pay; its last coin stays in it.

    Insurance may be bought for any amount, so a second to spare is enough for it.
    """
    spare = max(0, caller.purse.spendable() - hand.coin)
    return [action for action in hand.round.legal() if _least(hand, action) <= spare]


def most_insured(hand: TableRound, caller: Caller) -> int:
    """Return for how many seconds he may insure."""
    return min(
        hand.round.amount(BlackjackAction.INSURANCE), max(0, caller.purse.spendable() - hand.coin)
    )


def figure(seconds: int, coin: int) -> str:
    """Return an amount in coins as a caller may type it, rounded down to hundredths.

    >>> figure(90, 60), figure(120, 60), figure(100, 60)
    ('1.5', '2', '1.66')
    """
    return f"{seconds * 100 // coin / 100:g}"


def seconds_typed(typed: str, coin: int) -> int:
    """Return the seconds in an amount that was typed in coins, rounded down; 0 for no number.

    >>> seconds_typed("1.5", 60), seconds_typed(",5", 60), seconds_typed("1..", 60)
    (90, 30, 0)
    """
    try:
        return int(Fraction(typed.replace(",", ".")) * coin)
    except ValueError:
        return 0


def _least(hand: TableRound, action: BlackjackAction) -> int:
    amount = hand.round.amount(action)
    return min(amount, 1) if action is BlackjackAction.INSURANCE else amount


GAME = VEGAS_KIND.name


@dataclass(frozen=True)
class TableRound:
    """A round on the table, as the books have it."""

    lead: int
    shoe: Shoe
    rules: Mapping[str, object]
    coin: int  # seconds
    round: BlackjackRound
    sequence: int
    chairs: tuple[int, ...]
    caller_ids: tuple[int, ...]
    names: tuple[str, ...]

    @property
    def over(self) -> bool:
        """Whether everything is settled."""
        return self.round.over

    @property
    def chair_at_turn(self) -> int | None:
        """The chair that has to decide, None when the round is over."""
        turn = self.round.turn
        return None if turn is None else self.chairs[turn.seat]

    @property
    def is_shoe_done(self) -> bool:
        """Whether nothing is dealt from its shoe after it."""
        return is_done(VEGAS_KIND, self.shoe, self.rules, self.round, len(self.chairs))

    def place_of(self, caller_id: int) -> int | None:
        """Return where a caller was dealt in, None when he was not."""
        return self.caller_ids.index(caller_id) if caller_id in self.caller_ids else None

    def settlements(self) -> dict[int, Settlement] | None:
        """Return what becomes of every seat once the round is over; None before."""
        if not self.over:
            return None
        settled = {
            chair: settlement_of(VEGAS_KIND, None, self.round, place)
            for place, chair in enumerate(self.chairs)
        }
        return {chair: each for chair, each in settled.items() if each is not None}


@dataclass(frozen=True)
class TableStep:
    """What an entry brought, once it is durable: the receipts are by chair."""

    hand: TableRound
    events: Sequence[Event]
    receipts: Mapping[int, Receipt]


@dataclass(frozen=True)
class Deal:
    """What a round is dealt from and under."""

    shoe: Shoe
    cut: str
    rules: BlackjackRules
    coin: int
    bets: Sequence[SeatBet]
    names: tuple[str, ...]
    process: str  # whose table it is: what it calls itself in the books
    seen: Mapping[int, int]  # the last round whose end a caller has seen, by callers' numbers


async def open_shoe(books: Books, rules: BlackjackRules, seed: bytes, alone: int | None) -> Shoe:
    """Give the table's open shoe, or a new one sealed from `seed`.

    `alone` is the caller who plays in a process of his own, from a shoe of his own; None at the
    table that all share. A shoe that these rules would not deal from any more is closed.
    """
    seal = shuffle.seal(seed)
    mapping = rules_to_mapping(rules)

    def opened(desk: Desk) -> Shoe:
        if alone is None:
            return open_table_shoe(desk, GAME, rules.decks, seed, seal)
        return bank_open_shoe(desk, alone, GAME, rules.decks, seed, seal)

    def find_or_open(desk: Desk) -> Shoe:
        shoe = opened(desk)
        if VEGAS_KIND.is_used_up(mapping, shoe.decks, shoe.position, 1):
            journal.close_shoe(desk, shoe.id)
            shoe = opened(desk)
        return shoe

    return await books.run(find_or_open)


async def deal(books: Books, asked: Deal, in_doubt: Callable[[], None]) -> TableStep:
    """Stake every bet and deal; raises what `wagers.place_table_bets` raises, nothing changed.

    `in_doubt` as for `Books.run`.

    `RoundInPlay` while another process of the board deals from the shoe: its round takes the next
    cards.
    """
    shoe = replace(asked.shoe, cut=asked.cut)
    rules = rules_to_mapping(replace(asked.rules, insurance_unit=asked.coin))
    stakes = [bet.amount for bet in asked.bets]
    cards = VEGAS_KIND.cards(shoe.seed, asked.cut, shoe.decks, shoe.position)
    round_, events = VEGAS_KIND.deal(rules, cards, stakes, 1)
    chairs = tuple(bet.seat for bet in asked.bets)
    callers = tuple(bet.sitter.caller_id for bet in asked.bets)
    hand = TableRound(0, shoe, rules, asked.coin, round_, 0, chairs, callers, asked.names)
    wager = Wager(
        game=GAME,
        amount=0,
        coin=asked.coin,
        turns_limit=None,
        shoe_id=shoe.id,
        cut=asked.cut,
        start=shoe.position,
        rules=rules,
        action={"action": "bet", "stakes": stakes, "process": asked.process},
        cards_used=round_.cards_used,
    )

    def place(desk: Desk) -> TablePlaced:
        _refuse_while_dealt_from(desk, shoe)
        for caller_id, number in asked.seen.items():
            note_seen(desk, caller_id, number)
        placed = place_table_bets(desk, wager, asked.bets, hand.settlements())
        _finish_shoe(desk, hand)
        return placed

    placed = await books.run(place, in_doubt)
    return TableStep(replace(hand, lead=placed.lead), events, placed.receipts)


def _refuse_while_dealt_from(desk: Desk, shoe: Shoe) -> None:
    """Raise `RoundInPlay` while a round goes on from a shoe; not for one that cannot be read."""
    for other in table_rounds(desk, GAME):
        if other.shoe is None or other.shoe.id != shoe.id:
            continue
        try:
            found(other)
        except JournalDamaged:
            continue
        raise RoundInPlay(f"Hand {other.id} is dealt from this shoe.")


async def act(
    books: Books,
    hand: TableRound,
    action: BlackjackAction,
    amount: int | None,
    sitters: Mapping[int, Sitter],
    in_doubt: Callable[[], None],
) -> TableStep:
    """Carry out a decision of the chair at turn; raises what `wagers.act_at_table` raises.

    `amount` (seconds) is for insurance; `sitters` are all that were dealt in, by chair; `in_doubt`
    as for `Books.run`.
    """
    chair = hand.chair_at_turn
    assert chair is not None  # somebody decides, so the round is not over
    stake = hand.round.amount(action) if amount is None else amount
    round_, events = hand.round.apply(action, amount)
    after = replace(hand, round=round_, sequence=hand.sequence + 1)
    move = Move(
        round_id=hand.lead,
        sequence=after.sequence,
        action=Act(str(action), chair, amount).entry(),
        stake=stake,
        kind=str(action) if stake else "",
        coin=hand.coin,
        cards_used=round_.cards_used,
    )

    def act_(desk: Desk) -> dict[int, Receipt]:
        settlements = after.settlements()
        receipts = act_at_table(desk, move, chair, sitters, settlements)
        for number, settlement in (settlements or {}).items():
            if number in receipts and receipts[number].ended:
                _tell_on_another_line(desk, sitters[number], receipts[number].ended, settlement)
        _finish_shoe(desk, after)
        return receipts

    return TableStep(after, events, await books.run(act_, in_doubt))


def _tell_on_another_line(
    desk: Desk, sitter: Sitter, round_id: int, settlement: Settlement
) -> None:
    """Leave word for a caller who is on another call than the table knows of.

    It is served by another process, or has just taken over. Who is on no call at all finds a notice
    of the bank's.
    """
    if live_call(desk, sitter.caller_id) not in (None, sitter.call_id):
        words = stood_words(settlement.won - settlement.lost)
        tell_hand(desk, sitter.caller_id, round_id, words)


def stood_words(net: int) -> str:
    """Return what a caller is told who was not at the table when his round ended; `net` seconds.

    >>> stood_words(-60)
    'Your hand at the Vegas table was played to its end: you lost 1 minute.'
    """
    came = f"you {'won' if net > 0 else 'lost'} {span(abs(net))}" if net else "you came out even"
    return f"Your hand at the Vegas table was played to its end: {came}."


def found(stored: StoredRound) -> TableRound:
    """Return the round that a journal holds; raises `JournalDamaged`."""
    round_: BlackjackRound = rebuild(VEGAS_KIND, stored)
    if stored.shoe is None:
        raise JournalDamaged(stored.id, "it was dealt from no shoe")
    return TableRound(
        lead=stored.lead,
        shoe=stored.shoe,
        rules=stored.rules,
        coin=stored.coin,
        round=round_,
        sequence=stored.sequence,
        chairs=tuple(seat.seat for seat in stored.seats),
        caller_ids=tuple(seat.caller_id for seat in stored.seats),
        names=tuple(seat.caller for seat in stored.seats),
    )


def _finish_shoe(desk: Desk, hand: TableRound) -> None:
    """Close the shoe with the last round that is dealt from it: the seed is free."""
    if hand.is_shoe_done:
        journal.close_shoe(desk, hand.shoe.id)
