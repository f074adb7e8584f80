"""Black Jack For Time as a caller meets it: sit down, place a bet, play the hand, get up.

Commit before show: an action and all it moves are durable before the new round is adopted and
drawn, so what a caller has seen is always in the books. The rules are the engine's; this room
only asks, leaves out what the pot cannot pay, and says what happened.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from door import wording
from door.call.console import TimeUp
from door.games.black_jack_for_time import settings
from door.games.black_jack_for_time.kind import BLACK_JACK_FOR_TIME_KIND
from door.games.black_jack_for_time.scene import Sitting, TableScene
from door.games.black_jack_for_time.words import read_rules, sentences
from door.games.blackjack.betting import Betting, Tutor
from door.games.blackjack.events import Outcome
from door.games.blackjack.round import Action, Phase, Round
from door.games.blackjack.rules import rules_to_mapping
from door.games.blackjack.tutor.thinking import thinking_of
from door.games.engine import menu, shuffle
from door.games.engine.game import Act
from door.games.engine.play import Bet, Play, Step
from door.lobby.teller import visit_bank
from timebank.errors import CallClosed, NotEnough, Refused
from timebank.ledger.database import BooksUnavailable

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.games.blackjack.tutor.thinking import Thinking
    from timebank.wagers.journal import Shoe

GAME = BLACK_JACK_FOR_TIME_KIND.name
LONGEST_CUT = 60

ACTION_KEYS = {
    Action.INSURANCE: ("I", "Insurance"),
    Action.NO_INSURANCE: ("N", "No insurance"),
    Action.DOUBLE: ("D", "Double down"),
    Action.HIT: ("H", "Hit"),
    Action.STAY: ("S", "Stay"),
}

CUT_WORDS = (
    "you are not asked to cut the cards before each shuffle",
    "you are asked for a few words that cut the cards before each shuffle",
)
TUTOR_WORDS = (
    "the tutor is silent",
    "the tutor says what the book would do, and after a worse move what it would have done",
)

log = logging.getLogger("door.tables")


class BlackJackForTime:
    """One caller's visit to the table."""

    tutor: Tutor  # while the visit lasts: it looks at the table that it belongs to

    def __init__(self, caller: Caller, thinking: Thinking) -> None:
        """Lay the table for `caller`, under the settings of the call; the tutor has `thinking`."""
        self.caller = caller
        self.thinking = thinking
        self.console = caller.console
        self.settings = settings.of(caller.config)
        self.coin = self.settings.coin_minutes * 60
        self.rules = replace(self.settings.rules, insurance_unit=self.coin)
        self.betting = Betting(caller, GAME, self.settings, self.rules)
        self.limit = self.settings.turns_per_day or None
        self.scene = TableScene(self.coin, self.limit)
        self.play = Play(caller, BLACK_JACK_FOR_TIME_KIND)

    @property
    def round(self) -> Round | None:
        """The hand on the table."""
        round_: Round | None = self.play.round
        return round_

    # The evening at this table.

    async def visit(self) -> None:
        """Stay until the caller gets up, or something ends his call."""
        self.caller.place = "Black Jack For Time"
        if self.round is None:
            await self._find_open_hand()
        self.caller.coin = self.coin
        self._look()
        self.console.stage(self.scene)
        before = self.caller.on_tick
        self.caller.on_tick = self._follow_pot
        self.tutor = Tutor(self.thinking, self.console.say, lambda: self.round)
        try:
            if self.round is not None:
                self.console.say("|14The hand you left is still on the table.")
                self.scene.sitting.turns += 1
                await self._play()
                self._use_settings()
            while await self._between_hands():
                pass
        finally:
            self.caller.on_tick = before
            self.tutor.leave()
            del self.tutor
            self._close_statement()

    async def has_open_hand(self) -> bool:
        """Look for a hand that was left open; it is laid on the table when there is one."""
        await self._find_open_hand()
        return self.round is not None

    async def stand_open_hand(self) -> None:
        """Stand the hand that `has_open_hand` found, for a caller who has no time left."""
        self.console.stage(self.scene)
        await self._stand()

    async def _between_hands(self) -> bool:
        """Offer the game menu once; `False` when the caller gets up or his turns are used."""
        self._look()
        self.console.display.refresh()
        if self.limit is not None and self.scene.turns >= self.limit:
            self.console.say(f"|14That was your last turn for today: {self.limit} a day.")
            await self.console.any_key()
            return False
        if not self.console.is_painted:
            self.console.say(self.scene.standing())
        cut = "Cut is on" if self._cuts() else "Cut is off"
        tutor = "Tutor is on" if self._has_tutor() else "Tutor is off"
        choices = {"P": "Place Bet", "R": "Rules", "C": cut, "U": tutor, "T": "Time bank"}
        choice = await self.console.ask({**choices, "Q": "Quit"}, default="P", cancel="Q")
        if choice == "P":
            await self._turn()
        elif choice == "R":
            await read_rules(self.console, self.settings)
            self.console.stage(self.scene)
        elif choice == "C":
            await self._switch("cut", CUT_WORDS)
        elif choice == "U":
            await self._switch("tutor", TUTOR_WORDS)
        elif choice == "T":
            await self._go_to_the_bank()
        return choice != "Q"

    async def _go_to_the_bank(self) -> None:
        """Let the caller step over to the bank's window, and come back to this table."""
        await visit_bank(self.caller)
        self.caller.place = "Black Jack For Time"
        self._look()
        self.console.stage(self.scene)

    async def _switch(self, preference: str, words: tuple[str, str]) -> None:
        """Turn something of the caller's on or off, and say what holds from now on."""
        on = self.caller.record.preferences.get(preference) is True
        try:
            await self.caller.remember({preference: not on})
        except BooksUnavailable:
            self._books_unavailable()
            return
        self.console.say(f"|07From now on {words[not on]}.")

    async def _turn(self) -> None:
        """One turn: seal, cut, bet, hand."""
        refusal = self.betting.refusal()
        if refusal:
            self.console.say(f"|12{refusal}")
            return
        try:
            shoe = await self._next_shoe()
            cut = await self._ask_cut(shoe)
            bet = await self.betting.ask() if cut is not None else None
            if cut is None or bet is None:
                self.console.say("|07No bet placed.")
                return
            await self._place(bet, cut)
        except CallClosed:
            raise
        except Refused as refused:
            self.console.say(f"|12{refused}")
            return
        except BooksUnavailable:
            self._books_unavailable()
            return
        await self._play()

    # Before the deal.

    async def _next_shoe(self) -> Shoe:
        """Show the seal of the shoe that the next hand comes from, sealed before the bet."""
        old = self.play.shoe
        shoe = await self.play.next_shoe(rules_to_mapping(self.rules))
        if self.rules.shuffle == "shoe" and old is not None and old.id != shoe.id:
            self.console.say("|07The dealer shuffles.")
        self.scene.seal, self.scene.seed, self.scene.cut = shoe.seal, "", shoe.cut or ""
        self.scene.round = None
        self._look()
        self.console.display.refresh()
        if not self.console.is_painted:
            self.console.say(f"|08Seal {shoe.seal}")
        return shoe

    async def _ask_cut(self, shoe: Shoe) -> str | None:
        """Return the words that cut this shoe, "" for none, `None` at Esc."""
        if shoe.position > 0:
            return shoe.cut or ""
        if not self._cuts():
            return ""
        words = await self.console.entry(
            "|07A few words to cut the cards (Enter for none):|15", longest=LONGEST_CUT
        )
        if words is None:
            return None
        self.scene.cut = shuffle.normal_cut(words)
        self.console.display.refresh()
        return self.scene.cut

    async def _place(self, bet: int, cut: str) -> None:
        """Stake the bet and deal; all of it is durable before a card is shown."""
        wager = Bet(
            amount=bet * self.coin,
            unit="second",
            coin=self.coin,
            turns_limit=self.limit,
            rules=rules_to_mapping(self.rules),
        )
        step = await self.play.place(wager, cut)
        self.scene.sitting.turns += 1
        self._show(step)
        await self.betting.remember(bet)

    # The hand.

    async def _play(self) -> None:
        """Play the hand at the table to its end."""
        while self.round is not None and not self.round.over:
            try:
                action = await self._decide(self.round)
                await self._act(action)
                self.tutor.judge(action)
            except TimeUp:
                await self._stand()
            except NotEnough as refused:
                self.console.say(f"|12{refused}")
            except BooksUnavailable:
                self._books_unavailable()
                await self.console.any_key("|07Press any key to try again")

    async def _decide(self, round_: Round) -> Action:
        """Ask what to do, among what cards, rules and pot allow."""
        actions = [action for action in round_.legal() if self._can_pay(round_, action)]
        if actions == [Action.NO_INSURANCE]:
            self.console.say("|07Insurance would take your last coin: declined.")
            return Action.NO_INSURANCE
        if self._has_tutor():
            self.tutor.watch(round_, actions)
        question = ""
        if round_.phase is Phase.INSURANCE:
            price = wording.coins_of(round_.amount(Action.INSURANCE), self.coin)
            question = f"The dealer shows an ace. Insurance for {price}?"
        keys = {ACTION_KEYS[action][0]: action for action in actions}
        choices = {ACTION_KEYS[action][0]: ACTION_KEYS[action][1] for action in actions}
        return keys[await self.console.ask(choices, question=question)]

    def _can_pay(self, round_: Round, action: Action) -> bool:
        amount = round_.amount(action)
        return not amount or self.caller.spendable() - amount >= self.coin

    async def _act(self, action: Action) -> None:
        """Carry out one action: pure first, then durable, then adopted and drawn."""
        assert self.round is not None
        stake = self.round.amount(action)
        stake_kind = "insurance" if action is Action.INSURANCE else "double"
        self._show(await self.play.act(Act(action), stake, stake_kind))

    async def _stand(self) -> None:
        """Decline insurance and stand, as happens to a hand whose caller has no time left."""
        self.console.say("|14Your time is up: the hand is stood.")
        await self.play.stand(self._show)

    def _show(self, step: Step) -> None:
        """Draw the round after a step."""
        after: Round = step.after
        self.scene.round = after
        self._count(step)
        if after.over:
            self._reveal_seed()
        self._look()
        self.console.display.refresh()
        said = sentences(step.events, self.coin)
        if not self.console.is_painted and not after.over:
            said.append(f"|07You have |15{after.seats[0].hands[0].count}|07.")
        if said:
            self.console.say("\n".join(said))
        self.caller.tell(step.receipt)
        if after.over and not self.console.is_painted and self.scene.seed:
            self.console.say(f"|08Seed {self.scene.seed}")

    def _count(self, step: Step) -> None:
        settlement = step.settlement
        if settlement is None:
            return
        sitting = self.scene.sitting
        sitting.won += settlement.won
        sitting.lost += settlement.lost
        if settlement.final:
            outcome = step.after.outcomes[0]
            hand = step.after.seats[0].hands[0].settled
            if outcome is Outcome.PUSH:
                sitting.pushes += 1
            elif hand is not None and hand.won:
                sitting.wins += 1
            else:
                sitting.losses += 1

    def _reveal_seed(self) -> None:
        """Show the seed of a shoe that is done; one that runs on keeps it."""
        if self.play.shoe is not None and self.play.is_shoe_done:
            self.scene.seed = self.play.shoe.seed.hex()

    # Coming and going.

    async def _find_open_hand(self) -> None:
        """Rebuild the hand that was left open, from its journal."""
        if await self.play.find_open() is None or self.round is None:
            return
        # The hand goes on under the rules and coins that it was dealt under.
        self.rules, self.coin = self.round.rules, self.round.rules.insurance_unit
        self.scene.round, self.scene.coin = self.round, self.coin
        if self.play.shoe is not None:
            self.scene.seal, self.scene.cut = self.play.shoe.seal, self.play.shoe.cut or ""

    def _use_settings(self) -> None:
        """Play on under the settings of this call, after a hand dealt under those of its day."""
        self.coin = self.scene.coin = self.caller.coin = self.settings.coin_minutes * 60
        self.rules = replace(self.settings.rules, insurance_unit=self.coin)

    def _look(self) -> None:
        """Bring the figures of the scene up to date."""
        self.scene.turns = self.caller.purse.turns.get(GAME, 0)
        self.scene.pot = self.caller.pot(self.coin)

    def _follow_pot(self) -> None:
        """Paint the table again when time that ticked has taken a coin from the pot."""
        if self.scene.pot != self.caller.pot(self.coin):
            self._look()
            self.console.display.refresh()

    def _close_statement(self) -> None:
        """Say how the caller did: the brief statement of the help file, for the good-bye."""
        sitting: Sitting = self.scene.sitting
        if not sitting.turns:
            return
        result = wording.leaves_table(sitting.net, hand_is_open=self.caller.hand_waits)
        turns = wording.counted(sitting.turns, "turn")
        self.caller.statement = (
            f"Black Jack For Time: {turns}, {sitting.wins} won, {sitting.losses} lost, "
            f"{wording.counted(sitting.pushes, 'stand-off')}; {result}."
        )

    def _cuts(self) -> bool:
        return self.caller.record.preferences.get("cut") is True

    def _has_tutor(self) -> bool:
        return self.caller.record.preferences.get("tutor") is True

    def _books_unavailable(self) -> None:
        log.warning("books unavailable at the table of %s", self.caller.record.name)
        self.console.say("|12The books cannot be written just now. Nothing has changed.")


def sit_down(board: Board, caller: Caller) -> BlackJackForTime:
    """Return a visit to the table."""
    return BlackJackForTime(caller, thinking_of(board))


async def menu_words(board: Board, caller: Caller) -> str:
    """Return what a caller should know before sitting down, in a few words."""
    return menu.turns_and_bets(caller, GAME, settings.of(board.config))
