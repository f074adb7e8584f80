"""Before the deal: how much a caller may bet, and what he is told while he types it."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING

from door import wording
from door.games.blackjack.tutor import tutor
from door.games.blackjack.tutor.thinking import NotAtHand
from timebank.ledger.database import BooksFailed

if TYPE_CHECKING:
    import asyncio

    from door.call.caller import Caller
    from door.games.blackjack.round import Action, Round
    from door.games.blackjack.rules import Rules
    from door.games.blackjack.tutor.thinking import Thinking, Weighed
    from door.games.blackjack.tutor.tutor import Decision
    from door.games.engine.settings import Stakes


# The tutor beside a caller: asked before each decision, heard when it has an answer.
#
# Before a decision it says what the book says; after a worse one, what the book would have done. A
# caller never waits for it: a decision that is taken before the book has an answer is judged when
# the answer comes.

NOT_AT_HAND = "The book is not at hand just now."

log = logging.getLogger("door.tables")


class _Question:
    """One decision, from when it is open until the tutor has said all that it has to say of it."""

    def __init__(self, round_: Round, asked: Decision, answer: asyncio.Future[Weighed]) -> None:
        self.round = round_
        self.asked = asked
        self.answer = answer
        self.chosen: Action | None = None  # what the caller did, once he has


class Tutor:
    """One caller's tutor; it looks at one decision at a time."""

    def __init__(
        self, thinking: Thinking, say: Callable[[str], None], at_turn: Callable[[], Round | None]
    ) -> None:
        """Think with `thinking`, speak through `say`.

        `at_turn` gives the round while the caller has to decide in it: advice is for that one only.
        """
        self._thinking = thinking
        self._say = say
        self._at_turn = at_turn
        self._open: _Question | None = None
        self._unanswered: set[_Question] = set()

    def watch(self, round_: Round, affordable: Collection[Action]) -> None:
        """Look at a decision that the caller has to take; what was asked already is not again."""
        if self._open is not None and round_ is self._open.round:
            return
        asked = tutor.decision(round_, affordable)
        self._open = _Question(round_, asked, self._thinking.ask(asked.spot))
        self._unanswered.add(self._open)
        self._open.answer.add_done_callback(partial(self._answered, self._open))

    def judge(self, chosen: Action) -> None:
        """Say what the book would have done, if that is better than what the caller chose: at once,
        or when it is known."""
        question, self._open = self._open, None
        if question is None:
            return
        question.chosen = chosen
        if question not in self._unanswered:
            self._pass_judgement(question)

    def leave(self) -> None:
        """Say nothing more: the caller leaves the table."""
        self._open = None
        for question in tuple(self._unanswered):
            question.answer.cancel()

    def _answered(self, question: _Question, answer: asyncio.Future[Weighed]) -> None:
        self._unanswered.discard(question)
        if answer.cancelled():
            return
        problem = answer.exception()
        if isinstance(problem, NotAtHand):
            if question is self._open:
                self._say(f"|08{NOT_AT_HAND}")
        elif problem is not None:
            log.error("the tutor has no advice", exc_info=problem)
        elif question.chosen is not None:
            self._pass_judgement(question)
        elif question is self._open and question.round is self._at_turn():
            self._say(f"|11{tutor.advised(question.asked, answer.result()).sentence}")

    def _pass_judgement(self, question: _Question) -> None:
        answer = question.answer
        if question.chosen is None or answer.exception() is not None:
            return
        advice = tutor.advised(question.asked, answer.result())
        verdict = tutor.judge(advice, question.chosen)
        if verdict is not None:
            self._say(f"|11{verdict}")


