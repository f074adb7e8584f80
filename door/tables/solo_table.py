"""A table where one caller plays alone against the house: sit down, bet, play, get up.

Commit before show: an action and its transfers are durable before the table adopts and draws the
new round. So the books always have what the caller has seen. A game adds its kind, its scene, its
words and the methods under "A game overrides these".
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Protocol

from door import wording
from door.call.markup import lit
from door.call.scene import Scene
from door.errors import TimeUp
from door.games.engine.game import Act
from door.lobby.teller import visit_bank
from door.tables.betting import Betting, BettingTime
from door.tables.fairness import Fairness
from door.tables.fairness_view import read_fairness
from door.tables.play import Deal, Play, Step
from door.tables.scene import BANNER_SECONDS, BIG_WIN, Banner
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
    from door.games.engine.journaled import TableRound
    from door.games.engine.settings import StakeSettings
    from door.tables.scene import Ending, TableScene
    from timebank.wagers.journal import Shoe, StoredRound


_MEANINGS_BETWEEN_HANDS = {BET: N_("Bet on a hand, and have it dealt."), **MEANINGS}
_AWAY = {RULES, FAIRNESS, STRATEGY, BANK}  # keys that cover the table


class FairScene(Scene, Protocol):
    """A scene that shows the seal, the seed and the cut of its shoe."""

    seal: str
    seed: str
    cut: str

    def pot_words(self) -> str:
        """Return pot and turns in a line, for a screen without a panel."""

    def from_behind(self, name: str, unheard: Set[int]) -> Scene:
        """Return a copy for a watcher of the caller `name`."""


class SoloTable(Sitting):
    """A caller who plays alone from a shoe of their own."""

    scene: FairScene
    betting: Betting
    shoe_runs_on = True  # a shoe lasts for several hands, and a shuffle is announced
    new_shoe = N_("The dealer shuffles.")
    cut_on = N_("Cut is on: you'll be asked for a phrase before each shuffle.")

    def __init__(self, caller: Caller, kind: Kind) -> None:
        super().__init__(caller)
        self.play = Play(caller, kind)
        self.header = kind.name
        self._last_shoe_id = 0  # the shoe of the last hand
        self._last_link = 0  # its number in its chain

    @property
    def round(self) -> Any:
        return self.play.round

    @property
    def _is_in_play(self) -> bool:
        """Whether a hand on the table is not over."""
        return self.round is not None and not self.round.over

    # A game overrides these.

    def _rules(self) -> Mapping[str, object]:
        """Return the rules of the next hand in the form of the journal."""
        raise NotImplementedError

    async def _read_rules(self) -> None:
        raise NotImplementedError

    def _lay(self, stored: StoredRound) -> None:
        """Put an open hand on the table, under the stakes of its deal."""
        raise NotImplementedError

    def _clear(self) -> None:
        raise NotImplementedError

    async def _sit_down(self) -> bool:
        """Sit down without an open hand; `False` when the visit is over."""
        raise NotImplementedError

    async def _resume(self) -> bool:
        """Play the open hand; `False` when the visit is over after it."""
        raise NotImplementedError

    async def _choose(self) -> str:
        """Ask for a key between two hands; Q leaves the table."""
        raise NotImplementedError

    async def _place(self, bet: int, cut: str) -> None:
        """Stake the bet and deal; both are durable before a card is shown."""
        raise NotImplementedError

    async def _decide(self) -> None:
        """Ask for the next decision and show its result."""
        raise NotImplementedError

    async def _stand(self) -> None:
        """Play the hand to its end as for a caller whose time is up."""
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
                is_next_sealed=bool(scene.seed),
                last_seal=scene.seal if scene.seed else "",
            )
        return fairness.sealed_ahead(self.caller.record.preferences, shoe, self._last_link)

    @property
    def _switches(self) -> Mapping[str, tuple[str, str, str, str]]:
        """Return the switches by letter: preference, name, message for on, message for off."""
        return {CUT: ("cut", N_("Cut"), self.cut_on, N_("Cut is off."))}

    def _watchable_scene(self) -> FairScene:
        return self.scene

    # The visit.

    async def has_open_hand(self) -> bool:
        """Return whether the caller has an open hand here; put it on the table."""
        stored = await self.play.find_open_round()
        if stored is None or not self._is_in_play or self.play.shoe is None:
            return False
        self.scene.seal, self.scene.cut = self.play.shoe.seal, self.play.shoe.cut or ""
        self._last_shoe_id, self._last_link = self.play.shoe.id, self.play.shoe.link
        self._lay(stored)
        return True

    async def _run_visit(self) -> None:
        if self.round is not None or self._is_in_play or await self.has_open_hand():
            stays = await self._resume()
        else:
            stays = await self._sit_down()
        while stays:
            stays = await self._between_hands()

    async def _between_hands(self) -> bool:
        """Offer the menu once; `False` when the caller leaves the table."""
        if not self.console.screen.is_painted:
            self.console.screen.say(self.scene.pot_words())
        choice = await self._choose()
        await self._serve(choice)
        return choice != QUIT

    async def _serve(self, choice: str) -> None:
        if choice == BET:
            if await self.attempt(self._deal()):
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
            await self.attempt(self._switch(preference, when_on, when_off))
            self._refresh()

    async def _read_fairness(self) -> None:
        """Show seal and seed; between two hands, seal the next shoe first."""
        if not self._is_in_play:
            await self.attempt(self._seal_next())
        fairness = self._fairness()
        await self._step_away(read_fairness(self.caller, self.play.kind.name, fairness))

    async def _seal_next(self) -> bool:
        await self.play.next_shoe(self._rules())
        return True

    async def _step_away(self, to: Awaitable[object]) -> None:
        """Wait for `to`, then repeat the messages about the hand on the table."""
        messages = self.console.display.view().messages if self.caller.hand_waits else ()
        await super()._step_away(to)
        if self.console.screen.is_painted:
            for message in messages:
                self.console.screen.say(message)

    # Before the deal.

    async def _deal(self) -> bool:
        """Seal, cut, bet and deal; `False` when no cards were dealt."""
        self.console.display.forget()  # the messages of the last hand
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
        """Return the shoe of the next hand, sealed before the bet."""
        shoe = await self.play.next_shoe(self._rules())
        is_new = self._last_shoe_id not in (0, shoe.id)
        self._last_shoe_id, self._last_link = shoe.id, shoe.link
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
        """Return the cut of this shoe, "" for none, `None` at Esc."""
        if shoe.position > 0:
            return shoe.cut or ""
        words = await self.choose_cut(shoe)
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
                await self.console.pager.any_key(_("Let's try again."))
        # A key that hurried the cards must not hide their result.
        keyboard = self.console.keyboard
        if self.console.screen.is_painted and (keyboard.next_key() or "").upper() in _AWAY:
            keyboard.forget_keys()

    def _show_receipt(self, step: Step) -> None:
        """Show figures, receipt, and the seed of a finished shoe after a step."""
        if self.play.is_shoe_done and self.play.shoe is not None:
            self.scene.seed = self.play.shoe.seed.hex()
        self._refresh()
        self.caller.tell(step.receipt)

    def _refresh(self) -> None:
        self._update()
        self.console.display.refresh()


class TableForTime(SoloTable):
    """A table for bets of time. Cards appear one by one; any key shows the rest at once."""

    scene: TableScene
    betting: BettingTime
    # By action: letter, name in the menu, meaning.
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
        """One coin of the opening bet wins at most `best_odds` coins."""
        super().__init__(caller, kind)
        self.betting = BettingTime(caller, kind.name, settings, best_odds)
        self.scene = scene(self.betting.coin, self.betting.turns_limit)
        self.title = self.scene.title
        self._shown_refusal = ""  # the last reason shown why no bet can be placed

    @property
    def coin(self) -> int:
        """Seconds that a coin is worth in the hand on the table, or in the next one."""
        return self.scene.coin

    # A game overrides these.

    def _sentence(self, event: Any, step: Step) -> str:
        """Return the message for an event, "" for none; the scene shows the event already."""
        raise NotImplementedError

    @staticmethod
    def seconds(event: Any, scene: Any) -> float:
        """Return how long the scene waits after an event."""
        raise NotImplementedError

    @staticmethod
    def banner(event: Any, after: Any) -> str:
        """Return the banner for a rare event, "" for none."""
        return ""

    @classmethod
    def banner_of(cls, event: Any, hand: TableRound[Any]) -> Banner | None:
        """Return the banner to show before an event of `hand`: for a rare event or a big win."""
        words, coin = cls.banner(event, hand.round), hand.coin
        is_win = hasattr(event, "outcome") and event.won > 0
        if is_win and (event.won >= BIG_WIN * coin or event.returned > hand.bets[0].amount):
            words = words or f"{_('YOU WIN')} +{wording.coin_number(event.won, coin)}"
            return Banner(words, event.won // coin)
        return Banner(words) if words else None

    def _ending(self, round_: Any) -> Ending:
        """Return how a finished round ended for the caller."""
        raise NotImplementedError

    def _stake_kind(self, action: Any) -> str:
        """Return the kind of transfer for a stake that `action` adds."""
        raise NotImplementedError

    def _question(self, round_: Any) -> str:
        """Return a question to show before the actions, "" for none."""
        return ""

    def _meaning(self, action: Any) -> str:
        """Return what the key of `action` does, for its help."""
        return self.action_keys[action][2]

    def _forced_action(self, actions: Sequence[Any]) -> tuple[Any, str] | None:
        """Return an action to take without asking, and why, when the pot allows no other."""
        return None

    def _judge_decision(self, action: Any) -> None:
        """Called after the caller has decided."""

    # The visit.

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
        # The next hands use the settings of this call.
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
        # A caller without time is offered their savings next, below the end of the last hand.
        if refusal and refusal != self._shown_refusal and not self.caller.purse.time_is_up():
            self.console.screen.say(f"|14{refusal}")
        self._shown_refusal = refusal
        labels = {} if refusal else {BET: _("Bet")}
        labels |= {**self._side_choices(), BANK: _("Time bank"), QUIT: _("Quit")}
        default = None if refusal else BET
        return await self.console.prompt.ask(
            # Where no bet is offered, B shows the reason.
            {BET: "", **labels, STRATEGY: _(STRATEGY_LABEL)},
            menu=lit(labels, default),
            brief=self._in_brief(labels, default),
            default=default,
            cancel=QUIT,
            meanings=_MEANINGS_BETWEEN_HANDS,
        )

    def _side_choices(self) -> dict[str, str]:
        """Return the keys that also work during a hand, by letter."""
        switches = {
            letter: _(name) for letter, (_preference, name, *_messages) in self._switches.items()
        }
        return {RULES: _("Rules"), FAIRNESS: _("Fairness"), **switches}

    async def _place(self, bet: int, cut: str) -> None:
        amount = bet * self.betting.coin
        self._set_stake(amount, self.caller.purse.spendable())
        with self.caller.status.suspense():
            step = await self.play.place(amount, self._terms(), cut)
            self.scene.tally.turns += 1
            self.scene.clear()
            self.scene.bet, self.scene.is_dealt = amount, True
            if self.console.screen.is_painted:
                self.console.display.stage(self.scene)  # without the messages of earlier hands
            await self._show(step)
        await self.betting.remember(bet)

    async def _decide(self) -> None:
        """Ask for one of the actions that rules and pot allow, and carry it out."""
        round_, purse = self.round, self.caller.purse
        purse.offer()
        actions = [
            each for each in round_.legal() if purse.can_stake(round_.amount(each), self.coin)
        ]
        if (forced := self._forced_action(actions)) is not None:
            action, why = forced
            self.console.screen.say(f"|07{why}")
        else:
            choice = await self._ask_action(round_, actions)
            by_letter = {self.action_keys[action][0]: action for action in actions}
            if choice not in by_letter:
                await self._serve(choice)
                return
            action = by_letter[choice]
        stake = round_.amount(action)
        self._set_stake(self.scene.bet + stake, self.scene.bet + purse.spendable())
        with self.caller.status.suspense():
            await self._show(await self.play.act(Act(action), stake, self._stake_kind(action)))
        self._judge_decision(action)

    async def _ask_action(self, round_: Any, actions: Sequence[Any]) -> str:
        """Return the letter of an action, or of a key that the menu does not name."""
        choices = {self.action_keys[each][0]: _(self.action_keys[each][1]) for each in actions}
        meanings = {self.action_keys[each][0]: self._meaning(each) for each in actions}
        every = {**self._side_choices(), STRATEGY: _(STRATEGY_LABEL)}
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
        """Show the events of a step with pauses; a key shows the rest at once."""
        for event in step.events:
            if held := self._pause_before(event):
                await self.console.keyboard.beat(held)
            if banner := self.banner_of(event, step.hand):
                await self._show_banner(banner)
            self._show_event(event, step)
            seconds = self._pause_after(self.seconds(event, self.scene))
            if seconds and event is not step.events[-1]:
                await self.console.keyboard.beat(seconds)
        self._finish_step(step)

    def _show_at_once(self, step: Step) -> None:
        for event in step.events:
            self._show_event(event, step)
        self._finish_step(step)

    async def _show_banner(self, banner: Banner) -> None:
        self.scene.banner = banner
        self._repaint()
        await self.console.keyboard.beat(BANNER_SECONDS)
        self.scene.banner = None

    def _show_event(self, event: Any, step: Step) -> None:
        self.scene.follow(event)
        self._repaint()
        if message := self._sentence(event, step):
            self.console.screen.say(message)

    def _finish_step(self, step: Step) -> None:
        """Count the settlement of a step, once its cards are shown."""
        if step.settlement is not None:
            self.scene.tally.net += step.settlement.won - step.settlement.lost
            if step.settlement.final:
                net = step.settlement.won - step.settlement.lost
                self.scene.tally.count(net, self._ending(step.after))
                if not self.console.screen.is_painted:
                    self._say_streak(self.scene.tally)
        self._show_receipt(step)

    # The figures.

    def _lay(self, stored: StoredRound) -> None:
        self.scene.coin = stored.coin
        if self.round is not None:
            self.scene.is_dealt = True
            self.scene.lay(self.round)

    def _clear(self) -> None:
        self.scene.clear()

    def _update(self) -> None:
        """Bring the figures up to date, and repaint the table if they have changed."""
        purse, scene = self.caller.purse, self.scene
        before = scene.turns, scene.pot, scene.switches
        scene.turns = purse.turns(self.play.kind.name)
        scene.pot = purse.pot(self.coin)
        scene.time_left = purse.time_left()
        scene.switches = {
            name: self.caller.prefers(preference)
            for preference, name, *_messages in self._switches.values()
        }
        if (scene.turns, scene.pot, scene.switches) != before:
            scene.invalidate()

    def _refresh(self) -> None:
        self._update()
        self._repaint()

    def _repaint(self) -> None:
        self.scene.invalidate()
        self.console.display.refresh()

    def _on_tick(self) -> None:
        """Update clock and pot, but never while cards are being shown."""
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
