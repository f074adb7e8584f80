"""Baccarat: its kind, its settings in sysop.toml and its descriptor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from door.games.baccarat import odds
from door.games.baccarat.round import BaccaratAction, BaccaratPhase, BaccaratRound, start
from door.games.baccarat.rules import BACCARAT, CHECKS, BaccaratRules
from door.games.engine import shuffle
from door.games.engine.descriptor import Game
from door.games.engine.game import Act, Kind
from door.games.engine.settings import StakeSettings
from timebank.language import N_
from timebank.settings.forms import OneOf, setting


class BaccaratKind(Kind):
    def absent(self, round_: BaccaratRound) -> Act:
        """Take no card for an absent caller or, in the bank's phase, for the bank."""
        return Act(
            BaccaratAction.NO_CARD
            if round_.phase is BaccaratPhase.CALLER
            else BaccaratAction.BANK_NO_CARD
        )

    def laid(self, round_: BaccaratRound, seat: int) -> dict[str, object]:
        return {
            "player": list(round_.player),
            "bank": list(round_.bank_hand),
            "points": list(round_.points),
        }

    def lies(self, round_: BaccaratRound, settled: bool) -> str:
        bank = round_.bank_hand if settled else round_.bank
        return f"player {' '.join(round_.player)}; bank {' '.join(card or '??' for card in bank)}"

    def by_chance(
        self, round_: BaccaratRound, seed: bytes, cut: shuffle.Cut, position: int
    ) -> Act | None:
        if round_.phase is not BaccaratPhase.BANK:
            return None
        draws = shuffle.toss(seed, cut, position + round_.cards_used)
        return Act(BaccaratAction.BANK_CARD if draws else BaccaratAction.BANK_NO_CARD)


BACCARAT_KIND = BaccaratKind(
    name="baccarat",
    base=BACCARAT,
    checks=CHECKS,
    only_journaled=frozenset({"decks"}),
    start=start,
    actions=BaccaratAction,
)


Language = Literal["caller", "english", "french"]


@dataclass(frozen=True)
class BaccaratSettings(StakeSettings):
    """The settings of the baccarat table; the stakes are for the game for time."""

    # For callers who have chosen no language.
    language: Language = setting(OneOf(get_args(Language)), "caller")
    rules: BaccaratRules = BACCARAT_KIND.base

    @property
    def for_play_money(self) -> bool:
        return True


GAME = Game(
    letter="C",
    code="BACCARAT",
    title="Baccarat",
    about=N_("Bet minutes, or break the bank"),
    settings=BaccaratSettings,
    kind=BACCARAT_KIND,
    odds=odds.odds,
    costs=odds.costs,
    card=odds.card,
)
