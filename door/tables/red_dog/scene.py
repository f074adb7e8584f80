"""The scene of a Red Dog table: two cards with a gap between them, and the pay table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from ansi.cards import CARD_WIDTH, LARGE_WIDTH, paint_card
from door import wording
from door.games.engine.cards import Card
from door.games.red_dog import events as happened
from door.games.red_dog.events import Event, RedDogOutcome
from door.games.red_dog.rules import SPREAD_PAYS, THREE_OF_A_KIND_PAYS, WIDEST_PAYS
from door.tables.card_names import named_card
from door.tables.red_dog.words import spread_words
from door.tables.scene import COUNT, FELT, MARGIN, PRINT, FeltLayout, TableScene, paint_place
from timebank.language import N_, _
from timebank.words import field as figure

if TYPE_CHECKING:
    from ansi.canvas import Canvas
    from door.games.red_dog.round import RedDogRound

# The words on the felt after a hand.
ENDINGS = {
    RedDogOutcome.THREE_OF_A_KIND: N_("THREE OF A KIND!"),
    RedDogOutcome.WIN: N_("IN BETWEEN!"),
    RedDogOutcome.PUSH: N_("PUSH"),
    RedDogOutcome.LOSE: N_("NOT IN BETWEEN"),
}
_PAY_COLUMNS = 19  # a line of the pay table on a narrow screen


@dataclass(slots=True)
class RedDogScene(TableScene):
    title: ClassVar[str] = "Red Dog"

    cards: list[Card] = field(default_factory=list)  # in the order dealt
    spread: int | None = None
    raised: int = 0  # seconds

    # Changes of the scene.

    def clear(self) -> None:
        TableScene.clear(self)
        self.cards, self.spread, self.raised = [], None, 0

    def lay(self, round_: RedDogRound) -> None:
        self.cards, self.spread = list(round_.cards), round_.spread
        self.bet, self.raised = round_.bet, round_.bet if round_.raised else 0

    def follow(self, event: Event) -> None:
        match event:
            case happened.RedDogDealt(card=card) | happened.RedDogDrew(card=card):
                self.cards.append(card)
            case happened.Spread(spread=spread):
                self.spread = spread
            case happened.RedDogRaised(amount=amount):
                self.raised = amount
            case happened.RedDogSettled(outcome=outcome, won=won, lost=lost):
                self.end(_(ENDINGS[outcome]), won - lost)

    # Painting.

    def _paint_cards(self, canvas: Canvas, felt: FeltLayout) -> None:
        width = LARGE_WIDTH if felt.large else CARD_WIDTH
        middle = felt.left + (felt.columns - width) // 2
        apart = (felt.columns - width) // 2 - (3 if felt.columns > 3 * width + 16 else 1)
        places = (middle - apart, middle + apart, middle)
        names = (_("First"), _("Second"), _("Third"))
        for column, name in zip(places, names, strict=True):
            canvas.put(felt.top, column, name, FELT)
        for column in places[len(self.cards) :]:
            paint_place(canvas, felt.top + 1, column, felt.large)
        for column, card in zip(places, self.cards, strict=False):
            paint_card(canvas, felt.top + 1, column, card, large=felt.large)
        row, column = felt.top + felt.card_rows + 1, felt.left + MARGIN
        is_roomy = row + 4 + len(_PAYS) <= felt.last_row
        words = "" if self.spread is None else spread_words(self.spread)
        if (
            len(words) < felt.columns - MARGIN
        ):  # else a message has it, and the pay table lights its line
            canvas.put(row + is_roomy, column, words, FELT)
        pays = row + 2 + is_roomy
        if not is_roomy and pays + len(_PAYS) <= felt.last_row:
            pays += 1  # after an empty row below the result
        self._paint_pays(canvas, felt, pays, column)
        self._paint_result(canvas, felt, row + 4 + len(_PAYS) if is_roomy else row + 1, column)

    def _paint_pays(self, canvas: Canvas, felt: FeltLayout, row: int, column: int) -> None:
        """Paint the pay table in one column, or in two where rows are short."""
        in_one = row + len(_PAYS) - 1 <= felt.last_row
        for number, (name, pays) in enumerate(_PAYS):
            style = COUNT if self._is_paid_by(number) else PRINT
            if in_one:
                words = f"{_(name):<20}{_('{odds} to 1').format(odds=pays):>9}"
                canvas.put(row + number, column + 3, words, style)
            else:
                down, right = divmod(number, 2)
                words = f"{_(name):<16}{pays:>2}"
                canvas.put(row + down, column + right * _PAY_COLUMNS, words, style)

    def _is_paid_by(self, line: int) -> bool:
        """Return whether a win of the round is paid by `line` of the pay table."""
        if not self.spread:
            return False
        widest = len(SPREAD_PAYS) + 1
        return line == (0 if self.spread < 0 else min(self.spread, widest))

    def _card_lines(self) -> Sequence[str]:
        names = (_("First"), _("Second"), _("Third"))
        lines = [
            f"|07{figure(name, f'|15{named_card(card)}')}"
            for name, card in zip(names, self.cards, strict=False)
        ]
        return lines if self.spread is None else [*lines, f"|07{spread_words(self.spread)}"]

    def _bet_figures(self) -> list[tuple[str, str]]:
        figures = TableScene._bet_figures(self)
        if self.raised:
            figures.append((_("Raise"), wording.coins_of(self.raised, self.coin)))
        return figures


_PAYS = (
    (N_("Three of a kind"), THREE_OF_A_KIND_PAYS),
    (N_("Spread 1"), SPREAD_PAYS[1]),
    (N_("Spread 2"), SPREAD_PAYS[2]),
    (N_("Spread 3"), SPREAD_PAYS[3]),
    (N_("Spread 4 or more"), WIDEST_PAYS),
)
