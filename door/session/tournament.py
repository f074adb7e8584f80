"""The page of the tournament of the week: terms and prizes, entering, hands and ranking.

It is played for minutes, so only callers who have played see the ranking before it is over.
docs/tournaments.md has the rules.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from door.call.markup import literal
from door.call.page import Page
from door.errors import HelperUnavailable
from door.games.black_jack_for_time.game import BlackJackForTimeSettings
from door.games.blackjack import duplicate
from door.games.blackjack.duplicate import cut_of
from door.games.blackjack.rules import rules_to_mapping
from door.games.engine import shuffle
from door.lobby.greeting import champion_words
from door.session.shared_hands import (
    MOST_SHOWN,
    DealScene,
    SharedHands,
    about,
    how_scored,
    place_words,
    placed_of,
    ranked,
    room_below,
    seal_row,
    whole_seal,
)
from door.tables.black_jack_for_time.words import sealed_rules
from door.tables.scoring import rules_of, settle_tournament, weigh_tournament
from timebank.errors import BooksFailed, OutOfStep, Refused
from timebank.language import N_, _, ngettext
from timebank.wagers import deals, tournaments
from timebank.wagers.deals import DealTry, Placed
from timebank.wagers.tournaments import Entry, EntryTerms, Pot, Tournament
from timebank.words import day_words, minutes, moment, span, whole_date

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from timebank.ledger.database import Desk
    from timebank.ledger.purse import Receipt

TITLE = N_("The tournament")
KEYS = {"P": N_("Play"), "R": N_("Rules"), "L": N_("Last one"), "Q": N_("Quit")}
MEANINGS = {
    "P": N_("Enter and play, or go on where you left it. You have one try."),
    "R": N_("Read how it is played, and what can be won."),
    "L": N_("See who won the last tournament, and its seed."),
    "Q": N_("Go back to the daily deal."),
}
GAME = "black-jack-for-time"

log = logging.getLogger("door.tables")


@dataclass(slots=True)
class TournamentScene(DealScene):
    title: ClassVar[str] = TITLE

    def explain(self) -> Sequence[str]:
        return [
            _("Everybody plays these hands, with the same cards, and everybody once."),
            _("You bet 10 coins of play money on each. The page before shows the prizes."),
            _("The best decisions win: each is compared with the book."),
        ]


class _Overview(NamedTuple):
    """The running tournament and the caller's part in it, as the books have them."""

    tournament: Tournament
    pot: Pot
    entry: Entry | None
    deal_try: DealTry | None
    terms: EntryTerms
    placed: Sequence[Placed]


