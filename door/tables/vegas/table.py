"""A Vegas table, which several callers share.

One task owns the table. Requests of callers are commands in its queue, and the task completes each
before the next, so keys of two callers never meet inside an operation. Telling a guest returns at
once, whatever the line does: only the clock of the table waits for a slow caller.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING

from ansi.width import character_width
from door.call import phrases, spoken
from door.call.books import NOT_IN_TIME, NOT_KNOWN_IN_TIME
from door.call.markup import plain
from door.call.patience import patience
from door.errors import Closing, NotNow, TalkRefused
from door.games.blackjack.round import BlackjackAction
from door.games.vegas.game import VegasSettings
from door.tables.betting import BettingTime
from door.tables.vegas import news
from door.tables.vegas.dealer import Dealer
from door.tables.vegas.state import Chair, SeatedGuest, TableState
from door.tables.vegas.table_clock import TableClock
from door.tables.vegas.table_round import GAME, affordable
from timebank.callers.hearing import ignored
from timebank.errors import BooksUnavailable, LeaseLost, OutcomeUnknown
from timebank.language import N_, Phrase, _, speaking_to
from timebank.wagers.journal import FIRST_TABLE

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.tables.vegas.news import News
    from door.tables.vegas.pits import Hold


CLOSING = N_("The board is closing.")

Command = Callable[[], Awaitable[None]]


class Progress(Enum):
    """How far the table has come with an errand."""

    WAITS = auto()
    BEGUN = auto()
    DONE = auto()  # except for the steps that follow


@dataclass(slots=True, eq=False)
class Errand:
    """A command for the table, and the future that its guest waits for."""

    command: Command
    answer: asyncio.Future[None]
    stage: Progress = Progress.WAITS
    problem: Exception | None = None  # why it failed

    def give_up(self) -> None:
        """End the wait for the answer.

        An errand that has not begun is dropped. One that has begun goes on, and its guest learns
        that the outcome is unknown.
        """
        if self.answer.done():
            return
        if self.stage is Progress.WAITS:
            self.answer.set_exception(BooksUnavailable(Phrase(NOT_IN_TIME)))
        elif self.stage is Progress.BEGUN:
            unknown = OutcomeUnknown(Phrase(NOT_KNOWN_IN_TIME))
            self.answer.set_exception(self.problem or unknown)
        else:
            self.answer.set_result(None)


log = logging.getLogger("door.tables")


class VegasTable:
    """Up to seven seats, a shoe, and the task that deals."""

    def __init__(
        self,
        board: Board,
        number: int,
        own: Callable[[], Awaitable[Hold]],
        lose: Callable[[], None],
    ) -> None:
        """`number` is the table's number in its pit.

        `own` returns the pit and takes one first where needed. `lose` is called after another
        server has held the pit.
        """
        self.number = number
        self.state = TableState(lambda: VegasSettings.among(board.config.games))
        self._board = board
        self._own, self._lose = own, lose
        self._dealer = Dealer(board, self.state, number)
        self._queue: asyncio.Queue[Errand] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._clock = TableClock(board, self.state, self.look)
        self._left_open: list[int] = []  # rounds in the journal to take up
        self._talk = defaultdict[int, spoken.Pace](spoken.Pace)
        self._moves = defaultdict[int, spoken.Pace](spoken.Pace)

    # Questions.

    @property
    def settings(self) -> VegasSettings:
        """The terms of the bets on the table or the round in play, else of the next bet."""
        return self.state.house

    @property
    def title(self) -> str:
        """The name of the table, with its number where there are several."""
        is_one = self.number == FIRST_TABLE and self.settings.tables == 1
        return "Vegas" if is_one else f"Vegas {self.number}"

    @property
    def coin(self) -> int:
        return self.settings.coin_minutes * 60

    def seconds_left(self) -> int:
        return self._clock.seconds_left()

    def betting(self, caller: Caller) -> BettingTime:
        house = self.settings
        return BettingTime(caller, GAME, house, house.rules.best_odds())

    # The server's side.

    @property
    def crowd(self) -> int:
        """The number of guests, with or without a seat, and of seats that wait for a caller."""
        return len(self.state.seats) + len(self.state.waiting)

    def take_up_soon(self, leads: Iterable[int]) -> None:
        """Take up the open rounds with these numbers when the table is free."""
        self._left_open += [lead for lead in leads if lead not in self._left_open]
        self._begin()
        self.look()

    async def resume(self) -> None:
        """Run the steps that are due, such as taking up a round."""
        await self._do(_nothing)

    async def stop(self) -> None:
        """Stop the task; a round in play stays in the journal for the next server."""
        self._close()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _close(self) -> None:
        self._closed = True
        self._clock.stop()
        while not self._queue.empty():
            answer = self._queue.get_nowait().answer
            if not answer.done():
                answer.set_exception(Closing(Phrase(CLOSING)))

    # The guests' side. The coroutines are commands: they return after the command and the steps
    # that follow. They time out with the guest's wait for an answer. Then a command that has not
    # begun is dropped (`BooksUnavailable`), and one that has may count or not (`OutcomeUnknown`).
    # At a closed table they raise `Closing`, as the wait for a key does.

    async def sit(self, guest: SeatedGuest) -> None:
        """Seat a guest at their open hand, or else when a seat is free."""
        await self._do(partial(self._sit, guest), guest)

    async def bet(self, guest: SeatedGuest, betting: BettingTime, coins: int) -> None:
        """Bet on the next round under the terms of `betting`; raises `NotNow`."""
        await self._do(partial(self._bet, guest, betting, coins), guest)

    async def cut_cards(self, guest: SeatedGuest, words: str) -> None:
        """Commit the guest's seat to a phrase that cuts a fresh shoe; raises `NotNow`."""
        await self._do(partial(self._cut, guest, words), guest)

    async def decide(self, guest: SeatedGuest, action: BlackjackAction, amount: int | None) -> None:
        """Carry out a guest's decision; `amount` (seconds) is for insurance.

        Raises `NotNow` when it is not their turn, and `Refused` of the bank.
        """
        await self._do(partial(self._decide, guest, action, amount), guest)

    async def stand_for(self, caller_id: int, guest: SeatedGuest | None = None) -> None:
        """Stand a caller's hand at its turns; `guest` is that caller's visit, if it waits."""
        await self._do(partial(self._stand_for, caller_id), guest)

    def leave(self, guest: SeatedGuest) -> None:
        """Release a guest who leaves; the dealer stands their hand at its turns."""
        seat = self.state.release(guest)
        if seat is not None:
            seat.stood = True
            self._tell_if_news(seat, news.GotUp(seat.name))
        self.look()

    def lose(self, guest: SeatedGuest) -> None:
        """Release a guest whose line broke; their hand waits for the rest of their turn."""
        seat = self.state.seat_of(guest.caller.record.id)
        until = 0.0 if seat is None else self._clock.return_deadline(seat)
        if self.state.place_of(guest.caller.record.id) is None:
            self.leave(guest)
            return
        seat = self.state.release(guest)
        if seat is not None:
            seat.held_until = until
            seconds = max(0, -int(-(until - self._clock.now()) // 1))
            self._tell_if_news(seat, news.LineLost(seat.name, seconds))
        self.look()

    def hand_over(self, guest: SeatedGuest) -> None:
        """Release a guest who comes back at once on another call; their hand waits."""
        seat = self.state.release(guest)
        if seat is not None:
            seat.held_until = self._clock.now() + self.settings.turn_seconds
        self.look()

    def wake(self, guest: SeatedGuest) -> None:
        """Note a guest's key; the table waits for them again if they were silent."""
        seat = self.state.seat_of(guest.caller.record.id)
        if seat is not None:
            seat.silent = False

    def talk(self, guest: SeatedGuest, typed: str) -> None:
        """Pass on a guest's line to all, or whisper it with "/name"; raises `TalkRefused`.

        Talk does not go through the queue.
        """
        record = guest.caller.record
        line = spoken.clean(typed)
        if not line:
            return
        others = {each.caller.record.name: each for each in self.state.guests()}
        others.pop(record.name, None)
        addressed = spoken.addressed(line, list(others))
        if not self._talk[record.id].allows(self._clock.now()):
            raise TalkRefused(_("Not so fast: let the others get a word in."))
        if isinstance(addressed, spoken.Whisper):
            if not _can_hear(record.id, others[addressed.to]):
                words = _("{name} doesn't take messages from you.").format(name=addressed.to)
                raise TalkRefused(words)
            whispered = news.Whispered(record.name, addressed.to, addressed.text)
            self.state.tell_to((guest, others[addressed.to]), whispered)
        else:
            listeners = [each for each in self.state.guests() if _can_hear(record.id, each)]
            self.state.tell_to(listeners, news.TableTalk(record.name, addressed, record.id))

    # The task.

    async def _do(self, command: Command, guest: SeatedGuest | None = None) -> None:
        """Queue a command and wait for it and the steps that follow.

        The wait ends when `guest` may wait no longer for an answer.
        """
        if self._closed:
            raise Closing(Phrase(CLOSING))
        self._begin()
        errand = self._put(command)
        until = None if guest is None else guest.caller.console.keyboard.answer_by()
        if until is None:
            await asyncio.shield(errand.answer)
            return
        clock = self._board.clock
        timer = clock.call_later(until - clock.monotonic(), errand.give_up)
        try:
            await asyncio.shield(errand.answer)
        finally:
            timer.cancel()

    def _begin(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._serve())

    def look(self) -> None:
        """Wake the task, which looks for steps that are due."""
        if self._task is not None and not self._closed:
            self._put(_nothing)

    def _put(self, command: Command) -> Errand:
        errand = Errand(command, asyncio.get_running_loop().create_future())
        errand.answer.add_done_callback(_consume)
        self._queue.put_nowait(errand)
        return errand

    async def _serve(self) -> None:
        while True:
            errand = await self._queue.get()
            answer = errand.answer
            if answer.done():  # given up
                continue
            try:
                with patience(self._board.clock, self._tell_to_wait):
                    errand.stage = Progress.BEGUN
                    await errand.command()
                    errand.stage = Progress.DONE
                    await self._go_on()
            except LeaseLost:
                self._lose()
                errand.problem = NotNow(Phrase("This hand has moved on."))
            except Exception as error:  # raised at the guest who asked; the table goes on
                errand.problem = error
                await self._go_on()
            else:
                if not self._closed and not answer.done():
                    answer.set_result(None)
            finally:
                if not answer.done():
                    answer.set_exception(errand.problem or Closing(Phrase(CLOSING)))

    def _tell_to_wait(self) -> None:
        self.state.tell(news.BooksBusy())

    async def _go_on(self) -> None:
        """Run all steps that are due, then set the clock."""
        try:
            while not self._closed and not self._clock.waits_for_books and await self._step():
                pass
        except LeaseLost:
            self._lose()
        except (BooksUnavailable, OutcomeUnknown):
            self._clock.retry_later()
            self.state.tell(news.BooksClosed())
        except Exception:
            log.exception("the Vegas table cannot go on; it tries again")
            self._clock.retry_later()
        if not self._closed:
            self._clock.run()

    async def _step(self) -> bool:
        """Run one step that is due; return whether another may be due."""
        state = self.state
        await self._open()
        seat = state.at_turn
        if seat is not None:
            if not self._is_given_up(seat):
                return False
            await self._dealer.stand(seat)
            return True
        state.clear_chairs()
        if self._left_open:
            await self._dealer.take_up(self._left_open[0])
            del self._left_open[0]
            return True
        for seated in state.fill_chairs(self.settings.seats):
            self._tell_if_news(seated, news.SatDown(seated.name))
        if not state.guests():
            self._clock.clear_bell()  # else it would ring without end
            return False
        await self._dealer.lay_shoe()
        self._dealer.commit_seats()
        if not self._wants_deal():
            return False
        await self._deal()
        return True

    async def _open(self) -> None:
        """Make sure that this server holds a pit; start over in a new pit."""
        hold, before = await self._own(), self._dealer.hold
        if hold != before:
            self._dealer.hold = hold
            self.state.start_over()
            if before.fence:
                self.state.tell(news.TableLost())

    def _is_given_up(self, seat: Chair) -> bool:
        """Whether the dealer decides for the seat at turn."""
        if seat.guest is None:
            return seat.stood or seat.held_until <= self._clock.now()
        hand = self.state.in_play
        assert hand is not None  # a seat is at turn
        # Insurance that a caller cannot pay is declined without asking.
        unpayable = affordable(hand, seat.guest.caller) == [BlackjackAction.NO_INSURANCE]
        return seat.stood or seat.silent or unpayable

    # Sitting down, and the bets.

    async def _sit(self, guest: SeatedGuest) -> None:
        record = guest.caller.record
        seat = self.state.seat_of(record.id)
        if seat is None:
            self.state.waiting.append(guest)
            return
        seat.guest = guest
        seat.silent = seat.stood = False
        has_hand = self.state.place_of(record.id) is not None
        self.state.tell(news.CameBack(seat.name) if has_hand else news.SatDown(seat.name))

    def _own_seat(self, guest: SeatedGuest) -> Chair:
        seat = self.state.seat_of(guest.caller.record.id)
        if seat is None or seat.guest is not guest:
            raise NotNow(Phrase("You have no seat yet."))
        seat.silent = False
        return seat

    async def _bet(self, guest: SeatedGuest, betting: BettingTime, coins: int) -> None:
        seat = self._own_seat(guest)
        if self.state.in_play is not None:
            raise NotNow(Phrase("The cards are out. Bet when this round is over."))
        if betting.settings != self.settings:
            raise NotNow(Phrase("The terms of this table have changed. Please bet again."))
        with speaking_to(guest.caller.console.viewer):
            if refusal := betting.refusal(as_offered=True) or betting.why_refused(coins):
                raise NotNow(plain(refusal))
        if seat.bet:
            self._refuse_haste(seat)
        self.state.place_bet(seat, coins * betting.coin)
        self.state.tell(news.BetAnnounced(seat.name, coins))

    def _refuse_haste(self, seat: Chair) -> None:
        """Raise `NotNow` when a seat changes bet or cut too often."""
        if not self._moves[seat.caller_id].allows(self._clock.now()):
            raise NotNow(Phrase("Not so fast: let the others keep up."))

    def _tell_if_news(self, seat: Chair, happened: News) -> None:
        """Announce arrivals and departures, unless the caller makes too many."""
        if self._moves[seat.caller_id].allows(self._clock.now()):
            self.state.tell(happened)

    async def _cut(self, guest: SeatedGuest, words: str) -> None:
        seat = self._own_seat(guest)
        if not self.state.may_be_cut:
            raise NotNow(Phrase("Only a fresh shoe can be cut."))
        if not all(map(character_width, words)):
            raise NotNow(Phrase("Not everybody can see those characters. Try other words."))
        self._refuse_haste(seat)
        self._dealer.commit(seat, phrases.CutPhrase(words, is_own=True))

    async def _decide(
        self, guest: SeatedGuest, action: BlackjackAction, amount: int | None
    ) -> None:
        seat = self.state.at_turn
        if seat is None or seat.guest is not guest:
            raise NotNow(Phrase("It's not your turn."))
        await self._dealer.act(action, amount)

    async def _stand_for(self, caller_id: int) -> None:
        seat = self.state.seat_of(caller_id)
        if seat is not None and self.state.place_of(caller_id) is not None:
            seat.stood = True

    def _wants_deal(self) -> bool:
        """Return whether to deal now; set the bell while bets are missing."""
        bettors = self.state.bettors()
        awaited = [seat for seat in self.state.seated() if self._is_awaited(seat)]
        if bettors and (self._clock.bell_rang or not awaited):
            return True
        if bettors:
            self._clock.set_bell()
        else:
            self._clock.clear_bell()
        return False

    def _is_awaited(self, seat: Chair) -> bool:
        """Whether the bets of the others wait for this seat."""
        if seat.guest is None or seat.bet or not self.state.has_several_guests:
            return False
        return not (seat.silent or self.betting(seat.guest.caller).refusal())

    async def _deal(self) -> None:
        if self._clock.bell_rang:
            self.state.tell(news.BellRang())
            for seat in self.state.seated():
                seat.silent = not seat.bet
        await self._dealer.deal()
        self._clock.clear_bell()


def _can_hear(speaker: int, guest: SeatedGuest) -> bool:
    """Whether a guest does not ignore the speaker."""
    return speaker not in ignored(guest.caller.record.preferences)


async def _nothing() -> None:
    """Wake the table."""


def _consume(answer: asyncio.Future[None]) -> None:
    """Retrieve the exception, which asyncio would log otherwise."""
    if not answer.cancelled():
        answer.exception()
