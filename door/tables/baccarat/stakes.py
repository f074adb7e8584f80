"""The stakes of baccarat: for time, or in play money to break the bank.

For time a coin is whole minutes, within the sysop's limits, and the last coin of the pot cannot be
bet. Against the bank a coin is a dollar or a franc. The limit is the bankroll and the bank's money.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from door import wording
from door.tables.baccarat import words
from door.tables.betting import SMALLEST_BET, Betting, BettingTime
from door.tables.scene import TableTally, bet_name
from door.tables.words import amount_sentence, result_sentence, turns_so_far
from timebank.language import N_, _
from timebank.wagers import play_money
from timebank.wagers.play_money import FULL_BANK, NEW_BANKROLL
from timebank.words import money, span

if TYPE_CHECKING:
    from door.call.caller import Caller
    from door.games.baccarat.game import BaccaratSettings
    from timebank.ledger.database import Desk
    from timebank.ledger.purse import Receipt
    from timebank.words import Unit

GAME = "baccarat"
FIRST_WAGER = 1_000  # dollars or francs


class Wagering(Betting):
    """Bets in the words of a croupier."""

    letters = "0123456789 .,"
    longest = 15
    which_amount = N_("Whole amounts only, such as {example}.")
    tally: TableTally

    def funds(self) -> list[tuple[str, str]]:
        """Return the figures of what can be staked."""
        raise NotImplementedError

    def exactly(self, amount: int) -> str:
        """Return an amount that need not be whole coins."""
        return self.amount(amount)

    def figures(self, wager: int | None) -> list[tuple[str, str]]:
        figures = self.funds()
        if wager is not None:
            figures.append((bet_name(), self.amount(wager)))
        if self.tally.turns:
            sign = "+" if self.tally.net > 0 else ""
            figures.append((_("Net"), f"{sign}{self.exactly(self.tally.net)}"))
        return figures


class ForTime(Wagering, BettingTime):
    question = N_("Place your bets, {least_coins} to {most_coins} coins (Enter for {last_coins}):")

    def __init__(self, caller: Caller, settings: BaccaratSettings) -> None:
        super().__init__(caller, GAME, settings, 1)
        self.tally = TableTally()

    def played(self) -> str:
        return turns_so_far(self.caller.purse.turns(GAME), self.turns_limit)

    def funds(self) -> list[tuple[str, str]]:
        pot = wording.coins(self.caller.purse.pot(self.coin))
        return [(_("Pot"), pot), (_("A coin"), span(self.coin))]

    def exactly(self, amount: int) -> str:
        return wording.clock_time(amount)

    def result(self, net: int) -> str:
        return result_sentence(net, self.coin)

    def follow(self, receipt: Receipt) -> None:
        """No-op: the caller keeps the purse."""


class ForTheBank(Wagering):
    """Dollars or francs, against a bank that can be broken."""

    question = N_("Place your bets: {least} to {most} (Enter for {last}):")
    narrow_question = N_("Bets, {least_coins} to {most_coins} (Enter for {last_coins}):")

    def __init__(self, caller: Caller, unit: Unit) -> None:
        super().__init__(caller, words.CENTS, FIRST_WAGER, f"{GAME} {unit}")
        self.unit = unit
        self.has_met = False  # whether the caller has sat down against the bank on this visit
        self.tally = TableTally()
        self.bankroll = self.casino = 0

    async def meet(self) -> str:
        """Sit down against a full bank; return the welcome. Raises `BooksUnavailable`."""
        welcome = await self._post_welcome(play_money.sit_down)
        self.has_met = True
        return welcome

    async def renew(self) -> str:
        """Renew an empty bankroll after midnight; return the message. Raises `BooksUnavailable`."""
        return await self._post_welcome(play_money.renew_bankroll)

    @property
    def is_broken(self) -> bool:
        return self.casino == 0

    def played(self) -> str:
        return _("Played in francs") if self.unit == "frf-cent" else _("Played in dollars")

    def funds(self) -> list[tuple[str, str]]:
        bankroll, casino = self.amount(self.bankroll), self.amount(self.casino)
        return [(_("Bankroll"), bankroll), (_("The bank"), casino)]

    def pot(self) -> int:
        return self.bankroll // self.coin

    def refusal(self) -> str:
        if barred := self.caller.purse.why_no_bets():
            return f"|14{barred}"
        if self.is_broken:
            full = self.amount(FULL_BANK)
            text = _("The bank is broken. It opens again with {bank} when you come back.")
            return f"|14{text.format(bank=full)}"
        return self.gone_words()

    def gone_words(self) -> str:
        """Return when an empty bankroll is renewed, "" while it is not empty."""
        if self.bankroll:
            return ""
        fresh = self.amount(NEW_BANKROLL)
        text = _("Your bankroll is gone. Come back after midnight for a fresh {bankroll}.")
        return f"|12{text.format(bankroll=fresh)}"

    def limits(self) -> tuple[int, int]:
        return 1, min(self.bankroll, self.casino) // self.coin

    def why_refused(self, bet: int) -> str:
        if bet < 1:
            return self.with_amounts(SMALLEST_BET, least=1)
        if bet * self.coin > self.bankroll:
            text = _("You can't bet more than your bankroll of {most}.")
            return text.format(most=self.amount(self.bankroll))
        if bet * self.coin > self.casino:
            text = _("The bank has only {most} left to win.")
            return text.format(most=self.amount(self.casino))
        return ""

    def amount(self, amount: int) -> str:
        return money(amount, self.unit)

    def result(self, net: int) -> str:
        return amount_sentence(net, self.amount(abs(net)))

    def follow(self, receipt: Receipt) -> None:
        play = receipt.play
        if play is not None and play.unit == self.unit:
            self.bankroll, self.casino = play.bankroll, play.casino

    def result_words(self) -> str:
        return _("Your bankroll: {amount}.").format(amount=self.amount(self.bankroll))

    async def _post_welcome(self, operation: Callable[[Desk, int, int, Unit], Receipt]) -> str:
        receipt = await self.caller.post(
            lambda desk, call, ticked: operation(desk, call, ticked, self.unit)
        )
        self.follow(receipt)
        welcomes = {
            "bankroll": _("The house stakes you to {amount}: welcome to the table."),
            "renewal": _("A new day, and a new bankroll: {amount}."),
        }
        welcome = "\n".join(
            "|14" + welcomes[row.kind].format(amount=f"|15{self.amount(row.amount)}|14")
            for row in receipt.rows
            if row.kind in welcomes
        )
        return welcome or self.gone_words()


BaccaratStakes = ForTime | ForTheBank


def statement(stakes: BaccaratStakes) -> str:
    """Return the result of the visit with these stakes, "" without a coup."""
    is_open = isinstance(stakes, ForTime) and stakes.caller.hand_waits
    result = stakes.result_words() if isinstance(stakes, ForTheBank) else ""
    return stakes.tally.summed_up(words.title(), hand_is_open=is_open, result=result)
