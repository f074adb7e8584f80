"""A Vegas table: one for all callers of this server, who sit at it together.

One task owns it: whatever callers want arrives as commands in its queue and is done one after the
other, each to its end, so the keys of two callers never meet inside an operation. Telling is a call
that returns at once, whatever the line behind it does: a caller who hangs is waited for by the
clock of the table, and by nobody else.
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
from door.call import spoken
from door.call.books import NOT_IN_TIME, NOT_KNOWN_IN_TIME
from door.call.markup import plain
from door.call.patience import patience
from door.errors import Closing, NotNow, NotSaid
from door.games.blackjack.round import BlackjackAction
from door.games.vegas.game import VegasSettings
from door.tables.betting import BettingTime
from door.tables.vegas import news
from door.tables.vegas.dealer import Dealer
from door.tables.vegas.state import Chair, Committed, SeatedGuest, TableState
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
    """How far the table is with what a guest wants."""

    WAITS = auto()
    BEGUN = auto()
    DONE = auto()  # all but what follows from it


@dataclass(slots=True, eq=False)
class Errand:
    """What somebody wants of the table, and who waits for it."""

    command: Command
    answer: asyncio.Future[None]
    stage: Progress = Progress.WAITS
    problem: Exception | None = None  # why it was not done

    def give_up(self) -> None:
        """Let nobody wait any more. What was not begun is not done; what was is, and so is all that
        follows: of a decision that the books have nobody knows then whether it counts."""
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
        """`number` is that within its pit; `own` takes a pit, unless one is held, and `lose` is
        called when another server has had it."""
        self.number = number
        self.state = TableState(lambda: VegasSettings.of(board.config.games))
        self._board = board
        self._own, self._lose = own, lose
        self._dealer = Dealer(board, self.state, number)
        self._queue: asyncio.Queue[Errand] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._clock = TableClock(board, self.state, self.look)
        self._left_open: list[int] = []  # rounds in the journal that are yet to be taken up
        self._talk = defaultdict[int, spoken.Pace](spoken.Pace)
        self._moves = defaultdict[int, spoken.Pace](spoken.Pace)

    # What can be asked.

    @property
    def settings(self) -> VegasSettings:
        """The terms of the bets that lie here or the round in play, else of the next bet."""
        return self.state.house

    @property
    def title(self) -> str:
        """What the table is called, by its number where there are several."""
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
        """How many are here, with or without a seat; seats that are kept count too."""
        return len(self.state.seats) + len(self.state.standing)

    def take_up_soon(self, leads: Iterable[int]) -> None:
        """Take up the rounds with these numbers, which are in play, when the table is free."""
        self._left_open += [lead for lead in leads if lead not in self._left_open]
        self._begin()
        self.look()

    async def resume(self) -> None:
        """Do all that is due, such as taking up a round."""
        await self._do(_nothing)

    async def stop(self) -> None:
        """Do nothing more: a round in play stays in the journal for the next server."""
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

    # The guests' side. Most of these are commands: done when they return, all that follows too, as
    # far as it was in time. They have as long as their guest may wait for an answer: one that was
    # not begun by then is not done (`BooksUnavailable`), and of one that was nobody may know
    # (`OutcomeUnknown`). Once the table is closed they raise `Closing`, as the wait for a key does.

    async def sit(self, guest: SeatedGuest) -> None:
        """Give a guest a seat: at their hand if they have one in play, else when one is free."""
        await self._do(partial(self._sit, guest), guest)

    async def bet(self, guest: SeatedGuest, betting: BettingTime, coins: int) -> None:
        """Bet on the next round, under the terms that the caller was asked with, and be ready for
        it; `NotNow` when the bet cannot be placed."""
        await self._do(partial(self._bet, guest, betting, coins), guest)

    async def cut_cards(self, guest: SeatedGuest, words: str) -> None:
        """Cut a fresh shoe: all seats where its seed was sealed ahead, else the first one alone.
        Raises `NotNow`."""
        await self._do(partial(self._cut, guest, words), guest)

    async def decide(self, guest: SeatedGuest, action: BlackjackAction, amount: int | None) -> None:
        """Do what a guest at turn decides; `amount` (seconds) is for insurance. Raises `NotNow`
        when it is not open to them, and what the bank refuses."""
        await self._do(partial(self._decide, guest, action, amount), guest)

    async def stand_for(self, caller_id: int, guest: SeatedGuest | None = None) -> None:
        """Have a caller's hand stood at its turns; `guest` is they themselves, if they wait."""
        await self._do(partial(self._stand_for, caller_id), guest)

    def leave(self, guest: SeatedGuest) -> None:
        """Let a guest go who gets up; a hand of theirs is stood at its turns."""
        seat = self.state.let_go(guest)
        if seat is not None:
            seat.stood = True
            self._tell_if_news(seat, news.GotUp(seat.name))
        self.look()

    def lose(self, guest: SeatedGuest) -> None:
        """Let a guest go whose line broke: what is left of a turn is theirs to come back."""
        seat = self.state.seat_of(guest.caller.record.id)
        until = 0.0 if seat is None else self._clock.way_back(seat)
        if self.state.place_of(guest.caller.record.id) is None:
            self.leave(guest)
            return
        seat = self.state.let_go(guest)
        if seat is not None:
            seat.kept_until = until
            seconds = max(0, -int(-(until - self._clock.now()) // 1))
            self._tell_if_news(seat, news.LineLost(seat.name, seconds))
        self.look()

    def hand_over(self, guest: SeatedGuest) -> None:
        """Let a guest go who will be back at once on another call: their hand is kept."""
        seat = self.state.let_go(guest)
        if seat is not None:
            seat.kept_until = self._clock.now() + self.settings.turn_seconds
        self.look()

    def wake(self, guest: SeatedGuest) -> None:
        """Note that a guest has pressed a key: if they were silent, they are waited for again."""
        seat = self.state.seat_of(guest.caller.record.id)
        if seat is not None:
            seat.silent = False

    def talk(self, guest: SeatedGuest, typed: str) -> None:
        """Pass on what a guest says to all, or whispers with "/name"; `NotSaid` when it is not. The
        round has no part in it, so it waits for nothing."""
        record = guest.caller.record
        line = spoken.clean(typed)
        if not line:
            return
        others = {each.caller.record.name: each for each in self.state.guests()}
        others.pop(record.name, None)
        what = spoken.addressed(line, list(others))
        if not self._talk[record.id].allows(self._clock.now()):
            raise NotSaid(_("Not so fast: let the others get a word in."))
        if isinstance(what, spoken.Whisper):
            if not _is_heard(record.id, others[what.to]):
                words = _("{name} doesn't take messages from you.").format(name=what.to)
                raise NotSaid(words)
            whispered = news.Whispered(record.name, what.to, what.text)
            self.state.tell_to((guest, others[what.to]), whispered)
        else:
            hearers = [each for each in self.state.guests() if _is_heard(record.id, each)]
            self.state.tell_to(hearers, news.Said(record.name, what, record.id))

    # The task.

    async def _do(self, command: Command, guest: SeatedGuest | None = None) -> None:
        """Queue a command and wait until it is done, with all that follows from it; for as long as
        the guest whose command it is may wait."""
        if self._closed:
            raise Closing(Phrase(CLOSING))
        self._begin()
        wanted = self._put(command)
        until = None if guest is None else guest.caller.console.keyboard.answer_by()
        if until is None:
            await asyncio.shield(wanted.answer)
            return
        clock = self._board.clock
        timer = clock.call_later(until - clock.monotonic(), wanted.give_up)
        try:
            await asyncio.shield(wanted.answer)
        finally:
            timer.cancel()

    def _begin(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._serve())

    def look(self) -> None:
        """Let the task see by itself what has changed; the clock does so too."""
        if self._task is not None and not self._closed:
            self._put(_nothing)

    def _put(self, command: Command) -> Errand:
        wanted = Errand(command, asyncio.get_running_loop().create_future())
        wanted.answer.add_done_callback(_look_at)
        self._queue.put_nowait(wanted)
        return wanted

    async def _serve(self) -> None:
        while True:
            wanted = await self._queue.get()
            answer = wanted.answer
            if answer.done():  # nobody waits for it any more: it is not to be done
                continue
            try:
                with patience(self._board.clock, self._tell_to_wait):
                    wanted.stage = Progress.BEGUN
                    await wanted.command()
                    wanted.stage = Progress.DONE
                    await self._go_on()
            except LeaseLost:
                self._lose()
                wanted.problem = NotNow(Phrase("This hand has moved on."))
            except Exception as error:  # for the guest who asked; the table goes on
                wanted.problem = error
                await self._go_on()
            else:
                if not self._closed and not answer.done():
                    answer.set_result(None)
            finally:
                if not answer.done():
                    answer.set_exception(wanted.problem or Closing(Phrase(CLOSING)))

    def _tell_to_wait(self) -> None:
        self.state.tell(news.BooksBusy())

    async def _go_on(self) -> None:
        """Do all that follows by itself, then set the clock."""
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
        """Do one thing that nobody has to ask for; tell whether there may be another."""
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
        for given in state.fill_chairs(self.settings.seats):
            self._tell_if_news(given, news.SatDown(given.name))
        if not state.guests():
            self._clock.clear_bell()  # it would ring and ring again: nobody is dealt to
            return False
        await self._dealer.lay_shoe()
        self._dealer.commit_seats()
        if not self._wants_deal():
            return False
        await self._deal()
        return True

    async def _open(self) -> None:
        """See that the table is of a pit of ours; start over where another server has had that."""
        hold, before = await self._own(), self._dealer.hold
        if hold != before:
            self._dealer.hold = hold
            self.state.start_over()
            if before.fence:
                self.state.tell(news.TableLost())

    def _is_given_up(self, seat: Chair) -> bool:
        """Whether nobody waits any more for the seat at turn."""
        if seat.guest is None:
            return seat.stood or seat.kept_until <= self._clock.now()
        hand = self.state.in_play
        assert hand is not None  # a seat is at turn
        # Insurance that they cannot pay is declined unasked.
        unpayable = affordable(hand, seat.guest.caller) == [BlackjackAction.NO_INSURANCE]
        return seat.stood or seat.silent or unpayable

    # Sitting down, and the bets.

    async def _sit(self, guest: SeatedGuest) -> None:
        record = guest.caller.record
        seat = self.state.seat_of(record.id)
        if seat is None:
            self.state.standing.append(guest)
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
            if refusal := betting.refusal() or betting.why_refused(coins):
                raise NotNow(plain(refusal))
        if seat.bet:
            self._refuse_haste(seat)
        self.state.place_bet(seat, coins * betting.coin)
        self.state.tell(news.BetAnnounced(seat.name, coins))

    def _refuse_haste(self, seat: Chair) -> None:
        """Raise `NotNow` when a seat changes its mind faster than the others can follow."""
        if not self._moves[seat.caller_id].allows(self._clock.now()):
            raise NotNow(Phrase("Not so fast: let the others keep up."))

    def _tell_if_news(self, seat: Chair, happened: News) -> None:
        """Tell that somebody comes or goes, unless they do nothing else."""
        if self._moves[seat.caller_id].allows(self._clock.now()):
            self.state.tell(happened)

    async def _cut(self, guest: SeatedGuest, words: str) -> None:
        seat = self._own_seat(guest)
        if not self.state.may_be_cut:
            raise NotNow(Phrase("Only a fresh shoe can be cut."))
        if seat is not self.state.first and not self.state.is_cut_by_all:
            raise NotNow(Phrase("The first seat cuts the cards."))
        if not all(map(character_width, words)):
            raise NotNow(Phrase("Not everybody can see those characters. Try other words."))
        self._refuse_haste(seat)
        if self.state.is_cut_by_all:
            self._dealer.commit(seat, words)
            return
        tell = await self._dealer.cuts_told([Committed(seat.caller_id, seat.name, words, "")])
        self.state.cut = words
        tell()

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
        """Tell whether the cards are to be dealt now; the bell is set while they are not."""
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
        """Whether the others wait for a seat to bet."""
        if seat.guest is None or seat.bet or not self.state.has_company:
            return False
        return not (seat.silent or self.betting(seat.guest.caller).refusal())

    async def _deal(self) -> None:
        if self._clock.bell_rang:
            self.state.tell(news.BellRang())
            for seat in self.state.seated():
                seat.silent = not seat.bet
        await self._dealer.deal()
        self._clock.clear_bell()


def _is_heard(speaker: int, guest: SeatedGuest) -> bool:
    """Whether a guest does not ignore who speaks."""
    return speaker not in ignored(guest.caller.record.preferences)


async def _nothing() -> None:
    """Wake the table."""


def _look_at(answer: asyncio.Future[None]) -> None:
    """Take note of an outcome that nobody may wait for."""
    if not answer.cancelled():
        answer.exception()
