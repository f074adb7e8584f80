"""The two ways to play baccarat: for time, and for the bank. What may be wagered, and in what.

For time a coin is whole minutes, within the sysop's limits, and the last one of the pot stays with
the caller. For the bank it is a dollar or a franc, up to the whole bankroll and to what the bank
still has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from door import wording
from door.games.baccarat.events import BaccaratOutcome
from door.tables.baccarat import words
from door.tables.betting import SMALLEST_BET, Betting, BettingTime
from door.tables.scene import TableTally, bet_name
from door.tables.words import net_words
from timebank.language import N_, _, ngettext
from timebank.wagers import play_money
from timebank.wagers.play_money import FULL_BANK, NEW_BANKROLL
from timebank.words import field, money, span

if TYPE_CHECKING:
    from door.call.caller import Caller
    from door.games.baccarat.game import BaccaratSettings
    from timebank.ledger.database import Desk
    from timebank.ledger.purse import Receipt
    from timebank.words import Unit

GAME = "baccarat"
FIRST_WAGER = 1_000  # dollars or francs


class Wagering(Betting):
    """Amounts as a croupier asks for them."""

    letters = "0123456789 .,"
    longest = 15
    question = N_("Place your bets: {least} to {most} (Enter for {last}):")
    narrow_question = N_("Bets, {least_coins} to {most_coins} (Enter for {last_coins}):")
    which_amount = N_("Whole amounts only, such as {example}.")


class ForTime(Wagering, BettingTime):
    def __init__(self, caller: Caller, settings: BaccaratSettings) -> None:
        super().__init__(caller, GAME, settings, 1)
        self.tally = TableTally()

    def played(self) -> str:
        turns, limit = self.caller.purse.turns(GAME), self.turns_limit
        if limit is None:
            counted = ngettext(
                "Played for time - {turns} turn today",
                "Played for time - {turns} turns today",
                turns,
            )
            return counted.format(turns=turns)
        counted = ngettext(
            "Played for time - {turns} of {limit} turns",
            "Played for time - {turns} of {limit} turns",
            turns,
        )
        return counted.format(turns=turns, limit=limit)

    def figures(self, wager: int | None) -> list[tuple[str, str]]:
        figures = [
            (_("Pot"), wording.coins(self.caller.purse.pot(self.coin))),
            (_("A coin"), span(self.coin)),
        ]
        if wager is not None:
            figures.append((bet_name(), self.amount(wager)))
        if self.tally.turns:
            sign = "+" if self.tally.net > 0 else ""
            figures.append((_("Net"), f"{sign}{wording.clock_time(self.tally.net)}"))
        return figures

    def why_refused(self, bet: int, most: int | None = None) -> str:
        """Say which limit is overstepped, as it is now."""
        return super().why_refused(bet)

    def warning(self, bet: int) -> str:
        """Say how much of a win the next event would cut off, if the bet can be placed."""
        return "" if self.why_refused(bet) else super().warning(bet)

    def follow(self, receipt: Receipt) -> None:
        """No-op: the caller keeps the purse."""

    def ended(self) -> str:
        return net_words(self.tally.net, span(abs(self.tally.net)))


class ForTheBank(Wagering):
    """Dollars or francs, against a bank that can be broken."""

    def __init__(self, caller: Caller, unit: Unit) -> None:
        super().__init__(caller, words.CENTS, FIRST_WAGER, f"{GAME} {unit}")
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
        return _("Played in francs") if self.unit == "frf-cent" else _("Played in dollars")

    def figures(self, wager: int | None) -> list[tuple[str, str]]:
        figures = [
            (_("Bankroll"), self.amount(self.bankroll)),
            (_("The bank"), self.amount(self.casino)),
        ]
        if wager is not None:
            figures.append((bet_name(), self.amount(wager)))
        if self.tally.turns:
            figures.append((_("Net"), words.signed_money(self.tally.net, self.unit)))
        return figures

    async def confirm_bet(self, bet: int) -> bool:
        """Ask before Enter alone bets the whole bankroll."""
        if bet * self.coin < self.bankroll:
            return True
        return await self.caller.console.prompt.agrees(_("Bet all of it?"), default="N")

    def refusal(self) -> str:
        if paused := self.caller.purse.paused_words():
            return f"|14{paused}"
        if self.is_broken:
            full = self.amount(FULL_BANK)
            told = _("The bank is broken. It opens again with {bank} when you come back.")
            return f"|14{told.format(bank=full)}"
        return self.gone()

    def gone(self) -> str:
        """Say that the bankroll is gone and when there will be another, "" while there is one."""
        if self.bankroll:
            return ""
        fresh = self.amount(NEW_BANKROLL)
        told = _("Your bankroll is gone. Come back after midnight for a fresh {bankroll}.")
        return f"|12{told.format(bankroll=fresh)}"

    def limits(self) -> tuple[int, int]:
        return 1, min(self.bankroll, self.casino) // self.coin

    def why_refused(self, bet: int, most: int | None = None) -> str:
        if bet < 1:
            return self.with_amounts(SMALLEST_BET, least=1)
        if bet * self.coin > self.bankroll:
            told = _("You can't bet more than your bankroll of {most}.")
            return told.format(most=self.amount(self.bankroll))
        if bet * self.coin > self.casino:
            told = _("The bank has only {most} left to win.")
            return told.format(most=self.amount(self.casino))
        return ""

    def amount(self, amount: int) -> str:
        return money(amount, self.unit)

    def follow(self, receipt: Receipt) -> None:
        play = receipt.play
        if play is not None and play.unit == self.unit:
            self.bankroll, self.casino = play.bankroll, play.casino

    def ended(self) -> str:
        return _("Your bankroll: {amount}.").format(amount=self.amount(self.bankroll))

    async def _brings(self, operation: Callable[[Desk, int, int, Unit], Receipt]) -> str:
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
        return welcome or self.gone()


BaccaratStakes = ForTime | ForTheBank


def statement(stakes: BaccaratStakes) -> str:
    """Say how the caller did with these stakes since sitting down, "" when they did not play."""
    tally = stakes.tally
    if not tally.turns:
        return ""
    won, lost = tally.endings[BaccaratOutcome.PLAYER], tally.endings[BaccaratOutcome.BANK]
    off = tally.endings[BaccaratOutcome.STAND_OFF]
    counted = [
        ngettext("{number} win", "{number} wins", won).format(number=won),
        ngettext("{number} loss", "{number} losses", lost).format(number=lost),
    ]
    if off:
        counted.append(
            ngettext("{number} stand-off", "{number} stand-offs", off).format(number=off)
        )
    told = field(words.title(), f"{', '.join(counted)}. {stakes.ended()}")
    is_open = isinstance(stakes, ForTime) and stakes.caller.hand_waits
    return f"{told} {_('A coup is still open.')}" if is_open else told
