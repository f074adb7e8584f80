"""The review of a caller's try at a contest: its hands on the felt, one by one.

Below or next to a hand stands each decision with the book's and another caller's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from ansi.width import text_width
from door.call.markup import lit, literal, wrap
from door.call.page import MARGIN
from door.call.pager import LEAVE, NEXT, PAGING, PREVIOUS
from door.call.scene import WholeNarrow
from door.games.blackjack.round import BlackjackAction
from door.games.solver.tutor import costs, tutor
from door.session.shared_hands import ACTIONS, DealScene, signed
from door.tables.black_jack_for_time.scene import ENDINGS
from door.tables.scoring import hands_of, percent, played
from door.tables.words import count_words
from timebank.language import N_, _
from timebank.ledger.sentences import play_word
from timebank.words import field

if TYPE_CHECKING:
    from ansi.canvas import Canvas
    from door.call.console import Console
    from door.call.scene import Area
    from door.games.blackjack.duplicate import TryDecision
    from door.games.blackjack.round import BlackjackRound
    from door.games.engine.cards import Card
    from door.tables.tutor.tutor_process import TutorProcess
    from timebank.wagers.contests import Contest, ContestResult

TITLE = N_("Review of your hands")
NAME_CELLS = 7
MANY = 3  # decisions of a hand; with as many there are no empty rows
NARROW_FELT_ROWS = 15  # of a scene with a title, a felt of 12 rows, and two rows below it
KEYS = {NEXT: N_("Next"), PREVIOUS: N_("Previous"), LEAVE: N_("Quit")}
MEANINGS = {
    NEXT: N_("Go on to the next hand."),
    PREVIOUS: N_("Go back a hand."),
    LEAVE: N_("Leave the review."),
}
TURNS = {key.upper(): letter for key, letter in PAGING.items() if letter in (NEXT, PREVIOUS)}


class Rated(NamedTuple):
    """A decision, the book's best move, the cost as stored, and another caller's move or ""."""

    decision: TryDecision
    best: BlackjackAction
    cost: int
    other: str

    @property
    def cards(self) -> Sequence[Card]:
        hand = self.decision.at.hand
        return () if hand is None else hand.cards

    def words(self) -> tuple[str, ...]:
        """Return the hand's count, the moves of caller and book, the cost, and the other move."""
        move, is_insurance = self.decision.move, "insurance" in self.decision.move
        count = _("Insurance") if is_insurance else count_words(self.cards)
        return count, _word(move), _word(self.best), percent(self.cost), self.other


@dataclass(slots=True)
class ReviewScene(DealScene, WholeNarrow):
    """A hand at its end, with the decisions. `ends` says how it ended."""

    title: ClassVar[str] = TITLE
    history_title: ClassVar[str] = ""
    panel_columns: ClassVar[int] = 46

    name: str = ""  # of the other caller
    rated: Sequence[Rated] = ()
    ends: Sequence[str] = ()

    def paint(self, canvas: Canvas, area: Area) -> None:
        if not area.is_narrow:
            between = ("",) if len(self.rated) < MANY else ()
            self.history = tuple(self._rows(self.panel_columns - 2 * MARGIN, between))
            DealScene.paint(self, canvas, area)
            return
        DealScene.paint(self, canvas, area._replace(rows=NARROW_FELT_ROWS))
        top, rows = NARROW_FELT_ROWS - 2, self._rows(area.columns - MARGIN)
        for row, line in zip(range(top, area.rows), rows, strict=False):
            canvas.put_pipe(row, area.left + 1, line)

    def _paint_figures_below(self, canvas: Canvas, area: Area) -> None:
        """Leave the rows to the decisions."""

    def _rows(self, width: int, between: Sequence[str] = ()) -> Iterator[str]:
        """Return the table of decisions and the sentences, with `between` as empty rows."""
        heads = (_("Hand"), _("You"), _("Book"), _("Cost"), self.name)
        table = [heads, *(each.words() for each in self.rated)]
        widths = [max(map(text_width, cells)) for cells in zip(*table, strict=True)]
        gap = "  " if sum(widths) + 2 * len(widths) <= width else " "
        colours = ["|11", *("|12" if each.cost else "|07" for each in self.rated)]
        for colour, cells in zip(colours, table if self.rated else (), strict=False):
            padded = (c + " " * (w - text_width(c)) for c, w in zip(cells, widths, strict=True))
            yield from wrap(f"{colour}{gap.join(padded).rstrip()}", width)
        for text in (*between, *self.ends, *between, *self._note()):
            yield from wrap(text, width)

    def _note(self) -> Iterator[str]:
        if any(each.cost or len(each.cards) > 2 for each in self.rated):
            yield f"|08{_('The book also counts cards: five are a Charlie.')}"

    def lines(self) -> Sequence[str]:
        said = (_said(each, self.name) for each in self.rated)
        return [*DealScene.lines(self), *said, *self.ends, *self._note()]

    def explain(self, *, in_lines: bool = False) -> Sequence[str]:
        return [_("Each row is a decision: what you did, what the book says, and what it cost.")]


