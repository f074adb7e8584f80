"""A hand out of the journal, painted again step by step: what a film of it is made of.

Nothing here waits: a `Reel` notes at which second each change of the screen comes. The same hand at
the same size gives the same letters, forever. It shows what its caller was
shown, when it was shown, and nothing besides before the shoe is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansi.charset import Charset, encode, spelling
from door.call.canvas_display import CanvasDisplay
from door.call.markup import literal
from door.call.scene import Scene
from door.games.engine.journaled import TableRound, acts_of, found, mixed_into
from door.games.rounds import kind_of
from door.tables.card_names import the_card
from door.tables.scene import BANNER_SECONDS
from timebank.language import ENGLISH, Viewer, _
from timebank.wagers.rounds import VOID

if TYPE_CHECKING:
    from door.games.engine.game import Act, Kind
    from door.tables.scene import TableScene
    from door.tables.solo_table import TableForTime
    from timebank.wagers.journal import StoredRound

THINK_SECONDS = 1.0  # before a decision
DECIDED_SECONDS = 0.8  # that a decision is looked at
END_SECONDS = 3.0


class Reel:
    """A screen of its own, and what came to it: seconds from the beginning, and letters. A mark has
    the number of the frame that it stands before, and its words."""

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
        """Put letters on the screen, in one frame with all that came at this second."""
        shown = encode(letters, Charset.UTF8).decode(Charset.UTF8.codec)
        is_marked = bool(self.marks) and self.marks[-1][0] == len(self.frames)
        if self.frames and self.frames[-1][0] == self.now and not is_marked:
            self.frames[-1] = (self.now, self.frames[-1][1] + shown)
        else:
            self.frames.append((self.now, shown))

    def beat(self, seconds: float) -> None:
        """Show what has changed, and let it be looked at for so long."""
        self.display.flush()
        self.now = round(self.now + seconds, 3)

    def mark(self, label: str) -> None:
        """Note that something begins here."""
        self.marks.append((len(self.frames), label))


def _at_the_next_beat(_change: Callable[[], None]) -> None:
    """Leave a change for the next `Reel.beat`."""


@dataclass(frozen=True)
class FilmStep:
    """The deal, without an act, or a decision: the hand after it, and what happened."""

    act: Act | None
    hand: TableRound[Any]
    events: Sequence[Any]


@dataclass(frozen=True)
class Filmed:
    """A hand as the journal has it."""

    stored: StoredRound
    kind: Kind
    steps: tuple[FilmStep, ...]

    @property
    def after(self) -> Any:
        return self.steps[-1].hand.round

    @property
    def seed(self) -> str:
        """The seed of a shoe that is done, "" before."""
        shoe = self.stored.shoe
        return "" if shoe is None else shoe.shown_seed or ""

    def why_unsettled(self) -> str:
        """Say why the hand was not played to its end; "" if it was."""
        if self.stored.outcome == VOID:
            return _("The hand is void: it was never played to its end.")
        return "" if self.after.over else _("The hand is still in play.")

    def who(self, act: Act) -> str:
        return self.stored.seats[(act.seat or 1) - 1].caller


def filmed(stored: StoredRound) -> Filmed:
    """Play a hand again as far as it went; raises `JournalDamaged`."""
    kind = kind_of(stored)
    return Filmed(stored, kind, tuple(_steps(found(kind, stored), stored)))


def _steps(hand: TableRound[Any], stored: StoredRound) -> Iterator[FilmStep]:
    kind, shoe = hand.kind, hand.shoe
    cards = kind.cards(shoe.seed, mixed_into(shoe), shoe.decks, shoe.position)
    round_, events = kind.deal(stored.rules, cards, [bet.amount for bet in hand.bets], 1)
    yield FilmStep(None, hand._replace(round=round_), events)
    for act in acts_of(stored):
        round_, events = kind.act(round_, act)
        yield FilmStep(act, hand._replace(round=round_), events)


# What films of all games share.


def begin(reel: Reel, hand: Filmed, scene: Scene) -> None:
    """Put an empty table on the screen, with the number of the hand below it."""
    stored = hand.stored
    title = _("Hand {number}").format(number=stored.id)
    reel.mark(title)
    reel.display.stage(scene)
    pieces = [f"|15{title}", f" |09│ |15{literal(stored.caller)}", f" |09│ |07{stored.day}"]
    if stored.shoe is not None:
        pieces.append(f" |09│ |07{_('Seal')} {stored.shoe.seal[:8]}")
    reel.display.status(pieces)
    reel.display.prompt("")
    reel.beat(THINK_SECONDS)


def decide(reel: Reel, name: str, words: str) -> None:
    """Show that somebody has decided, and what."""
    reel.beat(THINK_SECONDS)
    reel.display.prompt(f"|15{literal(name)}:|07 {words}")
    reel.beat(DECIDED_SECONDS)
    reel.display.prompt("")


def end(reel: Reel, hand: Filmed) -> None:
    """Say what is left to be said of a hand, and let its end be looked at."""
    if words := hand.why_unsettled():
        reel.display.say(f"|14{words}")
    elif hand.seed:
        for card in hand.kind.face_down(hand.after):
            reel.display.say(f"|07{_('Face down lay {card}.').format(card=the_card(card))}")
    reel.beat(END_SECONDS)


def film_alone(
    reel: Reel,
    hand: Filmed,
    table: type[TableForTime],
    scene: TableScene,
    sentence: Callable[[Any], str],
) -> None:
    """Film a hand at a table for time; `sentence` returns what is said of an event."""
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
            if words := table.banner(event, step.hand.round):
                scene.banner = words
                _show(reel, scene)
                reel.beat(BANNER_SECONDS)
                scene.banner = ""
            scene.follow(event)
            _show(reel, scene)
            if said := sentence(event):
                reel.display.say(said)
            if wait := table.seconds(event, scene):
                reel.beat(wait)
    scene.seed = hand.seed if hand.after.over else ""
    _show(reel, scene)
    end(reel, hand)


def _show(reel: Reel, scene: TableScene) -> None:
    scene.changed()
    reel.display.refresh()
