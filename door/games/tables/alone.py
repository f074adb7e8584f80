"""A table where one caller plays alone against the house for time: sit down, bet, play, get up.

Commit before show: an action and all it moves are durable before the new round is adopted and
drawn, so what a caller has seen is always in the books. The rules are the engine's; the table only
asks, leaves out what the pot cannot pay, and says what happened.

A game gives its kind, its scene and its words; what is left to it stands under "For the game".
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from door import wording
from door.errors import TimeUp
from door.games.engine import shuffle
from door.games.engine.game import Act
from door.games.tables.betting import Betting
from door.games.tables.play import Bet, Play, Step
from door.lobby.teller import visit_bank
from timebank.errors import BooksUnavailable, CallClosed, NotEnough, Refused

if TYPE_CHECKING:
    from door.call.caller import Caller
    from door.games.engine.game import Kind
    from door.games.engine.settings import StakeSettings
    from door.games.tables.scene import TableScene
    from timebank.wagers.journal import Shoe

LONGEST_CUT = 60
CUT_WORDS = (
    "you are not asked to cut the cards before each shuffle",
    "you are asked for a few words that cut the cards before each shuffle",
)

Ending = Literal["won", "lost", "push"]

log = logging.getLogger("door.tables")


class TableForTime:
    """One caller's visit to a table."""

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
        """Lay the table for `caller`, under the settings of the call.

        `best_odds` is the most that one coin of the opening bet can win.
        """
        self.caller = caller
        self.console = caller.console
        self.coin = settings.coin_minutes * 60
        self.house = settings
        self.betting = Betting(caller, kind.name, settings, best_odds)
        self.limit = settings.turns_per_day or None
        self.scene = scene(self.coin, self.limit)
        self.play = Play(caller, kind)

    @property
    def round(self) -> Any:
        """The hand on the table."""
        return self.play.round

    # For the game.

    def rules(self) -> Mapping[str, object]:
        """Return the rules of the next hand, as a journal keeps them."""
        raise NotImplementedError

    def shoe_runs_on(self) -> bool:
        """Return whether a shoe is dealt from for more than one hand, so that a shuffle is news."""
        raise NotImplementedError

    async def read_rules(self) -> None:
        """Show the rules of this table."""
        raise NotImplementedError

    def sentences(self, step: Step) -> list[str]:
        """Return what is said of a step."""
        raise NotImplementedError

    def ending(self, round_: Any) -> Ending:
        """Return how a round that is over ended for the caller."""
        raise NotImplementedError

    def stake_kind(self, action: Any) -> str:
        """Return what the ledger calls a stake that `action` adds."""
        raise NotImplementedError

    def question(self, round_: Any) -> str:
        """Return what is asked besides the open actions."""
        return ""

    def forced(self, actions: Sequence[Any]) -> tuple[Any, str] | None:
        """Return the action that is taken unasked, and why, if nothing else can be paid."""
        return None

    def watch(self, round_: Any, actions: Sequence[Any]) -> None:
        """Look at a decision that the caller has to take."""

    def judge(self, action: Any) -> None:
        """Look at a decision that the caller has taken."""

    def switches(self) -> Mapping[str, tuple[str, str, tuple[str, str]]]:
        """Return what the caller can turn on and off: by letter, the preference, its name, and
        what holds when it is off and on."""
        return {"C": ("cut", "Cut", CUT_WORDS)}

    # The evening at this table.

    async def visit(self) -> None:
        """Stay until the caller gets up, or something ends the call."""
        self.caller.place = self.scene.title
        if self.round is None:
            await self._find_open_hand()
        self.caller.status.coin = self.coin
        self._look()
        self.console.stage(self.scene)
        before = self.caller.clock.on_tick
        self.caller.clock.on_tick = self._follow_pot
        try:
            if self.round is not None:
                self.console.say("|14The hand you left is still on the table.")
                self.scene.sitting.turns += 1
                await self._play()
                self._use_settings()
            while await self._between_hands():
                pass
        finally:
            self.caller.clock.on_tick = before
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
        """Offer the game menu once; `False` when the caller gets up or the turns are used."""
        self._look()
        self.console.display.refresh()
        if self.limit is not None and self.scene.turns >= self.limit:
            self.console.say(f"|14That was your last turn for today: {self.limit} a day.")
            await self.console.any_key()
            return False
        if not self.console.is_painted:
            self.console.say(self.scene.standing())
        switches = {
            letter: f"{name} is {'on' if self._has(preference) else 'off'}"
            for letter, (preference, name, _) in self.switches().items()
        }
        choices = {"P": "Place Bet", "R": "Rules", **switches, "T": "Time bank"}
        choice = await self.console.ask({**choices, "Q": "Quit"}, default="P", cancel="Q")
        if choice == "P":
            await self._turn()
        elif choice == "R":
            await self.read_rules()
            self.console.stage(self.scene)
        elif choice == "T":
            await self._go_to_the_bank()
        elif choice in switches:
            preference, _, words = self.switches()[choice]
            await self._switch(preference, words)
        return choice != "Q"

    async def _go_to_the_bank(self) -> None:
        """Let the caller step over to the bank's window, and come back to this table."""
        await visit_bank(self.caller)
        self.caller.place = self.scene.title
        self._look()
        self.console.stage(self.scene)

    async def _switch(self, preference: str, words: tuple[str, str]) -> None:
        """Turn something of the caller's on or off, and say what holds from now on."""
        on = self._has(preference)
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
        shoe = await self.play.next_shoe(self.rules())
        if self.shoe_runs_on() and old is not None and old.id != shoe.id:
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
        if not self._has("cut"):
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
            rules=self.rules(),
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
                self.judge(action)
            except TimeUp:
                await self._stand()
            except NotEnough as refused:
                self.console.say(f"|12{refused}")
            except BooksUnavailable:
                self._books_unavailable()
                await self.console.any_key("|07Press any key to try again")

    async def _decide(self, round_: Any) -> Any:
        """Ask what to do, among what cards, rules and pot allow."""
        actions = [action for action in round_.legal() if self._can_pay(round_, action)]
        if (forced := self.forced(actions)) is not None:
            action, why = forced
            self.console.say(f"|07{why}")
            return action
        self.watch(round_, actions)
        keys = {self.action_keys[action][0]: action for action in actions}
        choices = {self.action_keys[action][0]: self.action_keys[action][1] for action in actions}
        return keys[await self.console.ask(choices, question=self.question(round_))]

    def _can_pay(self, round_: Any, action: Any) -> bool:
        amount = round_.amount(action)
        return not amount or self.caller.purse.spendable() - amount >= self.coin

    async def _act(self, action: Any) -> None:
        """Carry out one action: pure first, then durable, then adopted and drawn."""
        stake = self.round.amount(action)
        self._show(await self.play.act(Act(action), stake, self.stake_kind(action)))

    async def _stand(self) -> None:
        """Play the hand out, as happens to a caller who has no time left."""
        self.console.say(f"|14{self.time_up_words}")
        await self.play.stand(self._show)

    def _show(self, step: Step) -> None:
        """Draw the round after a step."""
        after = step.after
        self.scene.round = after
        self._count(step)
        if after.over:
            self._reveal_seed()
        self._look()
        self.console.display.refresh()
        if said := self.sentences(step):
            self.console.say("\n".join(said))
        self.caller.tell(step.receipt)
        if after.over and not self.console.is_painted and self.scene.seed:
            self.console.say(f"|08Seed {self.scene.seed}")

    def _count(self, step: Step) -> None:
        settlement, sitting = step.settlement, self.scene.sitting
        if settlement is None:
            return
        sitting.won += settlement.won
        sitting.lost += settlement.lost
        if settlement.final:
            ending = self.ending(step.after)
            sitting.wins += ending == "won"
            sitting.losses += ending == "lost"
            sitting.pushes += ending == "push"

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
        self.coin = self.scene.coin = self.play.coin
        self.scene.round = self.round
        if self.play.shoe is not None:
            self.scene.seal, self.scene.cut = self.play.shoe.seal, self.play.shoe.cut or ""

    def _use_settings(self) -> None:
        """Play on under the settings of this call, after a hand dealt under those of its day."""
        self.coin = self.scene.coin = self.caller.status.coin = self.house.coin_minutes * 60

    def _look(self) -> None:
        """Bring the figures of the scene up to date."""
        self.scene.turns = self.caller.purse.turns(self.play.kind.name)
        self.scene.pot = self.caller.purse.pot(self.coin)

    def _follow_pot(self) -> None:
        """Paint the table again when time that ticked has taken a coin from the pot."""
        if self.scene.pot != self.caller.purse.pot(self.coin):
            self._look()
            self.console.display.refresh()

    def _close_statement(self) -> None:
        """Say how the caller did: the brief statement of the help file, for the good-bye."""
        sitting = self.scene.sitting
        if not sitting.turns:
            return
        result = wording.leaves_table(sitting.net, hand_is_open=self.caller.hand_waits)
        turns = wording.counted(sitting.turns, "turn")
        self.caller.statement = (
            f"{self.scene.title}: {turns}, {sitting.wins} won, {sitting.losses} lost, "
            f"{wording.counted(sitting.pushes, 'stand-off')}; {result}."
        )

    def _has(self, preference: str) -> bool:
        return self.caller.record.preferences.get(preference) is True

    def _books_unavailable(self) -> None:
        log.warning("books unavailable at the table of %s", self.caller.record.name)
        self.console.say("|12The books cannot be written just now. Nothing has changed.")
