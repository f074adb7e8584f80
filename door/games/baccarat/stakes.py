"""The two ways to play baccarat: for time, and for the bank. What may be wagered, and in what.

For time a coin is whole minutes, within the sysop's limits, and the last one of the pot stays with
the caller. For the bank it is a dollar or a franc, up to the whole bankroll and to what the bank
still has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from door import wording
from door.games.baccarat import words
from door.games.baccarat.events import BaccaratOutcome
from door.games.tables.betting import Betting, BettingTime
from door.games.tables.scene import TableTally
from timebank.wagers import play_money
from timebank.wagers.play_money import FULL_BANK, NEW_BANKROLL

if TYPE_CHECKING:
    from door.call.caller import Caller
    from door.games.baccarat.dialogue import Dialogue
    from door.games.baccarat.game import BaccaratSettings
    from timebank.ledger.database import Desk
    from timebank.ledger.purse import Receipt
    from timebank.words import Unit

GAME = "baccarat"
FIRST_WAGER = 1_000  # dollars or francs
LONGEST_AMOUNT = 15
AMOUNT_LETTERS = "0123456789 .,"


def _kept_at(unit: Unit) -> tuple[str, str, str]:
    return GAME, "wagers", unit


class ForTime(BettingTime):
    words: Dialogue
    letters = AMOUNT_LETTERS
    longest = LONGEST_AMOUNT

    def __init__(self, caller: Caller, settings: BaccaratSettings, said: Dialogue) -> None:
        super().__init__(caller, GAME, settings, 1, said, _kept_at(self.unit))
        self.tally = TableTally()

    def played(self) -> str:
        turns = self.caller.purse.turns(GAME)
        counted = self.words.turns if self.turns_limit is None else self.words.turns_of
        told = counted.format(turns=turns, limit=self.turns_limit)
        return f"{self.words.played_for_time}, {told}"

    def figures(self, wager: int | None) -> list[tuple[str, str]]:
        said = self.words
        figures = [
            (said.pot, words.coins(said, self.caller.purse.pot(self.coin))),
            (said.one_coin, words.length(said, self.coin)),
        ]
        if wager is not None:
            figures.append((said.wager, self.amount(wager)))
        if self.tally.turns:
            sign = "+" if self.tally.net > 0 else ""
            figures.append((said.ahead, f"{sign}{wording.clock_time(self.tally.net)}"))
        return figures

    def amount(self, amount: int) -> str:
        return words.coins(self.words, amount // self.coin)

    def refused(self, bet: int, most: int | None = None) -> str:
        """Say which limit is overstepped, as it is now: what the books say is English."""
        return super().refused(bet)

    def warning(self, bet: int) -> str:
        """Say how much of a win the next event would cut off, if the bet can be placed."""
        return "" if self.refused(bet) else super().warning(bet)

    def follow(self, receipt: Receipt) -> None:
        """Do nothing: the caller keeps the purse."""

    def ended(self) -> str:
        said, net, is_open = self.words, self.tally.net, self.caller.hand_waits
        if not net:
            return said.ended_open if is_open else said.ended_even
        ended = said.ended_ahead if net > 0 else said.ended_behind
        told = ended.format(amount=words.length(said, abs(net)))
        return f"{told}, {said.also_open}" if is_open else told


class ForTheBank(Betting):
    """Dollars or francs, against a bank that can be broken."""

    words: Dialogue
    letters = AMOUNT_LETTERS
    longest = LONGEST_AMOUNT

    def __init__(self, caller: Caller, unit: Unit, said: Dialogue) -> None:
        super().__init__(caller, said, words.CENTS, FIRST_WAGER, _kept_at(unit))
        self.unit = unit
        self.is_faced = False  # whether the caller has sat down to it on this visit
        self.tally = TableTally()
        self.bankroll = self.casino = 0

    async def face(self) -> str:
        """Sit down to a bank that is whole again; return what the croupier says to that.
        Raises `BooksUnavailable`, as `renew` does."""
        welcome = await self._brings(play_money.sit_down)
        self.is_faced = True
        return welcome

    async def renew(self) -> str:
        """Renew a bankroll that is gone, if midnight has come since; return what is said."""
        return await self._brings(play_money.renew_bankroll)

    @property
    def is_broken(self) -> bool:
        return self.casino == 0

    def played(self) -> str:
        return self.words.played_for_bank

    def figures(self, wager: int | None) -> list[tuple[str, str]]:
        said = self.words
        figures = [
            (said.bankroll, self.amount(self.bankroll)),
            (said.casino, self.amount(self.casino)),
        ]
        if wager is not None:
            figures.append((said.wager, self.amount(wager)))
        if self.tally.turns:
            figures.append((said.ahead, words.signed_money(said, self.tally.net, self.unit)))
        return figures

    def refusal(self) -> str:
        if self.is_broken:
            return self.words.broken.format(bank=self.amount(FULL_BANK))
        return self.gone()

    def gone(self) -> str:
        """Say that the bankroll is gone and when there will be another, "" while there is one."""
        if self.bankroll:
            return ""
        return self.words.gone.format(bankroll=self.amount(NEW_BANKROLL))

    def limits(self) -> tuple[int, int]:
        return 1, min(self.bankroll, self.casino) // self.coin

    def refused(self, bet: int, most: int | None = None) -> str:
        said = self.words
        if bet < 1:
            return said.least.format(least=self.amount(self.coin))
        if bet * self.coin > self.bankroll:
            return said.most_of_bankroll.format(most=self.amount(self.bankroll))
        if bet * self.coin > self.casino:
            return said.most_of_bank.format(most=self.amount(self.casino))
        return ""

    def amount(self, amount: int) -> str:
        return words.money(self.words, amount, self.unit)

    def follow(self, receipt: Receipt) -> None:
        play = receipt.play
        if play is not None and play.unit == self.unit:
            self.bankroll, self.casino = play.bankroll, play.casino

    def ended(self) -> str:
        return self.words.ended_with.format(amount=self.amount(self.bankroll))

    async def _brings(self, operation: Callable[[Desk, int, int, Unit], Receipt]) -> str:
        receipt = await self.caller.post(
            lambda desk, call, ticked: operation(desk, call, ticked, self.unit)
        )
        self.follow(receipt)
        welcomes = {"bankroll": self.words.new_bankroll, "renewal": self.words.renewed}
        welcome = "\n".join(
            welcomes[row.kind].format(amount=self.amount(row.amount))
            for row in receipt.rows
            if row.kind in welcomes
        )
        return welcome or self.gone()


BaccaratStakes = ForTime | ForTheBank


def statement(stakes: BaccaratStakes) -> str:
    """Say how the caller did with these stakes since sitting down, "" when they did not play."""
    said, tally = stakes.words, stakes.tally
    if not tally.turns:
        return ""
    return said.statement.format(
        title=said.title,
        coups=wording.counted(tally.turns, "coup"),
        player=tally.endings[BaccaratOutcome.PLAYER],
        bank=tally.endings[BaccaratOutcome.BANK],
        stand_off=tally.endings[BaccaratOutcome.STAND_OFF],
        ended=stakes.ended(),
    )
