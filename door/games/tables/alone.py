"""A table where one caller plays alone against the house: sit down, bet, play, get up.

Commit before show: an action and all it moves are durable before the new round is adopted and
drawn, so what a caller has seen is always in the books. A game gives its kind, its scene and its
words; what is left to it stands under "For the game".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from door import wording
from door.call.display import Scene
from door.errors import TimeUp
from door.games.engine.game import Act
from door.games.tables.betting import Betting, BettingTime
from door.games.tables.fairness import Fairness
from door.games.tables.play import Deal, Play, Step
from door.games.tables.sitting import Sitting
from door.games.tables.words import BANK, BET, CUT, FAIRNESS, QUIT, RULES, Words
from door.lobby.teller import visit_bank
from timebank.errors import BooksUnavailable, NotEnough
from timebank.language import _

if TYPE_CHECKING:
    from door.call.caller import Caller
    from door.games.engine.game import Kind
    from door.games.engine.settings import StakeSettings
    from door.games.tables.scene import Ending, TableScene
    from timebank.wagers.journal import Shoe, StoredRound


class FairScene(Scene, Protocol):
    """A scene that shows what the cards are held against."""

    seal: str
    seed: str
    cut: str

    def standing(self) -> str:
        """Return the figures in a line, for a caller who has no panel to look at."""


class Alone(Sitting):
    """A caller alone with a shoe of their own, from hand to hand."""

    scene: FairScene
    betting: Betting
    shoe_runs_on = True  # from hand to hand, so that a shuffle is news
    tells_every_seal = True  # and not of a new shoe alone

    def __init__(self, caller: Caller, kind: Kind, words: Words) -> None:
        super().__init__(caller, words)
        self.play = Play(caller, kind)

    @property
    def round(self) -> Any:
        return self.play.round

    # For the game.

    def _rules(self) -> Mapping[str, object]:
        """Return the rules of the next hand, as a journal keeps them."""
        raise NotImplementedError

    async def _read_rules(self) -> None:
        raise NotImplementedError

    def _lay(self, stored: StoredRound) -> None:
        """Lay a hand that was left on the table, under the stakes that it was dealt under."""
        raise NotImplementedError

    def _clear(self) -> None:
        raise NotImplementedError

    async def _sit_down(self) -> bool:
        """Come to a table without a hand; `False` when there is nothing to stay for."""
        raise NotImplementedError

    async def _resume(self) -> bool:
        """Play the hand that was left; `False` when there is nothing to stay for after it."""
        raise NotImplementedError

    async def _choose(self) -> str:
        """Ask what to do between two hands; return a letter, Q to get up."""
        raise NotImplementedError

    async def _place(self, bet: int, cut: str) -> None:
        """Stake the bet and deal; all of it is durable before a card is shown."""
        raise NotImplementedError

    async def _decide(self) -> None:
        """Have the next decision taken, and show what it brings."""
        raise NotImplementedError

    async def _stand(self) -> None:
        """Play the hand out, as happens to a caller who has no time left."""
        raise NotImplementedError

    def _fairness(self) -> Fairness:
        scene = self.scene
        return Fairness(scene.seal, scene.seed, scene.cut)

    def _switches(self) -> Mapping[str, tuple[str, str, str, str]]:
        """Return what can be turned on and off: by letter, the preference, its name, and what is
        said when it goes on and off."""
        return {CUT: ("cut", "Cut", self.words.cut_on, self.words.cut_off)}

    # The evening at this table.

    async def has_open_hand(self) -> bool:
        """Look for a hand that was left open; it is laid on the table when there is one."""
        stored = await self.play.find_open()
        if stored is None or self.round is None or self.play.shoe is None:
            return False
        self.scene.seal, self.scene.cut = self.play.shoe.seal, self.play.shoe.cut or ""
        self._lay(stored)
        return True

    async def _evening(self) -> None:
        if self.round is not None or await self.has_open_hand():
            stays = await self._resume()
        else:
            stays = await self._sit_down()
        while stays:
            self._refresh()
            stays = await self._between_hands()

    async def _between_hands(self) -> bool:
        """Offer the menu once; `False` when the caller gets up."""
        if not self.console.is_painted:
            self.console.say(self.scene.standing())
        choice = await self._choose()
        await self._serve(choice)
        return choice != QUIT

    async def _serve(self, choice: str) -> None:
        if choice == BET:
            if await self._tries(self._deal()):
                await self._play()
        elif choice == RULES:
            await self._step_away(self._read_rules())
        elif choice == BANK:
            await self._step_away(visit_bank(self.caller))
        elif choice == FAIRNESS:
            text = self._fairness().text()
            await self._step_away(self.console.read(_("Fairness"), text))
        elif choice in self._switches():
            preference, _name, when_on, when_off = self._switches()[choice]
            await self._tries(self._switch(preference, when_on, when_off))

    # Before the deal.

    async def _deal(self) -> bool:
        """Seal, cut, bet, cards; `False` when none were dealt."""
        if refusal := self.betting.refusal():
            self.console.say(refusal)
            return False
        cut = await self._ask_cut(await self._lay_shoe())
        bet = None if cut is None else await self.betting.ask()
        if cut is None or bet is None:
            self.console.say(self.words.no_bet)
            return False
        await self._place(bet, cut)
        return True

    async def _lay_shoe(self) -> Shoe:
        """Show the seal of the shoe that the next hand comes from, sealed before the bet."""
        old = self.play.shoe
        shoe = await self.play.next_shoe(self._rules())
        is_new = old is not None and old.id != shoe.id
        if is_new and self.shoe_runs_on:
            self.console.say(self.words.new_shoe)
        self.scene.seal, self.scene.seed, self.scene.cut = shoe.seal, "", shoe.cut or ""
        self._clear()
        self._refresh()
        if is_new or self.tells_every_seal:
            self._tell_in_lines(0, shoe.seal)
        return shoe

    def _terms(self) -> Deal:
        betting = self.betting
        return Deal(
            unit=betting.unit,
            coin=betting.coin,
            turns_limit=betting.turns_limit,
            rules=self._rules(),
            purse=None if betting.unit == "second" else "bankroll",
        )

    async def _ask_cut(self, shoe: Shoe) -> str | None:
        """Return the words that cut this shoe, "" for none, `None` at Esc."""
        if shoe.position > 0:
            return shoe.cut or ""
        if not self.caller.prefers("cut"):
            return ""
        words = await self.type_cut()
        if words is not None:
            self.scene.cut = words
            self.console.display.refresh()
        return words

    # The hand.

    async def _play(self) -> None:
        while self.round is not None and not self.round.over:
            try:
                await self._decide()
            except TimeUp:
                await self._stand()
            except NotEnough as refused:
                self.console.say(f"|12{refused}")
            except BooksUnavailable:
                self.books_unavailable()
                await self.console.any_key(self.words.try_again)

    def _bring_up(self, step: Step, said: Sequence[str] = ()) -> None:
        """Show figures, words and purse after a step, and the seed of a shoe that is done."""
        if self.play.is_shoe_done and self.play.shoe is not None:
            self.scene.seed = self.play.shoe.seed.hex()
        self._refresh()
        if said:
            self.console.say("\n".join(said))
        self.caller.tell(step.receipt)
        if self.scene.seed:
            self._tell_in_lines(1, self.scene.seed)

    def _refresh(self) -> None:
        self._update()
        self.console.display.refresh()

    def _tell_in_lines(self, which: int, what: str) -> None:
        """Say a seal (0) or a seed (1) where no scene shows it."""
        if not self.console.is_painted:
            self.console.say(f"|08{self.words.fairness[which]} {what}")


class TableForTime(Alone):
    scene: TableScene
    betting: BettingTime
    # Of each action: its letter and its name in the menu.
    action_keys: Mapping[Any, tuple[str, str]]
    time_up_words: str

    def __init__(
        self,
        caller: Caller,
        kind: Kind,
        settings: StakeSettings,
        scene: type[TableScene],
        best_odds: float,
    ) -> None:
        """`best_odds` is the most that one coin of the opening bet can win."""
        super().__init__(caller, kind, Words())
        self.betting = BettingTime(caller, kind.name, settings, best_odds, self.words)
        self.scene = scene(self.betting.coin, self.betting.turns_limit)
        self.title = self.scene.title

    @property
    def coin(self) -> int:
        """What a coin is worth in the hand on the table, or in the next one."""
        return self.scene.coin

    # For the game.

    def _sentences(self, step: Step) -> list[str]:
        raise NotImplementedError

    def _ending(self, round_: Any) -> Ending:
        """Return how a round that is over ended for the caller."""
        raise NotImplementedError

    def _stake_kind(self, action: Any) -> str:
        """Return what the ledger calls a stake that `action` adds."""
        raise NotImplementedError

    def _question(self, round_: Any) -> str:
        """Return what is asked besides the open actions."""
        return ""

    def _forced(self, actions: Sequence[Any]) -> tuple[Any, str] | None:
        """Return the action that is taken unasked, and why, if nothing else can be paid."""
        return None

    def _watch(self, round_: Any, actions: Sequence[Any]) -> None:
        """Look at a decision that the caller has to take."""

    def _judge(self, action: Any) -> None:
        """Look at a decision that the caller has taken."""

    # The evening.

    async def stand_open_hand(self) -> None:
        self.console.stage(self.scene)
        await self._stand()

    async def _sit_down(self) -> bool:
        self._come_to_table()
        return True

    async def _resume(self) -> bool:
        self._come_to_table()
        self.console.say(self.words.resumed)
        self.scene.tally.turns += 1
        await self._play()
        # What follows is played under the settings of this call.
        self.scene.coin = self.caller.status.coin = self.betting.coin
        return True

    async def _between_hands(self) -> bool:
        if self.betting.turns_are_used:
            self.console.say(self.betting.refusal())
            await self.console.any_key()
            return False
        return await super()._between_hands()

    async def _choose(self) -> str:
        switches = {letter: name for letter, (_kept, name, *_said) in self._switches().items()}
        choices = {
            BET: _("Bet"),
            RULES: _("Rules"),
            FAIRNESS: _("Fairness"),
            **switches,
            BANK: _("Time bank"),
            QUIT: _("Quit"),
        }
        return await self.console.ask(choices, default=BET, cancel=QUIT)

    async def _place(self, bet: int, cut: str) -> None:
        step = await self.play.place(bet * self.betting.coin, self._terms(), cut)
        self.scene.tally.turns += 1
        self._show(step)
        await self.betting.remember(bet)

    async def _decide(self) -> None:
        """Ask what to do, among what cards, rules and pot allow."""
        round_, purse = self.round, self.caller.purse
        actions = [
            each for each in round_.legal() if purse.can_stake(round_.amount(each), self.coin)
        ]
        if (forced := self._forced(actions)) is not None:
            action, why = forced
            self.console.say(f"|07{why}")
        else:
            self._watch(round_, actions)
            keys = {self.action_keys[action][0]: action for action in actions}
            choices = dict(self.action_keys[action] for action in actions)
            action = keys[await self.console.ask(choices, question=self._question(round_))]
        stake = round_.amount(action)
        self._show(await self.play.act(Act(action), stake, self._stake_kind(action)))
        self._judge(action)

    async def _stand(self) -> None:
        self.console.say(f"|14{self.time_up_words}")
        await self.play.stand(self._show)

    def _show(self, step: Step) -> None:
        """Draw the round after a step, and count what it has settled."""
        self.scene.round = step.after
        if step.settlement is not None:
            self.scene.tally.net += step.settlement.won - step.settlement.lost
            if step.settlement.final:
                self.scene.tally.endings[self._ending(step.after)] += 1
        self._bring_up(step, self._sentences(step))

    # Small things.

    def _lay(self, stored: StoredRound) -> None:
        self.scene.coin, self.scene.round = stored.coin, self.round

    def _clear(self) -> None:
        self.scene.round = None

    def _update(self) -> None:
        self.scene.turns = self.caller.purse.turns(self.play.kind.name)
        self.scene.pot = self.caller.purse.pot(self.coin)

    def _follow(self) -> None:
        """Paint the table again when time that ticked has taken a coin from the pot."""
        if self.scene.pot != self.caller.purse.pot(self.coin):
            self._refresh()

    def _statement(self) -> str:
        tally = self.scene.tally
        pushes = wording.counted(tally.endings["push"], "stand-off")
        return tally.told(self.title, "turn", pushes, hand_is_open=self.caller.hand_waits)
