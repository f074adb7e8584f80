"""Before the deal: how much a caller may bet, and what they are told while they type it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from door import wording
from door.call.scene import LAYOUT_COLUMNS
from door.tables.words import elsewhere, turns_are_used
from timebank.errors import BooksFailed
from timebank.language import N_, _
from timebank.words import span

if TYPE_CHECKING:
    from door.call.caller import Caller
    from door.games.engine.settings import StakeSettings
    from timebank.words import Unit

SMALLEST_BET = N_("The smallest bet is {least}.")
_LARGEST_BET = N_("The largest bet here is {most}.")
_MOST_OF_POT = N_("You can bet up to {most}: your last coin stays with you.")
_POT_TOO_SMALL = N_("You have {pot}. The smallest bet is {least}, and your last coin can't be bet.")
# By the mode of the bank.
_TRIMMED = {
    "built-in": N_(
        "{event}: the most you can win on {bet} is {full}; {surplus} of that would go to your time "
        "bank."
    ),
    "external": N_(
        "{event}: the most you can win on {bet} is {full}; {surplus} of that would go to your time "
        "bank elsewhere."
    ),
    "none": N_(
        "{event}: the most you can win on {bet} is {full}; {surplus} of that would be lost."
    ),
}
_GROUPED = re.compile(r"[0-9]{1,3}(?:([ .,])[0-9]{3})(?:\1[0-9]{3})*|[0-9]+")


def amount_typed(text: str) -> int | None:
    """Return the whole number that somebody typed, its thousands parted or not.

    >>> amount_typed("100,000"), amount_typed(" 100 000 "), amount_typed("1.000.000")
    (100000, 100000, 1000000)
    >>> amount_typed("1.50"), amount_typed("1,000 000"), amount_typed("")
    (None, None, None)
    """
    text = text.strip()
    if not _GROUPED.fullmatch(text):
        return None
    return int(re.sub(r"[ .,]", "", text))


class Betting:
    """The bets of one caller at one table, in coins of `coin` in the smallest unit."""

    unit: Unit = "second"
    turns_limit: int | None = None  # a day
    letters = "0123456789.,"  # a point is refused in words, not passed over
    longest = 4
    # What is asked, where 40 columns have no room for it too, and what refuses no number. Of each
    # amount there is the number besides: `{least}` is "5 coins", `{least_coins}` 5.
    question = N_("Coins to bet, {least_coins} to {most_coins} (Enter for {last_coins}):")
    narrow_question = N_("Coins, {least_coins} to {most_coins} (Enter for {last_coins}):")
    which_amount = N_("Bet whole coins.")

    def __init__(self, caller: Caller, coin: int, first: int, kept_as: str) -> None:
        """Offer the bet that was placed last, as preferences have it by this name, or `first`."""
        self.caller = caller
        self.coin = coin
        self.first = first
        self._kept_as = kept_as

    def refusal(self) -> str:
        """Say why no bet can be placed now, "" when one can."""
        raise NotImplementedError

    def limits(self) -> tuple[int, int]:
        """Return the least and the most that may be bet now."""
        raise NotImplementedError

    def refused(self, bet: int, most: int | None = None) -> str:
        """Say why so many coins cannot be bet, "" when they can; `most` is what was offered."""
        raise NotImplementedError

    def amount(self, amount: int) -> str:
        raise NotImplementedError

    def warning(self, bet: int) -> str:
        """Say what would become of a win that there is no room for, "" when there is."""
        return ""

    async def ask(self) -> int | None:
        console = self.caller.console
        while True:
            least, most = self.limits()
            if most < least:  # time has ticked meanwhile
                return None
            last = min(max(self.last(), least), most)
            live = console.screen.is_painted
            self._warn(str(last if live else most))
            typed = await console.prompt.entry(
                f"|07{self.told(self._question(), least=least, most=most, last=last)}",
                longest=self.longest,
                accept=self.letters.__contains__,
                # Told in lines, every digit would bring another line.
                changed=self._warn if live else None,
                meaning=_("How many coins you put on the next hand."),
            )
            if typed is None:
                return None
            bet = amount_typed(typed) if typed.strip() else last
            if bet is None:
                console.screen.say(f"|12{self.told(self.which_amount, example=most)}")
            elif refused := self.refused(bet, most):
                console.screen.say(f"|12{refused}")
            elif typed.strip() or await self.agrees_to(bet):
                return bet
            else:
                return None

    def _question(self) -> str:
        console = self.caller.console
        is_narrow = console.screen.is_painted and console.screen.page_columns < LAYOUT_COLUMNS
        return self.narrow_question if is_narrow else self.question

    async def agrees_to(self, bet: int) -> bool:
        """Ask whether a bet that Enter alone placed is meant, where there is reason to."""
        return True

    @property
    def has_bet(self) -> bool:
        """Whether the caller has ever bet here."""
        return self._kept() is not None

    def last(self) -> int:
        kept = self._kept()
        return self.first if kept is None else kept

    def _kept(self) -> int | None:
        kept = self._bets().get(self._kept_as)
        return kept if isinstance(kept, int) else None

    def _bets(self) -> Mapping[str, object]:
        """Return the last bets at all tables."""
        kept = self.caller.record.preferences.get("bets")
        return kept if isinstance(kept, dict) else {}

    async def remember(self, bet: int) -> None:
        """Keep a bet that was placed as the last one; no hand is held up when that fails."""
        if bet != self._kept():
            with contextlib.suppress(BooksFailed):
                await self.caller.remember({"bets": {**self._bets(), self._kept_as: bet}})

    def told(self, words: str, **coins: int) -> str:
        """Put coins into a sentence, each as an amount and as a number."""
        amounts = {name: self.amount(number * self.coin) for name, number in coins.items()}
        return _(words).format(**amounts, **{f"{name}_coins": coins[name] for name in coins})

    def _warn(self, typed: str) -> None:
        bet = amount_typed(typed)
        if bet is not None and (warning := self.warning(bet)):
            self.caller.console.screen.say(f"|14{warning}")


class BettingTime(Betting):
    """Coins worth minutes, within the limits of the sysop and of the pot."""

    def __init__(
        self, caller: Caller, game: str, settings: StakeSettings, best_odds: float
    ) -> None:
        """Take bets for `game`; `best_odds` is the most that one coin of a bet can win."""
        coin = settings.coin_minutes * 60
        super().__init__(caller, coin, settings.smallest_bet, game)
        self.game = game
        self.settings = settings
        self.turns_limit = settings.turns_per_day or None
        self.best_odds = best_odds

    @property
    def turns_are_used(self) -> bool:
        return turns_are_used(self.caller, self.game, self.settings)

    def refusal(self) -> str:
        if paused := self.caller.purse.paused_words():
            return paused
        if self._own_is_short():
            return self._own_words()
        if self.turns_are_used:
            return self._sent_elsewhere(_("No turns left here today: {limit} a day."))
        least, most = self.limits()
        if most >= least:
            return ""
        pot = self.caller.purse.pot(self.coin)
        return self.told(_POT_TOO_SMALL, pot=pot, least=least)

    def last_turn(self) -> str:
        """Say that the hand that is over was the last of the day."""
        return self._sent_elsewhere(_("That was your last turn here today."))

    def _sent_elsewhere(self, used: str) -> str:
        told = used.format(limit=self.turns_limit)
        return f"{told} {elsewhere(self.caller, self.game)}"

    def limits(self) -> tuple[int, int]:
        most = min(self.settings.largest_bet, self.caller.purse.pot(self.coin) - 1)
        own = self.caller.purse.posted.may_lose
        return self.settings.smallest_bet, most if own is None else min(most, own // self.coin)

    def refused(self, bet: int, most: int | None = None) -> str:
        least, now = self.limits()
        most = now if most is None else most
        if bet < least:
            return self.told(SMALLEST_BET, least=least)
        if bet <= most:
            return ""
        if bet > self.settings.largest_bet:
            return self.told(_LARGEST_BET, most=self.settings.largest_bet)
        own = self.caller.purse.posted.may_lose
        if own is not None and bet > own // self.coin:
            return self._own_words()
        return self.told(_MOST_OF_POT, most=most)

    def _own_is_short(self) -> bool:
        own = self.caller.purse.posted.may_lose
        return own is not None and own < self.settings.smallest_bet * self.coin

    def _own_words(self) -> str:
        left = self.caller.purse.posted.may_lose or 0
        told = _("By the limit you set yourself you can stake {left} more today.")
        return told.format(left=span(left))

    def amount(self, amount: int) -> str:
        return wording.coins(amount // self.coin)

    def warning(self, bet: int) -> str:
        """Say how much of a full win the next event would cut off, and where that would go."""
        full = int(bet * self.coin * self.best_odds)
        surplus = self.caller.purse.cut_from(full)
        if not surplus or not 0 < bet <= self.limits()[1]:
            return ""
        return _(_TRIMMED[self.caller.bank_settings.mode]).format(
            event=self.caller.purse.event_words(),
            full=wording.clock_time(full),
            bet=self.amount(bet * self.coin),
            surplus=wording.clock_time(surplus),
        )
