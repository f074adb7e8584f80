"""The room "Daily deal": ten hands that all callers of the board play today, for honour.

docs/daily-deal.md says what a second account could still do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from door.games.blackjack.duplicate import HANDS
from door.games.blackjack.world import world_shoe
from door.session.board_table import board_results, board_rows
from door.session.contest_page import ContestPage, Overview, about, new_shoe, placed_of
from door.session.duels import DuelsPage
from door.session.result_line import IN_COLOUR, hand_costs, result_line
from door.session.shared_hands import TITLE
from door.session.tournament import TournamentPage
from door.tables.tutor.tutor_process import TutorProcess
from timebank.language import N_, _
from timebank.wagers import contests, deals, duels, tournaments
from timebank.wagers.tournaments import Outlook
from timebank.words import day_time_words, day_words

if TYPE_CHECKING:
    from datetime import date

    from door.call.board import Board
    from door.call.caller import Caller
    from door.session.board_table import BoardResult
    from timebank.ledger.database import Desk
    from timebank.wagers.contests import Contest, ContestResult, ContestTry
    from timebank.wagers.deals import DealOfDay, Shoe

COPY = N_("Copy this and show it to your friends:")


class LeftHands(NamedTuple):
    """Where a hand waits for a caller."""

    deal: bool
    tournament: bool
    duel: bool = False


def waiting(desk: Desk, caller_id: int) -> LeftHands:
    """Return where a caller has begun a try and may go on."""
    running = tournaments.running(desk)
    found = (deals.open_today(desk), running if running and running.is_open(desk.now) else None)
    deal, tournament = (
        each is not None and contests.is_left(desk, each.seal, caller_id) for each in found
    )
    return LeftHands(deal, tournament, duels.is_waiting(desk, caller_id))


def shoe_maker(board: Board, caller: Caller) -> Callable[[date], Shoe]:
    """Return a function from a date to its shoe: the world's, or one of the board's own."""
    if board.config.deal.kind == "world":
        return world_shoe
    shoe = new_shoe(board, caller, HANDS)
    return lambda _day: shoe


@dataclass(frozen=True)
class DealOverview(Overview):
    outlook: Outlook


class DailyDeal(ContestPage[DealOverview]):
    """One caller at the deal of the day."""

    title = TITLE
    rules_title = N_("The rules of the daily deal")
    last_title = N_("The last deal")
    leaving = N_("Leave the deal. The hand waits for you until midnight.")
    keys: ClassVar = {
        "P": N_("Play"),
        "T": N_("Tournament"),
        "U": N_("Duels"),
        "V": N_("Review"),
        "R": N_("Rules"),
        "B": N_("Boards"),
        "L": N_("Last deal"),
        "Q": N_("Quit"),
    }
    meanings: ClassVar = {
        "P": N_("Play today's ten hands, or go on where you left them. You have one try."),
        "T": N_("Look at the tournament of the week: what can be won, and who has."),
        "U": N_("Challenge another caller for minutes, or answer a challenge."),
        "V": N_("See each of your decisions next to the book's and the leader's."),
        "R": N_("Read the rules of the hands."),
        "B": N_("See which board's callers play today's deal best."),
        "L": N_("See who played the last deal best, and its seed, now that the day is over."),
        "Q": N_("Go back to the main menu."),
    }
    last = staticmethod(deals.last_closed)
    _line = ""  # about the caller's finished try

    async def look(self) -> DealOverview:
        number, shoe_of = self._caller.record.id, shoe_maker(self._board, self._caller)

        def find(desk: Desk) -> tuple[DealOfDay, ContestTry | None, Outlook]:
            deal = deals.todays(desk, shoe_of)
            return deal, contests.try_of(desk, deal.seal, number), tournaments.outlook(desk)

        deal, own_try, outlook = await self._caller.ask_books(find)
        placed = await self._caller.look_up(partial(contests.ranking, contest=deal))
        return DealOverview(deal, own_try, placed, outlook)

    def terms(self, overview: DealOverview) -> Iterator[str]:
        yield f"|07{about(HANDS)} {_('You play for honour only.')}"
        if overview.contest.is_worlds:
            words = _("The world's deal of {day}: every board has these cards.")
            yield f"|11{words.format(day=day_words(overview.contest.day.isoformat()))}"

    def scoring(self) -> str:
        return _(
            "You bet 10 coins of play money on each hand. A mistake costs the difference "
            "between your move and the best one, on average, in percent of a bet. The "
            "lowest cost comes first, and equal costs share a place. Coins don't count, so "
            "nothing is gained by knowing the cards."
        )

    async def complete(self, overview: DealOverview, rows: list[str]) -> None:
        """Show the line about the caller's try that may be pasted anywhere."""
        mine = placed_of(overview.placed, self._caller.record.id)
        if mine is None or mine.cost is None:
            return
        deal, screen = overview.contest, self._console.screen
        by_hand = await hand_costs(TutorProcess.among(self._board.shared), deal, mine.acts)
        charset = screen.look.charset if screen.is_painted else None
        self._line = result_line(deal.day, mine.cost, by_hand, charset)
        rows[:] = self.rows(overview)
        self._console.display.refresh()

    def notes(self, overview: DealOverview) -> Iterator[str]:
        if self._line:
            yield f"|07{_(COPY)}"
            yield from (f"|15{each}" for each in self._line.translate(IN_COLOUR).split("\n"))
        until, _is_over, last = overview.outlook
        if until is not None:
            at = day_time_words(self._caller.bank_settings.schedule.local(until))
            words = _("<{key}> Tournament until {time}")
            yield f"|11{words.format(time=at, key='T')}"
        elif last is not None:
            yield f"|11{_('The tournament is over: T shows who won.')}"

    def hidden_keys(self, overview: DealOverview) -> set[str]:
        hidden = super().hidden_keys(overview)
        if not any(overview.outlook):
            hidden |= {"T"}
        if len(self._boards(overview.placed)) <= 1:
            hidden |= {"B"}
        return hidden if self._caller.bank_settings.most_duel else hidden | {"U"}

    def _boards(self, placed: Sequence[ContestResult]) -> list[BoardResult]:
        return board_results(placed, self._board.config.board.name)

    def ended(self, last: Contest, placed: Sequence[ContestResult]) -> list[str]:
        rows, boards = super().ended(last, placed), self._boards(placed)
        if len(boards) > 1:
            rows += ["", *board_rows(boards, self._console.screen.page_columns)]
        return rows

    async def go_to(self, choice: str) -> None:
        if choice == "B":
            boards = self._boards((await self.look()).placed)
            rows = board_rows(boards, self._console.screen.page_columns)
            await self._console.pager.read(_("The boards"), "\n".join(rows))
            return
        room = TournamentPage if choice == "T" else DuelsPage
        await room(self._board, self._caller).visit()

    async def take_part(self, overview: DealOverview) -> ContestTry:
        number = self._caller.record.id
        return await self._caller.ask_books(
            lambda desk: contests.begin(desk, overview.contest, number)
        )
