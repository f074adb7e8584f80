"""The scene of a black jack table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from ansi.cards import paint_hand
from door import wording
from door.games.blackjack import events as happened
from door.games.blackjack.events import BlackjackOutcome, Event
from door.games.engine.cards import Card
from door.tables.card_names import listed_cards
from door.tables.scene import COUNT, FELT, MARGIN, FeltLayout, TableScene, paint_place
from door.tables.words import count_words
from timebank.language import N_, _
from timebank.words import field as figure

if TYPE_CHECKING:
    from ansi.canvas import Canvas
    from door.games.blackjack.round import BlackjackRound

# The words on the felt after a hand.
ENDINGS = {
    BlackjackOutcome.NATURAL: N_("BLACKJACK!"),
    BlackjackOutcome.TWENTY_ONE: N_("21!"),
    BlackjackOutcome.CHARLIE: N_("CHARLIE!"),
    BlackjackOutcome.WIN: N_("YOU WIN"),
    BlackjackOutcome.PUSH: N_("PUSH"),
    BlackjackOutcome.LOSE: N_("DEALER WINS"),
    BlackjackOutcome.BUST: N_("BUST!"),
    BlackjackOutcome.DEALER_NATURAL: N_("DEALER 21"),
    BlackjackOutcome.DEALER_CHARLIE: N_("DEALER CHARLIE"),
}


@dataclass(slots=True)
class BlackJackScene(TableScene):
    title: ClassVar[str] = "Black Jack For Time"

    dealer: list[Card | None] = field(default_factory=list)
    mine: list[Card] = field(default_factory=list)
    insured: int = 0  # seconds
    printed: Sequence[str] = ()  # lines on the felt; only the first one where rows are short

    # Changes of the scene.

    def clear(self) -> None:
        TableScene.clear(self)
        self.dealer, self.mine, self.insured = [], [], 0

    def lay(self, round_: BlackjackRound) -> None:
        seat = round_.seats[0]
        self.dealer, self.mine = list(round_.dealer), list(seat.hands[0].cards)
        self.bet, self.insured = seat.hands[0].stake, seat.insurance or 0

    def follow(self, event: Event) -> None:
        match event:
            case happened.BlackjackDealt(card=card):
                self.mine.append(card)
            case happened.DealerDealt(card=card):
                self.dealer.append(card)
            case happened.BlackjackRevealed(card=card):
                self.dealer[1] = card
            case happened.Doubled(amount=amount):
                self.bet += amount
            case happened.InsuranceBought(amount=amount):
                self.insured = amount
            case happened.BlackjackSettled(outcome=outcome, won=won, lost=lost):
                self.end(_(ENDINGS[outcome]), won - lost)

    # Painting.

    def _paint_cards(self, canvas: Canvas, felt: FeltLayout) -> None:
        column = felt.left + MARGIN
        width = felt.columns - 2 * MARGIN
        hands: tuple[tuple[int, str, Sequence[Card | None]], ...] = (
            (felt.top, _("Dealer"), self.dealer),
            (felt.lower_top, self.player or _("Your hand"), self.mine),
        )
        end = column
        for row, name, cards in hands:
            end = canvas.put(row, column, name, FELT)
            if cards:
                end = canvas.put(row, end + 2, count_words(cards), COUNT)
            for number in range(len(cards), 2):
                paint_place(canvas, row + 1, column + number * (felt.card_columns + 1), felt.large)
            paint_hand(canvas, row + 1, column, cards, width, large=felt.large)
        self._paint_printed(canvas, felt, column, width)
        after = felt.lower_top + felt.card_rows + 2
        if after <= felt.last_row:
            self._paint_result(canvas, felt, after, column)
        else:
            self._paint_result(canvas, felt, felt.lower_top, end + 2)

    def _paint_printed(self, canvas: Canvas, felt: FeltLayout, column: int, width: int) -> None:
        """Paint the print between the hands: on every other row, or the lines that fit."""
        first = felt.lower_top - felt.gap
        lines = self.printed[: (felt.gap + 1) // 2]
        for number, line in enumerate(lines):
            row = first + felt.gap // 2 + 2 * number - (len(lines) - 1)
            canvas.put(row, column, line.center(width), COUNT)

    def _card_lines(self) -> Sequence[str]:
        hands = ((_("Dealer"), self.dealer), (self.player or _("You"), self.mine))
        return [
            f"|07{figure(name, f'|15{listed_cards(cards)}|07 ({count_words(cards)})')}"
            for name, cards in hands
            if cards  # a watcher may see a table before its cards
        ]

    def _bet_figures(self) -> list[tuple[str, str]]:
        figures = TableScene._bet_figures(self)
        if self.insured:
            figures.append((_("Insured"), wording.coins_of(self.insured, self.coin)))
        return figures
