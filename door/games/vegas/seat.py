"""Vegas as a caller meets it: a seat at the table that everybody shares.

The table lives in the server and goes on whether this caller looks or not; this is one chair. What
happens at the table arrives through `hears`, which shows it and returns; what they want goes to
the table as a request. So what a key means is asked of the table when the key comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeGuard

from ansi.keys import ENTER, ESCAPE, INTERRUPT
from door import wording
from door.call.console import lit
from door.errors import NotNow, TakenOver, TimeUp
from door.games.blackjack.round import BlackjackAction, BlackjackPhase
from door.games.blackjack.tutor.beside import Tutor
from door.games.blackjack.tutor.thinking import thinking_of
from door.games.tables.betting import BettingTime
from door.games.tables.scene import TableTally
from door.games.tables.sitting import Sitting
from door.games.vegas import news
from door.games.vegas import words as vegas_words
from door.games.vegas.news import LONGEST_LINE
from door.games.vegas.round import affordable, figure, most_insured, seconds_typed, stood_words
from door.games.vegas.scene import VegasScene
from door.games.vegas.table import WORDS, table_of
from door.lobby.teller import GRACE_SECONDS, visit_bank
from timebank.words import span

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.games.blackjack.round import BlackjackRound
    from door.games.vegas.news import News
    from door.games.vegas.round import VegasRound
    from timebank.ledger.purse import Receipt

LONGEST_AMOUNT = 8
TUTOR_ON = "|07From now on the tutor says what the book says."
TUTOR_OFF = "|07From now on the tutor is silent."

PLAY_KEYS = {
    BlackjackAction.DOUBLE: ("D", "Double"),
    BlackjackAction.SPLIT: ("P", "Split"),
    BlackjackAction.HIT: ("H", "Hit"),
    BlackjackAction.STAY: ("S", "Stand"),
    BlackjackAction.INSURANCE: ("I", "Insure"),
    BlackjackAction.NO_INSURANCE: ("N", "No"),
}
ACTIONS = {letter: action for action, (letter, _) in PLAY_KEYS.items()}


class VegasVisit(Sitting):
    title = "Vegas"
    scene: VegasScene
    tutor: Tutor  # while the visit lasts: it speaks through the one it advises

    def __init__(self, board: Board, caller: Caller) -> None:
        super().__init__(caller, WORDS)
        self.table = table_of(board)
        self.thinking = thinking_of(board)
        self.me = caller.record.name
        self.scene = VegasScene(self.table, caller)
        self.tally = TableTally()
        self._is_looking = False  # at the table, not at a page of rules or the bank's window
        self._is_choosing = False  # between two answers, so that the menu is theirs to answer
        self._is_asked = ""  # the menu that stands there, "" where none does
        self._ask_is_due = False
        self._is_stood = False  # time is up, and the table decides for them
        self._is_deciding = False  # the tutor has yet to say what it thinks of a decision

    # The evening at this table.

    @property
    def coin(self) -> int:
        return self.table.coin

    async def _evening(self) -> None:
        leave = self.table.leave
        self.tutor = Tutor(self.thinking, self._advised, self._round_at_turn)
        self._come_to_table()
        try:
            await self.table.sit(self)
            self._greet()
            await self._stay()
        except TakenOver:
            leave = self.table.hand_over
            raise
        finally:
            self._is_looking = False
            leave(self)
            self.tutor.leave()
            del self.tutor

    async def has_open_hand(self) -> bool:
        return await self.table.find(self.caller.record.id)

    async def stand_open_hand(self) -> None:
        """Have the hand stood at its turns, for a caller who has no time left."""
        self.console.stage(self.scene)
        await self.table.stand_for(self.caller.record.id)
        if self._place is not None:
            self.console.say("|14Your hand is stood at its turns; you will be told how it ended.")

    async def _stay(self) -> None:
        """Take keys until they get up; out of time, have the hand stood and see how it ends."""
        while True:
            try:
                while await self._answer(await self._key()):
                    pass
            except TimeUp:
                if self._place is None or self._is_stood:
                    raise
                await self._stand()
            else:
                return

    async def _stand(self) -> None:
        self._is_stood = True
        if not self._is_looking:
            self._come_to_table()
        self.console.say("|14Your time is up: your hand is stood at its turns.")
        self.caller.clock.grace(GRACE_SECONDS)
        await self.table.stand_for(self.caller.record.id)
        self._end_stand()

    def _end_stand(self) -> None:
        """Go on, or have the call ended, when the hand that was stood for them is over."""
        if self._is_stood and self._place is None:
            self._is_stood = False
            self.caller.clock.end_grace()
            self.caller.clock.check_time()

    # What the table tells.

    def hears(self, happened: Sequence[News]) -> None:
        for item in happened:
            self._note(item)
        if self._is_looking:
            self.console.display.refresh()
            tell = (
                vegas_words.told_beside_the_scene if self.console.is_painted else vegas_words.told
            )
            said = [sentence for item in happened for sentence in tell(item, self.me)]
            if said:
                self._say("\n".join(said))
            self._advise()
            self._ask_anew()
        for item in happened:
            if self._is_my_end(item):
                self.caller.last_hand.shown()
        self._end_stand()

    def _say(self, text: str) -> None:
        """Give them a message; among lines the menu follows when all is said, and once."""
        if self._is_asked and not self.console.is_painted:
            self.console.display.answered()
            self._is_asked = ""
        self.console.say(text)

    def receives(self, receipt: Receipt) -> None:
        self.caller.tell(receipt)

    def _note(self, item: News) -> None:
        """Remember what is talk, count what is theirs, and ring when it is their turn."""
        if isinstance(item, news.Said | news.Whispered):
            self.scene.talk.extend(vegas_words.told(item, self.me))
        elif isinstance(item, news.TurnBegan) and item.name == self.me:
            self.console.bell()
            if not self._is_looking:
                self.console.say(f"|14It is your turn at the Vegas table: {span(item.seconds)}.")
        elif self._is_my_end(item):
            net = self._count(item)
            if not self._is_looking:
                self.console.say(f"|14{stood_words(net)}")

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
            choices.update(PLAY_KEYS[action] for action in affordable(hand, self.caller))
        elif state.in_play is None and seat is not None:
            if not seat.ready:
                choices["B"] = "Bet"
                if not self._betting().refusal():
                    choices["R"] = f"Ready for {wording.coins(seat.bet or self._last_bet())}"
            if state.may_be_cut and seat is state.first:
                choices["C"] = "Cut"
        choices["T"] = "Talk"
        if hand is None:
            choices.update({"L": "Rules", "K": "Bank", "U": "Tutor", "Q": "Quit"})
        return choices

    def _menu(self, choices: Mapping[str, str]) -> str:
        hand = self._hand_at_turn
        if hand is None or hand.round.turn is None or hand.round.hand is None:
            return lit(choices)
        if hand.round.phase is BlackjackPhase.INSURANCE:
            most = wording.coins_of(most_insured(hand, self.caller), hand.coin)
            return f"|15An ace is up. Insurance, up to {most}?|07  {lit(choices)}"
        of_two = len(hand.round.seats[hand.round.turn.seat].hands) > 1
        which = f" on the {('first', 'second')[hand.round.turn.hand]} hand" if of_two else ""
        return f"|15You have {hand.round.hand.count}{which}.|07  {lit(choices)}"

    # Keys.

    async def _key(self) -> str:
        """Show what they may do, and wait for a key; meanwhile the table may change it."""
        self._is_choosing = True
        if self._is_asked != self._menu(self._choices()):  # a key of no meaning leaves it there
            self._ask()
        try:
            return await self.console.key()
        except BaseException:
            self._is_asked = ""
            raise
        finally:
            self._is_choosing = False

    def _ask(self) -> None:
        self._is_asked = self._menu(self._choices())
        self.console.display.prompt(self._is_asked)

    def _ask_anew(self) -> None:
        """Show another menu when what they may do has changed under them: on a painted screen at
        once, among lines behind what else is told in this step."""
        if not self._is_choosing or self._menu(self._choices()) == self._is_asked:
            return
        if self._is_asked:
            self.console.display.answered()
            self._is_asked = ""
        if self.console.is_painted:
            self._ask()
        elif not self._ask_is_due:
            self._ask_is_due = True
            asyncio.get_running_loop().call_soon(self._ask_now)

    def _ask_now(self) -> None:
        self._ask_is_due = False
        if self._is_choosing and not self._is_asked:
            self._ask()

    async def _answer(self, key: str) -> bool:
        """Do what a key means now; `False` when they get up."""
        self.table.wake(self)
        choices = self._choices()
        letter = key.upper()
        if key == ENTER:
            seat = self.table.state.seat_of(self.caller.record.id)
            letter = "R" if seat is not None and seat.bet else "B"
        elif key in (ESCAPE, INTERRUPT):
            letter = "Q"
        elif key == "/":
            letter = "T"
        if letter not in choices:
            return True
        self.console.display.answered()
        self._is_asked = ""
        return not await self._tries(self._gets_up(letter, whispers=key == "/"))

    async def _gets_up(self, letter: str, *, whispers: bool) -> bool:
        """Do what a letter of the menu means; `True` when the caller gets up."""
        if letter in ACTIONS:
            await self._decide(ACTIONS[letter])
        elif letter == "B":
            await self._bet()
        elif letter == "R":
            await self._be_ready()
        elif letter == "C":
            await self._offer_cut()
        elif letter == "T":
            await self._talk("/" if whispers else "")
        elif letter == "L":
            rules = vegas_words.rules_text(self.table.settings)
            await self._step_away(self.console.read("The rules of the Vegas table", rules))
        elif letter == "K":
            await self._step_away(visit_bank(self.caller))
        elif letter == "U":
            await self._switch("tutor", TUTOR_ON, TUTOR_OFF)
        return letter == "Q" and await self._really_goes()

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
            raise NotNow("It is not your turn.")
        most = most_insured(hand, self.caller)
        typed = await self.console.entry(
            f"|07Coins of insurance, up to |15{figure(most, hand.coin)}|07 (Enter for that):|15",
            longest=LONGEST_AMOUNT,
            accept=lambda key: key in "0123456789.,",
        )
        if typed is None:
            return None
        amount = most if not typed else seconds_typed(typed, hand.coin)
        if not 1 <= amount <= most:
            raise NotNow(f"Insurance is up to {figure(most, hand.coin)} coins.")
        return amount

    async def _bet(self) -> None:
        betting = self._betting()
        if refusal := betting.refusal():
            raise NotNow(refusal)
        bet = await betting.ask()
        if bet is not None:
            await self.table.bet(self, bet)
            await betting.remember(bet)

    async def _be_ready(self) -> None:
        """Be ready for the bet that stands, or for the one that was placed last."""
        seat = self.table.state.seat_of(self.caller.record.id)
        if seat is not None and not seat.bet:
            await self.table.bet(self, self._last_bet())
            if not seat.bet:  # alone, they have their cards already
                return
        await self.table.be_ready(self)

    def _betting(self) -> BettingTime:
        return self.table.betting(self.caller)

    def _last_bet(self) -> int:
        least, most = self._betting().limits()
        return max(least, min(self._betting().last(), most))

    async def _offer_cut(self) -> None:
        words = await self.type_cut()
        if words is not None:
            await self.table.cut_cards(self, words)

    async def _talk(self, opening: str) -> None:
        prompt = "|07Whisper to whom, and what:|15" if opening else "|07Say:|15"
        typed = await self.console.entry(prompt, longest=LONGEST_LINE)
        if typed:
            self.table.talk(self, opening + typed)

    async def _really_goes(self) -> bool:
        if self._place is None:
            return True
        answer = await self.console.ask(
            {"Y": "Yes", "N": "No"},
            question="Your hand is stood at its turns if you go. Go?",
            default="N",
            cancel="N",
        )
        return answer == "Y"

    # Looking on.

    def _come_to_table(self) -> None:
        self._is_looking = True
        super()._come_to_table()

    async def _step_away(self, to: Awaitable[None]) -> None:
        self._is_looking = False
        await super()._step_away(to)

    def _greet(self) -> None:
        if self._place is not None:
            self.console.say("|14Your hand is on the table.")
        elif self.table.state.seat_of(self.caller.record.id) is None:
            self.console.say("|14You may sit down when a seat is free and this round is over.")

    def _follow(self) -> None:
        """Paint the seconds that are left, once in each."""
        if self._is_looking and self.table.state.alarm is not None:
            self.console.display.refresh()

    def _statement(self) -> str:
        pushes = f"{self.tally.endings['push']} even"
        leaves_hand = self._place is not None
        return self.tally.told(self.title, "round", pushes, hand_is_open=leaves_hand)