class Betting:
    """The bet of one caller at one table, in coins of `coin` seconds."""

    def __init__(self, caller: Caller, game: str, settings: Stakes, rules: Rules) -> None:
        """Take bets for `game`; his last one is remembered under that name."""
        self.caller = caller
        self.console = caller.console
        self.game = game
        self.settings = settings
        self.rules = rules
        self.coin = settings.coin_minutes * 60

    def refusal(self) -> str:
        """Return why no bet can be placed now, "" when one can."""
        smallest = self.settings.smallest_bet
        pot = self.caller.pot(self.coin)
        if pot <= smallest:
            return (
                f"Your pot holds {wording.coins(pot)}; the smallest bet is "
                f"{wording.coins(smallest)}, and your last coin cannot be bet."
            )
        return ""

    async def ask(self) -> int | None:
        """Return the bet in coins, `None` when the caller thinks better of it."""
        smallest = self.settings.smallest_bet
        while True:
            largest = min(self.settings.largest_bet, self.caller.pot(self.coin) - 1)
            if largest < smallest:
                return None
            last = min(max(self.last(), smallest), largest)
            live = self.console.is_painted
            self._warn_of_cut(str(last if live else largest))
            typed = await self.console.entry(
                f"|07Coins to bet, |15{smallest}|07 to |15{largest}|07 (Enter for {last}):|15",
                longest=4,
                accept="0123456789.,".__contains__,  # a point is refused in words, not passed over
                # Told in lines, every digit would bring another line.
                changed=self._warn_of_cut if live else None,
            )
            if typed is None:
                return None
            if typed and not typed.isdecimal():
                self.console.say("|12A bet is a whole number of coins.")
                continue
            bet = int(typed) if typed else last
            if smallest <= bet <= largest:
                return bet
            self.console.say(f"|12{self._bet_refusal(bet, largest)}")

    def _bet_refusal(self, bet: int, largest: int) -> str:
        if bet < self.settings.smallest_bet:
            return f"The smallest bet is {wording.coins(self.settings.smallest_bet)}."
        if bet > self.settings.largest_bet:
            return f"The largest bet here is {wording.coins(self.settings.largest_bet)}."
        return f"You may bet up to {wording.coins(largest)}: your last coin stays with you."

    def _warn_of_cut(self, typed: str) -> None:
        """Say when the next event would cut a full win on the bet that is being typed."""
        bet = int(typed) if typed.isdecimal() else 0
        to_event = self.caller.seconds_to_event()
        closing = self.caller.purse.closing
        possible = 0 < bet <= min(self.settings.largest_bet, self.caller.pot(self.coin) - 1)
        if not possible or to_event is None or closing is None:
            return
        full = int(bet * self.coin * self._best_odds())
        surplus = min(full, self.caller.spendable() + full - to_event)
        if surplus <= 0:
            return
        bank_settings = self.caller.bank_settings
        event = wording.event_at(closing, bank_settings.schedule, self.caller.clock.now())
        where = {
            "built-in": "would go to your time bank",
            "external": "would go to your time bank elsewhere",
            "none": "would be trimmed",
        }[bank_settings.mode]
        self.console.say(
            f"|14{event}: of a full win of {wording.clock_time(full)} on "
            f"{wording.coins(bet)}, {wording.clock_time(surplus)} {where}."
        )

    def _best_odds(self) -> float:
        """Return the most that one coin of the opening bet can win."""
        rules = self.rules
        single = max(rules.natural_pays, rules.charlie_pays, rules.twenty_one_pays, rules.win_pays)
        doubled = max(rules.win_pays, rules.doubled_21_pays)
        return float(max(single - 1, 2 * (doubled - 1)))

    def last(self) -> int:
        """Return the bet he placed last, the smallest one before his first."""
        last = self._bets().get(self.game)
        return last if isinstance(last, int) else self.settings.smallest_bet

    async def remember(self, bet: int) -> None:
        """Keep a bet that was placed as his last one; no hand is held up when that fails."""
        if bet == self.last():
            return
        with contextlib.suppress(BooksFailed):
            await self.caller.remember({"bets": {**self._bets(), self.game: bet}})

    def _bets(self) -> dict[str, object]:
        bets = self.caller.record.preferences.get("bets")
        return bets if isinstance(bets, dict) else {}