async def reviewed(
    thinking: TutorProcess, contest: Contest, mine: ContestResult, other: ContestResult | None
) -> list[ReviewScene]:
    """Return the hands of a try. `other` is the rival or the winner, None without one.

    Raises `HelperUnavailable`.
    """
    game = played(contest, mine.acts)
    theirs = None if other is None else played(contest, other.acts)
    name = "" if other is None else literal(other.name[:NAME_CELLS])
    rated = await _rated(thinking, contest, mine, other)
    scenes, chips = list[ReviewScene](), 0
    for number, end in enumerate(game.over, 1):
        net = end.totals.won - end.totals.lost
        chips += net
        scene = ReviewScene(coin=1, turns_limit=None, has_purse=False, is_dealt=True, name=name)
        scene.number, scene.hands, scene.chips = number, hands_of(contest), chips
        scene.lay(end)
        scene.end(_(ENDINGS[end.outcomes[0]]), net)
        scene.rated = [each for each in rated if each.decision.number == number]
        ends = [_end(_("You"), end)]
        if theirs is not None:
            ends.append(_end(name, theirs.over[number - 1]))
        scene.ends = [f"|07{' '.join(ends)}"]
        scenes.append(scene)
    return scenes


async def walk(console: Console, scenes: Sequence[ReviewScene]) -> None:
    """Show the hands, the first one first, until the caller leaves."""
    numbers = {str(number % 10): number for number in range(1, min(len(scenes), 10) + 1)}
    number = 1
    while True:
        console.display.stage(scenes[number - 1])
        hidden = {*([PREVIOUS] if number == 1 else []), *([NEXT] if number == len(scenes) else [])}
        keys = {key: _(label) for key, label in KEYS.items() if key not in hidden}
        default = LEAVE if NEXT in hidden else NEXT
        hands = {key: _("Hand {number}").format(number=each) for key, each in numbers.items()}
        choice = await console.prompt.ask(
            {**keys, **hands},
            menu=f"|07{_('The number of a hand, or')} {lit(keys, default)}",
            default=default,
            cancel=LEAVE,
            meanings=MEANINGS,
            also=TURNS,
        )
        if choice == LEAVE:
            return
        steps: Mapping[str, int] = {NEXT: number + 1, PREVIOUS: number - 1}
        number = steps.get(choice) or numbers[choice]


async def _rated(
    thinking: TutorProcess, contest: Contest, mine: ContestResult, other: ContestResult | None
) -> list[Rated]:
    moves = defaultdict[int, list[str]](list)
    for made in () if other is None else played(contest, other.acts).decisions:
        moves[made.number].append(_word(made.move))
    found = list[Rated]()
    for choice in costs.choices(played(contest, mine.acts)):
        values = await thinking.ask(choice.spot)
        best, cost = tutor.advised(choice.decision, values).best, choice.cost(values)
        others = moves[choice.made.number]
        move = others.pop(0) if others else ""
        found.append(Rated(choice.made, best, costs.stored_cost(cost), move))
    return found


def _word(move: BlackjackAction) -> str:
    return _(ACTIONS[move][1])


def _said(each: Rated, name: str) -> str:
    words = _("{count}: {move}, as the book says.")
    if each.cost:
        words = _("{count}: {move}. The book says {best}: that cost {cost} of a bet.")
    count, move, best, cost, other = each.words()
    said = words.format(count=count, move=move, best=best, cost=cost)
    return f"|07{said} {field(name, other)}." if other else f"|07{said}"


def _end(name: str, hand: BlackjackRound) -> str:
    outcome, won = hand.outcomes[0], hand.totals.won - hand.totals.lost
    words = _("{name}: {outcome} ({coins}).")
    return words.format(name=name, outcome=play_word(outcome), coins=signed(won))
