"""The strategy card of a table: which action is best for each hand.

`door.lobby.sums` works a card out in another process, once for the rules of a table.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from door.call.scene import LAYOUT_COLUMNS
from door.errors import HelperUnavailable
from door.games.registry import GAMES
from door.games.solver.strategy_card import MOVES, Section, StrategyCard
from door.lobby.sums import Sums, wait_for_answer
from timebank.language import N_, _
from timebank.words import field, percentage

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.console import Console
    from door.call.screen import Screen

UNAVAILABLE = N_("The strategy card is unavailable right now.")

_COLOURS = {
    "H": "12",
    "S": "14",
    "D": "10",
    "Ds": "10",
    "P": "11",
    "C": "12",
    "N": "14",
    "R": "10",
    "-": "14",
}
_SHOWN = 0.00005
_BY_TOTALS = N_(
    "This card goes by totals. The tutor and the review weigh your very cards, and how many you"
    " hold, so they may advise another move."
)
_THIS_CARD = (
    N_("Played like this, you win {share} of your bets on average."),
    N_("Played like this, you break even on average."),
    N_("Played like this, you lose {share} of your bets on average."),
)
_ALL_CARDS = (
    N_("Counting every card in sight, as the tutor does, you win {share}."),
    N_("Counting every card in sight, as the tutor does, you break even."),
    N_("Counting every card in sight, as the tutor does, you lose {share}."),
)
_INSURANCE = (
    N_("Buy insurance: on average it wins {share} of what it costs."),
    N_("Insurance neither wins nor loses on average."),
    N_("Never buy insurance: on average it loses {share} of what it costs."),
)
_CELL, _NARROW_CELL = 5, 3
_LABEL, _NARROW_LABEL = 9, 5


@dataclass(frozen=True, slots=True)
class TableCard:
    """The card of one table."""

    board: Board
    game: str
    rules: Any

    async def read(self, console: Console) -> None:
        """Show the card to a caller; any key leaves while it is being worked out."""
        asked = Sums.among(self.board.shared).card(self.game, self.rules)
        await _show(console, _(GAMES[self.game].title), asked)


async def _show(console: Console, table: str, asked: asyncio.Future[StrategyCard]) -> None:
    title = _("{table}: what to do").format(table=table)
    if not await wait_for_answer(console, title, asked):
        return
    try:
        card = asked.result()
    except (HelperUnavailable, asyncio.CancelledError):
        await console.pager.read(title, f"|12{_(UNAVAILABLE)}")
        return
    await console.pager.read(title, card_text(card, console.screen))


# The card as text.


def card_text(card: StrategyCard, screen: Screen) -> str:
    """Return a card as grids for a painted screen, or as a line for each hand."""
    lines = [f"|07{_(_BY_TOTALS)}", ""] if _cards_matter(card) else []
    if not screen.is_painted:
        rows = [line for section in card.sections for line in _row_lines(section)]
        if any("10" in section.columns for section in card.sections):
            words = _("In brackets are the dealer's cards.")
            lines.append(f"|07{words}")
        return "\n".join([*lines, *rows, "", *_notes(card)])
    is_wide = screen.page_columns >= LAYOUT_COLUMNS
    for section in card.sections:
        lines += [*_grid(section, is_wide=is_wide), ""]
    legend = [f"  |{_COLOURS[move]}{move:<3}|07{_(MOVES[move])}" for move in card.moves]
    return "\n".join([*lines, *legend, *_notes(card)])


def _grid(section: Section, *, is_wide: bool) -> Iterator[str]:
    width, label_width = (_CELL, _LABEL) if is_wide else (_NARROW_CELL, _NARROW_LABEL)
    across = "".join(f"{column:>{width}}" for column in section.columns)
    yield f"|15{_(section.heading)}"
    against = _("dealer") if len(section.rows) > 1 else ""
    beyond = max(0, len(against) - label_width)
    if beyond > width - 2:  # no space before the first card
        against, beyond = "", 0
    yield f"|08  {against:<{label_width}}|15{across[beyond:]}"
    for label, cells in section.rows:
        row = "".join(f"|{_COLOURS[cell]}{cell:>{width}}" for cell in cells)
        yield f"  |07{label.removeprefix('soft '):<{label_width}}{row}"


def _row_lines(section: Section) -> Iterator[str]:
    """Yield each row in words: its moves, and the dealer's cards for each."""
    yield _(section.heading)
    for label, cells in section.rows:
        moves: dict[str, list[str]] = {}
        columns = iter(section.columns)
        for move, run in groupby(cells):
            moves.setdefault(move, []).append(_range([next(columns) for _cell in run]))
        words = ", ".join(
            _(MOVES[move])
            if len(moves) == 1
            else _("{move} ({cards})").format(move=_(MOVES[move]), cards=", ".join(ranges))
            for move, ranges in moves.items()
        )
        name = label.removeprefix("soft ")
        yield f"  {field(name, words) if name else words}"


def _range(columns: Sequence[str]) -> str:
    if len(columns) < 3:
        return ", ".join(columns)
    return _("{first} to {last}").format(first=columns[0], last=columns[-1])


def _notes(card: StrategyCard) -> Iterator[str]:
    gains = card.gains
    yield _gain_line(gains["played"], _THIS_CARD)
    if _cards_matter(card):
        yield _gain_line(gains["careful"], _ALL_CARDS)
    if "insurance" in gains:
        yield _gain_line(gains["insurance"], _INSURANCE)
    if len(card.sections) == 1:
        yield f"|07{_('You have nothing else to decide.')}"


def _cards_matter(card: StrategyCard) -> bool:
    """Return whether the best move depends on more than totals."""
    return card.gains["careful"] > card.gains["played"] + _SHOWN


def _gain_line(share: float, sentences: tuple[str, str, str]) -> str:
    """Return the sentence for a win, an even result or a loss of `share`."""
    wins, even, loses = sentences
    words = even if abs(share) < _SHOWN else wins if share > 0 else loses
    return f"|07{_(words).format(share=percentage(round(abs(share) * 100, 2)))}"
