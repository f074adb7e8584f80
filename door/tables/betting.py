"""The bet before a deal: its limits, the prompt for it, and warnings while it is typed."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from door import wording
from door.call.scene import LAYOUT_COLUMNS
from door.tables.words import other_tables, turns_are_used
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
    """Return the whole number in `text`, with or without thousands separators, else `None`.

    >>> amount_typed("100,000"), amount_typed(" 100 000 "), amount_typed("1.000.000")
    (100000, 100000, 1000000)
    >>> amount_typed("1.50"), amount_typed("1,000 000"), amount_typed("")
    (None, None, None)
    """
    text = text.strip()
    if not _GROUPED.fullmatch(text):
        return None
    return int(re.sub(r"[ .,]", "", text))


def _chips(least: int, most: int) -> dict[str, str]:
    """Return the bets that a page shows as keys.

    >>> _chips(1, 60), _chips(5, 12), _chips(1, 1)
    ({'1': '', '2': '', '5': '', '60': 'max'}, {'5': '', '10': '', '12': 'max'}, {'1': 'max'})
    """
    return {str(least * each): "" for each in (1, 2, 5) if least * each < most} | {str(most): "max"}


class Betting:
    """The bets of one caller at one table, in coins of `coin` in the smallest unit."""

    unit: Unit = "second"
    turns_limit: int | None = None  # a day
    letters = "0123456789.,"  # a point is refused in words, not passed over
    longest = 4
    # `with_amounts` fills these in: `{least}` is "5 coins", `{least_coins}` is 5.
    question = N_("Coins to bet, {least_coins} to {most_coins} (Enter for {last_coins}):")
    narrow_question = N_("Coins, {least_coins} to {most_coins} (Enter for {last_coins}):")
    which_amount = N_("Bet whole coins.")

    def __init__(self, caller: Caller, coin: int, first: int, preference: str) -> None:
        """Offer the last bet, which the caller's `bets` keep as `preference`, or else `first`."""
        self.caller = caller
        self.coin = coin
        self.first = first
        self._preference = preference

    def refusal(self) -> str:
        """Return why no bet can be placed now, "" when one can."""
        raise NotImplementedError

    def limits(self) -> tuple[int, int]:
        """Return the smallest and the largest bet allowed now, in coins."""
        raise NotImplementedError

    def pot(self) -> int:
        """Return how many coins the caller has."""
        raise NotImplementedError

    def why_refused(self, bet: int) -> str:
        """Return why `bet` coins cannot be bet, "" when they can; an offer holds for a while."""
        raise NotImplementedError

    def amount(self, amount: int) -> str:
        raise NotImplementedError

    def warning(self, bet: int) -> str:
        """Return a warning about a win that an event would cut off, "" for none."""
        return ""

    async def ask(self) -> int | None:
        console = self.caller.console
        while True:
            self.caller.purse.offer()
            least, most = self.limits()
            if most < least:  # the clock has ticked since the menu
                return None
            last = self._default()
            live = console.screen.is_painted
            self._warn(str(last if live else most))
            typed = await console.prompt.entry(
                f"|07{self.with_amounts(self._question(), least=least, most=most, last=last)}",
                longest=self.longest,
                accept=self.letters.__contains__,
                # In plain lines every digit would print another warning.
                on_change=self._warn if live else None,
                meaning=_("How many coins you put on the next hand."),
                answers=_chips(least, most),
            )
            if typed is None:
                return None
            bet = amount_typed(typed) if typed.strip() else last
            if bet is None:
                console.screen.say(f"|12{self.with_amounts(self.which_amount, example=most)}")
            elif reason := self.why_refused(bet):
                console.screen.say(f"|12{reason}")
            else:
                return bet

    def _question(self) -> str:
        console = self.caller.console
        is_narrow = console.screen.is_painted and console.screen.page_columns < LAYOUT_COLUMNS
        return self.narrow_question if is_narrow else self.question

    def _default(self) -> int:
        """Return the bet of Enter: the last one if that is less than half the pot, else `first`."""
        least, most = self.limits()
        most = min(most, (self.pot() - 1) // 2)
        last = self.last()
        return last if least <= last <= most else max(least, min(self.first, most))

    @property
    def offers_last(self) -> bool:
        """Whether a key alone may repeat the caller's last bet here."""
        return self._saved_bet() == self._default()

    def last(self) -> int:
        saved = self._saved_bet()
        return self.first if saved is None else saved

    def _saved_bet(self) -> int | None:
        saved = self._saved_bets().get(self._preference)
        return saved if isinstance(saved, int) else None

    def _saved_bets(self) -> Mapping[str, object]:
        """Return the caller's last bet at each table."""
        saved = self.caller.record.preferences.get("bets")
        return saved if isinstance(saved, dict) else {}

    async def remember(self, bet: int) -> None:
        """Save the bet as the caller's last one. A failed write does not hold up the hand."""
        if bet != self._saved_bet():
            with contextlib.suppress(BooksFailed):
                await self.caller.remember({"bets": {**self._saved_bets(), self._preference: bet}})

    def with_amounts(self, words: str, **coins: int) -> str:
        """Return `words`, translated, with each number of coins as an amount and as a number."""
        amounts = {name: self.amount(number * self.coin) for name, number in coins.items()}
        return _(words).format(**amounts, **{f"{name}_coins": coins[name] for name in coins})

    def _warn(self, typed: str) -> None:
        bet = amount_typed(typed)
        if bet is not None and (warning := self.warning(bet)):
            self.caller.console.screen.say(f"|14{warning}")


class BettingTime(Betting):
    """Bets of time, within the sysop's limits, the caller's own limit and the pot."""

    def __init__(
        self, caller: Caller, game: str, settings: StakeSettings, best_odds: float
    ) -> None:
        """Take bets for `game`; one coin of a bet wins at most `best_odds` coins."""
        coin = settings.coin_minutes * 60
        super().__init__(caller, coin, settings.smallest_bet, game)
        self.game = game
        self.settings = settings
        self.turns_limit = settings.turns_per_day or None
        self.best_odds = best_odds

    @property
    def turns_are_used(self) -> bool:
        return turns_are_used(self.caller, self.game, self.settings)

    def refusal(self, *, as_offered: bool = False) -> str:
        if barred := self.caller.purse.why_no_bets():
            return barred
        if self._own_limit_is_short():
            return self._own_limit_words()
        if self.turns_are_used:
            return self._with_alternatives(_("No turns left here today: {limit} a day."))
        least, most = self.limits(as_offered=as_offered)
        if most >= least:
            return ""
        words = self.with_amounts(_POT_TOO_SMALL, pot=self.pot(), least=least)
        bank = self.caller.bank_settings
        may_withdraw = bank.mode == "built-in" and bank.limits.withdrawal
        has_more = may_withdraw and self.caller.purse.posted.bank
        return f"{words} {_('T brings minutes from your time bank.')}" if has_more else words

    def last_turn(self) -> str:
        """Return the sentence after the last hand of the day."""
        return self._with_alternatives(_("That was your last turn here today."))

    def _with_alternatives(self, used: str) -> str:
        words = used.format(limit=self.turns_limit)
        return f"{words} {other_tables(self.caller, self.game)}"

    def pot(self) -> int:
        return self.caller.purse.pot(self.coin)

    def limits(self, *, as_offered: bool = False) -> tuple[int, int]:
        """Return the limits now, or those at the last offer as long as it holds."""
        purse = self.caller.purse
        pot = purse.offered(self.coin) // self.coin if as_offered else self.pot() - 1
        most = min(self.settings.largest_bet, pot)
        own = purse.posted.stake_left
        return self.settings.smallest_bet, most if own is None else min(most, own // self.coin)

    def why_refused(self, bet: int) -> str:
        least, most = self.limits(as_offered=True)
        if bet < least:
            return self.with_amounts(SMALLEST_BET, least=least)
        if bet <= most:
            return ""
        if bet > self.settings.largest_bet:
            return self.with_amounts(_LARGEST_BET, most=self.settings.largest_bet)
        own = self.caller.purse.posted.stake_left
        if own is not None and bet > own // self.coin:
            return self._own_limit_words()
        return self.with_amounts(_MOST_OF_POT, most=most)

    def _own_limit_is_short(self) -> bool:
        own = self.caller.purse.posted.stake_left
        return own is not None and own < self.settings.smallest_bet * self.coin

    def _own_limit_words(self) -> str:
        left = self.caller.purse.posted.stake_left or 0
        words = _("Your own limit lets you bet {left} more today.")
        return words.format(left=span(left))

    def amount(self, amount: int) -> str:
        return wording.coins(amount // self.coin)

    def warning(self, bet: int) -> str:
        """Return how much of a full win the next event would cut off, and where it would go."""
        full = int(bet * self.coin * self.best_odds)
        surplus = self.caller.purse.cut_from(full)
        if not surplus or self.why_refused(bet):
            return ""
        return _(_TRIMMED[self.caller.bank_settings.mode]).format(
            event=self.caller.purse.event_words(),
            full=wording.clock_time(full),
            bet=self.amount(bet * self.coin),
            surplus=wording.clock_time(surplus),
        )
