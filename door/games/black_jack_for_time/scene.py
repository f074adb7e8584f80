"""The black jack table as a caller sees it: the cards, the bet, the seal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from ansi.canvas import Canvas
from ansi.cards import paint_hand, plain
from door import wording
from door.call.display import LAYOUT_COLUMNS
from timebank.words import span

if TYPE_CHECKING:
    from ansi.canvas import Row
    from door.games.blackjack.round import Round
    from door.games.engine.cards import Card

PANEL = 54  # column of the figures at the right
DEALER_ROW, PLAYER_ROW = 2, 9
SEAL_ROW = 16


@dataclass(slots=True)
class Sitting:
    """How a caller did since he sat down, amounts in seconds."""

    turns: int = 0
    won: int = 0
    lost: int = 0
    wins: int = 0
    losses: int = 0
    pushes: int = 0

    @property
    def net(self) -> int:
        """What he is up, or down when negative."""
        return self.won - self.lost


@dataclass(slots=True)
class TableScene:
    """Everything on the table at one moment; painted again after every change."""

    coin: int  # seconds
    turns_limit: int | None
    turns: int = 0
    pot: int = 0  # whole coins
    seal: str = ""
    seed: str = ""
    cut: str = ""
    round: Round | None = None
    sitting: Sitting = field(default_factory=Sitting)

    def paint(self, canvas: Canvas, left: int, rows: int) -> None:
        """Paint the table into the 79 columns from `left` on."""
        self._paint_title(canvas, left)
        if self.round is None:
            canvas.put_pipe(DEALER_ROW, left + 1, "|02Dealer")
            canvas.put_pipe(PLAYER_ROW, left + 1, "|02Your hand")
        else:
            self._paint_hands(canvas, left, self.round)
        self._paint_panel(canvas, left + PANEL)
        if self.seal:
            canvas.put_pipe(SEAL_ROW, left + 1, f"|08Seal {self.seal}")
        if self.seed:
            canvas.put_pipe(SEAL_ROW + 1, left + 1, f"|08Seed {self.seed}")
        if self.cut:
            canvas.put_pipe(SEAL_ROW + 2, left + 1, f"|08Cut with: {self.cut}")

    def lines(self) -> Sequence[str]:
        """Return the table in words."""
        told = [f"|15Black Jack For Time|07 - {self._turn_words()}"]
        if self.round is not None:
            hand = self.round.seats[0].hands[0]
            dealer = ", ".join(plain(card) if card else "face down" for card in self.round.dealer)
            mine = ", ".join(plain(card) for card in hand.cards)
            told.append(f"|07Dealer: |15{dealer}|07 ({self.round.dealer_count})")
            told.append(f"|07You:    |15{mine}|07 ({hand.count})")
            told.extend(f"|07{name}: |15{value}" for name, value in self._figures())
        else:
            told.append(f"|07A coin is {self._coin_words()} of your time.")
        return told

    def standing(self) -> str:
        """Return pot and turns in a line, for a caller who has no panel to look at."""
        return f"|07Your pot: |15{wording.coins(self.pot)}|07. {self._turn_words()}."

    def _paint_title(self, canvas: Canvas, left: int) -> None:
        canvas.put_pipe(0, 0, "|18" + " " * (canvas.columns - 1))
        canvas.put_pipe(0, left + 1, "|18|15Black Jack For Time")
        right = self._turn_words()
        canvas.put_pipe(0, left + LAYOUT_COLUMNS - 1 - len(right), f"|18|14{right}")

    def _paint_hands(self, canvas: Canvas, left: int, round_: Round) -> None:
        hand = round_.seats[0].hands[0]
        canvas.put_pipe(DEALER_ROW, left + 1, f"|02Dealer  |15{round_.dealer_count}")
        canvas.put_pipe(PLAYER_ROW, left + 1, f"|02Your hand  |15{hand.count}")
        self._paint_cards(canvas, DEALER_ROW + 1, left + 1, round_.dealer)
        self._paint_cards(canvas, PLAYER_ROW + 1, left + 1, hand.cards)

    @staticmethod
    def _paint_cards(canvas: Canvas, row: int, column: int, cards: Sequence[Card | None]) -> None:
        paint_hand(canvas, row, column, cards, PANEL - 2)

    def _paint_panel(self, canvas: Canvas, column: int) -> None:
        figures = self._figures()
        frame = _frame(LAYOUT_COLUMNS - PANEL - 1, 2 + max(len(figures), 7), canvas.colour)
        canvas.stamp(DEALER_ROW, column, frame)
        for number, (name, value) in enumerate(figures):
            canvas.put_pipe(DEALER_ROW + 1 + number, column + 2, f"|07{name:<9}|15{value}")

    def _figures(self) -> list[tuple[str, str]]:
        figures = [("Pot", wording.coins(self.pot)), ("A coin", self._coin_words())]
        if self.round is not None:
            seat = self.round.seats[0]
            figures.append(("Bet", wording.coins_of(seat.hands[0].stake, self.coin)))
            if seat.insurance:
                figures.append(("Insured", wording.coins_of(seat.insurance, self.coin)))
        net = self.sitting.net
        if self.sitting.turns:
            sign = "+" if net > 0 else ""
            figures.append(("Sitting", f"{sign}{wording.clock_time(net)}"))
            score = f"{self.sitting.wins}-{self.sitting.losses}-{self.sitting.pushes}"
            figures.append(("W-L-push", score))
        return figures

    def _coin_words(self) -> str:
        return span(self.coin)

    def _turn_words(self) -> str:
        if self.turns_limit is None:
            return f"Turns today: {self.turns}"
        return f"Turns today: {self.turns} of {self.turns_limit}"


@lru_cache(maxsize=16)
def _frame(width: int, height: int, colour: bool) -> tuple[Row, ...]:
    """The box that the figures stand in."""
    canvas = Canvas(width + 1, height, colour=colour)
    canvas.box(0, 0, width, height)
    return canvas.painted(0, height)
