"""Vegas as a caller meets it: a seat at the table that everybody shares.

The table lives in the server and goes on whether this caller looks or not; this is one chair. What
happens at the table arrives through `hears`, which shows it and returns; what they want goes to
the table as a request. So what a key means is asked of the table when the key comes.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from ansi.keys import ENTER, ESCAPE, INTERRUPT
from door import wording
from door.call import phrases
from door.call.call_clock import TIME_UP
from door.call.entries import uncharged
from door.call.keyboard import HELP_KEYS, is_command
from door.call.markup import lit
from door.call.spoken import LONGEST_LINE
from door.errors import CarrierLost, NotNow, NotSaid, TakenOver, TimeAgain, TimeUp
from door.games.blackjack.round import BlackjackAction, BlackjackPhase
from door.lobby.teller import visit_bank
from door.tables.betting import BettingTime
from door.tables.fairness_view import read_fairness
from door.tables.scene import BANNER_SECONDS, TableTally
from door.tables.sitting import Sitting
from door.tables.strategy import TableCard
from door.tables.tutor.advice import Tutor
from door.tables.tutor.tutor_process import TutorProcess
from door.tables.vegas import news
from door.tables.vegas import words as vegas_words
from door.tables.vegas.scene import VegasScene
from door.tables.vegas.table_round import (
    GAME,
    affordable,
    figure,
    most_insured,
    seconds_typed,
    stood_words,
)
from door.tables.words import (
    BANK,
    BET,
    CUT,
    FAIRNESS,
    MEANINGS,
    QUIT,
    RULES,
    STRATEGY,
    STRATEGY_LABEL,
    TUTOR,
    TUTOR_OFF,
    TUTOR_ON,
)
from timebank.callers import hearing
from timebank.callers.messages import refuse_muted
from timebank.errors import BooksFailed, BooksUnavailable, Refused
from timebank.language import N_, Phrase, _, speaking_to
from timebank.words import span

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.clock import Timer
    from door.games.blackjack.round import BlackjackRound
    from door.tables.fairness import Fairness
    from door.tables.vegas.news import News
    from door.tables.vegas.table import VegasTable
    from door.tables.vegas.table_round import VegasRound
    from door.tables.vegas.words import SeatEnding
    from timebank.ledger.purse import Receipt

LONGEST_AMOUNT = 8
BEAT_SECONDS = 0.25  # between two cards
AGAIN, TALK = "AK"  # besides the keys of every table

PLAY_KEYS = {
    BlackjackAction.DOUBLE: ("D", N_("Double")),
    BlackjackAction.SPLIT: ("P", N_("Split")),
    BlackjackAction.HIT: ("H", N_("Hit")),
    BlackjackAction.STAY: ("S", N_("Stand")),
    BlackjackAction.INSURANCE: ("I", N_("Insure")),
    BlackjackAction.NO_INSURANCE: ("N", N_("No")),
}
ACTIONS = {letter: action for action, (letter, _label) in PLAY_KEYS.items()}
# Keys that work whenever a caller is asked, and stand in the help where the menu has no room.
SILENT = {TUTOR, STRATEGY}
SILENT_IN_A_HAND = {RULES, FAIRNESS, BANK, *SILENT}
KEY_MEANINGS = {
    **MEANINGS,
    "D": N_("Double your bet and take one last card."),
    "P": N_("Split two cards of equal value into two hands, each with a bet of its own."),
    "H": N_("Take another card."),
    "S": N_("Take no more cards."),
    "I": N_("Bet on the dealer having blackjack: up to half your bet, pays 2 to 1."),
    "N": N_("Play on without insurance."),
    BET: N_("Bet, and be ready for the cards. They come when everybody has bet, or at the bell."),
    AGAIN: N_("Bet the same as last time."),
    CUT: N_("Cut a fresh shoe with a phrase of your own."),
    TALK: N_("Say something to the table. Press / to whisper to one player."),
    QUIT: N_("Leave the table. If your hand is still open, the dealer stands for you."),
}


class VegasVisit(Sitting):
    header = GAME
    is_shared = True
    scene: VegasScene
    tutor: Tutor  # while the visit lasts: it speaks through the one it advises

    def __init__(self, board: Board, caller: Caller, table: VegasTable) -> None:
        super().__init__(caller)
        self.table = table
        self.title = table.title
        self.thinking = TutorProcess.among(board.shared)
        self._board = board
        self._terms_told = table.settings  # the terms that the caller last read or was told
        self.me = caller.record.name
        self.scene = VegasScene(self.table, caller)
        self.tally = TableTally()
        self._is_looking = False  # at the table, not at a page of rules or the bank's window
        self._is_choosing = False  # between two answers, so that the menu is theirs to answer
        self._is_asked = ""  # the menu that stands there, "" where none does
        self._ask_is_due = False
        self._is_puzzled = False  # told that a key means nothing, since the last that did
        self._unfolding: Timer | None = None  # shows the next card
        self._is_receipt_due = False  # the purse has changed, and the cards are told next
        self._unsaid: list[str] = []  # until the last card lies there
        self._unbettable = ""  # likewise: why they can bet no more, after a round
        self._ending: SeatEnding | None = None  # likewise: what the banner is to say
        self._waving: Timer | None = None  # takes the banner down
        self._lies: int | None = None  # the round that they were shown or told the cards of
        self._has_played = False  # a round that is over, and was not asked what next
        self._is_stood = False  # time is up, and the table decides for them
        self._is_deciding = False  # the tutor has yet to say what it thinks of a decision

    # The evening at this table.

    @property
    def coin(self) -> int:
        return self.table.coin

    async def _run_visit(self) -> None:
        leave = self.table.leave
        self.tutor = Tutor(self.thinking, self._advised, self._round_at_turn)
        self._come_to_table()
        try:
            if self.caller.config.shoes_ahead:
                await phrases.phrase_of(self.caller)  # which the seat is committed to
            await self.table.sit(self)
            if self._lies != self._lead():  # cards were dealt while they came
                self._come_to_table()
            self._greet()
            await self._stay()
        except TakenOver:
            leave = self.table.hand_over
            raise
        except (CarrierLost, BooksFailed):  # who is asked to call again finds their hand
            leave = self.table.lose
            raise
        finally:
            self._end_unfolding()
            self._is_looking = False
            leave(self)
            self.tutor.leave()
            del self.tutor

    def _watchable_scene(self) -> VegasScene:
        return self.scene

    async def stand_open_hand(self) -> None:
        """Have the hand stood at its turns, for a caller who has no time left."""
        self.console.display.stage(self.scene)
        await self.table.stand_for(self.caller.record.id, self)
        if self._place is not None:
            words = _("The dealer stands for you. You'll hear how it ended.")
            self.console.screen.say(f"|14{words}")

    async def _stay(self) -> None:
        """Take keys until they get up; out of time, have the hand stood and see how it ends."""
        while True:
            try:
                return await self._take_keys()
            except TimeUp:
                if self._place is None:
                    raise
            with contextlib.suppress(TimeAgain):
                return await self._see_it_stood()

    async def _take_keys(self) -> None:
        while await self._answer(await self._key()):
            pass

    async def _see_it_stood(self) -> None:
        """Have the hand stood, and take keys until it is over. Then raises `TimeAgain` or `TimeUp`
        for a caller who has not got up."""
        if not self._is_looking:
            self._come_to_table()
        self.console.screen.say(f"|14{_('Your time is up. The dealer stands for you.')}")
        self._is_stood = True
        try:
            async with uncharged(self.caller):
                await self.table.stand_for(self.caller.record.id, self)
                self._end_stand()
                await self._take_keys()
        finally:
            self._is_stood = False
            self.console.keyboard.lift(TimeAgain)

    def _end_stand(self) -> None:
        """Go on, or have the call ended, when the hand that was stood for them is over."""
        if self._is_stood and self._place is None:
            is_up = self.caller.purse.time_is_up()
            self.console.keyboard.interrupt(TimeUp(TIME_UP) if is_up else TimeAgain())

    # What the table tells.

    def hears(self, happened: Sequence[News]) -> None:
        for item in happened:
            self._note(item)
        if self._is_looking:
            self._show(happened)
        elif any(map(self._is_my_end, happened)):
            self.caller.last_hand.mark_shown()
        self._end_stand()

    def _show(self, happened: Sequence[News]) -> None:
        """Show what happened, and say it when the cards that it brought lie there."""
        self.console.display.refresh()
        tell = (
            vegas_words.told_beside_the_scene
            if self.console.screen.is_painted
            else vegas_words.told
        )
        for item in happened:
            if isinstance(item, news.RoundDealt | news.RoundResumed):
                self._lies = self._lead()
            if isinstance(item, news.RoundDealt | news.RoundWentOn):
                self._end_unfolding()
                self._unfold(item)
            if self._is_my_end(item):
                place = item.names.index(self.me)
                self._ending = vegas_words.ending_of(item.round, place, item.coin)
            self._unsaid += tell(item, self.me)
            if self.scene.has_side and isinstance(item, news.Said | news.Whispered):
                self._unsaid += vegas_words.told(item, self.me)
        has_ended = any(map(self._is_my_end, happened))
        if has_ended and (betting := self._betting()).refusal():
            words = betting.last_turn() if betting.turns_are_used else betting.refusal()
            self._unbettable = f"|14{words}"
        if self._unfolding is None:
            self._say_all()
        if has_ended and self._unfolding is None:
            self.caller.last_hand.mark_shown()

    def _say_all(self) -> None:
        if self._unsaid:
            said, self._unsaid = "\n".join(self._unsaid), []
            self._say(said)
        if self._unbettable:  # by itself: what else is said later takes no room from it
            said, self._unbettable = self._unbettable, ""
            self._say(said)
        self._show_banner()
        self._advise()
        self._ask_anew()

    # How a round ended for them, across the felt for a moment; nobody waits for it.

    def _show_banner(self) -> None:
        """Put the banner up, at the pace that they like; not for those who are ahead of it."""
        ending, self._ending = self._ending, None
        if ending is None or not self.console.screen.is_painted or self.console.keyboard.next_key():
            return
        if self.console.keyboard.pace:
            self.scene.banner = ending
            self.console.display.refresh()
            wait = BANNER_SECONDS * self.console.keyboard.pace
            self._waving = self.console.clock.call_later(wait, self._take_banner_down)

    def _take_banner_down(self) -> None:
        self._ending = None
        if self._waving is not None:
            self._waving.cancel()
            self._waving, self.scene.banner = None, None
            self.console.display.refresh()

    # Cards fall one after the other, for each who looks in their own time: the table does not wait.

    def _unfold(self, item: news.RoundDealt | news.RoundWentOn) -> None:
        """Begin to show the cards of an event; at once for those who are ahead of them."""
        self.scene.hide(item)
        if (
            not (self.console.screen.is_painted and self.console.keyboard.pace)
            or self.console.keyboard.next_key()
        ):
            self.scene.show_all()
        self._next_card()

    def _next_card(self) -> None:
        self._unfolding = None
        with speaking_to(self.console.viewer):
            self.scene.show_next()
            if self.scene.hidden:
                wait = BEAT_SECONDS * self.console.keyboard.pace
                self._unfolding = self.console.clock.call_later(wait, self._card_falls)

    def _card_falls(self) -> None:
        self._next_card()
        self.console.display.refresh()
        if self._unfolding is None:
            self._all_fell()

    def _show_figures(self) -> None:
        """Show the pot, unless it would tell how cards end that are still to be shown."""
        self.caller.status.waits = self._is_receipt_due or self._unfolding is not None
        self.caller.status.show()

    def _all_fell(self) -> None:
        with speaking_to(self.console.viewer):
            self._show_figures()
            self._say_all()
        if self.table.state.in_play is None:
            self.caller.last_hand.mark_shown()

    def _end_unfolding(self) -> None:
        """Show at once what cards are still to be shown, and what is to be said of them. The banner
        comes down, or does not go up."""
        self._take_banner_down()
        if self._unfolding is None:
            return
        self._unfolding.cancel()
        self._unfolding = None
        self.scene.show_all()
        self.console.display.refresh()
        self._all_fell()

    def _say(self, text: str) -> None:
        """Give them a message; among lines the menu follows when all is said, and once."""
        if self._is_asked and not self.console.screen.is_painted:
            self.console.display.answered()
            self._is_asked = ""
        self.console.screen.say(text)

    def awaits_receipt(self) -> None:
        self._is_receipt_due = self.caller.status.waits = True

    def receives(self, receipt: Receipt) -> None:
        self._is_receipt_due = False
        self._show_figures()
        if self._unfolding is None:
            self.caller.tell(receipt)
        else:
            self._unsaid += [f"|14{sentence}" for sentence in wording.sentences(receipt)]

    def _note(self, item: News) -> None:
        """Remember what is talk, count what is theirs, and ring when it is their turn."""
        if isinstance(item, news.Said | news.Whispered):
            self.scene.talk.extend(vegas_words.told(item, self.me))
            if isinstance(item, news.Said):
                told = vegas_words.told(item, me="")
                self.scene.aloud.extend((item.speaker_id, line) for line in told)
        elif isinstance(item, news.TurnBegan) and item.name == self.me:
            self.console.screen.bell()
            if not self._is_looking or self.console.screen.cover is not None:
                words = _("Your turn at Vegas: {time}.").format(time=span(item.seconds))
                self.console.screen.say(f"|14{words}")
        elif self._is_my_end(item):
            net = self._count(item)
            self._has_played = True
            if not self._is_looking:
                self.console.screen.say(f"|14{stood_words(net)}")

    def _is_my_end(self, item: News) -> TypeGuard[news.RoundDealt | news.RoundWentOn]:
        """Tell whether a round has ended in which the caller was dealt in."""
        return isinstance(item, news.RoundNews) and item.round.over and self.me in item.names

    def _count(self, item: news.RoundDealt | news.RoundWentOn) -> int:
        """Add a round to the figures of this visit; return its net, in seconds."""
        totals = item.round.totals_of(item.names.index(self.me))
        net = totals.won - totals.lost
        self.tally.turns += 1
        self.tally.net += net
        self.tally.endings["won" if net > 0 else "lost" if net < 0 else "push"] += 1
        return net

    def _advise(self) -> None:
        hand = self._hand_at_turn
        if hand is not None and self.caller.prefers("tutor") and not self._is_deciding:
            self.tutor.watch(hand.round, affordable(hand, self.caller))

    def _advised(self, text: str) -> None:
        """Pass on what the tutor says, unless they look elsewhere by now."""
        if self._is_looking:
            self._say(text)
            self._ask_anew()

    # What they may do now.

    @property
    def _place(self) -> int | None:
        return self.table.state.place_of(self.caller.record.id)

    @property
    def _hand_at_turn(self) -> VegasRound | None:
        """The round on the table while it is theirs to decide."""
        seat = self.table.state.at_turn
        return self.table.state.in_play if seat is not None and seat.guest is self else None

    def _round_at_turn(self) -> BlackjackRound | None:
        hand = self._hand_at_turn
        return None if hand is None else hand.round

    def _choices(self) -> dict[str, str]:
        state = self.table.state
        hand, seat = self._hand_at_turn, state.seat_of(self.caller.record.id)
        choices: dict[str, str] = {}
        if hand is not None:
            for action in affordable(hand, self.caller):
                letter, label = PLAY_KEYS[action]
                choices[letter] = _(label)
        elif state.is_between_rounds and seat is not None:
            if not self._betting().refusal():
                choices[BET] = _("Change bet") if seat.bet else _("Bet")
                if not seat.bet and self._betting().has_bet:
                    choices[AGAIN] = _("Again")
            if state.may_be_cut and (state.is_cut_by_all or seat is state.first):
                choices[CUT] = _("Cut")
        choices[TALK] = _("Talk")
        choices.update({RULES: _("Rules"), FAIRNESS: _("Fairness"), BANK: _("Time bank")})
        choices.update({TUTOR: _("Tutor"), STRATEGY: _(STRATEGY_LABEL), QUIT: _("Quit")})
        return choices

    def _menu(self, choices: Mapping[str, str]) -> str:
        hand = self._hand_at_turn
        silent = SILENT if hand is None else SILENT_IN_A_HAND
        shown = {letter: label for letter, label in choices.items() if letter not in silent}
        menu = lit(shown, self._default(choices))
        if hand is None or hand.round.turn is None or hand.round.hand is None:
            return menu
        if hand.round.phase is BlackjackPhase.INSURANCE:
            most = wording.coins_of(most_insured(hand, self.caller), hand.coin)
            return f"|15{_('Insurance, up to {coins}?').format(coins=most)}|07  {menu}"
        total = vegas_words.total_of(hand.round.hand)
        if len(hand.round.seats[hand.round.turn.seat].hands) == 1:
            words = _("You have {total}.")
        elif hand.round.turn.hand == 0:
            words = _("You have {total} (first hand).")
        else:
            words = _("You have {total} (second hand).")
        return f"|15{words.format(total=total)}|07  {menu}"

    def _default(self, choices: Mapping[str, str]) -> str | None:
        """Return what Enter gives: a bet, where none stands."""
        seat = self.table.state.seat_of(self.caller.record.id)
        return BET if BET in choices and seat is not None and not seat.bet else None

    # Keys.

    async def _key(self) -> str:
        """Show what they may do, and wait for a key; meanwhile the table may change it."""
        self._is_choosing = True
        # A key of no meaning leaves it there.
        if self._unfolding is None and self._is_asked != self._menu(self._choices()):
            self._ask()
        try:
            return await self.console.keyboard.key(takes_slash=True)
        except BaseException:
            self._is_asked = ""
            raise
        finally:
            self._is_choosing = False
            self._end_unfolding()

    def _ask(self) -> None:
        choices = self._choices()
        self._is_asked = self._menu(choices)
        self.console.display.prompt(self._is_asked)
        self.console.screen.offer("keys", choices, self._default(choices))

    def _ask_anew(self) -> None:
        """Show another menu when what they may do has changed under them: on a painted screen at
        once; among lines behind what else is told in this step, and only where it is for them to
        do something."""
        if not self._is_choosing or self._unfolding is not None:
            return
        choices = self._choices()
        if self._menu(choices) == self._is_asked:
            return
        if self._is_asked:
            self.console.display.answered()
            self._is_asked = ""
        if self.console.screen.is_painted:
            self._ask()
        elif not self._ask_is_due and self._is_their_move(choices):
            self._ask_is_due = True
            asyncio.get_running_loop().call_soon(self._ask_now)

    def _is_their_move(self, choices: Mapping[str, str]) -> bool:
        """Whether the caller can do more now than talk: it is their turn, or a round is over."""
        if self._hand_at_turn is not None:
            return True
        has_played, self._has_played = self._has_played, False
        return has_played and BET in choices

    def _ask_now(self) -> None:
        self._ask_is_due = False
        if self._is_choosing and not self._is_asked:
            with speaking_to(self.console.viewer):
                self._ask()

    async def _answer(self, key: str) -> bool:
        """Do what a key means now; `False` when they get up."""
        self.table.wake(self)
        choices = self._choices()
        letter = key.upper()
        if key == ENTER:
            letter = self._default(choices) or key
        elif key in (ESCAPE, INTERRUPT):
            letter = QUIT
        elif key == "/":
            letter = TALK
        if letter not in choices and letter != BET:
            return await self._puzzle(key, choices)
        self._is_puzzled = False
        self.console.display.answered()
        self._is_asked = ""
        return not await self.attempt(self._gets_up(letter, whispers=key == "/"))

    async def _puzzle(self, key: str, choices: Mapping[str, str]) -> bool:
        """Explain the keys when asked to, and say once of another that it does nothing."""
        if key in HELP_KEYS:
            self._is_looking = not self.console.screen.is_painted
            meanings = {letter: _(KEY_MEANINGS[letter]) for letter in choices}
            await self.console.prompt.explain(choices, meanings, self._default(choices), QUIT)
            self._is_looking, self._is_asked = True, ""
            self.console.display.refresh()
        elif key != " " and not self._is_puzzled:
            self._is_puzzled = True
            self.console.prompt.say_useless(key)
        return True

    async def _gets_up(self, letter: str, *, whispers: bool) -> bool:
        """Do what a letter of the menu means; `True` when the caller gets up."""
        if letter in ACTIONS:
            await self._decide(ACTIONS[letter])
        elif letter == BET:
            await self._bet()
        elif letter == AGAIN:
            await self._bet_again()
        elif letter == CUT:
            await self._offer_cut()
        elif letter == TALK:
            await self._talk("/" if whispers else "")
        elif letter == RULES:
            all_cut = self.caller.config.shoes_ahead > 0
            rules = vegas_words.rules_text(self.table.settings, all_cut)
            await self._step_away(self.console.pager.read(_("The rules of Vegas"), rules))
        elif letter == FAIRNESS:
            await self._step_away(read_fairness(self.caller, GAME, await self._fairness()))
        elif letter == STRATEGY:
            self.strategy = TableCard(self._board, GAME, self.table.settings.rules)
            await self._read_strategy()
        elif letter == BANK:
            await self._step_away(visit_bank(self.caller))
        elif letter == TUTOR:
            await self._switch("tutor", TUTOR_ON, TUTOR_OFF)
            self._advise()
        return letter == QUIT and await self._really_goes()

    async def _fairness(self) -> Fairness:
        """Return seal and cuts of the shoe. Words are hidden if this caller may not hear their
        writer, or if the writer is unknown. The proof of a hand has all words."""
        fairness, by = self.scene.fairness(), self.table.state.cut_by
        me, own = self.caller.record.id, phrases.stored(self.caller.record.preferences)
        unheard = await self.caller.ask_books(lambda desk: hearing.unheard(desk, me, by.values()))
        heard = {words for words, writer in by.items() if writer not in unheard}
        if own is not None:
            heard.add(own.text)
        hidden = _("(not shown to you; the proof of the hand has it)")
        cuts = fairness.cut.split("\n") if fairness.cut else []
        cut = "\n".join(words if words in heard else hidden for words in cuts)
        return replace(fairness, cut=cut)

    async def _decide(self, action: BlackjackAction) -> None:
        amount = None
        if action is BlackjackAction.INSURANCE:
            amount = await self._ask_insurance()
            if amount is None:
                return
        self._is_deciding = True
        try:
            await self.table.decide(self, action, amount)
            if self.caller.prefers("tutor"):
                self.tutor.judge(action)
        finally:
            self._is_deciding = False
        self._advise()

    async def _ask_insurance(self) -> int | None:
        """Return how many seconds are insured, `None` for none after all."""
        hand = self._hand_at_turn
        if hand is None:
            raise NotNow(Phrase("It's not your turn."))
        most = most_insured(hand, self.caller)
        up_to = figure(most, hand.coin)
        words = _("Coins to insure, up to {most} (Enter for {most}):").format(most=up_to)
        typed = await self.console.prompt.entry(
            f"|07{words}|15",
            longest=LONGEST_AMOUNT,
            accept=lambda key: key in "0123456789.,",
            meaning=_(
                "Any amount up to half your bet. It pays 2 to 1 if the dealer has blackjack."
            ),
        )
        if typed is None:
            return None
        amount = most if not typed else seconds_typed(typed, hand.coin)
        if not 1 <= amount <= most:
            raise NotNow(Phrase("Insurance: {most} at most, in coins.", most=up_to))
        return amount

    async def _bet(self) -> None:
        self._hears_new_terms()
        betting = self._betting()
        if refusal := betting.refusal():
            raise NotNow(refusal)
        bet = await betting.ask()
        if bet is not None:
            await self.table.bet(self, betting, bet)
            await betting.remember(bet)

    async def _bet_again(self) -> None:
        """Bet as last time, unless the terms have changed: then only tell the caller so."""
        if not self._hears_new_terms():
            betting = self._betting()
            least, most = betting.limits()
            await self.table.bet(self, betting, max(least, min(betting.last(), most)))

    def _hears_new_terms(self) -> bool:
        """Tell the caller if coin or rules have changed since they were last told; return whether
        they have."""
        before, self._terms_told = self._terms_told, self.table.settings
        told = []
        if before.coin_minutes != self._terms_told.coin_minutes:
            self.caller.status.coin = self.coin
            told.append(_("A coin is {time} of your time now.").format(time=span(self.coin)))
        if before.rules != self._terms_told.rules:
            told.append(_("The rules of this table have changed: R shows them."))
        if told:
            self.console.screen.say(f"|14{' '.join(told)}")
        return bool(told)

    def _betting(self) -> BettingTime:
        return self.table.betting(self.caller)

    async def _offer_cut(self) -> None:
        if not self.table.state.is_cut_by_all:
            words = await self.ask_cut_phrase()
            if words is not None:
                await self.table.cut_cards(self, words)
            return
        words = await self.ask_cut_phrase(_("Your phrase (Enter for the one you have):"))
        if words:
            chosen = await phrases.choose(self.caller, words)
            await self.table.cut_cards(self, chosen.text)

    async def _talk(self, opening: str) -> None:
        """Let them say something; what is refused stays in the field, to be sent again."""
        prompt = _("Whisper (name message):") if opening else _("Say:")
        typed: str | None = ""
        while True:
            typed = await self.console.prompt.entry(
                f"|07{prompt}|15",
                longest=LONGEST_LINE,
                meaning=_(
                    "A line for the whole table. Begin with /name to whisper to one player. As"
                    " everywhere, /p and /r write to callers, and /w alone says who is on: of names"
                    " with these letters type two."
                ),
                typed=typed or "",
            )
            if not typed:
                return
            try:
                if is_command(opening + typed) and self.caller.config.company.messages:
                    await self.caller.talk.do(opening + typed)
                else:
                    await self.caller.ask_books(
                        lambda desk: refuse_muted(desk, self.caller.record.id)
                    )
                    self.table.talk(self, opening + typed)
            except (NotSaid, Refused, BooksUnavailable) as refused:
                self.console.screen.say(f"|12{refused}")
            else:
                return

    async def _really_goes(self) -> bool:
        if self._place is None:
            return True
        return await self.console.prompt.agrees(
            _("If you leave now, the dealer stands for you. Leave?"), default="N"
        )

    # Looking on.

    def _come_to_table(self) -> None:
        self._is_looking = True
        self._lies = self._lead()
        super()._come_to_table()

    def _lead(self) -> int | None:
        hand = self.table.state.hand
        return None if hand is None else hand.lead

    async def _step_away(self, to: Awaitable[object]) -> None:
        self._end_unfolding()
        self._is_looking = False
        await super()._step_away(to)

    def _greet(self) -> None:
        """Tell a caller without a hand when they may play."""
        if self._place is not None:
            return
        if self.table.state.seat_of(self.caller.record.id) is None:
            words = _("You get the next free seat when this round is over.")
            self.console.screen.say(f"|14{words}")
        elif refusal := self._betting().refusal():
            self.console.screen.say(refusal)

    def _on_tick(self) -> None:
        """Paint the seconds that are left, once in each."""
        if self._is_looking and self.table.state.alarm is not None:
            self.console.display.refresh()

    def _statement(self) -> str:
        return self.tally.summed_up(self.title, hand_is_open=self._place is not None)
