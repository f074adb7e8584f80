"""What the main menu says of a game, where it is what it says of others too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from door import wording
from door.games.engine.settings import GameSettings, StakeSettings

if TYPE_CHECKING:
    from door.call.caller import Caller


def turns(caller: Caller, game: str, settings: GameSettings) -> str:
    """Say how often the caller has bet today: "3 of 20 turns today"."""
    limit = f" of {settings.turns_per_day}" if settings.turns_per_day else ""
    return f"{caller.purse.turns(game)}{limit} turns today"


def turns_and_bets(caller: Caller, game: str, stakes: StakeSettings) -> str:
    """Say besides how much may be bet."""
    return f"{turns(caller, game, stakes)}, bets up to {wording.coins(stakes.largest_bet)}"
