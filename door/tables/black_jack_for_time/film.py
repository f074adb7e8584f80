"""A hand of Black Jack For Time, shown again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from door.games.blackjack.round import BlackjackAction
from door.tables.black_jack_for_time.scene import BlackJackScene
from door.tables.black_jack_for_time.table import CARDS, BlackJackForTimeTable, banner, seconds
from door.tables.black_jack_for_time.words import printed, sentence
from door.tables.reel import film_alone
from timebank.language import _

if TYPE_CHECKING:
    from door.games.blackjack.events import Event
    from door.tables.reel import Filmed, Reel


def film(reel: Reel, hand: Filmed) -> None:
    coin = hand.stored.coin
    scene = BlackJackScene(coin, None, printed=printed(hand.kind.read_rules(hand.stored.rules)))

    def said(event: Event) -> str:
        return "" if isinstance(event, CARDS) else sentence(event, coin, scene.mine, scene.dealer)

    keys = BlackJackForTimeTable.action_keys
    film_alone(
        *(reel, hand, scene, said, lambda event: seconds(event, scene), banner),
        lambda word: _(keys[BlackjackAction(word)][1]),
    )
