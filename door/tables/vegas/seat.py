"""One caller's visit to a shared Vegas table.

The table lives in the server and goes on without this caller. News of the table arrives through
`on_news`, which shows it and returns. The caller's actions go to the table as commands. The
meaning of a key depends on the table's state when the key arrives.
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
from door.call.keyboard import COMMAND, HELP_KEYS, LINES, REREAD, is_command
from door.call.markup import lit
from door.call.spoken import LONGEST_LINE
from door.errors import CarrierLost, NotNow, TakenOver, TalkRefused, TimeGranted, TimeUp
from door.games.blackjack.round import BlackjackAction, BlackjackPhase
from door.lobby.teller import visit_bank
from door.tables.betting import BettingTime
from door.tables.fairness_view import read_fairness
from door.tables.scene import BANNER_SECONDS, TableTally
from door.tables.sitting import HOLD_SECONDS, Sitting
from door.tables.strategy import TableCard
from door.tables.tutor.advice import Tutor
from door.tables.tutor.tutor_process import TutorProcess
from door.tables.vegas import news
from door.tables.vegas import words as vegas_words
from door.tables.vegas.scene import TURNED_OVER, VegasScene
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
    insurance_rule,
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
AGAIN, TALK = "AK"  # in addition to the keys of every table

PLAY_KEYS = {
    BlackjackAction.DOUBLE: ("D", N_("Double")),
    BlackjackAction.SPLIT: ("P", N_("Split")),
    BlackjackAction.HIT: ("H", N_("Hit")),
    BlackjackAction.STAY: ("S", N_("Stand")),
    BlackjackAction.INSURANCE: ("I", N_("Insure")),
    BlackjackAction.NO_INSURANCE: ("N", N_("No")),
}
ACTIONS = {letter: action for action, (letter, _label) in PLAY_KEYS.items()}
# Keys that only the help names.
SILENT = {TUTOR, STRATEGY}
SILENT_IN_A_HAND = {RULES, FAIRNESS, BANK, *SILENT}
KEY_MEANINGS = {
    **MEANINGS,
    "D": N_("Double your bet and take one last card."),
    "P": N_("Split two cards of equal value into two hands, each with a bet of its own."),
    "H": N_("Take another card."),
    "S": N_("Take no more cards."),
    "N": N_("Play on without insurance."),
    BET: N_("Bet, and wait for the cards. They come when everybody has bet, or at the bell."),
    AGAIN: N_("Bet the same as last time."),
    CUT: N_("Cut a fresh shoe with a phrase of your own."),
    TALK: N_("Say something to the table. Type / and a name to whisper."),
    QUIT: N_("Leave the table. If your hand is still open, the dealer stands it."),
}


class VegasVisit(Sitting):
    header = GAME
    is_shared = True
    scene: VegasScene
    tutor: Tutor  # exists during the visit only

    def __init__(self, board: Board, caller: Caller, table: VegasTable) -> None:
        super().__init__(caller)
        self.table = table
        self.title = table.title
        self.tutor_process = TutorProcess.among(board.shared)
        self._board = board
        self._known_terms = table.settings  # the last terms announced to the caller
        self.me = caller.record.name
        self.scene = VegasScene(self.table, caller)
        self.tally = TableTally()
        self._is_at_table = False  # not at the rules or the bank's window
        self._is_choosing = False  # waiting for a key of the menu
        self._shown_menu = ""  # the menu on screen, "" for none
        self._ask_is_due = False
        self._card_timer: Timer | None = None  # shows the next card
        self._is_receipt_due = False  # the purse has changed, the cards are not shown yet
        self._turn_is_due = False  # their turn has begun, the cards are not shown yet
        self._pending_messages: list[str] = []  # shown after the last card
        self._refusal_message = ""  # why they cannot bet any more; shown after the last card
        self._ending: SeatEnding | None = None  # for the banner after the last card
        self._banner_timer: Timer | None = None  # removes the banner
        self._shown_lead: int | None = None  # the round whose cards they have seen
        self._has_played = False  # a round has ended since the last menu
        self._is_stood = False  # time is up, and the dealer stands for them
        self._is_deciding = False  # the tutor has not judged the last decision yet

    # The visit.

    @property
    def coin(self) -> int:
        return self.table.coin

    async def _run_visit(self) -> None:
        leave = self.table.leave
        self.tutor = Tutor(self.tutor_process, self._say_advice, self._round_at_turn, self._unsay)
        self._come_to_table()
        try:
            await phrases.phrase_of(self.caller)  # the table commits the seat to it
            await self.table.sit(self)
            if self._shown_lead != self._lead():  # cards were dealt during the arrival
                self._come_to_table()
            self._greet()
            await self._stay()
        except TakenOver:
            leave = self.table.hand_over
            raise
        except (CarrierLost, BooksFailed):  # their hand waits for the next call
            leave = self.table.lose
            raise
        finally:
            self._show_all_cards()
            self._is_at_table = False
            leave(self)
            self.tutor.leave()
            del self.tutor

    def _watchable_scene(self) -> VegasScene:
        return self.scene

    async def stand_open_hand(self) -> None:
        """Stand the hand at its turns, when the caller's time is up."""
        self.console.display.stage(self.scene)
        await self.table.stand_for(self.caller.record.id, self)
        if self._place is not None:
            words = _("The dealer stands your hand. You'll hear how it ended.")
            self.console.screen.say(f"|14{words}")

    async def _stay(self) -> None:
        """Handle keys until the caller leaves. When time is up, stand the hand first."""
        while True:
            try:
                return await self._take_keys()
            except TimeUp:
                if self._place is None:
                    raise
            with contextlib.suppress(TimeGranted):
                return await self._wait_for_stand()

    async def _take_keys(self) -> None:
        while await self._handle_key(await self._key()):
            pass

    async def _wait_for_stand(self) -> None:
        """Stand the hand and handle keys until it is over.

        Raises `TimeGranted` or `TimeUp` then, unless the caller has left the table.
        """
        if not self._is_at_table:
            self._come_to_table()
        self.console.screen.say(f"|14{_('Your time is up. The dealer stands your hand.')}")
        self._is_stood = True
        try:
            async with uncharged(self.caller):
                await self.table.stand_for(self.caller.record.id, self)
                self._end_stand()
                await self._take_keys()
        finally:
            self._is_stood = False
            self.console.keyboard.lift(TimeGranted)

    def _end_stand(self) -> None:
        """After a stood hand, go on or end the call."""
        if self._is_stood and self._place is None:
            is_up = self.caller.purse.time_is_up()
            self.console.keyboard.interrupt(TimeUp(TIME_UP) if is_up else TimeGranted())

    # News of the table.

    def on_news(self, happened: Sequence[News]) -> None:
        for item in happened:
            self._note(item)
        if self._is_at_table:
            self._show(happened)
        elif any(map(self._is_my_end, happened)):
            self.caller.last_hand.mark_shown()
        self._end_stand()

    def _show(self, happened: Sequence[News]) -> None:
        """Show news; its messages follow after its cards."""
        tell = (
            vegas_words.painted_sentences
            if self.console.screen.is_painted
            else vegas_words.sentences_for
        )
        for item in happened:
            if isinstance(item, news.RoundDealt | news.RoundResumed):
                self._shown_lead = self._lead()
            if isinstance(item, news.RoundDealt | news.RoundWentOn):
                self._show_all_cards()
                self._start_cards(item)
            if isinstance(item, news.RoundDealt):
                self.console.display.forget()  # the messages of the last round
            if self._is_my_end(item):
                place = item.names.index(self.me)
                self._ending = vegas_words.ending_of(item.round, place, item.coin)
            self._pending_messages += tell(item, self.me)
            is_told = self._is_my_end(item) and not self.console.screen.is_painted
            if is_told and (streak := self.tally.streak_words()):
                self._pending_messages.append(f"|14{streak}.")
            if self.scene.has_side and isinstance(item, news.TableTalk | news.Whispered):
                self._pending_messages += vegas_words.sentences_for(item, self.me)
        self.console.display.refresh()
        has_ended = any(map(self._is_my_end, happened))
        # A caller whose hand is stood is offered their savings next.
        if has_ended and not self._is_stood and (betting := self._betting()).refusal():
            words = betting.last_turn() if betting.turns_are_used else betting.refusal()
            self._refusal_message = f"|14{words}"
        if self._card_timer is None:
            self._say_all()
        if has_ended and self._card_timer is None:
            self.caller.last_hand.mark_shown()

    def _say_all(self) -> None:
        if self._pending_messages:
            text, self._pending_messages = "\n".join(self._pending_messages), []
            self._say(text)
        if self.table.state.in_play is None:
            self.scene.streak = self.tally.streak_words()
        if self._refusal_message:  # a message of its own, which later messages do not push out
            text, self._refusal_message = self._refusal_message, ""
            self._say(text)
        self._show_banner()
        self._advise()
        self._refresh_menu()

    # The banner with the result of a round. No key waits for it.

    def _show_banner(self) -> None:
        """Show the banner, unless animation is off or the caller has typed ahead."""
        ending, self._ending = self._ending, None
        if ending is None or not self.console.screen.is_painted or self.console.keyboard.next_key():
            return
        if self.console.keyboard.pace:
            self.scene.banner = ending
            self.console.display.refresh()
            wait = BANNER_SECONDS * self.console.keyboard.pace
            self._banner_timer = self.console.clock.call_later(wait, self._take_banner_down)

    def _take_banner_down(self) -> None:
        self._ending = None
        if self._banner_timer is not None:
            self._banner_timer.cancel()
            self._banner_timer, self.scene.banner = None, None
            self.console.display.refresh()

    # Cards appear one by one, at each caller's own pace. The table does not wait for them.

    def _start_cards(self, item: news.RoundDealt | news.RoundWentOn) -> None:
        """Show the cards of `item` one by one, or at once without animation or after typed keys."""
        self.scene.hide(item)
        self._weigh(item)
        self.scene.streak = ""
        if (
            not (self.console.screen.is_painted and self.console.keyboard.pace)
            or self.console.keyboard.next_key()
        ):
            self.scene.show_all()
        if self._is_slow and self.scene.hidden[:1] == [TURNED_OVER]:
            self._wait_for_card(HOLD_SECONDS)
        else:
            self._next_card()
        self._show_figures()

    def _weigh(self, item: news.RoundDealt | news.RoundWentOn) -> None:
        """Set the pace of the cards by the caller's own stake."""
        if self.me not in item.names:
            self._set_stake(0, 1)
            return
        totals = item.round.totals_of(item.names.index(self.me))
        paid = totals.returned + totals.won  # already in the purse
        self._set_stake(totals.staked, self.caller.purse.spendable() + totals.staked - paid)

    def _next_card(self) -> None:
        self._card_timer = None
        with speaking_to(self.console.viewer):
            self.scene.show_next()
            if self.scene.hidden:
                self._wait_for_card(self._pause_after(BEAT_SECONDS))

    def _wait_for_card(self, seconds: float) -> None:
        wait = seconds * self.console.keyboard.pace
        self._card_timer = self.console.clock.call_later(wait, self._on_card_timer)

    def _on_card_timer(self) -> None:
        self._next_card()
        self.console.display.refresh()
        if self._card_timer is None:
            self._on_cards_shown()

    def _show_figures(self) -> None:
        """Show the pot, unless it would give away cards that are not shown yet."""
        self.caller.status.waits = self._is_receipt_due or self._card_timer is not None
        self.caller.status.show()

    def _on_cards_shown(self) -> None:
        with speaking_to(self.console.viewer):
            self._show_figures()
            self._say_all()
            if self._turn_is_due:
                self._call_to_turn()
        if self.table.state.in_play is None:
            self.caller.last_hand.mark_shown()

    def _show_all_cards(self) -> None:
        """Show the remaining cards and their messages at once, without a banner."""
        self._take_banner_down()
        if self._card_timer is None:
            return
        self._card_timer.cancel()
        self._card_timer = None
        self.scene.show_all()
        self.console.display.refresh()
        self._on_cards_shown()

    def _say(self, text: str) -> None:
        """Show a message; in plain lines the menu is printed again after the last one."""
        if self._shown_menu and not self.console.screen.is_painted:
            self.console.display.answered()
            self._shown_menu = ""
        self.console.screen.say(text)

    def expect_receipt(self) -> None:
        self._is_receipt_due = self.caller.status.waits = True

    def on_receipt(self, receipt: Receipt) -> None:
        self._is_receipt_due = False
        self._show_figures()
        if self._card_timer is None:
            self.caller.tell(receipt)
        else:
            self._pending_messages += [f"|14{words}" for words in wording.sentences(receipt)]
            self._pending_messages += self.caller.earned(receipt)

    def _note(self, item: News) -> None:
        """Keep talk, count the caller's results, and ring at their turn."""
        if isinstance(item, news.TableTalk | news.Whispered):
            self.scene.talk.extend(vegas_words.sentences_for(item, self.me))
            if isinstance(item, news.TableTalk):
                lines = vegas_words.sentences_for(item, me="")
                self.scene.public_talk.extend((item.speaker_id, line) for line in lines)
        elif isinstance(item, news.TurnBegan) and item.name == self.me:
            self._turn_is_due = True
            if self._card_timer is None:
                self._call_to_turn()
        elif self._is_my_end(item):
            net = self._count(item)
            self._has_played = True
            if not self._is_at_table:
                self.console.screen.say(f"|14{stood_words(net)}")

    def _call_to_turn(self) -> None:
        """Ring, once the cards before the caller's turn are shown."""
        self._turn_is_due = False
        self.console.screen.bell()
        if not self._is_at_table or self.console.screen.cover is not None:
            time = span(self.table.seconds_left() or self.table.settings.turn_seconds)
            self.console.screen.say(f"|14{_('Your turn at Vegas: {time}.').format(time=time)}")

    def _is_my_end(self, item: News) -> TypeGuard[news.RoundDealt | news.RoundWentOn]:
        """Return whether `item` ends a round with a hand of the caller."""
        return isinstance(item, news.RoundNews) and item.round.over and self.me in item.names

    def _count(self, item: news.RoundDealt | news.RoundWentOn) -> int:
        """Count a round in the tally of this visit; return its net in seconds."""
        totals = item.round.totals_of(item.names.index(self.me))
        net = totals.won - totals.lost
        self.tally.turns += 1
        self.tally.net += net
        self.tally.count(net)
        return net

    def _advise(self) -> None:
        hand = None if self._is_deciding or self._card_timer is not None else self._hand_at_turn
        if hand is not None and self.caller.prefers("tutor"):
            self.tutor.watch(hand.round, affordable(hand, self.caller))

    def _say_advice(self, text: str) -> None:
        """Show what the tutor says, once the caller is at the table and the cards are shown."""
        text = self.book_line(text)
        if self._card_timer is not None or not self._is_at_table:
            self._pending_messages.append(text)
        else:
            self._say(text)
            self._refresh_menu()

    @property
    def _is_advice_due(self) -> bool:
        """Whether the tutor speaks first on plain lines, so that the question comes once."""
        return self.tutor.is_thinking and not self.console.screen.is_painted

    def _say_pending(self) -> None:
        """Show what the tutor said meanwhile to a caller who comes back at their turn."""
        if self._hand_at_turn is None:
            self._pending_messages = []
        self._say_all()

    # The actions that are open now.

    @property
    def _place(self) -> int | None:
        return self.table.state.place_of(self.caller.record.id)

    @property
    def _hand_at_turn(self) -> VegasRound | None:
        """The round on the table while the caller is at turn."""
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
                if not seat.bet and self._betting().offers_last:
                    choices[AGAIN] = _("Again")
            if state.may_be_cut:
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
        """Return the letter for Enter: a bet, before the caller has one."""
        seat = self.table.state.seat_of(self.caller.record.id)
        return BET if BET in choices and seat is not None and not seat.bet else None

    # Keys.

    async def _key(self) -> str:
        """Show the menu and wait for a key; the table may change the menu meanwhile."""
        self._is_choosing = True
        # After a wrong key the menu is still there.
        is_shown = self._shown_menu == self._menu(self._choices())
        if self._card_timer is None and not is_shown and not self._is_advice_due:
            self._ask()
        try:
            return await self.console.keyboard.key(takes_slash=True, takes_words=True)
        except BaseException:
            self._shown_menu = ""
            raise
        finally:
            self._is_choosing = False
            self._show_all_cards()

    def _ask(self) -> None:
        self.caller.purse.offer()
        choices, brief, hand = self._choices(), "", self._hand_at_turn
        default = self._default(choices)
        self._shown_menu = self._menu(choices)
        if default == BET and not self.console.screen.is_painted:
            self.console.screen.say(self.scene.pot_words())
        if hand is not None and hand.round.phase is BlackjackPhase.INSURANCE:
            self._explain_insurance(hand.round.rules)
        if hand is None:
            shown = {letter: label for letter, label in choices.items() if letter not in SILENT}
            brief = self._in_brief(shown, default)
        elif self.tally.turns:  # the other keys were heard in an earlier hand
            brief = self._menu({each: choices[each] for each in ACTIONS if each in choices})
        self.console.display.prompt(self._shown_menu, brief=brief)
        self.console.screen.offer("keys", choices, self._default(choices))

    def _refresh_menu(self) -> None:
        """Show the menu again when it has changed during the wait for a key.

        Plain lines print it after the messages of this step, and only when the caller can act.
        """
        if not self._is_choosing or self._card_timer is not None or self._is_advice_due:
            return
        choices = self._choices()
        if self._menu(choices) == self._shown_menu:
            return
        if self._shown_menu:
            self.console.display.answered()
            self._shown_menu = ""
        if self.console.screen.is_painted:
            self._ask()
        elif not self._ask_is_due and self._is_their_move(choices):
            self._ask_is_due = True
            asyncio.get_running_loop().call_soon(self._ask_now)

    def _is_their_move(self, choices: Mapping[str, str]) -> bool:
        """Return whether the caller is at turn, or can bet after a round."""
        if self._hand_at_turn is not None:
            return True
        has_played, self._has_played = self._has_played, False
        return has_played and BET in choices

    def _ask_now(self) -> None:
        self._ask_is_due = False
        if self._is_choosing and not self._shown_menu:
            with speaking_to(self.console.viewer):
                self._ask()

    async def _handle_key(self, key: str) -> bool:
        """Carry out the meaning of a key; `False` when the caller leaves."""
        self.table.wake(self)
        choices = self._choices()
        key = self.console.keyboard.letter_of(key, choices)
        letter = key.upper()
        if key == ENTER:
            letter = self._default(choices) or key
        elif key in (ESCAPE, INTERRUPT):
            letter = QUIT
        elif key == "/":
            letter = TALK
        elif key == REREAD and self.console.screen.reread():
            return True
        elif key == LINES and (take_lines := self.console.keyboard.on_lines) is not None:
            await take_lines()
            return True
        if letter not in choices and letter != BET:
            return await self._puzzle(key, choices)
        self.console.display.answered()
        self._shown_menu = ""
        return not await self.attempt(self._carry_out(letter, whispers=key == "/"))

    async def _puzzle(self, key: str, choices: Mapping[str, str]) -> bool:
        """Explain the keys on request; say that any other key does nothing."""
        if key in HELP_KEYS:
            self._is_at_table, self._shown_menu = not self.console.screen.is_painted, ""
            meanings = {**KEY_MEANINGS, "I": insurance_rule(self.table.settings.rules)}
            await self.console.prompt.explain(choices, meanings, self._default(choices), QUIT)
            self._is_at_table = True
            self.console.display.refresh()
            self._say_pending()
        elif key != " ":
            self.console.prompt.say_useless(key, choices)
        return True

    async def _carry_out(self, letter: str, *, whispers: bool) -> bool:
        """Carry out a letter of the menu; `True` when the caller leaves."""
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
            rules = vegas_words.rules_text(self.table.settings)
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
        return letter == QUIT and await self._confirm_leaving()

    async def _fairness(self) -> Fairness:
        """Return seal and cuts of the shoe. Words are hidden if this caller may not hear their
        writer, or if the writer is unknown. The proof of a hand has all words."""
        fairness, by = self.scene.fairness(), self.table.state.cut_by
        me, own = self.caller.record.id, phrases.stored(self.caller.record.preferences)
        unheard = await self.caller.ask_books(lambda desk: hearing.unheard(desk, me, by.values()))
        shown = {words for words, writer in by.items() if writer not in unheard}
        if own is not None:
            shown.add(own.text)
        hidden = _("(not shown to you; the proof of the hand has it)")
        cuts = fairness.cut.split("\n") if fairness.cut else []
        cut = "\n".join(words if words in shown else hidden for words in cuts)
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
        """Ask for the insurance in seconds; `None` at Esc."""
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
            meaning=insurance_rule(hand.round.rules),
            answers={up_to: "max"},
        )
        if typed is None:
            return None
        amount = most if not typed else seconds_typed(typed, hand.coin)
        if not 1 <= amount <= most:
            raise NotNow(Phrase("Insurance: {most} at most, in coins.", most=up_to))
        return amount

    async def _bet(self) -> None:
        self._announce_new_terms()
        betting = self._betting()
        if refusal := betting.refusal():
            raise NotNow(refusal)
        bet = await betting.ask()
        if bet is not None:
            await self.table.bet(self, betting, bet)
            await betting.remember(bet)

    async def _bet_again(self) -> None:
        """Repeat the last bet; after a change of terms, only announce the change."""
        if not self._announce_new_terms():
            await self.table.bet(self, self._betting(), self._betting().last())

    def _announce_new_terms(self) -> bool:
        """Announce a change of coin or rules; return whether there was one."""
        before, self._known_terms = self._known_terms, self.table.settings
        messages = []
        if before.coin_minutes != self._known_terms.coin_minutes:
            self.caller.status.coin = self.coin
            messages.append(_("A coin is {time} of your time now.").format(time=span(self.coin)))
        if before.rules != self._known_terms.rules:
            messages.append(_("The rules of this table have changed: R shows them."))
        if messages:
            self.console.screen.say(f"|14{' '.join(messages)}")
        return bool(messages)

    def _betting(self) -> BettingTime:
        return self.table.betting(self.caller)

    async def _offer_cut(self) -> None:
        words = await self.ask_own_phrase(await phrases.phrase_of(self.caller))
        if words:
            chosen = await phrases.choose(self.caller, words)
            await self.table.cut_cards(self, chosen.text)
            self.console.screen.say(f"|07{_('Your cut is sealed until the deal. F shows it.')}")

    async def _talk(self, opening: str) -> None:
        """Ask for a line of talk and send it; a refused line stays in the field."""
        prompt = _("Whisper (name message):") if opening else _("Say:")
        typed: str | None = ""
        while True:
            typed = await self.console.prompt.entry(
                f"|07{prompt}|15",
                longest=LONGEST_LINE,
                meaning=_(
                    "A line for the whole table. Begin with /name to whisper to one player. /p, "
                    "/r and /w work as everywhere: for a player whose name begins with P, R or "
                    "W, type two letters or more."
                ),
                typed=typed or "",
            )
            if not typed:
                return
            try:
                line = typed if typed.startswith(COMMAND) else opening + typed
                if is_command(line) and self.caller.config.social.messages:
                    await self.caller.talk.do(line)
                else:
                    await self.caller.ask_books(
                        lambda desk: refuse_muted(desk, self.caller.record.id)
                    )
                    self.table.talk(self, line)
            except (TalkRefused, Refused, BooksUnavailable) as refused:
                self.console.screen.say(f"|12{refused}")
            else:
                return

    async def _confirm_leaving(self) -> bool:
        if self._place is None:
            return True
        return await self.console.prompt.agrees(
            _("If you leave now, the dealer stands your hand. Leave?"), default="N"
        )

    # Coming and going.

    def _come_to_table(self, known: Sequence[str] = ()) -> None:
        self._is_at_table = True
        self._shown_lead = self._lead()
        super()._come_to_table(known)

    def _lead(self) -> int | None:
        hand = self.table.state.hand
        return None if hand is None else hand.lead

    async def _step_away(self, to: Awaitable[object]) -> None:
        self._show_all_cards()
        self._is_at_table = False
        await super()._step_away(to)
        self._say_pending()

    def _greet(self) -> None:
        """Tell a caller without a hand when they can play."""
        if self._place is not None:
            return
        if self.table.state.seat_of(self.caller.record.id) is None:
            words = _("You get the next free seat when this round is over.")
            self.console.screen.say(f"|14{words}")
        elif refusal := self._betting().refusal():
            self.console.screen.say(refusal)

    def _on_tick(self) -> None:
        """Paint the countdown once a second."""
        if self._is_at_table and self.table.state.alarm is not None:
            self.console.display.refresh()

    def _statement(self) -> str:
        return self.tally.summed_up(self.title, hand_is_open=self._place is not None)
