"""The dealer of a Vegas table, who writes every change of the cards to the books first.

Each method is one step of the table's task: work it out, make it durable, adopt it, announce it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from door.call import phrases
from door.errors import NotNow
from door.games.blackjack.round import BlackjackAction
from door.games.blackjack.rules import rules_to_mapping
from door.games.engine import shuffle
from door.games.engine.errors import IllegalAction, RoundRefused
from door.games.engine.game import Act
from door.games.engine.journaled import Bet, rebuild
from door.games.vegas.game import VEGAS_KIND
from door.tables import play
from door.tables.play import Deal, Post, Step, Work
from door.tables.vegas import news
from door.tables.vegas import table_round as vegas_round
from door.tables.vegas.pits import Hold
from door.tables.vegas.state import Chair, Committed, TableState
from timebank.errors import CallClosed, JournalDamaged, OutOfStep, Refused, RoundOver, ShoeGone
from timebank.language import Phrase, speaking_to
from timebank.wagers import journal
from timebank.wagers.wagers import Played, Sitter

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.call.phrases import CutPhrase
    from door.tables.vegas.table_round import VegasRound
    from timebank.ledger.database import Desk
    from timebank.ledger.purse import Receipt
    from timebank.wagers.journal import Shoe
    from timebank.wagers.rounds import Settlement

log = logging.getLogger("door.tables")


def _tell_away_caller(caller: Caller, settlement: Settlement, receipt: Receipt) -> None:
    """Tell a caller who is online but away from the table how their round ended."""
    with speaking_to(caller.console.viewer):
        words = vegas_round.stood_words(settlement.won - settlement.lost)
        caller.console.screen.say(f"|14{words}")
        caller.tell(receipt)
    caller.last_hand.mark_shown()


@dataclass(frozen=True)
class Present:
    """A caller on this server, and the function that adopts their receipt of an entry."""

    caller: Caller
    adopt: Callable[[Receipt], None]


class Dealer:
    """The dealer of one table; `place` is the table's number in its pit."""

    def __init__(self, board: Board, state: TableState, place: int) -> None:
        self._board = board
        self._state = state
        self._place = place
        self.hold = Hold()  # checked by every write

    # Shoe and deal.

    async def lay_shoe(self) -> None:
        """Make sure that the table has a shoe for the next round."""
        state = self._state
        rules = state.house.rules
        shoe = state.shoe
        if shoe is not None and shoe.decks == rules.decks and shoe.caller_id is None:
            return
        root, mapping = self._board.new_seed(), rules_to_mapping(rules)
        guard, table = self.hold.guard, self.hold.table_at(self._place)

        def take(desk: Desk) -> Shoe:
            guard(desk)
            journal.close_own_shoes(desk, VEGAS_KIND.name)
            return play.take_shoe(desk, VEGAS_KIND, mapping, None, root, table=table)

        state.shoe = await self._board.books.run(take)
        state.cut, state.commitments, state.cut_by = state.shoe.cut or "", [], {}
        state.tell(news.ShoeSealed(state.shoe.seal))

    def commit_seats(self) -> None:
        """Commit each seat of a fresh shoe to its caller's phrase, also to one chosen since."""
        state = self._state
        if not state.may_be_cut:
            return
        committed = {each.caller_id: each.phrase for each in state.commitments}
        for seat in state.seated():
            if seat.guest is None:
                continue
            phrase = phrases.stored(seat.guest.caller.record.preferences)
            before = committed.get(seat.caller_id)
            if before is None or (phrase and phrase.is_own and phrase.text != before):
                self.commit(seat, phrase or phrases.drawn(self._board.new_seed))

    def commit(self, seat: Chair, phrase: CutPhrase) -> None:
        """Commit a seat to a phrase; `F` shows the commitment, and after the deal the phrase."""
        shoe = self._state.shoe
        assert shoe is not None  # a fresh one
        commitment = shuffle.commitment(shoe.seed, phrase.text, shoe.link)
        self._state.commit(
            Committed(seat.caller_id, seat.name, phrase.text, commitment, phrase.is_own)
        )

    async def deal(self) -> None:
        """Deal to all callers who have bet, except for bets that the bank refuses.

        When the shoe has been closed, refuse all bets: the next shoe has another seal.
        """
        while seats := self._state.bettors():
            try:
                await self._deal_to(seats)
            except ShoeGone:
                self._state.shoe = None
                for seat in seats:
                    self._refuse(seat, Phrase("A new shoe is on the table. Please bet again."))
            except Refused as refused:
                if refused.seat is None:
                    raise
                self._refuse(self._state.seats[refused.seat], refused)
            else:
                return

    async def _deal_to(self, seats: Sequence[Chair]) -> None:
        state, house = self._state, self._state.house
        shoe = state.shoe
        assert shoe is not None  # `lay_shoe` comes first
        coin = house.coin_minutes * 60
        terms = Deal(
            unit="second",
            coin=coin,
            turns_limit=house.turns_per_day or None,
            rules=rules_to_mapping(replace(house.rules, insurance_unit=coin)),
            start=shoe.position,
        )
        bets = [Bet(seat.chair, seat.caller_id, seat.name, seat.bet) for seat in seats]
        sitters, online = self._sitters(bets)
        post = self._post(lambda desk, work: work(desk, sitters))
        committed = tuple(state.commitments) if shoe.fresh else ()
        cut = "\n".join(each.phrase for each in committed) or state.cut
        step = await play.deal(post, VEGAS_KIND, replace(shoe, cut=cut), terms, bets)
        state.cut = cut
        if committed:
            state.cut_by = {each.phrase: each.caller_id for each in committed}
            if by := tuple(each.name for each in committed if each.is_own):
                state.tell(news.CutMade(by))
        self._adopt_deal(step, online)

    def _adopt_deal(self, step: Step, online: Mapping[int, Present]) -> None:
        for seat in self._state.seated():
            seat.bet = 0
        hand = step.hand
        dealt = news.RoundDealt(hand.names, hand.round, step.events, hand.coin)
        self._adopt(step, online, dealt)

    def _refuse(self, seat: Chair, reason: Phrase | Refused) -> None:
        seat.bet = 0
        self._state.tell(news.BetRefused(seat.name, reason))

    # Decisions.

    async def act(self, action: BlackjackAction, amount: int | None) -> None:
        """Carry out a decision of the seat at turn; `amount` (seconds) is for insurance.

        Raises `NotNow` when the action is not open, and `Refused` of the bank.
        """
        hand = self._hand()
        await self._play(hand, action, amount, *self._sitters(hand.bets))

    async def stand(self, seat: Chair) -> None:
        """Decide for the seat at turn as for an absent caller."""
        hand = self._hand()
        self._state.tell(news.StoodFor(seat.name))
        action = BlackjackAction(VEGAS_KIND.absent(hand.round).word)
        sitters, online = self._sitters(hand.bets)
        try:
            try:
                await self._play(hand, action, None, sitters, online)
            except CallClosed:  # the call is being taken over: the books know the new one
                sitters[seat.chair] = Sitter(seat.caller_id)
                online.pop(seat.chair)
                await self._play(hand, action, None, sitters, online)
        except NotNow as late:
            log.info("the Vegas table: %s", late)

    def _hand(self) -> VegasRound:
        hand = self._state.in_play
        assert hand is not None  # a seat is at turn
        return hand

    async def _play(
        self,
        hand: VegasRound,
        action: BlackjackAction,
        amount: int | None,
        sitters: Mapping[int, Sitter],
        online: Mapping[int, Present],
    ) -> None:
        assert hand.round.turn is not None  # somebody decides
        act = Act(str(action), hand.round.turn.seat + 1, amount)
        post = self._post(partial(vegas_round.enter_action, sitters=sitters))
        try:
            stake = hand.round.added(action, amount)
            step = await play.act(post, hand, act, stake, str(action) if stake else "")
        except (IllegalAction, RoundRefused) as illegal:
            raise NotNow(str(illegal)) from illegal
        except (OutOfStep, RoundOver) as late:
            await self._read_again(hand)
            raise NotNow(Phrase("This hand has moved on.")) from late
        after = step.hand
        played = news.RoundWentOn(after.names, after.round, step.events, after.coin)
        self._adopt(step, online, played)

    # Rounds in the journal.

    async def take_up(self, lead: int) -> None:
        """Put an open round on the table and hold its seats. The log names a damaged round."""
        try:
            stored = await self._board.books.run(lambda desk: journal.stored_round(desk, lead))
            if stored is None or all(seat.settled for seat in stored.seats):
                return
            if self.hold.place_of_round(stored) is None:
                return
            hand = rebuild(VEGAS_KIND, stored)
        except JournalDamaged as damaged:
            log.error("hand %d at the Vegas table: %s", damaged.number, damaged)
            return
        seconds = self._state.set_now().resume_wait
        self._state.lay(hand, self._board.clock.monotonic() + seconds)
        self._state.tell(news.RoundResumed(hand.names, hand.round, hand.coin, seconds))

    async def _read_again(self, hand: VegasRound) -> None:
        stored = await self._board.books.run(lambda desk: journal.stored_round(desk, hand.lead))
        if stored is not None:
            self._state.hand = rebuild(VEGAS_KIND, stored)
            self._clear_round()
            self._state.tell()

    def _post(self, enter: Callable[[Desk, Work], Played]) -> Post:
        """Return the function that posts an entry; its transaction checks the fence first."""
        guard = self.hold.guard

        def write(desk: Desk, work: Work) -> Played:
            guard(desk)
            return enter(desk, work)

        return lambda work: self._board.books.run(lambda desk: write(desk, work), self._tell_doubt)

    def _tell_doubt(self) -> None:
        self._state.tell(news.BooksInDoubt())

    # Adopting what is durable.

    def _sitters(self, bets: Iterable[Bet]) -> tuple[dict[int, Sitter], dict[int, Present]]:
        """Return the sitters for the books by chair, and those of them on this server.

        Call it right before the entry: the callers' purses expect a receipt from now on.
        """
        on_line = {caller.record.id: caller for caller in self._board.callers()}
        sitters: dict[int, Sitter] = {}
        online: dict[int, Present] = {}
        for bet in bets:
            caller = on_line.get(bet.caller_id)
            if caller is None:
                sitters[bet.seat] = Sitter(bet.caller_id)
            else:
                purse = caller.purse
                sitter = Sitter(bet.caller_id, caller.call_id, purse.ticked(), purse.leeway)
                sitters[bet.seat] = sitter
                online[bet.seat] = Present(caller, caller.expect())
        return sitters, online

    def _adopt(
        self,
        step: Step,
        online: Mapping[int, Present],
        happened: news.RoundDealt | news.RoundWentOn,
    ) -> None:
        """Adopt a durable step at the table and in the purses, and announce it."""
        state, receipts = self._state, step.played.receipts
        state.hand = step.hand
        for chair, receipt in receipts.items():
            if (guest := state.seats[chair].guest) is not None:
                guest.expect_receipt()
            if chair in online:
                online[chair].adopt(receipt)
        self._clear_round()
        state.tell(happened)
        for chair, receipt in receipts.items():
            guest = state.seats[chair].guest
            if guest is not None:
                with speaking_to(guest.caller.console.viewer):
                    guest.on_receipt(receipt)
            elif chair in online and step.hand.over:
                _tell_away_caller(online[chair].caller, step.played.settled[chair], receipt)
        if step.hand.over and None in [state.seats[chair].guest for chair in receipts]:
            self._board.books.notices_wait.set()  # for callers who are on another call
        if step.hand.over and step.hand.is_shoe_done:
            state.tell(news.ShoeDone(state.seed))

    def _clear_round(self) -> None:
        """After a round, open the table for bets and move the shoe on or remove it."""
        state, hand = self._state, self._state.hand
        if hand is None or not hand.over:
            return
        state.end_round()
        if hand.is_shoe_done:
            state.seed = hand.shoe.seed.hex()
            state.shoe, state.cut, state.commitments = None, "", []
        else:
            state.shoe = replace(hand.shoe, position=hand.cards_gone, fresh=False)
