"""A hand of Red Dog, shown again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from door.games.red_dog.events import RedDogDealt
from door.games.red_dog.round import RedDogAction
from door.tables.red_dog.scene import RedDogScene
from door.tables.red_dog.table import RedDogTable, banner, seconds
from door.tables.red_dog.words import sentence
from door.tables.reel import film_alone
from timebank.language import _

if TYPE_CHECKING:
    from door.games.red_dog.events import Event
    from door.tables.reel import Filmed, Reel


def film(reel: Reel, hand: Filmed) -> None:
    coin = hand.stored.coin

    def said(event: Event) -> str:
        return "" if isinstance(event, RedDogDealt) else sentence(event, coin)

    keys = RedDogTable.action_keys
    film_alone(
        *(reel, hand, RedDogScene(coin, None), said, seconds),
        lambda event, _after: banner(event),
        lambda word: _(keys[RedDogAction(word)][1]),
    )
