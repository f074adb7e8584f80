"""The room "Daily deal": seal and ranking, ten hands, and the cards of the last deal.

A decision is durable before its card is shown, so a caller who hangs up finds the hand unchanged.
The ranking compares decisions with the book, so knowing the cards does not help.
docs/daily-deal.md says what a second account could still do.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from door.call.page import Page
from door.errors import HelperUnavailable
from door.games.black_jack_for_time.game import BlackJackForTimeSettings
from door.games.blackjack import duplicate
from door.games.blackjack.duplicate import HANDS, cut_of
from door.games.blackjack.rules import rules_to_mapping
from door.games.engine import shuffle
from door.session.shared_hands import (
    MOST_SHOWN,
    TITLE,
    DealScene,
    SharedHands,
    about,
    how_scored,
    percent,
    place_words,
    placed_of,
    ranked,
    room_below,
    seal_row,
    whole_seal,
)
from door.session.tournament import TournamentPage
from door.tables.black_jack_for_time.words import sealed_rules
from door.tables.scoring import cost_of, rules_of
from door.tables.tutor.tutor_process import TutorProcess
from timebank.errors import BooksFailed, OutOfStep, ShoeGone
from timebank.language import N_, _
from timebank.wagers import deals, tournaments
from timebank.wagers.deals import DealTry, Placed, SealedDeal
from timebank.wagers.tournaments import Outlook
from timebank.words import moment, whole_date

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from timebank.ledger.database import Desk

KEYS = {
    "P": N_("Play"),
    "T": N_("Tournament"),
    "R": N_("Rules"),
    "L": N_("Last deal"),
    "Q": N_("Quit"),
}
MEANINGS = {
    "P": N_("Play today's ten hands, or go on where you left them. You have one try."),
    "T": N_("Look at the tournament of the week: what can be won, and who has."),
    "R": N_("Read the rules of the hands."),
    "L": N_("See who played the last deal best, and its seed, now that the day is over."),
    "Q": N_("Go back to the main menu."),
}
MOST_WEIGHED = 20  # tries for each visit

log = logging.getLogger("door.tables")


class DailyDeal:
    """One caller at the deal of the day."""

    def __init__(self, board: Board, caller: Caller) -> None:
        self._board, self._caller, self._console = board, caller, caller.console
        self._settings = BlackJackForTimeSettings.of(board.config.games)
        self._deal: SealedDeal
        self._try: DealTry | None = None
        self._tournament = Outlook(None, False, None)

    async def visit(self) -> None:
        console = self._console
        while True:
            self._caller.place = TITLE
            await self._look()
            placed = await self._caller.look_up(partial(deals.ranking, seal=self._deal.seal))
            rows = self._rows(placed)
            console.display.stage(Page(_(TITLE), rows))
            weighing = asyncio.create_task(self._weigh_meanwhile(placed, rows))
            try:
                choice = await self._choose()
            finally:
                weighing.cancel()
                await asyncio.gather(weighing, return_exceptions=True)
            if choice == "Q":
                return
            if choice == "R":
                await console.pager.read(_("The rules of the daily deal"), self._rules_text())
            elif choice == "L":
                await self._read_last()
            elif choice == "T":
                await TournamentPage(self._board, self._caller).visit()
            else:
                await self._play()

    async def _choose(self) -> str:
        is_over = self._try is not None and self._try.score is not None
        hidden = {"P"} if is_over else set()
        if not any(self._tournament):
            hidden.add("T")
        return await self._console.prompt.ask(
            {key: _(label) for key, label in KEYS.items() if key not in hidden},
            default="Q" if is_over else "P",
            cancel="Q",
            meanings=MEANINGS,
        )

    async def _look(self) -> None:
        """Find or seal today's deal, and find the caller's try at it and the tournament."""
        rules = replace(self._settings.rules, insurance_unit=1)
        seed = self._caller.new_seed()
        while duplicate.played(rules, seed, ()).is_over:  # such a deal has nothing to decide
            seed = self._caller.new_seed()
        number, seal, terms = self._caller.record.id, shuffle.seal(seed), rules_to_mapping(rules)

        def look(desk: Desk) -> tuple[SealedDeal, DealTry | None, Outlook]:
            deal = deals.todays(desk, seed, seal, terms)
            return deal, deals.try_of(desk, deal.seal, number), tournaments.outlook(desk)

        self._deal, self._try, self._tournament = await self._caller.ask_books(look)

    # The ranking.

    async def _weigh_meanwhile(self, placed: Sequence[Placed], rows: list[str]) -> None:
        """Compute the costs that the books lack while the caller reads the page.

        Each cost is put into `rows`, the lines of the page. On plain lines the caller reads their
        own cost in a line.
        """
        books = self._board.books
        try:
            for each in _unweighed(placed):
                await self._weigh(self._deal, each)
                placed = await books.read(partial(deals.ranking, seal=self._deal.seal))
                rows[:] = self._rows(placed)
                self._console.display.refresh()
                if each.caller_id == self._caller.record.id and not self._console.screen.is_painted:
                    self._tell_own(placed)
            last = await books.read(deals.last_closed)
            if last is not None:  # its last players may have hung up before the costs were known
                for each in _unweighed(await books.read(partial(deals.ranking, seal=last.seal))):
                    await self._weigh(last, each)
        except (BooksFailed, HelperUnavailable) as problem:  # the next visit tries again
            log.info("the cost of a try at the daily deal is not known yet: %s", problem)

    def _tell_own(self, placed: Sequence[Placed]) -> None:
        mine = placed_of(placed, self._caller.record.id)
        if mine is not None and mine.cost is not None:
            words = _("Your decisions cost {percent} of a bet.").format(percent=percent(mine.cost))
            self._console.screen.say(f"|14{words} {self._place_words(placed)}")

    async def _weigh(self, deal: SealedDeal, each: Placed) -> None:
        """Compute and store what the decisions of a try cost; raises `HelperUnavailable`."""
        thinking = TutorProcess.among(self._board.shared)
        cost = await cost_of(thinking, rules_of(deal.rules), deal.seed, each.acts, HANDS)
        await self._board.books.run(
            partial(deals.weigh, seal=deal.seal, caller_id=each.caller_id, cost=cost)
        )
        self._board.books.awards_wait.set()

    # The page.

    def _rows(self, placed: Sequence[Placed]) -> list[str]:
        rows = [
            f"|07{about(HANDS)} {_('It is for honour.')}",
            f"|14{self._place_words(placed)}",
            *self._tournament_rows(),
            seal_row(self._console, self._deal.seal),
            "",
        ]
        room, columns = room_below(self._console, rows), self._console.screen.page_columns
        return [*rows, *ranked(placed, self._caller.record.id, room, columns)]

    def _tournament_rows(self) -> list[str]:
        until, _is_over, last = self._tournament
        if until is not None:
            at = moment(self._caller.bank_settings.schedule.local(until))
            words = _("<{key}> Tournament until {time}")
            return [f"|11{words.format(time=at, key='T')}"]
        return [f"|11{_('The tournament is over: T shows who won.')}"] if last is not None else []

    def _place_words(self, placed: Sequence[Placed]) -> str:
        mine, waiting = placed_of(placed, self._caller.record.id), None
        if mine is None and self._try is not None:
            waiting = self._hands().game(self._try.acts).number
        return place_words(mine, len(placed), waiting)

    def _rules_text(self) -> str:
        rules = sealed_rules(rules_of(self._deal.rules))
        return f"|07{how_scored()}\n\n{rules}{whole_seal(self._console, self._deal.seal)}"

    async def _read_last(self) -> None:
        deal = await self._caller.look_up(deals.last_closed)
        heading = _("The last deal")
        if deal is None:
            await self._console.pager.read(heading, f"|07{_('No deal is over yet.')}")
            return
        placed = await self._caller.look_up(partial(deals.ranking, seal=deal.seal))
        words = _(
            "The seed is open now. The shuffle of each hand mixes in its words: {first} for the "
            "first, {last} for the last."
        ).format(first=cut_of(1), last=cut_of(HANDS))
        rows = [
            f"|15{whole_date(deal.day)}",
            "",
            *ranked(placed, self._caller.record.id, MOST_SHOWN, self._console.screen.page_columns),
            "",
            f"|07{_('Seal')} {deal.seal}",
            f"|07{_('Seed')} {deal.shown_seed}",
            f"|07{words}",
        ]
        await self._console.pager.read(heading, "\n".join(rows))

    # The hands.

    def _hands(self) -> SharedHands:
        deal, number = self._deal, self._caller.record.id
        scene = DealScene(coin=1, turns_limit=None, has_purse=False, seal=deal.seal)

        async def note(before: tuple[str, ...], word: str, score: int | None) -> None:
            await self._caller.ask_books(
                lambda desk: deals.act(desk, deal.seal, number, before, word, score)
            )

        leaving = N_("Leave the deal. The hand waits for you until midnight.")
        return SharedHands(self._console, rules_of(deal.rules), deal.seed, scene, note, leaving)

    async def _play(self) -> None:
        """Play the rest of the ten hands, or as many as the caller wants to."""
        begin = partial(deals.begin, seal=self._deal.seal, caller_id=self._caller.record.id)
        try:
            acts = (await self._caller.ask_books(begin)).acts
            await self._hands().play_on(list(acts))
        except (OutOfStep, ShoeGone) as refused:
            self._console.screen.say(f"|12{refused}")
            await self._console.pager.any_key()


def _unweighed(placed: Sequence[Placed]) -> list[Placed]:
    return [each for each in placed if each.cost is None][:MOST_WEIGHED]
