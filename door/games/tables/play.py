"""The cards of one caller at one table: shoe, round and journal, whatever the game.

Commit before show is kept here: an action and all it moves are durable before the new round is
adopted, so what a table draws is always in the books. A table asks, and says what happened; it
never writes a journal itself.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from door.games.engine import shuffle
from door.games.engine.cards import CARDS_IN_DECK
from door.games.engine.game import Act, Kind
from door.games.engine.journaled import is_done, rebuild, settlement_of
from timebank.errors import JournalDamaged
from timebank.wagers import journal, single
from timebank.wagers.rounds import Move, Wager
from timebank.wagers.single import Placed, place_bet

if TYPE_CHECKING:
    from door.call.caller import Caller
    from timebank.ledger.database import Desk
    from timebank.ledger.purse import Receipt
    from timebank.wagers.journal import Shoe, StoredRound
    from timebank.wagers.single import Settlement
    from timebank.wagers.stakes import PlayPurse
    from timebank.words import Unit

log = logging.getLogger("door.tables")


@dataclass(frozen=True)
class Bet:
    """What opens a round: amounts in the smallest unit of `unit`."""

    amount: int
    unit: Unit
    # What a coin is worth; of seconds, one must stay on line after any stake.
    coin: int
    turns_limit: int | None
    # As the journal keeps them.
    rules: Mapping[str, object]
    # What play money is staked out of; None for time.
    purse: PlayPurse | None = None
    # Where in the shoe's run the round begins; None behind the last one.
    start: int | None = None


@dataclass(frozen=True)
class Step:
    """What an action brought, once it is durable."""

    before: Any  # the round it was taken in; None when it was the deal
    after: Any
    events: Sequence[Any]
    receipt: Receipt
    settlement: Settlement | None


class Play:
    """The rounds of a caller at a game that he plays alone against the house."""

    def __init__(self, caller: Caller, kind: Kind) -> None:
        """Begin without shoe or round."""
        self.caller = caller
        self.kind = kind
        self.shoe: Shoe | None = None
        self.round: Any = None
        self.round_id = 0
        self.sequence = 0
        self.rules: Mapping[str, object] = {}
        self.unit: Unit = "second"
        self.coin = 0

    @property
    def is_shoe_done(self) -> bool:
        """Whether nothing is dealt from the shoe any more: its seed may be shown."""
        return (
            self.shoe is not None
            and self.round is not None
            and is_done(self.kind, self.shoe, self.rules, self.round, 1)
        )

    @property
    def cards_left(self) -> int:
        """How many cards of the shoe on the table are not dealt."""
        assert self.shoe is not None
        dealt = self.shoe.position + (self.round.cards_used if self.round is not None else 0)
        left: int = self.shoe.decks * CARDS_IN_DECK - dealt
        return left

    async def find_open(self) -> StoredRound | None:
        """Rebuild the round of this game that was left open, and return how the journal has it.

        One that cannot be rebuilt stays where it is, and is named in the log.
        """
        caller_id = self.caller.record.id
        try:
            stored = await self.caller.ask_books(
                lambda desk: journal.round_in_play(desk, caller_id)
            )
            if stored is None or stored.game != self.kind.name or stored.shoe is None:
                return None
            self.round = rebuild(self.kind, stored)
        except JournalDamaged as damaged:
            log.error("hand %d of %s: %s", damaged.number, self.caller.record.name, damaged)
            return None
        self.round_id, self.sequence = stored.id, stored.sequence
        self.caller.hand_waits = True
        self.shoe, self.rules = stored.shoe, stored.rules
        self.unit, self.coin = stored.unit, stored.coin
        return stored

    async def next_shoe(self, rules: Mapping[str, object], *, fresh: bool = False) -> Shoe:
        """Take the shoe that the next round is dealt from, sealed before the bet.

        One that is used up is closed, and with `fresh` any that was dealt from, in favour of a new
        one.
        """
        seed = self.caller.new_seed()
        seal = shuffle.seal(seed)
        caller_id, game, decks = self.caller.record.id, self.kind.name, self.kind.decks(rules)

        def find_or_open(desk: Desk) -> Shoe:
            shoe = journal.open_shoe(desk, caller_id, game, decks=decks, seed=seed, seal=seal)
            used_up = self.kind.is_used_up(rules, decks, shoe.position, 1)
            if used_up or (fresh and shoe.position):
                journal.close_shoe(desk, shoe.id)
                shoe = journal.open_shoe(desk, caller_id, game, decks=decks, seed=seed, seal=seal)
            return shoe

        self.shoe = await self.caller.ask_books(find_or_open)
        self.round = None
        return self.shoe

    async def close_shoe(self) -> str:
        """Declare the shoe done, as when a caller gets up; return its seed in hexadecimal.

        Raises `RoundInPlay` while a round from it is open.
        """
        assert self.shoe is not None
        shoe = self.shoe
        await self.caller.ask_books(lambda desk: journal.close_shoe(desk, shoe.id))
        self.shoe = None
        return shoe.seed.hex()

    async def place(self, bet: Bet, cut: str) -> Step:
        """Stake the bet and deal; raises what `place_bet` raises, and nothing has changed."""
        shoe = self.shoe
        assert shoe is not None
        start = shoe.position if bet.start is None else bet.start
        shoe = replace(shoe, position=start, cut=cut)
        cards = self.kind.cards(shoe.seed, cut, shoe.decks, start)
        dealt, events = self.kind.deal(bet.rules, cards, [bet.amount], 1)
        wager = Wager(
            game=self.kind.name,
            unit=bet.unit,
            purse=bet.purse,
            amount=bet.amount,
            coin=bet.coin,
            turns_limit=bet.turns_limit,
            shoe_id=shoe.id,
            cut=cut,
            start=bet.start,
            rules=bet.rules,
            action={"action": "bet", "stake": bet.amount},
            cards_used=dealt.cards_used,
        )
        settlement = settlement_of(self.kind, None, dealt, 0)
        done = is_done(self.kind, shoe, bet.rules, dealt, 1)

        def place(desk: Desk, call: int, ticked: int) -> Placed:
            placed = place_bet(desk, call, ticked, wager, settlement)
            _finish(desk, shoe, done)
            return placed

        placed = await self.caller.post(place)
        self.round_id, self.sequence = placed.round_id, 0
        self.shoe = shoe
        self.rules, self.unit, self.coin = bet.rules, bet.unit, bet.coin
        return self._adopt(None, dealt, events, placed.receipt, settlement)

    async def act(self, act: Act, stake: int, stake_kind: str) -> Step:
        """Carry out an action that puts `stake` more on the table, 0 for most.

        Raises what `single.act` raises, and the round stays as it was.
        """
        before, shoe = self.round, self.shoe
        after, events = self.kind.act(before, act)
        move = Move(
            round_id=self.round_id,
            sequence=self.sequence + 1,
            action=act.entry(),
            stake=stake,
            kind=stake_kind,
            coin=self.coin,
            cards_used=after.cards_used,
        )
        settlement = settlement_of(self.kind, before, after, 0)
        done = shoe is not None and is_done(self.kind, shoe, self.rules, after, 1)

        def act_(desk: Desk, call: int, ticked: int) -> Receipt:
            receipt = single.act(desk, call, ticked, move, settlement)
            _finish(desk, shoe, done)
            return receipt

        receipt = await self.caller.post(act_)
        self.sequence += 1
        return self._adopt(before, after, events, receipt, settlement)

    async def toss(self) -> Step | None:
        """Carry out what the shoe's seed decides now; `None` when nothing is left to chance."""
        shoe = self.shoe
        if shoe is None or self.round is None or self.round.over:
            return None
        act = self.kind.by_chance(self.round, shoe.seed, shoe.cut or "", shoe.position)
        return None if act is None else await self.act(act, 0, "")

    async def stand(self, shown: Callable[[Step], None]) -> None:
        """Play the round to its end as for one who is not there; `shown` sees every step."""
        while self.round is not None and not self.round.over:
            step = await self.toss() or await self.act(self.kind.absent(self.round), 0, "")
            shown(step)

    def _adopt(
        self,
        before: Any,
        after: Any,
        events: Sequence[Any],
        receipt: Receipt,
        settlement: Settlement | None,
    ) -> Step:
        self.round = after
        self.caller.hand_waits = not after.over
        return Step(before, after, events, receipt, settlement)


def _finish(desk: Desk, shoe: Shoe | None, done: bool) -> None:
    """Close the shoe with the last round that is dealt from it: the seed is free."""
    if shoe is not None and done:
        journal.close_shoe(desk, shoe.id)
