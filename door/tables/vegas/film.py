"""Films a round of Vegas from one seat of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from door import wording
from door.games.blackjack.round import BlackjackAction
from door.games.blackjack.rules import MOST_SEATS
from door.games.vegas.game import VegasSettings
from door.tables import reel as films
from door.tables.scene import BANNER_SECONDS
from door.tables.vegas import news
from door.tables.vegas import words as vegas_words
from door.tables.vegas.pits import place_of
from door.tables.vegas.scene import VegasScene
from door.tables.vegas.seat import BEAT_SECONDS, PLAY_KEYS
from door.tables.vegas.state import Chair, TableState
from timebank.language import _
from timebank.wagers.journal import FIRST_TABLE

if TYPE_CHECKING:
    from door.tables.reel import Reel, ReplayedHand

MINUTE = 60


@dataclass(frozen=True)
class _Named:
    id: int
    name: str
    preferences: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class _Watcher:
    """The caller of the filmed seat; a film needs no purse and no console."""

    record: _Named
    purse: None = None
    console: None = None


@dataclass(frozen=True)
class _Table:
    title: str
    state: TableState

    def seconds_left(self) -> int:
        return 0


class _FilmedScene(VegasScene):
    """A scene of the callers in the round, without anybody's turns."""

    def explain(self, *, in_lines: bool = False) -> Sequence[str]:
        return ()

    def _turns_only(self) -> str:
        return ""

    def _colour_of(self, seat: Chair) -> str:
        is_mine = seat.caller_id == self._caller.record.id
        return "|14" if is_mine or self._state.at_turn is seat else "|15"

    def _status_words(self, seat: Chair, place: int) -> str:
        hand = self._state.hand
        insurance = None if hand is None or hand.over else hand.round.seats[place].insurance
        if hand is None or not insurance:
            return ""
        coins = wording.coins_of(insurance, hand.coin)
        return f"|15{_('insured: {coins}').format(coins=coins)}"


def film(reel: Reel, hand: ReplayedHand) -> None:
    stored = hand.stored
    scene, state = _empty(hand)
    names = hand.steps[0].hand.names
    place = [seat.seat for seat in stored.seats].index(stored.seat)
    films.begin(reel, hand, scene)
    for step in hand.steps:
        if step.act is not None:
            action = PLAY_KEYS[BlackjackAction(step.act.word)][1]
            films.decide(reel, hand.name_of_actor(step.act), _(action))
        state.hand = step.hand
        kind = news.RoundDealt if step.act is None else news.RoundWentOn
        item = kind(names, step.hand.round, step.events, stored.coin)
        scene.hide(item)
        reel.display.refresh()
        while scene.hidden:
            reel.beat(BEAT_SECONDS)
            scene.show_next()
            reel.display.refresh()
        for words in vegas_words.painted_sentences(item, stored.caller):
            reel.display.say(words)
        reel.beat(BEAT_SECONDS)
    if hand.after.over:
        scene.banner = vegas_words.ending_of(hand.after, place, stored.coin)
        state.seed = hand.seed
        reel.display.refresh()
        reel.beat(BANNER_SECONDS)
        scene.banner = None
        reel.display.refresh()
    films.end(reel, hand)


def _empty(hand: ReplayedHand) -> tuple[_FilmedScene, TableState]:
    """Return the scene of a table with the round's callers, and its state."""
    stored, bets = hand.stored, hand.steps[0].hand.bets
    number = FIRST_TABLE if stored.shoe is None else stored.shoe.table
    settings = VegasSettings(
        coin_minutes=stored.coin // MINUTE,
        smallest_bet=1,
        largest_bet=0,
        turns_per_day=0,
        open=True,
        tables=number,
        seats=MOST_SEATS,
        bell_seconds=0,
        turn_seconds=0,
        resume_wait=0,
        rules=hand.kind.read_rules(stored.rules),
    )
    state = TableState(
        lambda: settings,
        seats={bet.seat: Chair(bet.seat, bet.caller_id, bet.name, None) for bet in bets},
        shoe=stored.shoe,
    )
    place = place_of(number)
    title = "Vegas" if place == FIRST_TABLE else f"Vegas {place}"
    table = _Table(title, state)
    watcher = _Watcher(_Named(stored.caller_id, stored.caller))
    return _FilmedScene(table, watcher), state
