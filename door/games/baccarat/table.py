"""Baccarat as a caller meets it: for time or to break the bank, in English or in French.

Commit before show: a step and all it moves are durable before its cards are slid across the
baize. The rules are the engine's; this room asks, says what the croupier says, and waits a moment
between two cards, which any key cuts short.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

from door.call.console import lit
from door.call.display import literal
from door.errors import TimeUp
from door.games.baccarat import dialogue as tongue
from door.games.baccarat import settings, words
from door.games.baccarat.dialogue import dialogue
from door.games.baccarat.events import BaccaratDealt, BaccaratSettled, Event, Side
from door.games.baccarat.kind import BACCARAT_KIND
from door.games.baccarat.round import BaccaratAction, BaccaratRound
from door.games.baccarat.rules import RESHUFFLE_AT, rules_to_mapping
from door.games.baccarat.scene import BaccaratScene, celebrate
from door.games.baccarat.settings import Language
from door.games.baccarat.stakes import BaccaratStakes, ForTheBank, ForTime, told
from door.games.baccarat.words import read_rules
from door.games.engine import shuffle
from door.games.engine.game import Act
from door.games.tables import menu
from door.games.tables.play import Bet, Play, Step
from door.lobby.teller import visit_bank
from timebank.errors import BooksFailed, BooksUnavailable, CallClosed, Refused
from timebank.wagers import play_money
from timebank.words import money

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.call.console import Console
    from door.games.baccarat.dialogue import Dialogue
    from timebank.ledger.purse import Receipt
    from timebank.words import Unit


# The croupier: lets a coup happen before the caller's eyes, one thing after the other.

SLIDE_SECONDS = 0.3  # for a card out of the shoe
CALL_SECONDS = 0.8  # for what is called


class Croupier:
    """Deals on one scene, for one console."""

    def __init__(self, console: Console, scene: BaccaratScene) -> None:
        """Stand by."""
        self.console = console
        self.scene = scene

    async def deal(self, events: Sequence[Event], stakes: BaccaratStakes) -> None:
        """Let events happen; on a painted screen a moment passes after each, which a key ends."""
        for event in events:
            self._happen(event, stakes)
            if self.console.is_painted:
                slid = isinstance(event, BaccaratDealt)
                await self.console.pause(SLIDE_SECONDS if slid else CALL_SECONDS)

    def deal_at_once(self, events: Sequence[Event], stakes: BaccaratStakes) -> None:
        """Let events happen without a pause."""
        for event in events:
            self._happen(event, stakes)

    def _happen(self, event: Event, stakes: BaccaratStakes) -> None:
        """Let one thing happen on the table, and say it."""
        said = self.scene.said
        self.scene.follow(event)
        if isinstance(event, BaccaratSettled):
            stakes.sitting.count(event)
        self.console.display.refresh()
        # A card on a painted table speaks for itself.
        if not (self.console.is_painted and isinstance(event, BaccaratDealt)):
            self.console.say(words.sentence(said, event, lambda won: stakes.amount(said, won)))


# Before the deal: the wager as it is asked for, and the habits that are remembered of a caller.

LONGEST_AMOUNT = 15
AMOUNT_LETTERS = frozenset("0123456789 .,")


async def ask_wager(
    console: Console, said: Dialogue, stakes: BaccaratStakes, habits: Habits
) -> int | None:
    """Return the wager in coins, `None` when the caller thinks better of it; Enter repeats the
    last one as far as that can still be wagered."""

    def warn(typed: str) -> None:
        wager = words.amount_typed(typed)
        if wager is not None and (warning := stakes.warning(said, wager)):
            console.say(warning)

    while True:
        least, most = stakes.limits()
        if most < least:  # time has ticked meanwhile
            return None
        last = min(max(habits.last_wager(stakes), least), most)
        live = console.is_painted
        warn(str(last if live else most))
        amounts = {
            name: stakes.amount(said, number * stakes.coin)
            for name, number in (("least", least), ("most", most), ("last", last))
        }
        typed = await console.entry(
            said.bets.format(**amounts),
            longest=LONGEST_AMOUNT,
            accept=AMOUNT_LETTERS.__contains__,
            # Told in lines, every digit would bring another line.
            changed=warn if live else None,
        )
        if typed is None:
            return None
        wager = words.amount_typed(typed) if typed.strip() else last
        if wager is None:
            console.say(said.which_amount.format(example=amounts["most"]))
        elif refused := stakes.refused(said, wager):
            console.say(refused)
        else:
            return wager


class Habits:
    """What is remembered of a caller at this table: language, what he plays for, last wagers."""

    def __init__(self, caller: Caller, usual: Language) -> None:
        """Read them from his preferences; `usual` is spoken with one who has not chosen."""
        self.caller = caller
        self.usual = usual

    @property
    def language(self) -> Language:
        """The language that he chose."""
        kept = self._kept().get("language")
        return next((known for known in get_args(Language) if known == kept), self.usual)

    @property
    def mode(self) -> object:
        """What he chose to play for, `None` before he did."""
        return self._kept().get("mode")

    @property
    def cuts(self) -> bool:
        """Whether he is asked to cut a new shoe, at any table."""
        return self.caller.prefers("cut")

    async def switch_cut(self) -> None:
        """Ask him for a cut from now on, or no more; raises `BooksUnavailable`."""
        await self.caller.remember({"cut": not self.cuts})

    def last_wager(self, stakes: BaccaratStakes) -> int:
        """Return what he wagered last for these stakes, in coins."""
        last = self._wagers().get(stakes.unit)
        return last if isinstance(last, int) else stakes.first_wager

    async def keep(self, **habits: str) -> None:
        """Remember a choice; raises `BooksUnavailable`, and nothing has changed."""
        await self.caller.remember({"baccarat": {**self._kept(), **habits}})

    async def keep_wager(self, stakes: BaccaratStakes, wager: int) -> None:
        """Remember a wager that was placed; no coup is held up when that fails."""
        if wager == self.last_wager(stakes):
            return
        wagers = {**self._wagers(), stakes.unit: wager}
        with contextlib.suppress(BooksFailed):
            await self.caller.remember({"baccarat": {**self._kept(), "wagers": wagers}})

    def _kept(self) -> dict[str, object]:
        kept = self.caller.record.preferences.get("baccarat")
        return kept if isinstance(kept, dict) else {}

    def _wagers(self) -> dict[str, object]:
        wagers = self._kept().get("wagers")
        return wagers if isinstance(wagers, dict) else {}


# The bankroll that a caller plays for the bank with: brought to the table, lost, and renewed.
#
# Kept apart from the table, which asks for it at three moments and says what comes of it.


async def face_the_bank(caller: Caller, said: Dialogue, stakes: ForTheBank) -> str:
    """Sit down with the bankroll of these stakes, to a bank that is whole again.

    Returns what the croupier says to that; raises `BooksUnavailable`.
    """
    unit = stakes.unit
    receipt = await caller.post(
        lambda desk, call, ticked: play_money.sit_down(desk, call, ticked, unit)
    )
    stakes.is_faced = True
    return _said_to(said, stakes, receipt)


async def ask_for_another(caller: Caller, said: Dialogue, stakes: ForTheBank) -> str:
    """Renew a bankroll that is gone, if midnight has come since; the bank stays as it is.

    Returns what the croupier says to that; raises `BooksUnavailable`.
    """
    unit = stakes.unit
    receipt = await caller.post(
        lambda desk, call, ticked: play_money.renew_bankroll(desk, call, ticked, unit)
    )
    return _said_to(said, stakes, receipt)


def _said_to(said: Dialogue, stakes: ForTheBank, receipt: Receipt) -> str:
    stakes.follow(receipt)
    welcomes = {"bankroll": said.new_bankroll, "renewal": said.renewed}
    welcome = "\n".join(
        welcomes[row.kind].format(amount=words.money(said, row.amount, stakes.unit))
        for row in receipt.rows
        if row.kind in welcomes
    )
    return welcome or stakes.gone(said)


LONGEST_CUT = 60

log = logging.getLogger("door.tables")


class BaccaratTable:
    """One caller's visit to the table."""

    def __init__(self, caller: Caller) -> None:
        """Lay the table for `caller`, under the settings of his call."""
        self.caller = caller
        self.console = caller.console
        self.settings = settings.of(caller.config)
        self.play = Play(caller, BACCARAT_KIND)
        self.habits = Habits(caller, self.settings.language)
        self.said = dialogue(self.habits.language, self.console.look.charset)
        self.scene = BaccaratScene(self.said)
        self.croupier = Croupier(self.console, self.scene)
        self.for_time = ForTime(caller, self.settings)
        self.for_the_bank: dict[Unit, ForTheBank] = {}
        self.stakes: BaccaratStakes = self.for_time
        self.wager: int | None = None  # on the table, in the unit of the stakes

    @property
    def round(self) -> BaccaratRound | None:
        """The coup on the table."""
        coup: BaccaratRound | None = self.play.round
        return coup

    # The evening at this table.

    async def visit(self) -> None:
        """Stay until the caller gets up, or something ends his call."""
        self.caller.place = "Baccarat"
        if self.round is None:
            await self.has_open_hand()
        before = self.caller.clock.on_tick
        self.caller.clock.on_tick = self._follow_time
        try:
            if self.round is not None:
                seated = await self._resume()
            else:
                seated = await self._choose_mode() and await self._take_place()
            while seated and await self._between_coups():
                pass
        finally:
            self.caller.clock.on_tick = before
            self._close_statement()

    async def has_open_hand(self) -> bool:
        """Look for a coup that was left open; it is laid on the table when there is one."""
        stored = await self.play.find_open()
        if stored is None or self.round is None or self.play.shoe is None:
            return False
        if stored.unit == "second":
            self.for_time.coin = stored.coin
        else:
            self._speak("french" if stored.unit == "frf-cent" else "english")
            self.stakes = self.for_the_bank[stored.unit] = ForTheBank(stored.unit)
        self.wager = self.round.stake
        self.scene.seal, self.scene.cut = self.play.shoe.seal, self.play.shoe.cut or ""
        self.scene.lay(self.round)
        return True

    async def stand_open_hand(self) -> None:
        """Take no card in the coup that `has_open_hand` found, for a caller without time."""
        await self._lay_out()
        await self._stand()

    async def _lay_out(self) -> None:
        """Show the coup that was left, against the bank that was left."""
        if isinstance(self.stakes, ForTheBank):
            await face_the_bank(self.caller, self.said, self.stakes)
        self.caller.status.coin = self.for_time.coin
        self._look()
        self.console.stage(self.scene)

    async def _resume(self) -> bool:
        """Play the coup that was left; `False` when the books cannot let him stay after it."""
        await self._lay_out()
        self.console.say(self.said.resumed)
        await self._play()
        self.for_time.coin = self.caller.status.coin = self.settings.coin_minutes * 60
        if isinstance(self.stakes, ForTheBank):
            # He is back, and the bank has recovered; but not from a coup that has just broken it.
            self.stakes.is_faced = self.stakes.is_broken
        return await self._meet_the_bank() is not None

    async def _choose_mode(self) -> bool:
        """Ask a caller who has never said so what he plays for; `False` when he leaves."""
        mode = self.habits.mode
        if mode not in self.said.modes:
            self.console.stage(self.scene)
            mode = await self.console.ask(
                {**self.said.modes, tongue.QUIT: self.said.menu[tongue.QUIT]},
                question=self.said.ask_mode,
                cancel=tongue.QUIT,
            )
            if mode == tongue.QUIT or not await self._keep(mode=str(mode)):
                return False
        self._use_mode(str(mode))
        return True

    def _use_mode(self, mode: str) -> None:
        """Play for time, or for the bank in the money of the language, from now on."""
        self.wager = None  # that of the last coup was in another unit
        if mode == tongue.FOR_TIME:
            self.stakes = self.for_time
        else:
            unit = self.said.unit
            self.stakes = self.for_the_bank.setdefault(unit, ForTheBank(unit))

    async def _take_place(self) -> bool:
        """Lay out what is played for, with a sealed shoe; `False` when the books cannot."""
        welcome = await self._meet_the_bank()
        if welcome is None:
            return False
        self.caller.status.coin = self.for_time.coin
        self._look()
        self.console.stage(self.scene)
        if not self.console.is_painted:
            self._say_seal()
        if welcome:
            self.console.say(welcome)
        return True

    async def _meet_the_bank(self) -> str | None:
        """Have a shoe on the table, and a bank that is faced where it is played for; return what
        the croupier says to that, `None` when the books cannot."""
        try:
            if self.play.shoe is None:
                await self._next_shoe()
            if isinstance(self.stakes, ForTheBank) and not self.stakes.is_faced:
                return await face_the_bank(self.caller, self.said, self.stakes)
        except BooksUnavailable:
            self._books_unavailable()
            await self.console.any_key(self.said.any_key)
            return None
        return ""

    # Between two coups.

    async def _between_coups(self) -> bool:
        """Offer the menu once; `False` when the caller gets up."""
        self._look()
        self.console.display.refresh()
        if not self.console.is_painted:
            self.console.say(self.scene.standing())
        choice = await self.console.ask(
            self.said.menu, menu=self._menu(), default=tongue.PLACE, cancel=tongue.QUIT
        )
        if choice == tongue.PLACE:
            await self._turn()
        elif choice == tongue.MODE:
            await self._change_mode()
        elif choice == tongue.LANGUAGE:
            await self._change_language()
        elif choice == tongue.SHOE:
            self._tell_cards_left()
        elif choice == tongue.CUT:
            await self._change_cut()
        elif choice == tongue.RULES:
            await read_rules(self.console, self.settings, self.said)
            self.console.stage(self.scene)
        elif choice == tongue.BANK:
            await visit_bank(self.caller)
            self.caller.place = "Baccarat"
            self._look()
            self.console.stage(self.scene)
        return choice != tongue.QUIT

    def _menu(self) -> str:
        """Return the choices, closer together than usual: there are many of them."""
        return lit(self.said.menu).replace("  ", " ")

    async def _change_mode(self) -> None:
        mode = tongue.FOR_THE_BANK if self.stakes is self.for_time else tongue.FOR_TIME
        if await self._keep(mode=mode):
            self._use_mode(mode)
            await self._take_place()

    async def _change_language(self) -> None:
        language: Language = "french" if self.said.language == "english" else "english"
        if await self._keep(language=language):
            self._speak(language)
            if self.stakes is not self.for_time:
                self._use_mode(tongue.FOR_THE_BANK)
            await self._take_place()

    async def _change_cut(self) -> None:
        try:
            await self.habits.switch_cut()
        except BooksUnavailable:
            self._books_unavailable()
            return
        self.console.say(self.said.cut_on if self.habits.cuts else self.said.cut_off)

    def _tell_cards_left(self) -> None:
        left = self.play.cards_left
        told = self.said.left.format(cards=left, last=RESHUFFLE_AT)
        self.console.say(self.said.shoe_done if self.play.is_shoe_done else told)

    # Before the deal.

    async def _turn(self) -> None:
        """One turn: seal, cut, wager, coup."""
        try:
            stakes = self.stakes
            if isinstance(stakes, ForTheBank) and not stakes.bankroll:
                self.console.say(await ask_for_another(self.caller, self.said, stakes))
                if not stakes.bankroll:
                    return
            if refusal := stakes.refusal(self.said):
                self.console.say(refusal)
                return
            await self._next_shoe()
            cut = await self._ask_cut()
            wager = None
            if cut is not None:
                wager = await ask_wager(self.console, self.said, self.stakes, self.habits)
            if cut is None or wager is None:
                self.console.say(self.said.no_bet)
                return
            await self._place(wager, cut)
        except CallClosed:
            raise
        except Refused as refused:
            self.wager = None
            self.console.say(f"|12{refused}")
            return
        except BooksUnavailable:
            self.wager = None
            self._books_unavailable()
            return
        await self._play()

    async def _next_shoe(self) -> None:
        """Show the seal of the shoe that the next coup comes from, sealed before the wager."""
        old = self.play.shoe
        shoe = await self.play.next_shoe(rules_to_mapping(self.settings.rules))
        is_new = old is None or old.id != shoe.id
        self.scene.seal, self.scene.seed, self.scene.cut = shoe.seal, "", shoe.cut or ""
        self.scene.clear()
        self.wager = None
        self._look()
        if old is not None and is_new:
            self.console.say(self.said.new_shoe)
            if not self.console.is_painted:
                self._say_seal()
        self.console.display.refresh()

    async def _ask_cut(self) -> str | None:
        """Return the words that cut this shoe, "" for none, `None` at Esc."""
        shoe = self.play.shoe
        if shoe is not None and shoe.position > 0:
            return shoe.cut or ""
        if not self.habits.cuts:
            return ""
        typed = await self.console.entry(self.said.cut_words, longest=LONGEST_CUT)
        if typed is None:
            return None
        self.scene.cut = shuffle.normal_cut(typed)
        self.console.display.refresh()
        return self.scene.cut

    async def _place(self, wager: int, cut: str) -> None:
        """Stake the wager and deal; all of it is durable before a card is shown."""
        stakes = self.stakes
        amount = wager * stakes.coin
        bet = Bet(
            amount=amount,
            unit=stakes.unit,
            coin=stakes.coin,
            turns_limit=stakes.turns_limit,
            rules=rules_to_mapping(self.settings.rules),
            purse=None if stakes.unit == "second" else "bankroll",
        )
        banco = isinstance(stakes, ForTheBank) and amount == stakes.casino
        self.wager = amount
        self._look()
        with self.caller.status.suspense():
            step = await self.play.place(bet, cut)
            if banco:
                self.console.say(self.said.banco)
            self.console.say(self.said.no_more_bets)
            await self.habits.keep_wager(stakes, wager)
            await self._show(step)

    # The coup.

    async def _play(self) -> None:
        """Play the coup at the table to its end."""
        while self.round is not None and not self.round.over:
            try:
                if not await self._toss():
                    action = await self._decide()
                    with self.caller.status.suspense():
                        await self._show(await self.play.act(Act(action), 0, ""))
            except TimeUp:
                await self._stand()
            except BooksUnavailable:
                self._books_unavailable()
                await self.console.any_key(self.said.try_again)
        if isinstance(self.stakes, ForTheBank) and (gone := self.stakes.gone(self.said)):
            self.console.say(gone)
        elif isinstance(self.stakes, ForTheBank) and self.stakes.is_broken:
            name = literal(self.caller.record.name)
            await celebrate(self.console, self.said, self.stakes, name)
            self.console.stage(self.scene)

    async def _toss(self) -> bool:
        """Let the seed decide for the bank, where it has the option and tosses for it."""
        with self.caller.status.suspense():
            step = await self.play.toss()
            if step is not None:
                self.console.say(self.said.toss)
                await self._show(step)
        return step is not None

    async def _decide(self) -> BaccaratAction:
        """Call the player's 5, and ask for a card or none."""
        assert self.round is not None
        self.console.say(f"|07{words.call(self.said, Side.PLAYER, self.round.player_point)}.")
        choice = await self.console.ask(self.said.card_choices, question=self.said.ask_card)
        return BaccaratAction.CARD if choice == tongue.CARD else BaccaratAction.NO_CARD

    async def _stand(self) -> None:
        """Take no card, as happens to a caller who has no time left."""
        await self.play.stand(self._show_at_once)
        self.console.say(self.said.time_up)

    async def _show(self, step: Step) -> None:
        """Show a step, one thing after the other, and what it has brought."""
        await self.croupier.deal(step.events, self.stakes)
        self._shown(step)

    def _show_at_once(self, step: Step) -> None:
        """Show a step and what it has brought."""
        self.croupier.deal_at_once(step.events, self.stakes)
        self._shown(step)

    def _shown(self, step: Step) -> None:
        """Bring figures and purse after a step before the caller."""
        self.stakes.follow(step.receipt)
        if self.play.is_shoe_done and self.play.shoe is not None:
            self.scene.seed = self.play.shoe.seed.hex()
        self._look()
        self.console.display.refresh()
        self.caller.tell(step.receipt)
        if not self.console.is_painted and self.scene.seed:
            self.console.say(f"|08{self.said.fairness[1]} {self.scene.seed}")

    # Small things.

    def _speak(self, language: Language) -> None:
        """Say everything in `language` from now on."""
        self.said = self.scene.said = dialogue(language, self.console.look.charset)

    def _look(self) -> None:
        """Bring title and figures of the scene up to date."""
        self.scene.played = self.stakes.played(self.said)
        self.scene.figures = self.stakes.figures(self.said, self.wager)

    def _follow_time(self) -> None:
        """Paint the table again when time that ticked has taken a coin from the pot; but never
        let figures run ahead of the cards."""
        before = self.scene.figures
        if not self.caller.status.waits:
            self._look()
        if self.scene.figures != before:
            self.console.display.refresh()

    def _say_seal(self) -> None:
        self.console.say(f"|08{self.said.fairness[0]} {self.scene.seal}")

    async def _keep(self, **habits: str) -> bool:
        """Remember a choice; `False` when the books cannot."""
        try:
            await self.habits.keep(**habits)
        except BooksUnavailable:
            self._books_unavailable()
            return False
        return True

    def _close_statement(self) -> None:
        """Say how the caller did, for the good-bye."""
        every: tuple[BaccaratStakes, ...] = (self.for_time, *self.for_the_bank.values())
        if any(stakes.sitting.coups for stakes in every):
            self.caller.statement = " ".join(
                filter(None, (told(self.said, each) for each in every))
            )

    def _books_unavailable(self) -> None:
        log.warning("books unavailable at the table of %s", self.caller.record.name)
        self.console.say(self.said.no_books)


def sit_down(board: Board, caller: Caller) -> BaccaratTable:
    """Return a visit to the table."""
    return BaccaratTable(caller)


async def menu_words(board: Board, caller: Caller) -> str:
    """Return what a caller should know before sitting down, in a few words."""
    has = await caller.ask_books(lambda desk: play_money.bankrolls(desk, caller.record.id))
    held = ", ".join(money(amount, unit) for unit, amount in sorted(has.items()))
    turns = menu.turns(caller, BACCARAT_KIND.name, settings.of(board.config))
    return f"{held or 'to break the bank'}; {turns}"
