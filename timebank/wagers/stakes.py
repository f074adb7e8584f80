"""Stakes: the accounts that they come from and go to.

Time is staked from the time online, against the house of the game. Play money is staked from a
bankroll against the caller's own bank, or from a tab against the house.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from sqlalchemy import select

from timebank.errors import NotEnough
from timebank.language import Phrase
from timebank.ledger.entries import day
from timebank.ledger.entries.posting import Posting
from timebank.ledger.play_accounts import PlayAccounts
from timebank.ledger.reasons import BetPlaced, BetRaised, Lost, Returned, Won
from timebank.ledger.schema import accounts, rounds, transfers
from timebank.ledger.sql import Query, Reader, equal, value
from timebank.ledger.transfers import Account, house
from timebank.words import Unit, money, span_phrase

# The account that pays stakes of play money.
PlayPurse = Literal["bankroll", "tab"]
BANKROLL = ("bankroll", "stake", "casino")
# The accounts that each purse needs.
NEEDED: Mapping[PlayPurse, tuple[str, ...]] = {"bankroll": BANKROLL, "tab": ("tab", "stake")}


class Stakes:
    """The stakes of one seat of a round. Amounts are in the round's unit."""

    __slots__ = ("_game", "_house_id", "_play", "_posting", "purse", "table", "unit")

    def __init__(
        self,
        posting: Posting,
        game: str,
        unit: Unit,
        house_id: int | None,
        purse: PlayPurse | None = None,
    ) -> None:
        """Find the accounts. `house_id` is the house's account, None if it is not known yet.

        `purse` pays the stakes of play money in a new round. For a round in play it is read from
        the ledger. Raises ValueError for play money without a purse.
        """
        self._posting = posting
        self._game = game
        self._house_id = house_id
        self._play: PlayAccounts | None = None
        self.unit: Unit = unit
        if unit == "second":
            self.purse, self.table = posting.account["online"], posting.account["stake"]
            return
        purse = purse or _purse_of_round(posting)
        if purse is None:
            raise ValueError(f"{game} is not played for {unit}")
        kinds = NEEDED[purse]
        self._play = play = posting.use_play_money(unit)
        play.open(kinds)
        self.purse, self.table = play.account[kinds[0]], play.account["stake"]

    @property
    def on_table(self) -> int:
        """The amount on the table."""
        return self._posting.state.stake if self._play is None else self._play.balance["stake"]

    def allow(self, amount: int, coin: int) -> None:
        """Raise `NotEnough` unless the purse can stake an amount; raise `OwnLimit` first.

        Of time, one `coin` must be left after the stake, less the seconds since the stake was
        offered, and one second in any case. A bankroll may not stake more than its
        bank could pay. A tab has no limit.
        """
        self._posting.check_may_bet(amount if self.unit == "second" else 0)
        if self._play is None:
            usable = self._posting.state.usable
            if usable - amount < max(1, coin - self._posting.leeway):
                raise NotEnough(
                    Phrase(
                        "You have {amount}, and {coin} must stay in your pot.",
                        amount=span_phrase(usable),
                        coin=span_phrase(coin),
                    )
                )
        elif self.purse.kind == "bankroll":
            bankroll, casino = self._play.balance["bankroll"], self._play.balance["casino"]
            if amount > bankroll:
                raise NotEnough(Phrase("You have {amount}.", amount=money(bankroll, self.unit)))
            if self.on_table + amount > casino:
                raise NotEnough(
                    Phrase(
                        "The bank has only {amount} left to pay with.",
                        amount=money(casino, self.unit),
                    )
                )

    def put_down(self, amount: int, reason: BetPlaced | BetRaised) -> None:
        self._posting.move(self.purse, self.table, amount, reason)

    def settle(self, lost: int, returned: int, won: int, game: str, outcome: str) -> None:
        """Take stakes off the table. `outcome` is the outcome of the hand, "" while it goes on."""
        bank = self._bank() if lost or won else None
        if bank is not None:
            self._posting.move(self.table, bank, lost, Lost(game, outcome))
        self._posting.move(self.table, self.purse, returned, Returned(game, outcome))
        if self.unit == "second":
            self._posting.apply(day.end_old_stake, returned)
            self._posting.count_loss(lost - won)
        if bank is not None:
            self._posting.move(bank, self.purse, won, Won(game, outcome))

    @property
    def is_bank_broken(self) -> bool:
        """Whether the caller's own bank has nothing left."""
        play = self._play
        return play is not None and self.purse.kind == "bankroll" and not play.balance["casino"]

    def _bank(self) -> Account:
        if self._play is not None and self.purse.kind == "bankroll":
            return self._play.account["casino"]
        if self._house_id is not None:
            return Account(self._house_id, "house", self.unit)
        return house(self._posting.desk, self._game, self.unit)


def _first_source() -> Query:
    """Select the kind of the account that paid the first stake of a round."""
    return (
        select(accounts.c.kind)
        .join(transfers, transfers.c.source == accounts.c.id)
        .order_by(transfers.c.id)
        .limit(1)
    )


_PURSE: Reader[PlayPurse] = value(
    lambda: (
        _first_source()
        .join(rounds, rounds.c.id == transfers.c.round_id)
        .where(equal(rounds.c.caller_id, transfers.c.round_id))
    )
)


def _purse_of_round(posting: Posting) -> PlayPurse | None:
    hand = posting.in_play
    if hand is None:
        return None
    key = {"caller_id": posting.caller_id, "round_id": hand.round_id}
    return _PURSE.first(posting.desk.connection, **key)
