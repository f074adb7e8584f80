"""The Red Dog table as a caller sees it: two cards with a gap between them, and what it pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ansi.cards import paint_card, plain
from door import wording
from door.games.red_dog.rules import SPREAD_PAYS, THREE_OF_A_KIND_PAYS, WIDEST_PAYS
from door.games.red_dog.words import spread_words
from door.games.tables.scene import FIRST_ROW, TableScene

if TYPE_CHECKING:
    from ansi.canvas import Canvas
    from door.games.red_dog.round import RedDogRound

# Columns of the first and the second card, and of the third between them.
FIRST, SECOND, THIRD = 5, 37, 21
CARD_ROW = FIRST_ROW + 1
SPREAD_ROW = FIRST_ROW + 6
PAY_ROW = FIRST_ROW + 8
_NAMES = ((FIRST, "First"), (THIRD, "Third"), (SECOND, "Second"))


@dataclass(slots=True)
class RedDogScene(TableScene):
    title: ClassVar[str] = "Red Dog"

    round: RedDogRound | None = None

    def _paint_cards(self, canvas: Canvas, left: int) -> None:
        for column, name in _NAMES:
            canvas.put_pipe(FIRST_ROW, left + column, f"|02{name}")
        if self.round is not None:
            for column, card in zip((FIRST, SECOND, THIRD), self.round.cards, strict=False):
                paint_card(canvas, CARD_ROW, left + column, card)
            canvas.put_pipe(SPREAD_ROW, left + 1, f"|15{spread_words(self.round.spread)}")
        for number, (name, pays) in enumerate(_PAYS):
            colour = "|14" if self._is_paid_by(number) else "|08"
            canvas.put_pipe(PAY_ROW + number, left + 5, f"{colour}{name:<18}{pays:>2} to 1")

    def _is_paid_by(self, line: int) -> bool:
        """Tell whether the round that stands here is paid by a line of the table, if it wins."""
        if self.round is None or not self.round.spread:
            return False
        widest = len(SPREAD_PAYS) + 1
        return line == (0 if self.round.spread < 0 else min(self.round.spread, widest))

    def _told_cards(self) -> Sequence[str]:
        assert self.round is not None
        names = ("First", "Second", "Third")
        cards = zip(names, self.round.cards, strict=False)
        told = ", ".join(f"{name.lower()} |15{plain(card)}|07" for name, card in cards)
        return [f"|07Cards: {told}", f"|07{spread_words(self.round.spread)}"]

    def _bet_figures(self) -> Sequence[tuple[str, str]]:
        assert self.round is not None
        figures = [("Bet", wording.coins_of(self.round.bet, self.coin))]
        if self.round.raised:
            figures.append(("Raise", wording.coins_of(self.round.bet, self.coin)))
        return figures


_PAYS = (
    ("Three of a kind", THREE_OF_A_KIND_PAYS),
    *((f"Spread {spread}", pays) for spread, pays in SPREAD_PAYS.items()),
    (f"Spread {len(SPREAD_PAYS) + 1} or more", WIDEST_PAYS),
)
