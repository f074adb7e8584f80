"""Replays of hands from the journal, painted step by step for films.

Nothing here waits: a `Reel` notes the second of each change of the screen. The same hand at the
same size gives the same letters, forever. A film shows what the caller saw, and a seed only after
its shoe is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansi.charset import Charset, encode, spelling
from door.call.canvas_display import CanvasDisplay
from door.call.markup import literal
from door.call.scene import Scene
from door.games.engine.journaled import TableRound, acts_of, mixed_into, rebuild
from door.games.rounds import kind_of
from door.tables.card_names import the_card
from door.tables.scene import BANNER_SECONDS
from timebank.language import ENGLISH, Viewer, _
from timebank.wagers.rounds import VOID
from timebank.words import date_words

if TYPE_CHECKING:
    from door.games.engine.game import Act, Kind
    from door.tables.scene import TableScene
    from door.tables.solo_table import TableForTime
    from timebank.wagers.journal import StoredRound

THINK_SECONDS = 1.0  # before a decision
DECIDED_SECONDS = 0.8  # after a decision
END_SECONDS = 3.0


class Reel:
    """A screen and its recorded frames: seconds from the beginning, and letters.

    A mark is the number of the frame that it precedes, and its words.
    """

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        self.viewer = Viewer(language=ENGLISH, spelling=spelling(Charset.UTF8))
        self.columns, self.rows = columns, rows
        self.now = 0.0
        self.frames: list[tuple[float, str]] = []
        self.marks: list[tuple[int, str]] = []
        self.display = CanvasDisplay(
            self.write, _at_the_next_beat, self.viewer, columns, rows, colour=True
        )

    def write(self, letters: str) -> None:
        """Add letters to the frame of this second."""
        shown = encode(letters, Charset.UTF8).decode()
        is_marked = bool(self.marks) and self.marks[-1][0] == len(self.frames)
        if self.frames and self.frames[-1][0] == self.now and not is_marked:
            self.frames[-1] = (self.now, self.frames[-1][1] + shown)
        else:
            self.frames.append((self.now, shown))

    def beat(self, seconds: float) -> None:
        """Flush the changes and move the time on by `seconds`."""
        self.display.flush()
        self.now = round(self.now + seconds, 3)

    def mark(self, label: str) -> None:
        """Put a mark before the next frame."""
        self.marks.append((len(self.frames), label))


def _at_the_next_beat(_change: Callable[[], None]) -> None:
    """Leave a change for the next `Reel.beat`."""


@dataclass(frozen=True)
class FilmStep:
    """The deal (`act` is `None`) or a decision, with the hand and the events after it."""

    act: Act | None
    hand: TableRound[Any]
    events: Sequence[Any]


@dataclass(frozen=True)
class ReplayedHand:
    """A hand from the journal and its steps."""

    stored: StoredRound
    kind: Kind
    steps: tuple[FilmStep, ...]

    @property
    def after(self) -> Any:
        return self.steps[-1].hand.round

    @property
    def seed(self) -> str:
        """The seed once the shoe is done, "" before."""
        shoe = self.stored.shoe
        return "" if shoe is None else shoe.shown_seed or ""

    def why_unsettled(self) -> str:
        """Return why the hand was not played to its end; "" if it was."""
        if self.stored.outcome == VOID:
            return _("The hand is void: it was never played to its end.")
        return "" if self.after.over else _("The hand is still in play.")

    def name_of_actor(self, act: Act) -> str:
        return self.stored.seats[(act.seat or 1) - 1].caller


def replay_hand(stored: StoredRound) -> ReplayedHand:
    """Replay a hand as far as it was played; raises `JournalDamaged`."""
    kind = kind_of(stored)
    return ReplayedHand(stored, kind, tuple(_steps(rebuild(kind, stored), stored)))


def _steps(hand: TableRound[Any], stored: StoredRound) -> Iterator[FilmStep]:
    kind, shoe = hand.kind, hand.shoe
    cards = kind.cards(shoe.seed, mixed_into(shoe), shoe.decks, shoe.position)
    round_, events = kind.deal(stored.rules, cards, [bet.amount for bet in hand.bets], 1)
    yield FilmStep(None, hand._replace(round=round_), events)
    for act in acts_of(stored):
        round_, events = kind.act(round_, act)
        yield FilmStep(act, hand._replace(round=round_), events)


# The same in films of all games.


def begin(reel: Reel, hand: ReplayedHand, scene: Scene) -> None:
    """Show an empty table and, below it, the number of the hand."""
    stored = hand.stored
    title = _("Hand {number}").format(number=stored.id)
    reel.mark(title)
    reel.display.stage(scene)
    pieces = [
        f"|15{title}",
        f" |09│ |15{literal(stored.caller)}",
        f" |09│ |07{date_words(stored.day)}",
    ]
    if stored.shoe is not None:
        pieces.append(f" |09│ |07{_('Seal')} {stored.shoe.seal[:8]}")
    reel.display.status(pieces)
    reel.display.prompt("")
    reel.beat(THINK_SECONDS)


def decide(reel: Reel, name: str, words: str) -> None:
    """Show the decision `words` of the caller `name`."""
    reel.beat(THINK_SECONDS)
    reel.display.prompt(f"|15{literal(name)}:|07 {words}")
    reel.beat(DECIDED_SECONDS)
    reel.display.prompt("")


def end(reel: Reel, hand: ReplayedHand) -> None:
    """Show a settled hand's face-down cards, or why it is unsettled; hold the last frame."""
    if words := hand.why_unsettled():
        reel.display.say(f"|14{words}")
    elif hand.seed:
        for card in hand.kind.face_down(hand.after):
            reel.display.say(f"|07{_('Face down lay {card}.').format(card=the_card(card))}")
    reel.beat(END_SECONDS)


def film_alone(
    reel: Reel,
    hand: ReplayedHand,
    table: type[TableForTime],
    scene: TableScene,
    sentence: Callable[[Any], str],
) -> None:
    """Film a hand at a table for time; `sentence` returns the message for an event."""
    stored, shoe = hand.stored, hand.stored.shoe
    scene.has_purse = False
    if shoe is not None:
        scene.seal, scene.cut = shoe.seal, shoe.cut or ""
    begin(reel, hand, scene)
    scene.bet, scene.is_dealt = stored.stake, True
    for step in hand.steps:
        if step.act is not None:
            decide(reel, stored.caller, _(table.action_keys[step.act.word][1]))
        for event in step.events:
            if banner := table.banner_of(event, step.hand):
                scene.banner = banner
                _show(reel, scene)
                reel.beat(BANNER_SECONDS)
                scene.banner = None
            scene.follow(event)
            _show(reel, scene)
            if message := sentence(event):
                reel.display.say(message)
            if wait := table.seconds(event, scene):
                reel.beat(wait)
    scene.seed = hand.seed if hand.after.over else ""
    _show(reel, scene)
    end(reel, hand)


def _show(reel: Reel, scene: TableScene) -> None:
    scene.invalidate()
    reel.display.refresh()
