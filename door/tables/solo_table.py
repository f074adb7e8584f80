"""A table where one caller plays alone against the house: sit down, bet, play, get up.

Commit before show: an action and all it moves are durable before the new round is adopted and
drawn, so what a caller has seen is always in the books. A game gives its kind, its scene and its
words; what is left to it stands under "For the game".
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence, Set
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from door.call.markup import lit
from door.call.scene import Scene
from door.errors import TimeUp
from door.games.engine.game import Act
from door.lobby.teller import visit_bank
from door.tables.betting import Betting, BettingTime
from door.tables.fairness import Fairness
from door.tables.fairness_view import read_fairness
from door.tables.play import Deal, Play, Step
from door.tables.scene import BANNER_SECONDS
from door.tables.sitting import Sitting
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
)
from timebank.errors import BooksUnavailable, NotEnough
from timebank.language import N_, _

if TYPE_CHECKING:
    from door.call.caller import Caller
    from door.games.engine.game import Kind
    from door.games.engine.settings import StakeSettings
    from door.tables.scene import Ending, TableScene
    from timebank.wagers.journal import Shoe, StoredRound


class FairScene(Scene, Protocol):
    """A scene that shows what the cards are held against."""

    seal: str
    seed: str
    cut: str

    def standing(self) -> str:
        """Return the figures in a line, for a caller who has no panel to look at."""

    def from_behind(self, name: str, unheard: Set[int]) -> Scene:
        """Return it as it looks now to somebody behind the chair of its caller, who is `name`."""


class Alone(Sitting):
    """A caller alone with a shoe of their own, from hand to hand."""

    scene: FairScene
    betting: Betting
    shoe_runs_on = True  # from hand to hand, so that a shuffle is news
    new_shoe = N_("The dealer shuffles.")
    cut_on = N_("Cut is on: you'll be asked for a phrase before each shuffle.")

    def __init__(self, caller: Caller, kind: Kind) -> None:
        super().__init__(caller)
        self.play = Play(caller, kind)
        self.header = kind.name
        self._shoe_seen = 0  # whose cards they were dealt last
        self._link_seen = 0  # which of its chain's shoes that is

    @property
    def round(self) -> Any:
        return self.play.round

    @property
    def _is_in_play(self) -> bool:
        """Whether a hand is on the table that is not over."""
        return self.round is not None and not self.round.over

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
        scene, shoe = self.scene, self.play.shoe
        if shoe is None or shoe.seal == scene.seal:
            fairness = Fairness(scene.seal, scene.seed, scene.cut)
        else:
            fairness = Fairness(
                shoe.seal,
                scene.seed,
                scene.cut,
                is_sealed_anew=bool(scene.seed),
                last_seal=scene.seal if scene.seed else "",
            )
        return fairness.sealed_ahead(self.caller.record.preferences, shoe, self._link_seen)

    @cached_property
    def _switches(self) -> Mapping[str, tuple[str, str, str, str]]:
        """Return what can be turned on and off: by letter, the preference, its name, and what is
        said when it goes on and off."""
        return {CUT: ("cut", N_("Cut"), self.cut_on, N_("Cut is off."))}

    def _seen_by_others(self) -> FairScene:
        return self.scene

    # The evening at this table.

    async def has_open_hand(self) -> bool:
        """Look for a hand that was left open; it is laid on the table when there is one."""
        stored = await self.play.find_open()
        if stored is None or not self._is_in_play or self.play.shoe is None:
            return False
        self.scene.seal, self.scene.cut = self.play.shoe.seal, self.play.shoe.cut or ""
        self._shoe_seen, self._link_seen = self.play.shoe.id, self.play.shoe.link
        self._lay(stored)
        return True

    async def _evening(self) -> None:
        if self.round is not None or self._is_in_play or await self.has_open_hand():
            stays = await self._resume()
        else:
            stays = await self._sit_down()
        while stays:
            stays = await self._between_hands()

    async def _between_hands(self) -> bool:
        """Offer the menu once; `False` when the caller gets up."""
        if not self.console.screen.is_painted:
            self.console.screen.say(self.scene.standing())
        choice = await self._choose()
        await self._serve(choice)
        return choice != QUIT

    async def _serve(self, choice: str) -> None:
        if choice == BET:
            if await self.tries(self._deal()):
                await self._play()
        elif choice == RULES:
            await self._step_away(self._read_rules())
        elif choice == BANK:
            await self._step_away(visit_bank(self.caller))
        elif choice == FAIRNESS:
            await self._read_fairness()
        elif choice == STRATEGY:
            await self._read_strategy()
        elif choice in self._switches:
            preference, _name, when_on, when_off = self._switches[choice]
            await self.tries(self._switch(preference, when_on, when_off))
            self._refresh()

    async def _read_fairness(self) -> None:
        """Show what the cards are held against; between two hands the next shoe is sealed first."""
        if not self._is_in_play:
            await self.tries(self._seal_next())
        fairness = self._fairness()
        await self._step_away(read_fairness(self.caller, self.play.kind.name, fairness))

    async def _seal_next(self) -> bool:
        await self.play.next_shoe(self._rules())
        return True

    async def _step_away(self, to: Awaitable[object]) -> None:
        """Come back to what was said of the hand on the table."""
        said = self.console.display.view().said if self.caller.hand_waits else ()
        await super()._step_away(to)
        if self.console.screen.is_painted:
            for message in said:
                self.console.screen.say(message)

    # Before the deal.

    async def _deal(self) -> bool:
        """Seal, cut, bet, cards; `False` when none were dealt."""
        if refusal := self.betting.refusal():
            self.console.screen.say(f"|12{refusal}")
            return False
        cut = await self._ask_cut(await self._lay_shoe())
        bet = None if cut is None else await self.betting.ask()
        if cut is None or bet is None:
            self.console.screen.say(f"|07{_('No bet.')}")
            return False
        await self._place(bet, cut)
        return True

    async def _lay_shoe(self) -> Shoe:
        """Take the shoe that the next hand comes from, sealed before the bet."""
        shoe = await self.play.next_shoe(self._rules())
        is_new = self._shoe_seen not in (0, shoe.id)
        self._shoe_seen, self._link_seen = shoe.id, shoe.link
        if is_new and self.shoe_runs_on:
            self.console.screen.say(f"|07{_(self.new_shoe)}")
        self.scene.seal, self.scene.seed, self.scene.cut = shoe.seal, "", shoe.cut or ""
        self._clear()
        self._refresh()
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
        words = await self.cut_for(shoe)
        if words is not None:
            self.scene.cut = words
        return words

    # The hand.

    async def _play(self) -> None:
        while self._is_in_play:
            try:
                await self._decide()
            except TimeUp:
                await self._stand()
            except NotEnough as refused:
                self.console.screen.say(f"|12{refused}")
            except BooksUnavailable:
                self.books_unavailable()
                await self.console.pager.any_key(_("Press any key to try again"))

    def _bring_up(self, step: Step) -> None:
        """Show figures and purse after a step, and the seed of a shoe that is done."""
        if self.play.is_shoe_done and self.play.shoe is not None:
            self.scene.seed = self.play.shoe.seed.hex()
        self._refresh()
        self.caller.tell(step.receipt)

    def _refresh(self) -> None:
        self._update()
        self.console.display.refresh()


class TableForTime(Alone):
    """A table where time is bet: its cards are dealt one by one, and any key skips the rest."""

    scene: TableScene
    betting: BettingTime
    # Of each action: its letter, its name in the menu, and what it does.
    action_keys: Mapping[Any, tuple[str, str, str]]
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
        super().__init__(caller, kind)
        self.betting = BettingTime(caller, kind.name, settings, best_odds)
        self.scene = scene(self.betting.coin, self.betting.turns_limit)
        self.title = self.scene.title
        self._refusal_told = ""  # why no bet can be placed, as long as it holds

    @property
    def coin(self) -> int:
        """What a coin is worth in the hand on the table, or in the next one."""
        return self.scene.coin

    # For the game.

    def _sentence(self, event: Any, step: Step) -> str:
        """Return what is said of an event, "" for nothing; the scene has followed it already."""
        raise NotImplementedError

    @staticmethod
    def seconds(event: Any, scene: Any) -> float:
        """Return how long one looks at what an event has changed on the scene."""
        raise NotImplementedError

    @staticmethod
    def banner(event: Any, after: Any) -> str:
        """Return what is written across the felt when something great happens, else ""."""
        return ""

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
        self.console.display.stage(self.scene)
        await self._stand()

    async def _sit_down(self) -> bool:
        if self.betting.turns_are_used:
            await self.console.pager.read(self.title, f"|14{self.betting.refusal()}")
            return False
        self._come_to_table()
        return True

    async def _resume(self) -> bool:
        self._come_to_table()
        self.console.screen.say(f"|14{_(self.resumed)}")
        if self.round is not None:
            self.scene.tally.turns += 1
        await self._play()
        # What follows is played under the settings of this call.
        self.scene.coin = self.caller.status.coin = self.betting.coin
        self._refresh()
        return True

    async def _between_hands(self) -> bool:
        if self.betting.turns_are_used:
            self.console.screen.say(f"|14{self.betting.last_turn()}")
            await self.console.pager.any_key()
            return False
        return await super()._between_hands()

    async def _choose(self) -> str:
        refusal = self.betting.refusal()
        if refusal and refusal != self._refusal_told:
            self.console.screen.say(f"|14{refusal}")
        self._refusal_told = refusal
        rest = {**self._aside(), BANK: _("Time bank"), QUIT: _("Quit")}
        bet = {} if refusal else {BET: _("Bet")}
        return await self.console.prompt.ask(
            # Where no bet is offered, B says why.
            {BET: "", **bet, **rest, **self._silent()},
            menu=lit({**bet, **rest}, None if refusal else BET),
            default=None if refusal else BET,
            cancel=QUIT,
            meanings={BET: N_("Bet on a hand, and have it dealt."), **MEANINGS},
        )

    def _aside(self) -> dict[str, str]:
        """Return what can be asked for in a hand too, by letter."""
        switches = {letter: _(name) for letter, (_kept, name, *_said) in self._switches.items()}
        return {RULES: _("Rules"), FAIRNESS: _("Fairness"), **switches}

    def _silent(self) -> dict[str, str]:
        """Return what no menu has room for, and the help names."""
        return {} if self.strategy is None else {STRATEGY: _(STRATEGY_LABEL)}

    async def _place(self, bet: int, cut: str) -> None:
        amount = bet * self.betting.coin
        with self.caller.status.suspense():
            step = await self.play.place(amount, self._terms(), cut)
            self.scene.tally.turns += 1
            self.scene.clear()
            self.scene.bet, self.scene.is_dealt = amount, True
            self._forget_last_hand()
            await self._show(step)
        await self.betting.remember(bet)

    def _forget_last_hand(self) -> None:
        """Clear away what was said of earlier hands; the news of this one needs the room."""
        if self.console.screen.is_painted:
            self.console.display.stage(self.scene)

    async def _decide(self) -> None:
        """Ask what to do, among what cards, rules and pot allow."""
        round_, purse = self.round, self.caller.purse
        actions = [
            each for each in round_.legal() if purse.can_stake(round_.amount(each), self.coin)
        ]
        if (forced := self._forced(actions)) is not None:
            action, why = forced
            self.console.screen.say(f"|07{why}")
        else:
            self._watch(round_, actions)
            choice = await self._ask_action(round_, actions)
            by_letter = {self.action_keys[action][0]: action for action in actions}
            if choice not in by_letter:
                await self._serve(choice)
                return
            action = by_letter[choice]
        stake = round_.amount(action)
        with self.caller.status.suspense():
            await self._show(await self.play.act(Act(action), stake, self._stake_kind(action)))
        self._judge(action)

    async def _ask_action(self, round_: Any, actions: Sequence[Any]) -> str:
        """Return the letter of an action, or of something aside, which the prompt does not name."""
        keys = [self.action_keys[action] for action in actions]
        choices = {letter: _(name) for letter, name, _meaning in keys}
        meanings = {letter: meaning for letter, _name, meaning in keys}
        every = {**self._aside(), **self._silent()}
        aside = {letter: name for letter, name in every.items() if letter not in choices}
        return await self.console.prompt.ask(
            {**choices, **aside},
            question=self._question(round_),
            menu=lit(choices),
            meanings={**MEANINGS, **meanings},
        )

    async def _stand(self) -> None:
        self.console.screen.say(f"|14{_(self.time_up_words)}")
        await self.play.stand(self._show_at_once)

    async def _show(self, step: Step) -> None:
        """Let a step happen, a moment after each thing; a key cuts short all that is left."""
        for event in step.events:
            if banner := self.banner(event, step.after):
                await self._wave(banner)
            self._happen(event, step)
            seconds = self.seconds(event, self.scene)
            if seconds and event is not step.events[-1]:
                await self.console.keyboard.beat(seconds)
        self._shown(step)

    def _show_at_once(self, step: Step) -> None:
        for event in step.events:
            self._happen(event, step)
        self._shown(step)

    async def _wave(self, banner: str) -> None:
        self.scene.banner = banner
        self._repaint()
        await self.console.keyboard.beat(BANNER_SECONDS)
        self.scene.banner = ""

    def _happen(self, event: Any, step: Step) -> None:
        self.scene.follow(event)
        self._repaint()
        if said := self._sentence(event, step):
            self.console.screen.say(said)

    def _shown(self, step: Step) -> None:
        """Count what a step has settled, once its cards lie there."""
        if step.settlement is not None:
            self.scene.tally.net += step.settlement.won - step.settlement.lost
            if step.settlement.final:
                self.scene.tally.endings[self._ending(step.after)] += 1
        self._bring_up(step)

    # Small things.

    def _lay(self, stored: StoredRound) -> None:
        self.scene.coin = stored.coin
        if self.round is not None:
            self.scene.is_dealt = True
            self.scene.lay(self.round)

    def _clear(self) -> None:
        self.scene.clear()

    def _update(self) -> None:
        """Bring the figures up to date; a table that shows others already is painted anew."""
        purse, scene = self.caller.purse, self.scene
        before = scene.turns, scene.pot, scene.switches
        scene.turns = purse.turns(self.play.kind.name)
        scene.pot = purse.pot(self.coin)
        scene.time_left = purse.time_left()
        scene.switches = {
            name: self.caller.prefers(preference)
            for preference, name, *_said in self._switches.values()
        }
        if (scene.turns, scene.pot, scene.switches) != before:
            scene.changed()

    def _refresh(self) -> None:
        self._update()
        self._repaint()

    def _repaint(self) -> None:
        self.scene.changed()
        self.console.display.refresh()

    def _follow(self) -> None:
        """Let the clock tick, and the pot with it; but never let figures run ahead of the cards."""
        if self.caller.status.waits:
            return
        purse, scene = self.caller.purse, self.scene
        if scene.pot != purse.pot(self.coin):
            self._refresh()
        elif scene.time_left != (left := purse.time_left()):
            scene.time_left = left
            self.console.display.refresh_clock(scene)

    def _statement(self) -> str:
        return self.scene.tally.summed_up(self.title, hand_is_open=self.caller.hand_waits)
