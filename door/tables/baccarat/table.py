"""Baccarat as a caller meets it: for time or to break the bank, in English or in French.

Commit before show: a step and all it moves are durable before its cards are slid across the
baize. The rules are the engine's; this room asks, says what the croupier says, and waits a moment
between two cards, which any key cuts short.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from door.call.markup import lit
from door.call.scene import LAYOUT_COLUMNS
from door.games.baccarat.events import (
    BaccaratDealt,
    BaccaratDrew,
    BaccaratOutcome,
    BaccaratRevealed,
    BaccaratSettled,
    Event,
    Side,
)
from door.games.baccarat.game import BACCARAT_KIND, BaccaratSettings
from door.games.baccarat.round import BaccaratAction, BaccaratRound
from door.games.baccarat.rules import RESHUFFLE_AT
from door.games.engine.game import Act
from door.tables.baccarat import words
from door.tables.baccarat.book import advice
from door.tables.baccarat.scene import MAX_COUPS, ON_PLATE, BaccaratScene, celebrate
from door.tables.baccarat.stakes import GAME, BaccaratStakes, ForTheBank, ForTime, statement
from door.tables.play import Step
from door.tables.scene import BIG_WIN
from door.tables.solo_table import SoloTable
from door.tables.strategy import TableCard
from door.tables.words import (
    BET,
    CUT,
    FAIRNESS,
    QUIT,
    RULES,
    STRATEGY,
    STRATEGY_LABEL,
    turns_today,
)
from timebank.callers import awards
from timebank.callers.award_names import BANK
from timebank.errors import BooksUnavailable, Refused
from timebank.language import ENGLISH, LANGUAGES, N_, _, ngettext
from timebank.wagers import journal, play_money
from timebank.words import money

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from timebank.wagers.journal import StoredRound
    from timebank.words import Unit

SLIDE_SECONDS = 0.25  # after a card
CALL_SECONDS = 0.8  # after a call of the croupier
FRENCH = "fr"
FOR_THE_BANK = "B"  # in older preferences: the play money of the screen's language
# The names in sysop.toml and in older preferences.
_NAMED = {"english": ENGLISH, "french": FRENCH}


class BaccaratTable(SoloTable):
    """One caller's visit. Preferences keep the language, the mode and the last wagers."""

    title = "Baccarat"
    new_shoe = N_("The cards are shuffled: a new shoe.")
    cut_on = N_("Cut is on: you'll be asked for a phrase before each new shoe.")
    resumed = N_("The coup you left is still on the table.")
    held = (BaccaratRevealed, BaccaratDrew)
    scene: BaccaratScene
    betting: BaccaratStakes

    def __init__(self, board: Board, caller: Caller) -> None:
        self.settings = BaccaratSettings.among(caller.config.games)
        self.strategy = TableCard(board, GAME, self.settings.rules)
        super().__init__(caller, BACCARAT_KIND)
        self.scene = BaccaratScene()
        self.for_time = ForTime(caller, self.settings)
        self.for_the_bank: dict[Unit, ForTheBank] = {}
        self.betting = self.for_time
        self.wager: int | None = None  # on the table, in the unit of the stakes
        self._shown_refusal = ""  # the last reason shown why no bet for time can be placed
        self._is_scoreboard_loaded = False  # with the brass plate

    @property
    def round(self) -> BaccaratRound | None:
        coup: BaccaratRound | None = self.play.round
        return coup

    @property
    def coin(self) -> int:
        """Seconds that a coin for time is worth in the coup on the table or in the next one."""
        return self.for_time.coin

    # The language.

    async def visit(self) -> None:
        with self._spoken():
            await super().visit()

    @contextlib.contextmanager
    def _spoken(self) -> Iterator[None]:
        """Speak the language of this table until the end, unless the caller has chosen one."""
        viewer = self.console.viewer
        before, viewer.language = viewer.language, self._language()
        self.caller.status.show()
        try:
            yield
        finally:
            if self._chosen() is None and viewer.language != before:
                viewer.language = before
                self.caller.status.show()

    def _chosen(self) -> str | None:
        chosen = self.caller.record.preferences.get("language")
        return str(chosen) if chosen in LANGUAGES else None

    def _language(self) -> str:
        """Return the caller's choice for all rooms, else an older choice for this table, else the
        language that the sysop has set for it."""
        saved = _NAMED.get(str(_preferences(self.caller).get("language")))
        house = _NAMED.get(self.settings.language)
        return self._chosen() or saved or house or self.console.viewer.language

    @property
    def _currency(self) -> str:
        """The mode of play money for callers who have not chosen a currency."""
        return words.FRANCS if self.console.viewer.language == FRENCH else words.DOLLARS

    async def _change_language(self) -> bool:
        language = ENGLISH if self.console.viewer.language == FRENCH else FRENCH
        saved = {
            name: value for name, value in _preferences(self.caller).items() if name != "language"
        }
        await self.caller.remember({"language": language, GAME: saved})
        self.caller.status.show()
        return True

    # The visit.

    async def stand_open_hand(self) -> None:
        """Take no card in the coup that `has_open_hand` found, when the caller's time is up."""
        with self._spoken():
            await self._lay_out()
            await self._stand()

    def _lay(self, stored: StoredRound) -> None:
        if stored.unit == "second":
            self.for_time.coin = stored.coin
        else:
            self._play_for_the_bank(stored.unit)
        self.wager = stored.stake
        if self.round is not None:
            self.scene.lay(self.round)

    async def _lay_out(self) -> None:
        if isinstance(self.betting, ForTheBank):
            await self.betting.meet()
        await self._load_scoreboard()
        self._come_to_table()

    async def _load_scoreboard(self) -> None:
        """Fill scoreboard and brass plate from the books, once."""
        shoe, scene = self.play.shoe, self.scene
        if self._is_scoreboard_loaded or shoe is None:
            return
        with contextlib.suppress(BooksUnavailable):
            results = await self.caller.ask_books(
                lambda desk: journal.shoe_results(desk, shoe.id, MAX_COUPS)
            )
            scene.remember(map(_settled, results))
            scene.plate = await self.caller.look_up(
                lambda desk: awards.holders(desk, BANK, ON_PLATE)
            )
            self._is_scoreboard_loaded = True

    async def _resume(self) -> bool:
        await self._lay_out()
        self.console.screen.say(f"|14{_(self.resumed)}")
        await self._play()
        self.for_time.coin = self.caller.status.coin = self.settings.coin_minutes * 60
        if isinstance(self.betting, ForTheBank):
            # The bank recovers when a caller returns, but not from a coup that broke it just now.
            self.betting.has_met = self.betting.is_broken
        return await self._meet_the_bank() is not None

    async def _sit_down(self) -> bool:
        return await self._choose_mode() and await self._take_place()

    async def _choose_mode(self) -> bool:
        """Ask for the mode unless preferences have it; `False` when the caller leaves."""
        mode = _preferences(self.caller).get("mode")
        if mode == FOR_THE_BANK:
            mode = self._currency
        if mode not in words.modes():
            self.scene.played = ""
            return await self._ask_mode()
        self._use_mode(str(mode))
        return True

    async def _ask_mode(self) -> bool:
        """Ask for time, dollars or francs; `False` when the caller leaves the question."""
        self.console.display.stage(self.scene)
        mode = await self.console.prompt.ask(
            {**words.modes(), QUIT: _("Quit")},
            question=_("Play for time or play money?"),
            cancel=QUIT,
            meanings=words.MODE_MEANINGS,
            default=words.FOR_TIME,
            also={BET: words.FOR_TIME},
        )
        if mode == QUIT or not await self.attempt(self._remember(mode=mode)):
            return False
        self._use_mode(mode)
        return True

    def _use_mode(self, mode: str) -> None:
        """Switch to time, or to the play money of the mode."""
        self.wager = None  # the last one was in another unit
        if mode == words.FOR_TIME:
            self.betting = self.for_time
        else:
            self._play_for_the_bank(words.UNITS[mode])

    def _play_for_the_bank(self, unit: Unit) -> None:
        fresh = ForTheBank(self.caller, unit)
        self.betting = self.for_the_bank.setdefault(unit, fresh)

    async def _take_place(self) -> bool:
        """Show the table with a sealed shoe and the stakes; `False` without the books."""
        welcome = await self._meet_the_bank()
        if welcome is None:
            return False
        if self._is_scoreboard_loaded:
            self._come_to_table()
        else:
            await self._load_scoreboard()
            self._come_to_table()
            if self.scene.plate:
                self.console.screen.say(f"|06{words.brass_plate(self.scene.plate)}")
        if welcome:
            self.console.screen.say(welcome)
        return True

    async def _meet_the_bank(self) -> str | None:
        """Seal a shoe and sit down against the bank; return the croupier's welcome.

        Return `None` without the books.
        """
        try:
            if self.play.shoe is None:
                await self._lay_shoe()
            if isinstance(self.betting, ForTheBank) and not self.betting.has_met:
                return await self.betting.meet()
        except BooksUnavailable:
            self.books_unavailable()
            await self.console.pager.any_key()
            return None
        return ""

    # Between two coups.

    async def _choose(self) -> str:
        refusal = self.betting.refusal() if self.betting is self.for_time else ""
        if refusal and refusal != self._shown_refusal and not self.caller.purse.time_is_up():
            self.console.screen.say(f"|14{refusal} {_('M plays for play money.')}")
        self._shown_refusal = refusal
        can_bet = not self.betting.refusal()
        labels = words.menu(can_bet=can_bet)
        return await self.console.prompt.ask(
            # Where no bet is offered, B shows the reason.
            {BET: "", **labels, STRATEGY: _(STRATEGY_LABEL)},
            menu=self._menu(labels),
            brief=self._in_brief(labels, BET if can_bet else None),
            default=BET if can_bet else None,
            cancel=QUIT,
            meanings=words.MEANINGS,
        )

    def _menu(self, labels: Mapping[str, str]) -> str:
        """Return the menu in two rows; a narrow screen wraps it."""
        if self.console.screen.is_painted and self.console.screen.page_columns < LAYOUT_COLUMNS:
            return lit(labels, BET)
        first = {letter: labels[letter] for letter in _FIRST_ROW if letter in labels}
        rest = {letter: label for letter, label in labels.items() if letter not in first}
        return f"{lit(first, BET)}\n{lit(rest)}"

    async def _serve(self, choice: str) -> None:
        if choice == words.MODE:
            if await self._ask_mode():
                self._clear()
                await self._take_place()
        elif choice == words.LANGUAGE:
            if await self.attempt(self._change_language()):
                self._clear()
                await self._take_place()
        elif choice == words.SHOE:
            self.console.screen.say(self._shoe_words())
        else:
            await super()._serve(choice)

    def _shoe_words(self) -> str:
        if self.play.is_shoe_done:
            return f"|07{_('The shoe is done: the next coup comes from a new one.')}"
        cards = self.play.cards_left
        left = ngettext(
            "{number} card left in the shoe.", "{number} cards left in the shoe.", cards
        ).format(number=f"|15{cards}|07")
        return f"|07{left} {_('Reshuffle at {cards} cards.').format(cards=RESHUFFLE_AT)}"

    async def _remember(self, **habits: str) -> bool:
        await self.caller.remember({GAME: {**_preferences(self.caller), **habits}})
        return True

    # Before the deal.

    async def _deal(self) -> bool:
        stakes = self.betting
        try:
            if isinstance(stakes, ForTheBank) and not stakes.bankroll:
                self.console.screen.say(await stakes.renew())
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
        purse = stakes.bankroll if isinstance(stakes, ForTheBank) else self.caller.purse.spendable()
        self._set_stake(amount, purse)
        self._update()
        with self.caller.status.suspense():
            step = await self.play.place(amount, self._terms(), cut)
            if banco:
                self.console.screen.say(f"|15{_('Banco!')}")
            self.console.screen.say(f"|07{_('No more bets.')}")
            await stakes.remember(bet)
            await self._show(step)

    # The coup.

    async def _play(self) -> None:
        await super()._play()
        stakes = self.betting
        if isinstance(stakes, ForTheBank) and (gone := stakes.gone_words()):
            self.console.screen.say(gone)
        elif isinstance(stakes, ForTheBank) and stakes.is_broken:
            name = self.caller.record.name
            await celebrate(self.console, stakes, name)
            if name not in self.scene.plate:
                self.scene.plate = [name, *self.scene.plate][:ON_PLATE]
            self.console.display.stage(self.scene)

    async def _decide(self) -> None:
        """Toss for the bank, or let the player decide on a 5."""
        with self.caller.status.suspense():
            step = await self.play.toss()
            if step is not None:
                toss = _("The bank may draw or stand, and leaves it to a toss.")
                self.console.screen.say(f"|07{toss}")
                await self._show(step)
                return
        assert self.round is not None  # it is the player's turn
        self.console.screen.say(f"|07{words.call(Side.PLAYER, self.round.player_point)}.")
        advised = advice(self.round) if self.caller.prefers("tutor") else None
        said = "" if advised is None else self.book_line(f"|11{advised.sentence}")
        if said:
            self.console.screen.say(said)
        choices, labels = words.card_choices(), words.menu(can_bet=False)
        aside = {key: labels[key] for key in (RULES, FAIRNESS, CUT)}
        while (
            choice := await self.console.prompt.ask(
                {**choices, **aside, STRATEGY: _(STRATEGY_LABEL)},
                question=_("Card?"),
                menu=lit(choices),
                meanings=words.CARD_MEANINGS,
                also={choices[words.CARD][0].upper(): words.CARD},
            )
        ) not in choices:
            await self._serve(choice)
        self.console.display.unsay(said)
        action = BaccaratAction.CARD if choice == words.CARD else BaccaratAction.NO_CARD
        with self.caller.status.suspense():
            await self._show(await self.play.act(Act(action), 0, ""))
        if advised is not None and (verdict := advised.verdict(action)):
            self.console.screen.say(self.book_line(f"|11{verdict}"))

    async def _stand(self) -> None:
        await self.play.stand(self._show_at_once)
        self.console.screen.say(f"|14{_('Your time was up: you took no card.')}")

    async def _show(self, step: Step) -> None:
        """Show the events of a step with pauses."""
        for event in step.events:
            if held := self._pause_before(event):
                await self.console.keyboard.beat(held)
            self._show_event(event)
            seconds = SLIDE_SECONDS if isinstance(event, BaccaratDealt) else CALL_SECONDS
            await self.console.keyboard.beat(self._pause_after(seconds))
        self._finish_step(step)

    def _show_at_once(self, step: Step) -> None:
        for event in step.events:
            self._show_event(event)
        self._finish_step(step)

    def _show_event(self, event: Event) -> None:
        self.scene.follow(event)
        if isinstance(event, BaccaratSettled):
            tally = self.betting.tally
            tally.turns += 1
            tally.net += event.won - event.lost
            tally.count(event.won - event.lost)
            self.scene.banner = words.banner(event, self.betting.amount)
            if event.won and (streak := tally.streak_words()):
                self.scene.banner += f" - {streak}"
            is_time = self.betting is self.for_time
            self.scene.has_big_win = is_time and event.won >= BIG_WIN * self.coin
        self.console.display.refresh()
        # A painted card needs no words.
        if not (self.console.screen.is_painted and isinstance(event, BaccaratDealt)):
            self.console.screen.say(words.sentence(event, self.betting.result))
        if isinstance(event, BaccaratSettled) and not self.console.screen.is_painted:
            self._say_streak(self.betting.tally)

    def _finish_step(self, step: Step) -> None:
        self.betting.follow(step.receipt)
        self._show_receipt(step)
        if step.after.over:
            self.scene.short = self._fairness().short()
            self.console.display.refresh()

    # The figures.

    def _rules(self) -> Mapping[str, object]:
        return asdict(self.settings.rules)

    async def _read_rules(self) -> None:
        unit = self.betting.unit
        if unit == "second":
            unit = words.UNITS[self._currency]
        text = words.rules_text(self.settings, unit, self.scene.plate)
        await self.console.pager.read(_("The rules of baccarat"), text)

    def _clear(self) -> None:
        self.scene.clear()
        self.wager = None

    def _update(self) -> None:
        self.scene.for_time = self.betting is self.for_time
        self.scene.played = self.betting.played()
        self.scene.figures = self.betting.figures(self.wager)

    def _on_tick(self) -> None:
        """Repaint when the clock has taken a coin from the pot, but never before the cards."""
        before = self.scene.figures
        if not self.caller.status.waits:
            self._update()
        if self.scene.figures != before:
            self.console.display.refresh()

    def _statement(self) -> str:
        every: tuple[BaccaratStakes, ...] = (self.for_time, *self.for_the_bank.values())
        return " ".join(filter(None, map(statement, every)))


# Keys in the first row of the menu.
_FIRST_ROW = (BET, RULES, FAIRNESS, CUT)


def _settled(result: Mapping[str, Any]) -> BaccaratSettled:
    """Return a coup of the journal for the scoreboard, without amounts."""
    mine, banks = result["points"]
    return BaccaratSettled(BaccaratOutcome(result["outcome"]), mine, banks, 0, 0, 0)


def _preferences(caller: Caller) -> Mapping[str, object]:
    saved = caller.record.preferences.get(GAME)
    return saved if isinstance(saved, dict) else {}


async def menu_words(board: Board, caller: Caller) -> str:
    has = await caller.ask_books(lambda desk: play_money.bankrolls(desk, caller.record.id))
    held = ", ".join(money(amount, unit) for unit, amount in sorted(has.items()))
    turns = turns_today(caller, BACCARAT_KIND.name, BaccaratSettings.among(caller.config.games))
    return _("{bankrolls}; {turns}").format(bankrolls=held, turns=turns) if held else turns
