"""Films a coup of baccarat."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from door import wording
from door.games.baccarat.events import BaccaratDealt, BaccaratSettled
from door.games.baccarat.round import BaccaratAction
from door.tables import reel as films
from door.tables.baccarat import words
from door.tables.baccarat.scene import BaccaratScene
from door.tables.baccarat.table import CALL_SECONDS, SLIDE_SECONDS
from door.tables.fairness import Fairness
from door.tables.scene import bet_name
from door.tables.words import amount_sentence, result_sentence
from timebank.language import _, pgettext
from timebank.words import money

if TYPE_CHECKING:
    from collections.abc import Callable

    from door.tables.reel import Reel, ReplayedHand
    from timebank.words import Unit

_TOSSES = (BaccaratAction.BANK_CARD, BaccaratAction.BANK_NO_CARD)


def film(reel: Reel, hand: ReplayedHand) -> None:
    stored, shoe = hand.stored, hand.stored.shoe
    amount, result = _words(stored.unit, stored.coin)
    is_for_time = stored.unit == "second"
    scene = BaccaratScene(for_time=is_for_time)
    scene.played = _("Played for time") if is_for_time else _("Played to break the bank")
    scene.figures = [(bet_name(), amount(stored.stake))]
    films.begin(reel, hand, scene)
    for step in hand.steps:
        if step.act is not None and step.act.word in _TOSSES:
            toss = _("The bank may draw or stand, and leaves it to a toss.")
            reel.display.say(f"|07{toss}")
        elif step.act is not None:
            is_card = step.act.word == BaccaratAction.CARD
            decision = pgettext("baccarat", "Card") if is_card else _("No card")
            films.decide(reel, stored.caller, decision)
        for event in step.events:
            scene.follow(event)
            if isinstance(event, BaccaratSettled):
                scene.banner = words.banner(event, amount)
            reel.display.refresh()
            if isinstance(event, BaccaratDealt):
                reel.beat(SLIDE_SECONDS)
            else:
                reel.display.say(words.sentence(event, result))
                reel.beat(CALL_SECONDS)
    if hand.after.over and shoe is not None:
        scene.short = Fairness(shoe.seal, hand.seed).short()
    reel.display.refresh()
    films.end(reel, hand)


def _words(unit: Unit, coin: int) -> tuple[Callable[[int], str], Callable[[int], str]]:
    """Return what says an amount, and what says a result."""
    if unit == "second":
        return partial(wording.coins_of, coin=coin), partial(result_sentence, coin=coin)
    return partial(money, unit=unit), lambda net: amount_sentence(net, money(abs(net), unit))
