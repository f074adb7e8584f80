"""Before the deal: how much a caller may bet, and what they are told while they type it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from door import wording
from timebank.errors import BooksFailed

if TYPE_CHECKING:
    from door.call.caller import Caller
    from door.games.engine.settings import StakeSettings


class Betting:
    """The bet of one caller at one table, in coins of `coin` seconds."""

    def __init__(
        self, caller: Caller, game: str, settings: StakeSettings, best_odds: float
    ) -> None:
        """Take bets for `game`, under whose name the last one is remembered.

        `best_odds` is the most that one coin of the opening bet can win.
        """
        self.caller = caller
        self.console = caller.console
        self.game = game
        self.settings = settings
        self.best_odds = best_odds
        self.coin = settings.coin_minutes * 60

    def refusal(self) -> str:
        """Return why no bet can be placed now, "" when one can."""
        smallest = self.settings.smallest_bet
        pot = self.caller.purse.pot(self.coin)
        if pot <= smallest:
            return (
                f"Your pot holds {wording.coins(pot)}; the smallest bet is "
                f"{wording.coins(smallest)}, and your last coin cannot be bet."
            )
        return ""

    async def ask(self) -> int | None:
        """Return the bet in coins, `None` when the caller thinks better of it."""
        smallest = self.settings.smallest_bet
        while True:
            largest = min(self.settings.largest_bet, self.caller.purse.pot(self.coin) - 1)
            if largest < smallest:
                return None
            last = min(max(self.last(), smallest), largest)
            live = self.console.is_painted
            self._warn_of_cut(str(last if live else largest))
            typed = await self.console.entry(
                f"|07Coins to bet, |15{smallest}|07 to |15{largest}|07 (Enter for {last}):|15",
                longest=4,
                accept="0123456789.,".__contains__,  # a point is refused in words, not passed over
                # Told in lines, every digit would bring another line.
                changed=self._warn_of_cut if live else None,
            )
            if typed is None:
                return None
            if typed and not typed.isdecimal():
                self.console.say("|12A bet is a whole number of coins.")
                continue
            bet = int(typed) if typed else last
            if smallest <= bet <= largest:
                return bet
            self.console.say(f"|12{self._bet_refusal(bet, largest)}")

    def _bet_refusal(self, bet: int, largest: int) -> str:
        if bet < self.settings.smallest_bet:
            return f"The smallest bet is {wording.coins(self.settings.smallest_bet)}."
        if bet > self.settings.largest_bet:
            return f"The largest bet here is {wording.coins(self.settings.largest_bet)}."
        return f"You may bet up to {wording.coins(largest)}: your last coin stays with you."

    def _warn_of_cut(self, typed: str) -> None:
        """Say when the next event would cut a full win on the bet that is being typed."""
        bet = int(typed) if typed.isdecimal() else 0
        purse = self.caller.purse
        full = int(bet * self.coin * self.best_odds)
        surplus = purse.cut_from(full)
        if not 0 < bet <= min(self.settings.largest_bet, purse.pot(self.coin) - 1) or not surplus:
            return
        where = {
            "built-in": "would go to your time bank",
            "external": "would go to your time bank elsewhere",
            "none": "would be trimmed",
        }[self.caller.bank_settings.mode]
        self.console.say(
            f"|14{purse.event_words()}: of a full win of {wording.clock_time(full)} on "
            f"{wording.coins(bet)}, {wording.clock_time(surplus)} {where}."
        )

    def last(self) -> int:
        """Return the bet he placed last, the smallest one before his first."""
        last = self._bets().get(self.game)
        return last if isinstance(last, int) else self.settings.smallest_bet

    async def remember(self, bet: int) -> None:
        """Keep a bet that was placed as his last one; no hand is held up when that fails."""
        if bet == self.last():
            return
        with contextlib.suppress(BooksFailed):
            await self.caller.remember({"bets": {**self._bets(), self.game: bet}})

    def _bets(self) -> dict[str, object]:
        bets = self.caller.record.preferences.get("bets")
        return bets if isinstance(bets, dict) else {}
