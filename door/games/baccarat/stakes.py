"""The two ways to play baccarat: for time, and for the bank. What may be wagered, and in what.

Wagers are whole coins; what a coin is differs. For time it is whole minutes, within the sysop's
limits, and the last one of the pot stays with the caller. For the bank it is a dollar or a franc,
up to the whole bankroll and to what the bank still has. Amounts are in the smallest unit.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from door import wording
from door.games.baccarat import words
from door.games.baccarat.events import BaccaratOutcome, BaccaratSettled
from timebank.wagers.play_money import FULL_BANK, NEW_BANKROLL

if TYPE_CHECKING:
    from door.call.caller import Caller
    from door.games.baccarat.dialogue import Dialogue
    from door.games.baccarat.settings import BaccaratSettings
    from timebank.ledger.play_accounts import PlayMoney
    from timebank.ledger.purse import Receipt
    from timebank.words import Unit

GAME = "baccarat"
FIRST_WAGER = 1_000  # dollars or francs


@dataclass
class CoupTally:
    """How a caller did at this table since he sat down, in one unit."""

    ended: Counter[BaccaratOutcome] = field(default_factory=Counter)
    net: int = 0

    def count(self, settled: BaccaratSettled) -> None:
        """Count a coup that is over."""
        self.ended[settled.outcome] += 1
        self.net += settled.won - settled.lost

    @property
    def coups(self) -> int:
        """How many coups he has played."""
        return self.ended.total()


class BaccaratStakes(Protocol):
    """One way to play, for one caller."""

    unit: Unit
    coin: int
    turns_limit: int | None
    first_wager: int  # what is offered to one who has wagered nothing yet, in coins
    sitting: CoupTally

    def played(self, said: Dialogue) -> str:
        """Say what is played for, for the title."""

    def figures(self, said: Dialogue, wager: int | None) -> list[tuple[str, str]]:
        """Return the figures beside the cards; `wager` is on the table."""

    def refusal(self, said: Dialogue) -> str:
        """Say why nothing can be wagered now, "" when it can."""

    def limits(self) -> tuple[int, int]:
        """Return the least and the most that may be wagered, in coins."""

    def refused(self, said: Dialogue, wager: int) -> str:
        """Say why so many coins cannot be wagered, "" when they can."""

    def amount(self, said: Dialogue, amount: int) -> str:
        """Put an amount into words."""

    def warning(self, said: Dialogue, wager: int) -> str:
        """Say what would become of a win that time has no room for, "" when it has."""

    def follow(self, receipt: Receipt) -> None:
        """Take in what an entry has left."""

    def ended(self, said: Dialogue) -> str:
        """Say how the caller leaves the table."""


class ForTime:
    """Coins worth minutes."""

    def __init__(self, caller: Caller, settings: BaccaratSettings) -> None:
        """Play within the limits of `settings`."""
        self.caller = caller
        self.settings = settings
        self.unit: Unit = "second"
        self.coin = settings.coin_minutes * 60
        self.turns_limit = settings.turns_per_day or None
        self.first_wager = settings.smallest_bet
        self.sitting = CoupTally()

    def played(self, said: Dialogue) -> str:
        """Say that it is for time, and the turns."""
        turns = self._turns()
        if self.turns_limit is None:
            return f"{said.played_for_time}, {said.turns.format(turns=turns)}"
        counted = said.turns_of.format(turns=turns, limit=self.turns_limit)
        return f"{said.played_for_time}, {counted}"

    def figures(self, said: Dialogue, wager: int | None) -> list[tuple[str, str]]:
        """Return pot and coin, and how the sitting goes."""
        figures = [
            (said.pot, words.coins(said, self._pot())),
            (said.one_coin, words.length(said, self.coin)),
        ]
        if wager is not None:
            figures.append((said.wager, self.amount(said, wager)))
        if self.sitting.coups:
            sign = "+" if self.sitting.net > 0 else ""
            figures.append((said.ahead, f"{sign}{wording.clock_time(self.sitting.net)}"))
        return figures

    def refusal(self, said: Dialogue) -> str:
        """Say that the turns are used, or that the pot is too small."""
        if self.turns_limit is not None and self._turns() >= self.turns_limit:
            return said.last_turn.format(limit=self.turns_limit)
        least, most = self.limits()
        if most >= least:
            return ""
        return said.pot_too_small.format(
            pot=words.coins(said, self._pot()), least=words.coins(said, least)
        )

    def limits(self) -> tuple[int, int]:
        """Return the sysop's limits, less what the pot has not got beside its last coin."""
        settings = self.settings
        return settings.smallest_bet, min(settings.largest_bet, self._pot() - 1)

    def refused(self, said: Dialogue, wager: int) -> str:
        """Say which limit is overstepped."""
        least, most = self.limits()
        if wager < least:
            return said.least.format(least=words.coins(said, least))
        if wager <= most:
            return ""
        if wager > self.settings.largest_bet:
            return said.most_of_table.format(most=words.coins(said, self.settings.largest_bet))
        return said.most_of_pot.format(most=words.coins(said, most))

    def amount(self, said: Dialogue, amount: int) -> str:
        """Return seconds as coins."""
        return words.coins(said, amount // self.coin)

    def warning(self, said: Dialogue, wager: int) -> str:
        """Say how much of a win the next event would cut off, and where that would go."""
        full = wager * self.coin
        surplus = self.caller.purse.cut_from(full)
        if not surplus or self.refused(said, wager):
            return ""
        return said.trimmed.format(
            event=self.caller.purse.event_words(),
            full=wording.clock_time(full),
            surplus=wording.clock_time(surplus),
            where=said.where[self.caller.bank_settings.mode],
        )

    def follow(self, receipt: Receipt) -> None:
        """Do nothing: the caller himself keeps his purse."""

    def ended(self, said: Dialogue) -> str:
        """Say how much time the sitting has brought or cost."""
        net, is_open = self.sitting.net, self.caller.hand_waits
        if not net:
            return said.ended_open if is_open else said.ended_even
        ended = said.ended_ahead if net > 0 else said.ended_behind
        told = ended.format(amount=words.length(said, abs(net)))
        return f"{told}, {said.also_open}" if is_open else told

    def _pot(self) -> int:
        return self.caller.purse.pot(self.coin)

    def _turns(self) -> int:
        return self.caller.purse.turns(GAME)


class ForTheBank:
    """Dollars or francs, against a bank that can be broken."""

    def __init__(self, unit: Unit) -> None:
        """Begin without knowing what there is, before the first receipt."""
        self.unit: Unit = unit
        self.coin = words.CENTS
        self.turns_limit: int | None = None
        self.first_wager = FIRST_WAGER
        self.is_faced = False  # whether he has sat down to it on this visit
        self.sitting = CoupTally()
        self.bankroll = self.casino = 0

    @property
    def is_broken(self) -> bool:
        """Whether the bank has nothing left."""
        return self.casino == 0

    def played(self, said: Dialogue) -> str:
        """Name the money."""
        return said.played_for_bank

    def figures(self, said: Dialogue, wager: int | None) -> list[tuple[str, str]]:
        """Return bankroll and bank, and how the sitting goes."""
        figures = [
            (said.bankroll, words.money(said, self.bankroll, self.unit)),
            (said.casino, words.money(said, self.casino, self.unit)),
        ]
        if wager is not None:
            figures.append((said.wager, self.amount(said, wager)))
        if self.sitting.coups:
            figures.append((said.ahead, words.signed_money(said, self.sitting.net, self.unit)))
        return figures

    def refusal(self, said: Dialogue) -> str:
        """Say that the bank is broken, or that the bankroll is gone."""
        if self.is_broken:
            return said.broken.format(bank=words.money(said, FULL_BANK, self.unit))
        return self.gone(said)

    def gone(self, said: Dialogue) -> str:
        """Say that the bankroll is gone and when there will be another, "" while there is one."""
        if self.bankroll:
            return ""
        return said.gone.format(bankroll=words.money(said, NEW_BANKROLL, self.unit))

    def limits(self) -> tuple[int, int]:
        """Return one, and all that both have."""
        return 1, min(self.bankroll, self.casino) // self.coin

    def refused(self, said: Dialogue, wager: int) -> str:
        """Say which of the two has not got so much."""
        if wager < 1:
            return said.least.format(least=words.money(said, self.coin, self.unit))
        if wager * self.coin > self.bankroll:
            return said.most_of_bankroll.format(most=words.money(said, self.bankroll, self.unit))
        if wager * self.coin > self.casino:
            return said.most_of_bank.format(most=words.money(said, self.casino, self.unit))
        return ""

    def amount(self, said: Dialogue, amount: int) -> str:
        """Return cents as money."""
        return words.money(said, amount, self.unit)

    def warning(self, said: Dialogue, wager: int) -> str:
        """Return "": no event cuts play money."""
        return ""

    def follow(self, receipt: Receipt) -> None:
        """Take in bankroll and bank."""
        play: PlayMoney | None = receipt.play
        if play is not None and play.unit == self.unit:
            self.bankroll, self.casino = play.bankroll, play.casino

    def ended(self, said: Dialogue) -> str:
        """Say what the bankroll is."""
        return said.ended_with.format(amount=words.money(said, self.bankroll, self.unit))


def told(said: Dialogue, stakes: BaccaratStakes) -> str:
    """Say how the caller did with these stakes since he sat down, "" when he did not play."""
    sitting = stakes.sitting
    if not sitting.coups:
        return ""
    return said.statement.format(
        title=said.title,
        coups=words.coups(said, sitting.coups),
        player=sitting.ended[BaccaratOutcome.PLAYER],
        bank=sitting.ended[BaccaratOutcome.BANK],
        stand_off=sitting.ended[BaccaratOutcome.STAND_OFF],
        ended=stakes.ended(said),
    )
