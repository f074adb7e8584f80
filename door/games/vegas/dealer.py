"""Who deals at the Vegas table: every change of the cards, through the books and then on the table.

Each method is one step of the table's task: pure first, then durable, then adopted, then told.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from door.call.process import process_is_gone
from door.errors import NotNow
from door.games.blackjack.round import BlackjackAction, IllegalAction
from door.games.vegas import news, settings
from door.games.vegas import round as vegas_round
from door.games.vegas.kind import VEGAS_KIND
from door.games.vegas.round import Deal, TableRound, TableStep
from door.games.vegas.state import Chair, TableState
from timebank.calls.calls import open_calls
from timebank.errors import CallClosed, JournalDamaged, OutOfStep, RoundOver, SeatRefused, ShoeGone
from timebank.wagers import journal, wagers
from timebank.wagers.wagers import SeatBet

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from timebank.ledger.database import Desk
    from timebank.ledger.purse import Receipt
    from timebank.wagers.journal import StoredRound
    from timebank.wagers.wagers import Sitter

log = logging.getLogger("door.tables")


@dataclass(frozen=True)
class Present:
    """A caller on line here whom an entry concerns, and what adopts its receipt."""

    caller: Caller
    adopt: Callable[[Receipt], None]


class Dealer:
    """The house's hands at the table of one board."""

    def __init__(self, board: Board, state: TableState) -> None:
        """Deal for `board` at the table that `state` is."""
        self._board = board
        self._state = state

    # Shoe and deal.

    async def lay_shoe(self) -> None:
        """See that the shoe on the table is one that the next round can be dealt from."""
        state, rules, alone = self._state, settings.of(self._board.config).rules, self._alone()
        shoe = state.shoe
        if shoe is not None and shoe.decks == rules.decks and shoe.caller_id == alone:
            return
        seed = self._board.new_seed()
        state.shoe = await vegas_round.open_shoe(self._board.books, rules, seed, alone)
        state.cut = state.shoe.cut or ""
        state.tell(news.ShoeSealed(state.shoe.seal))

    def _alone(self) -> int | None:
        """Return whose own shoe this table deals from, None where all share one.

        Of several processes without a server each has a table for one caller: they would deal each
        other's cards away.
        """
        guests = self._state.guests()
        return guests[0].caller.record.id if self._board.serves_one and guests else None

    async def deal(self) -> None:
        """Deal to everybody who has bet; a bet that the bank refuses is left out.

        Nothing is dealt when another process has dealt from the shoe meanwhile: the next one has
        another seal.
        """
        while seats := self._state.bettors():
            try:
                await self._deal_to(seats)
            except SeatRefused as refused:
                self._refuse(self._state.seats[refused.seat], str(refused.refusal))
            except ShoeGone:
                self._state.shoe = None
                for seat in seats:
                    self._refuse(seat, "There is another shoe now: see its seal, and bet again.")
            else:
                return

    async def _deal_to(self, seats: Sequence[Chair]) -> None:
        state, house = self._state, settings.of(self._board.config)
        shoe = state.shoe
        assert shoe is not None  # laid before anybody is dealt to
        coin, limit = house.coin_minutes * 60, house.turns_per_day or None
        sitters, here = self._sitters({seat.chair: seat.caller_id for seat in seats})
        bets = [SeatBet(seat.chair, sitters[seat.chair], seat.bet * coin, limit) for seat in seats]
        names = tuple(seat.name for seat in seats)
        seen = {
            each.caller.record.id: number
            for each in here.values()
            if (number := each.caller.last_hand.seen())
        }
        process = self._board.process
        asked = Deal(shoe, state.cut, house.rules, coin, bets, names, process, seen)
        step = await vegas_round.deal(self._board.books, asked, self._tell_doubt)
        for seat in seats:
            seat.bet, seat.ready = 0, False
        hand, state.seed = step.hand, ""
        dealt = news.RoundDealt(hand.names, hand.round, step.events, hand.coin)
        self._adopt(step, here, dealt)

    def _refuse(self, seat: Chair, reason: str) -> None:
        seat.bet, seat.ready = 0, False
        self._state.tell(news.BetRefused(seat.name, reason))

    # Decisions.

    async def act(self, action: BlackjackAction, amount: int | None) -> None:
        """Carry out a decision of the seat at turn; `amount` (seconds) is for insurance.

        Raises `NotNow` when it is not open, and what the bank refuses.
        """
        hand = self._hand()
        chairs = dict(zip(hand.chairs, hand.caller_ids, strict=True))
        await self._play(hand, action, amount, *self._sitters(chairs))

    async def stand(self, seat: Chair) -> None:
        """Decide for the seat at turn as for one who is not there."""
        hand = self._hand()
        self._state.tell(news.StoodFor(seat.name))
        action = BlackjackAction(VEGAS_KIND.absent(hand.round).word)
        chairs = dict(zip(hand.chairs, hand.caller_ids, strict=True))
        sitters, here = self._sitters(chairs)
        try:
            try:
                await self._play(hand, action, None, sitters, here)
            except CallClosed:  # his call is being taken over: the books know the new one
                sitters[seat.chair] = wagers.Sitter(seat.caller_id, None, None)
                here.pop(seat.chair)
                await self._play(hand, action, None, sitters, here)
        except NotNow as late:
            log.info("the Vegas table: %s", late)

    def _hand(self) -> TableRound:
        hand = self._state.in_play
        assert hand is not None  # a seat is at turn
        return hand

    async def _play(
        self,
        hand: TableRound,
        action: BlackjackAction,
        amount: int | None,
        sitters: Mapping[int, Sitter],
        here: Mapping[int, Present],
    ) -> None:
        try:
            step = await vegas_round.act(
                self._board.books, hand, action, amount, sitters, self._tell_doubt
            )
        except IllegalAction as illegal:
            raise NotNow(str(illegal)) from illegal
        except (OutOfStep, RoundOver) as late:
            await self._read_again(hand)
            raise NotNow("This hand has gone on meanwhile.") from late
        after = step.hand
        played = news.RoundWentOn(after.names, after.round, step.events, after.coin)
        self._adopt(step, here, played)

    # Rounds in the journal.

    async def take_up(self, lead: int) -> bool:
        """Lay a round on the table that was left open, and keep its seats for their callers.

        False while another process of this board plays it. One that cannot be read is left to the
        log.
        """
        try:
            stored = await self._board.books.run(lambda desk: journal.stored_round(desk, lead))
            if stored is None or all(seat.settled for seat in stored.seats):
                return True
            if await self._board.books.run(partial(self._is_elsewhere, stored=stored)):
                log.info("hand %d is on the table of another process", lead)
                return False
            hand = vegas_round.found(stored)
        except JournalDamaged as damaged:
            log.error("hand %d at the Vegas table: %s", damaged.number, damaged)
            return True
        seconds = settings.of(self._board.config).resume_wait
        self._state.lay(hand, self._board.clock.monotonic() + seconds)
        self._state.tell(news.RoundResumed(hand.names, hand.round, hand.coin, seconds))
        return True

    def _is_elsewhere(self, desk: Desk, stored: StoredRound) -> bool:
        """Tell whether the process that dealt a round still serves callers."""
        _, dealt = stored.actions[0]
        process = dealt.get("process")
        if not isinstance(process, str) or process == self._board.process:
            return False
        serves = any(call.live and call.process == process for call in open_calls(desk))
        return serves and not process_is_gone(process)

    async def _read_again(self, hand: TableRound) -> None:
        """Adopt what another process has made of the round."""
        stored = await self._board.books.run(lambda desk: journal.stored_round(desk, hand.lead))
        if stored is not None:
            self._state.hand = vegas_round.found(stored)
            self._lay_aside()
            self._state.tell()

    def _tell_doubt(self) -> None:
        self._state.tell(news.BooksInDoubt())

    # Adopted.

    def _sitters(self, chairs: Mapping[int, int]) -> tuple[dict[int, Sitter], dict[int, Present]]:
        """Return who sits where for the books, and which of them are on line here, by chair.

        To be asked for right before the entry: from here on it is expected.
        """
        on_line = {caller.record.id: caller for caller in self._board.callers()}
        sitters: dict[int, Sitter] = {}
        here: dict[int, Present] = {}
        for chair, caller_id in chairs.items():
            caller = on_line.get(caller_id)
            if caller is None:
                sitters[chair] = wagers.Sitter(caller_id, None, None)
            else:
                sitters[chair] = wagers.Sitter(caller_id, caller.call_id, caller.purse.ticked())
                here[chair] = Present(caller, caller.expect())
        return sitters, here

    def _adopt(
        self,
        step: TableStep,
        here: Mapping[int, Present],
        happened: news.RoundDealt | news.RoundWentOn,
    ) -> None:
        """Make what is durable now the table's, and every purse its caller's; tell all of it."""
        state = self._state
        state.hand = step.hand
        for chair, receipt in step.receipts.items():
            if chair in here:
                here[chair].adopt(receipt)
        self._lay_aside()
        state.tell(happened)
        for chair, receipt in step.receipts.items():
            guest = state.seats[chair].guest
            if guest is not None:
                guest.receives(receipt)
            elif chair in here and step.hand.over:
                totals = step.hand.round.totals_of(step.hand.chairs.index(chair))
                words = vegas_round.stood_words(totals.won - totals.lost)
                here[chair].caller.console.say(f"|14{words}")
                here[chair].caller.tell(receipt)
                here[chair].caller.last_hand.shown()
        if step.hand.over and None in [state.seats[chair].guest for chair in step.receipts]:
            self._board.books.notices_wait.set()  # for those who are on another call by now
        if step.hand.over and step.hand.is_shoe_done:
            state.tell(news.ShoeDone(state.seed))

    def _lay_aside(self) -> None:
        """After a round let everybody bet anew, from what is left of the shoe."""
        state, hand = self._state, self._state.hand
        if hand is None or not hand.over:
            return
        state.end_round()
        if hand.is_shoe_done:
            state.seed = hand.shoe.seed.hex()
            state.shoe, state.cut = None, ""
        else:
            position = hand.shoe.position + hand.round.cards_used
            state.shoe = replace(hand.shoe, position=position, fresh=False)