class TournamentPage:
    """One caller at the tournament."""

    def __init__(self, board: Board, caller: Caller) -> None:
        self._board, self._caller, self._console = board, caller, caller.console
        self._settings = BlackJackForTimeSettings.of(board.config.games)

    async def visit(self) -> None:
        """Show the running tournament; without one, the result of the last."""
        await settle_tournament(self._board)
        if await self._look() is None:
            await self._read_last()
            return
        while True:
            self._caller.place = TITLE
            overview = await self._look()
            if overview is None:  # it has ended since the page before
                await settle_tournament(self._board)
                await self._read_last()
                return
            choice = await self._ask(overview)
            if choice == "Q":
                return
            if choice == "R":
                await self._console.pager.read(_(TITLE), self._rules_text(overview.tournament))
            elif choice == "L":
                await self._read_last()
            else:
                await self._enter(overview)

    async def _ask(self, overview: _Overview) -> str:
        rows = self._rows(overview)
        self._console.display.stage(Page(_(TITLE), rows))
        weighing = asyncio.create_task(self._weigh_meanwhile(overview, rows))
        is_over = overview.deal_try is not None and overview.deal_try.score is not None
        try:
            return await self._console.prompt.ask(
                {key: _(label) for key, label in KEYS.items() if key != "P" or not is_over},
                default="Q" if is_over else "P",
                cancel="Q",
                meanings=MEANINGS,
            )
        finally:
            weighing.cancel()
            await asyncio.gather(weighing, return_exceptions=True)

    async def _look(self) -> _Overview | None:
        """Find the running tournament; seal one first if it is due. Return None without one."""
        if not await self._caller.look_up(_is_sealed):
            await self._seal()
        number, call = self._caller.record.id, self._caller.call_id

        def look(desk: Desk) -> _Overview | None:
            running = tournaments.running(desk)
            if running is None or not running.is_open(desk.now):
                return None
            return _Overview(
                running,
                tournaments.pot(desk, running),
                tournaments.entry_of(desk, running.seal, number),
                deals.try_of(desk, running.seal, number),
                tournaments.terms_for(desk, call, running.seal),
                deals.ranking(desk, running.seal),
            )

        return await self._caller.look_up(look)

    async def _seal(self) -> None:
        hands = self._board.config.tournament.hands
        rules = replace(self._settings.rules, insurance_unit=1)
        seed = self._caller.new_seed()
        while duplicate.played(rules, seed, (), hands).is_over:  # it has nothing to decide
            seed = self._caller.new_seed()
        terms = (seed, shuffle.seal(seed), GAME, rules_to_mapping(rules), hands)
        await self._caller.ask_books(lambda desk: tournaments.current(desk, *terms))

    async def _weigh_meanwhile(self, overview: _Overview, rows: list[str]) -> None:
        """Compute the costs that the books lack while the caller reads, and show them in `rows`."""
        if all(each.cost is not None for each in overview.placed):
            return
        try:
            await weigh_tournament(self._board)
            placed = await self._board.books.read(
                partial(deals.ranking, seal=overview.tournament.seal)
            )
            rows[:] = self._rows(overview._replace(placed=placed))
            self._console.display.refresh()
        except (BooksFailed, HelperUnavailable) as problem:  # the next visit tries again
            log.info("the cost of a try at the tournament is not known yet: %s", problem)

    # The page.

    def _rows(self, overview: _Overview) -> list[str]:
        tournament = overview.tournament
        ends = moment(self._caller.bank_settings.schedule.local(tournament.ends))
        open_until = _("Open until {time}.").format(time=ends)
        rows = [
            f"|07{about(tournament.hands)}",
            f"|11{open_until} {_entered(overview.pot)}",
            *(f"|10{row}" for row in self._prizes(overview)),
            f"|14{self._place_words(overview)}",
            seal_row(self._console, tournament.seal),
            "",
        ]
        return [*rows, *self._ranked(overview, room_below(self._console, rows))]

    def _ranked(self, overview: _Overview, room: int) -> Iterator[str]:
        if overview.deal_try is None or overview.deal_try.score is None:
            yield f"|07{_('You see the ranking once you have played.')}"
            return
        yield from ranked(
            overview.placed, self._caller.record.id, room, self._console.screen.page_columns
        )

    def _prizes(self, overview: _Overview) -> Iterator[str]:
        if not overview.pot.by_place:
            yield _("It is played for rank only.")
            return
        terms, entry = overview.terms, overview.entry
        if entry is not None and not entry.for_prize:
            yield _("You have entered for rank only.")
        elif entry is None and not terms.for_prize and terms.known_on is not None:
            day = day_words(terms.known_on.isoformat())
            yield _("You play for rank only. You can win minutes from {day}.").format(day=day)
        elif entry is None and not terms.for_prize:
            yield _("You play for rank only. Minutes are for callers with an account here.")
        won = ", ".join(map(span, overview.pot.by_place))
        yield _("Prizes by place: {amounts}.").format(amounts=won)
        if entry is None and terms.for_prize and terms.price:
            yield _("It costs {amount} to enter.").format(amount=span(terms.price))
        elif entry is None and terms.for_prize:
            yield _("It costs nothing to enter.")

    def _place_words(self, overview: _Overview) -> str:
        mine, waiting = placed_of(overview.placed, self._caller.record.id), None
        if mine is None and overview.deal_try is not None:
            waiting = self._hands(overview.tournament).game(overview.deal_try.acts).number
        return place_words(mine, len(overview.placed), waiting)

    def _rules_text(self, tournament: Tournament) -> str:
        prizes = _(
            "You can win minutes once the board has known you long enough to let you send some."
            " Entry fees are added to the prizes, in the same proportions. Prizes go to the"
            " winners' time banks when it ends, online or not. Callers who tie share the prizes of"
            " their places. If you don't play to the end, you win nothing."
        )
        rules = sealed_rules(rules_of(tournament.rules))
        seal = whole_seal(self._console, tournament.seal)
        return f"|07{how_scored()}\n\n{prizes}\n\n{rules}{seal}"

    async def _read_last(self) -> None:
        def look(desk: Desk) -> tuple[Tournament, list[tournaments.PlacedEntry]] | None:
            last = tournaments.last_settled(desk)
            return None if last is None else (last, tournaments.standings(desk, last.seal))

        result = await self._caller.look_up(look)
        heading = _("The last tournament")
        if result is None:
            waits = await self._caller.look_up(tournaments.is_due)
            words = _("No tournament has ended yet.")
            if waits:
                words = _("The tournament is over. The winners are being worked out.")
            await self._console.pager.read(heading, f"|07{words}")
            return
        await self._console.pager.read(heading, "\n".join(self._ended(*result)))

    def _ended(self, last: Tournament, placed: Sequence[tournaments.PlacedEntry]) -> Iterator[str]:
        champions = [each.name for each in placed if each.place == 1]
        words = _(
            "The seed is open now. The shuffle of each hand mixes in its words: {first} for the "
            "first, {last} for the last."
        ).format(first=cut_of(1), last=cut_of(last.hands))
        shown = [
            Placed(each.caller_id, each.name, each.score, each.cost, (), each.place)
            for each in placed
        ]
        prizes = {each.caller_id: minutes(each.prize) for each in placed if each.prize}
        yield f"|15{whole_date(last.day)}"
        if champions:
            yield f"|14{literal(champion_words(champions))}"
        yield ""
        number, columns = self._caller.record.id, self._console.screen.page_columns
        yield from ranked(shown, number, MOST_SHOWN, columns, prizes)
        yield ""
        yield f"|07{_('Seal')} {last.seal}"
        yield f"|07{_('Seed')} {last.shown_seed}"
        yield f"|07{words}"

    # The hands.

    def _hands(self, tournament: Tournament) -> SharedHands:
        number, seal = self._caller.record.id, tournament.seal
        scene = TournamentScene(coin=1, turns_limit=None, has_purse=False, seal=seal)
        scene.hands = tournament.hands

        async def note(before: tuple[str, ...], word: str, score: int | None) -> None:
            await self._caller.ask_books(
                lambda desk: tournaments.act(desk, seal, number, before, word, score)
            )

        leaving = N_("Leave the tournament. The hand waits for you until it closes.")
        rules = rules_of(tournament.rules)
        return SharedHands(self._console, rules, tournament.seed, scene, note, leaving)

    async def _enter(self, overview: _Overview) -> None:
        """Enter if the caller has not, and play the rest of the hands or as many as they want."""
        is_new = overview.entry is None
        if is_new and overview.terms.price:
            question = _("Pay {amount} to enter? It is gone if you don't win.")
            if not await self._console.prompt.agrees(
                question.format(amount=span(overview.terms.price)), "N"
            ):
                return
        entered: list[DealTry] = []
        seal, price = overview.tournament.seal, overview.terms.price

        def enter(desk: Desk, call_id: int, ticked: int) -> Receipt:
            entry = tournaments.enter(desk, call_id, ticked, seal, price)
            entered[:] = [entry.deal_try]
            return entry.receipt

        try:
            await self._caller.post(enter)
            await self._hands(overview.tournament).play_on(list(entered[0].acts))
        except (OutOfStep, Refused) as refused:
            self._console.screen.say(f"|12{refused}")
            await self._console.pager.any_key()


def _is_sealed(desk: Desk) -> bool:
    running = tournaments.running(desk)
    return running is not None and desk.now < running.ends


def _entered(pot: Pot) -> str:
    if not pot.entered:
        return _("Nobody has entered yet.")
    words = ngettext("{number} caller has entered.", "{number} callers have entered.", pot.entered)
    return words.format(number=pot.entered)
