"""Baccarat as a caller meets it: for time or to break the bank, in English or in French.

Commit before show: a step and all it moves are durable before its cards are slid across the
baize. The rules are the engine's; this room asks, says what the croupier says, and waits a moment
between two cards, which any key cuts short.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, get_args

from door.call.console import lit
from door.call.display import literal
from door.games.baccarat import dialogue as tongue
from door.games.baccarat import words
from door.games.baccarat.dialogue import dialogue
from door.games.baccarat.events import BaccaratDealt, BaccaratSettled, Event, Side
from door.games.baccarat.game import BaccaratSettings, Language
from door.games.baccarat.kind import BACCARAT_KIND
from door.games.baccarat.round import BaccaratAction, BaccaratRound
from door.games.baccarat.rules import RESHUFFLE_AT
from door.games.baccarat.scene import BaccaratScene, celebrate
from door.games.baccarat.stakes import GAME, BaccaratStakes, ForTheBank, ForTime, statement
from door.games.baccarat.words import read_rules
from door.games.engine.game import Act
from door.games.tables.alone import Alone
from door.games.tables.play import Step
from door.games.tables.words import turns_today
from timebank.errors import BooksUnavailable, Refused
from timebank.wagers import play_money
from timebank.words import money

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.games.baccarat.dialogue import Dialogue
    from timebank.wagers.journal import StoredRound
    from timebank.words import Unit

SLIDE_SECONDS = 0.3  # for a card out of the shoe
CALL_SECONDS = 0.8  # for what is called


class BaccaratTable(Alone):
    """One caller's visit. The language, what is played for and the last wagers are remembered."""

    title = "Baccarat"
    words: Dialogue
    scene: BaccaratScene
    betting: BaccaratStakes

    def __init__(self, caller: Caller) -> None:
        self.settings = BaccaratSettings.of(caller.config.games)
        kept = _kept(caller).get("language")
        known: tuple[Language, ...] = get_args(Language)
        language = next((each for each in known if each == kept), self.settings.language)
        super().__init__(caller, BACCARAT_KIND, dialogue(language, caller.console.look.charset))
        self.scene = BaccaratScene(self.words)
        self.for_time = ForTime(caller, self.settings, self.words)
        self.for_the_bank: dict[Unit, ForTheBank] = {}
        self.betting = self.for_time
        self.wager: int | None = None  # on the table, in the unit of the stakes

    @property
    def round(self) -> BaccaratRound | None:
        coup: BaccaratRound | None = self.play.round
        return coup

    @property
    def coin(self) -> int:
        """What a coin is worth for time, in the coup on the table or in the next one."""
        return self.for_time.coin

    # The evening at this table.

    async def stand_open_hand(self) -> None:
        """Take no card in the coup that `has_open_hand` found, for a caller without time."""
        await self._lay_out()
        await self._stand()

    def _lay(self, stored: StoredRound) -> None:
        assert self.round is not None  # it was found
        if stored.unit == "second":
            self.for_time.coin = stored.coin
        else:
            self._speak("french" if stored.unit == "frf-cent" else "english")
            self._play_for_the_bank(stored.unit)
        self.wager = self.round.stake
        self.scene.lay(self.round)

    async def _lay_out(self) -> None:
        if isinstance(self.betting, ForTheBank):
            await self.betting.face()
        self._come_to_table()

    async def _resume(self) -> bool:
        await self._lay_out()
        self.console.say(self.words.resumed)
        await self._play()
        self.for_time.coin = self.caller.status.coin = self.settings.coin_minutes * 60
        if isinstance(self.betting, ForTheBank):
            # They are back, and the bank has recovered; but not from a coup that has just broken
            # it.
            self.betting.is_faced = self.betting.is_broken
        return await self._meet_the_bank() is not None

    async def _sit_down(self) -> bool:
        return await self._choose_mode() and await self._take_place()

    async def _choose_mode(self) -> bool:
        """Ask a caller who has never said so what they play for; `False` when they leave."""
        mode = _kept(self.caller).get("mode")
        if mode not in self.words.modes:
            self.console.stage(self.scene)
            mode = await self.console.ask(
                {**self.words.modes, tongue.QUIT: self.words.menu[tongue.QUIT]},
                question=self.words.ask_mode,
                cancel=tongue.QUIT,
            )
            if mode == tongue.QUIT or not await self._tries(self._keep(mode=str(mode))):
                return False
        self._use_mode(str(mode))
        return True

    def _use_mode(self, mode: str) -> None:
        """Play for time, or for the bank in the money of the language, from now on."""
        self.wager = None  # that of the last coup was in another unit
        if mode == tongue.FOR_TIME:
            self.betting = self.for_time
        else:
            self._play_for_the_bank(self.words.unit)

    def _play_for_the_bank(self, unit: Unit) -> None:
        fresh = ForTheBank(self.caller, unit, self.words)
        self.betting = self.for_the_bank.setdefault(unit, fresh)

    async def _take_place(self) -> bool:
        """Lay out what is played for, with a sealed shoe; `False` when the books cannot."""
        welcome = await self._meet_the_bank()
        if welcome is None:
            return False
        self._come_to_table()
        if welcome:
            self.console.say(welcome)
        return True

    async def _meet_the_bank(self) -> str | None:
        """Have a shoe on the table, and a bank that is faced where it is played for; return what
        the croupier says to that, `None` when the books cannot."""
        try:
            if self.play.shoe is None:
                await self._lay_shoe()
            if isinstance(self.betting, ForTheBank) and not self.betting.is_faced:
                return await self.betting.face()
        except BooksUnavailable:
            self.books_unavailable()
            await self.console.any_key(self.words.any_key)
            return None
        return ""

    # Between two coups.

    async def _choose(self) -> str:
        # Closer together than usual: there are many of them.
        menu = lit(self.words.menu).replace("  ", " ")
        return await self.console.ask(
            self.words.menu, menu=menu, default=tongue.PLACE, cancel=tongue.QUIT
        )

    async def _serve(self, choice: str) -> None:
        if choice == tongue.MODE:
            mode = tongue.FOR_THE_BANK if self.betting is self.for_time else tongue.FOR_TIME
            if await self._tries(self._keep(mode=mode)):
                self._use_mode(mode)
                await self._take_place()
        elif choice == tongue.LANGUAGE:
            language: Language = "french" if self.words.language == "english" else "english"
            if await self._tries(self._keep(language=language)):
                self._speak(language)
                if self.betting is not self.for_time:
                    self._use_mode(tongue.FOR_THE_BANK)
                await self._take_place()
        elif choice == tongue.SHOE:
            told = self.words.left.format(cards=self.play.cards_left, last=RESHUFFLE_AT)
            self.console.say(self.words.shoe_done if self.play.is_shoe_done else told)
        else:
            await super()._serve(choice)

    async def _keep(self, **habits: str) -> bool:
        await self.caller.remember({GAME: {**_kept(self.caller), **habits}})
        return True

    # Before the deal.

    async def _deal(self) -> bool:
        stakes = self.betting
        try:
            if isinstance(stakes, ForTheBank) and not stakes.bankroll:
                self.console.say(await stakes.renew())
                if not stakes.bankroll:
                    return False
            return await super()._deal()
        except (Refused, BooksUnavailable):
            self.wager = None
            raise

    async def _place(self, bet: int, cut: str) -> None:
        stakes = self.betting
        amount = bet * stakes.coin
        banco = isinstance(stakes, ForTheBank) and amount == stakes.casino
        self.wager = amount
        self._update()
        with self.caller.status.suspense():
            step = await self.play.place(amount, self._terms(), cut)
            if banco:
                self.console.say(self.words.banco)
            self.console.say(self.words.no_more_bets)
            await stakes.remember(bet)
            await self._show(step)

    # The coup.

    async def _play(self) -> None:
        await super()._play()
        stakes = self.betting
        if isinstance(stakes, ForTheBank) and (gone := stakes.gone()):
            self.console.say(gone)
        elif isinstance(stakes, ForTheBank) and stakes.is_broken:
            name = literal(self.caller.record.name)
            await celebrate(self.console, self.words, stakes, name)
            self.console.stage(self.scene)

    async def _decide(self) -> None:
        """Let the seed decide for the bank, where it tosses for it, or the player on a 5."""
        with self.caller.status.suspense():
            step = await self.play.toss()
            if step is not None:
                self.console.say(self.words.toss)
                await self._show(step)
                return
        assert self.round is not None  # it is the player's turn
        self.console.say(f"|07{words.call(self.words, Side.PLAYER, self.round.player_point)}.")
        choice = await self.console.ask(self.words.card_choices, question=self.words.ask_card)
        action = BaccaratAction.CARD if choice == tongue.CARD else BaccaratAction.NO_CARD
        with self.caller.status.suspense():
            await self._show(await self.play.act(Act(action), 0, ""))

    async def _stand(self) -> None:
        await self.play.stand(self._show_at_once)
        self.console.say(self.words.time_up)

    async def _show(self, step: Step) -> None:
        """Let a step happen; on a painted screen a moment passes after each thing."""
        for event in step.events:
            self._happen(event)
            if self.console.is_painted:
                slid = isinstance(event, BaccaratDealt)
                await self.console.pause(SLIDE_SECONDS if slid else CALL_SECONDS)
        self._shown(step)

    def _show_at_once(self, step: Step) -> None:
        for event in step.events:
            self._happen(event)
        self._shown(step)

    def _happen(self, event: Event) -> None:
        self.scene.follow(event)
        if isinstance(event, BaccaratSettled):
            tally = self.betting.tally
            tally.turns += 1
            tally.net += event.won - event.lost
            tally.endings[event.outcome] += 1
        self.console.display.refresh()
        # A card on a painted table speaks for itself.
        if not (self.console.is_painted and isinstance(event, BaccaratDealt)):
            self.console.say(words.sentence(self.words, event, self.betting.amount))

    def _shown(self, step: Step) -> None:
        self.betting.follow(step.receipt)
        self._bring_up(step)

    # Small things.

    def _rules(self) -> Mapping[str, object]:
        return asdict(self.settings.rules)

    async def _read_rules(self) -> None:
        await read_rules(self.console, self.settings, self.words)

    def _clear(self) -> None:
        self.scene.clear()
        self.wager = None

    def _speak(self, language: Language) -> None:
        self.words = dialogue(language, self.console.look.charset)
        self.scene.said = self.words
        for stakes in (self.for_time, *self.for_the_bank.values()):
            stakes.words = self.words

    def _update(self) -> None:
        self.scene.played = self.betting.played()
        self.scene.figures = self.betting.figures(self.wager)

    def _follow(self) -> None:
        """Paint the table again when time that ticked has taken a coin from the pot; but never
        let figures run ahead of the cards."""
        before = self.scene.figures
        if not self.caller.status.waits:
            self._update()
        if self.scene.figures != before:
            self.console.display.refresh()

    def _statement(self) -> str:
        every: tuple[BaccaratStakes, ...] = (self.for_time, *self.for_the_bank.values())
        return " ".join(filter(None, map(statement, every)))


def _kept(caller: Caller) -> Mapping[str, object]:
    kept = caller.record.preferences.get(GAME)
    return kept if isinstance(kept, dict) else {}


def sit_down(board: Board, caller: Caller) -> BaccaratTable:
    return BaccaratTable(caller)


async def menu_words(board: Board, caller: Caller) -> str:
    has = await caller.ask_books(lambda desk: play_money.bankrolls(desk, caller.record.id))
    held = ", ".join(money(amount, unit) for unit, amount in sorted(has.items()))
    turns = turns_today(caller, BACCARAT_KIND.name, BaccaratSettings.of(board.config.games))
    return f"{held or 'to break the bank'}; {turns}"
