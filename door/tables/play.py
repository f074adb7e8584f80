"""The shoe, the rounds and the journal of a table of any game.

Commit before show: an action and its transfers are durable before this module returns the new
round. So the books always have what a table draws. Tables never write a journal themselves.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from door.games.engine import journaled
from door.games.engine.cards import CARDS_IN_DECK
from door.games.engine.game import Act, Kind
from door.games.engine.journaled import Bet, TableRound
from timebank.errors import JournalDamaged
from timebank.ledger.database import Desk
from timebank.wagers import journal, wagers
from timebank.wagers.rounds import FIRST_SEAT, Wager
from timebank.wagers.wagers import Played, Sitter

if TYPE_CHECKING:
    from door.call.caller import Caller
    from timebank.ledger.purse import Receipt
    from timebank.wagers.journal import Shoe, StoredRound
    from timebank.wagers.rounds import Settlement
    from timebank.wagers.stakes import PlayPurse
    from timebank.words import Unit

log = logging.getLogger("door.tables")


class Deal(NamedTuple):
    """The terms of a round; amounts in the smallest unit of `unit`."""

    unit: Unit
    # Worth of a coin; of a bet in seconds, one coin must stay online.
    coin: int
    turns_limit: int | None
    # In the form of the journal.
    rules: Mapping[str, object]
    # The purse of a play-money stake; None for time.
    purse: PlayPurse | None = None
    # The position in the shoe of the first card; None after the last round.
    start: int | None = None


class Step(NamedTuple):
    """The result of a durable entry."""

    hand: TableRound[Any]
    events: Sequence[Any]
    played: Played

    @property
    def after(self) -> Any:
        return self.hand.round

    @property
    def receipt(self) -> Receipt:
        """The receipt of the one caller at a solo table."""
        return self.played.receipt

    @property
    def settlement(self) -> Settlement | None:
        return next(iter(self.played.settled.values()), None)


# A function that writes an entry for the callers by seat, and a function that posts it.
Work: TypeAlias = Callable[[Desk, Mapping[int, Sitter]], Played]
Post: TypeAlias = Callable[[Work], Awaitable[Played]]


def take_shoe(
    desk: Desk,
    kind: Kind,
    rules: Mapping[str, object],
    owner: int | None,
    root: bytes,
    *,
    fresh: bool = False,
    table: int = journal.FIRST_TABLE,
) -> Shoe:
    """Return the shoe of the next round: the `owner`'s, or without one the shoe of this `table`.

    A shoe that is used up is closed and replaced; with `fresh`, also a shoe with cards dealt.
    `root` is for a new chain of seeds, if one must begin.
    """
    decks = kind.decks(rules)
    take = partial(journal.open_shoe, desk, owner, kind.name, decks, root, table)
    shoe = take()
    if kind.is_used_up(rules, decks, shoe.position, 1) or (fresh and shoe.position):
        journal.close_shoe(desk, shoe.id)
        shoe = take()
    return shoe


async def deal(
    post: Post,
    kind: Kind,
    shoe: Shoe,
    terms: Deal,
    bets: Sequence[Bet],
) -> Step:
    """Stake every bet in the order of the seats and deal from `shoe`.

    Raises what `wagers.place` raises; nothing has changed then.
    """
    if terms.start is not None:
        shoe = replace(shoe, position=terms.start)
    stakes = [bet.amount for bet in bets]
    cards = kind.cards(shoe.seed, journaled.mixed_into(shoe), shoe.decks, shoe.position)
    round_, events = kind.deal(terms.rules, cards, stakes, 1)
    hand = TableRound(
        kind, 0, shoe, terms.rules, terms.unit, terms.coin, tuple(bets), round_, sequence=0
    )
    wager = _wager(kind, shoe, terms, bets, round_.cards_used)
    due = hand.settlements(None)

    def place(desk: Desk, sitters: Mapping[int, Sitter]) -> Played:
        placed = wagers.place(desk, wager, sitters, due)
        close_when_done(desk, hand)
        return placed

    placed = await post(place)
    return Step(hand._replace(lead=placed.lead), events, placed)


def _wager(kind: Kind, shoe: Shoe, terms: Deal, bets: Sequence[Bet], cards_used: int) -> Wager:
    stakes = [bet.amount for bet in bets]
    stake_facts = {"stakes": stakes} if kind.most_seats > 1 else {"stake": stakes[0]}
    return Wager(
        game=kind.name,
        amounts={bet.seat: bet.amount for bet in bets},
        unit=terms.unit,
        purse=terms.purse,
        coin=terms.coin,
        turns_limit=terms.turns_limit,
        shoe_id=shoe.id,
        is_shoe_shared=shoe.caller_id is None,
        cut=shoe.cut,
        start=terms.start,
        rules=terms.rules,
        action={"action": "bet", **stake_facts},
        cards_used=cards_used,
    )


async def act(post: Post, hand: TableRound[Any], act: Act, stake: int, stake_kind: str) -> Step:
    """Carry out an action and stake the `stake` that it adds, 0 for most actions.

    Raises `RoundRefused` and what `wagers.act` raises; nothing has changed then.
    """
    after, events, move = hand.after(act, stake, stake_kind)
    due = after.settlements(hand.round)

    def carry_out(desk: Desk, sitters: Mapping[int, Sitter]) -> Played:
        played = wagers.act(desk, move, sitters, due)
        close_when_done(desk, after)
        return played

    return Step(after, events, await post(carry_out))


def close_when_done(desk: Desk, hand: TableRound[Any]) -> None:
    """Close the shoe after its last round, which shows its seed."""
    if hand.is_shoe_done:
        journal.close_shoe(desk, hand.shoe.id)


class Play:
    """The rounds of one caller who plays alone against the house."""

    def __init__(self, caller: Caller, kind: Kind) -> None:
        self.caller = caller
        self.kind = kind
        self.shoe: Shoe | None = None
        self.hand: TableRound[Any] | None = None

    @property
    def round(self) -> Any:
        return None if self.hand is None else self.hand.round

    @property
    def is_shoe_done(self) -> bool:
        return self.hand is not None and self.hand.is_shoe_done

    @property
    def cards_left(self) -> int:
        assert self.shoe is not None
        gone = self.shoe.position if self.hand is None else self.hand.cards_gone
        return self.shoe.decks * CARDS_IN_DECK - gone

    async def find_open_round(self) -> StoredRound | None:
        """Rebuild the open round of this game and return it as stored, `None` without one.

        A round that cannot be rebuilt stays open, and the log names it.
        """
        caller_id = self.caller.record.id
        try:
            stored = await self.caller.ask_books(
                lambda desk: journal.round_in_play(desk, caller_id)
            )
            if stored is None or stored.game != self.kind.name or stored.shoe is None:
                return None
            self.hand = journaled.rebuild(self.kind, stored)
        except JournalDamaged as damaged:
            log.error("hand %d of %s: %s", damaged.number, self.caller.record.name, damaged)
            return None
        self.caller.hand_waits = True
        self.shoe = stored.shoe
        return stored

    async def next_shoe(self, rules: Mapping[str, object], *, fresh: bool = False) -> Shoe:
        owner, root = self.caller.record.id, self.caller.new_seed()
        self.shoe = await self.caller.ask_books(
            lambda desk: take_shoe(desk, self.kind, rules, owner, root, fresh=fresh)
        )
        self.hand = None
        return self.shoe

    async def close_shoe(self) -> str:
        """Close the shoe and return its seed in hexadecimal. Raises `RoundInPlay`."""
        assert self.shoe is not None
        shoe = self.shoe
        await self.caller.ask_books(lambda desk: journal.close_shoe(desk, shoe.id))
        self.shoe = None
        return shoe.seed.hex()

    async def place(self, amount: int, terms: Deal, cut: str) -> Step:
        """Stake a bet and deal."""
        assert self.shoe is not None
        shoe = replace(self.shoe, cut=cut)
        return self._adopt(await deal(self._post, self.kind, shoe, terms, self._bets(amount)))

    def _bets(self, amount: int) -> list[Bet]:
        record = self.caller.record
        return [Bet(FIRST_SEAT, record.id, record.name, amount)]

    async def act(self, action: Act, stake: int, stake_kind: str) -> Step:
        assert self.hand is not None
        return self._adopt(await act(self._post, self.hand, action, stake, stake_kind))

    async def toss(self) -> Step | None:
        """Carry out a step that the shoe's seed decides; `None` when the caller decides next."""
        due = None if self.hand is None or self.hand.over else self.hand.tossed()
        return None if due is None else await self.act(due, 0, "")

    async def stand(self, on_step: Callable[[Step], None]) -> None:
        """Play the round to its end as for an absent caller; call `on_step` with each step."""
        while self.round is not None and not self.round.over:
            step = await self.toss() or await self.act(self.kind.absent(self.round), 0, "")
            on_step(step)

    async def _post(self, work: Work) -> Played:
        number, leeway = self.caller.record.id, self.caller.purse.leeway
        return await self.caller.post(
            lambda desk, call, ticked: work(
                desk, {FIRST_SEAT: Sitter(number, call, ticked, leeway)}
            )
        )

    def _adopt(self, step: Step) -> Step:
        self.hand, self.shoe = step.hand, step.hand.shoe
        self.caller.hand_waits = not step.hand.over
        return step
