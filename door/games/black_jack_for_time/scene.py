"""The black jack table as a caller sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ansi.cards import paint_hand, plain
from door import wording
from door.games.tables.scene import FIRST_ROW, PANEL, TableScene

if TYPE_CHECKING:
    from ansi.canvas import Canvas
    from door.games.blackjack.round import BlackjackRound

DEALER_ROW, PLAYER_ROW = FIRST_ROW, 9


@dataclass(slots=True)
class BlackJackScene(TableScene):
    title: ClassVar[str] = "Black Jack For Time"

    round: BlackjackRound | None = None

    def _paint_cards(self, canvas: Canvas, left: int) -> None:
        if self.round is None:
            canvas.put_pipe(DEALER_ROW, left + 1, "|02Dealer")
            canvas.put_pipe(PLAYER_ROW, left + 1, "|02Your hand")
            return
        hand = self.round.seats[0].hands[0]
        canvas.put_pipe(DEALER_ROW, left + 1, f"|02Dealer  |15{self.round.dealer_count}")
        canvas.put_pipe(PLAYER_ROW, left + 1, f"|02Your hand  |15{hand.count}")
        paint_hand(canvas, DEALER_ROW + 1, left + 1, self.round.dealer, PANEL - 2)
        paint_hand(canvas, PLAYER_ROW + 1, left + 1, hand.cards, PANEL - 2)

    def _told_cards(self) -> Sequence[str]:
        assert self.round is not None
        hand = self.round.seats[0].hands[0]
        dealer = ", ".join(plain(card) if card else "face down" for card in self.round.dealer)
        mine = ", ".join(plain(card) for card in hand.cards)
        return [
            f"|07Dealer: |15{dealer}|07 ({self.round.dealer_count})",
            f"|07You:    |15{mine}|07 ({hand.count})",
        ]

    def _bet_figures(self) -> Sequence[tuple[str, str]]:
        assert self.round is not None
        seat = self.round.seats[0]
        figures = [("Bet", wording.coins_of(seat.hands[0].stake, self.coin))]
        if seat.insurance:
            figures.append(("Insured", wording.coins_of(seat.insurance, self.coin)))
        return figures
