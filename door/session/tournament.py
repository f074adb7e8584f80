"""The tournament of the week as a caller meets it: terms and prizes, the way in, hands and places.

It is played for minutes, so who stands where is shown to those who have played, and to everybody
once it is over. docs/tournaments.md says what it is.
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
from door.errors import NoAdviceNow
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
    placed_of,
    ranked,
    room_below,
    seal_row,
    standing,
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
            _("You bet 10 coins of play money on each. What can be won is on the page before."),
            _("Who decides best stands first: each decision is held against the book."),
        ]


class _Seen(NamedTuple):
    """What the books say of the one that is on, and of the caller in it."""

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
        """Show the one that is on; without one, how the last one ended."""
        await settle_tournament(self._board)
        if await self._look() is None:
            await self._read_last()
            return
        while True:
            self._caller.place = TITLE
            seen = await self._look()
            if seen is None:  # it has ended meanwhile
                await settle_tournament(self._board)
                await self._read_last()
                return
            choice = await self._ask(seen)
            if choice == "Q":
                return
            if choice == "R":
                await self._console.pager.read(_(TITLE), self._rules_text(seen.tournament))
            elif choice == "L":
                await self._read_last()
            else:
                await self._enter(seen)

    async def _ask(self, seen: _Seen) -> str:
        rows = self._rows(seen)
        self._console.display.stage(Page(_(TITLE), rows))
        weighing = asyncio.create_task(self._weigh_beside(seen, rows))
        is_over = seen.deal_try is not None and seen.deal_try.score is not None
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

    async def _look(self) -> _Seen | None:
        """Find the one that is on, sealed for all by whoever comes first."""
        if not await self._caller.look_up(_is_sealed):
            await self._seal()
        number, call = self._caller.record.id, self._caller.call_id

        def look(desk: Desk) -> _Seen | None:
            found = tournaments.running(desk)
            if found is None or not found.is_open(desk.now):
                return None
            return _Seen(
                found,
                tournaments.pot(desk, found),
                tournaments.entry_of(desk, found.seal, number),
                deals.try_of(desk, found.seal, number),
                tournaments.terms_for(desk, call, found.seal),
                deals.ranking(desk, found.seal),
            )

        return await self._caller.look_up(look)

    async def _seal(self) -> None:
        hands = self._board.config.tournament.hands
        rules = replace(self._settings.rules, insurance_unit=1)
        seed = self._caller.new_seed()
        while duplicate.played(rules, seed, (), hands).is_over:  # nothing to decide in it
            seed = self._caller.new_seed()
        terms = (seed, shuffle.seal(seed), GAME, rules_to_mapping(rules), hands)
        await self._caller.ask_books(lambda desk: tournaments.current(desk, *terms))

    async def _weigh_beside(self, seen: _Seen, rows: list[str]) -> None:
        """Weigh what nobody has weighed yet while the caller looks."""
        if all(each.cost is not None for each in seen.placed):
            return
        try:
            await weigh_tournament(self._board)
            placed = await self._board.books.read(partial(deals.ranking, seal=seen.tournament.seal))
            rows[:] = self._rows(seen._replace(placed=placed))
            self._console.display.refresh()
        except (BooksFailed, NoAdviceNow) as problem:  # whoever looks next asks again
            log.info("not every try at the tournament is weighed: %s", problem)

    # What is read.

    def _rows(self, seen: _Seen) -> list[str]:
        tournament = seen.tournament
        ends = moment(self._caller.bank_settings.schedule.local(tournament.ends))
        open_until = _("Open until {time}.").format(time=ends)
        rows = [
            f"|07{about(tournament.hands)}",
            f"|11{open_until} {_entered(seen.pot)}",
            *(f"|10{row}" for row in self._prizes(seen)),
            f"|14{self._standing(seen)}",
            seal_row(self._console, tournament.seal),
            "",
        ]
        return [*rows, *self._ranked(seen, room_below(self._console, rows))]

    def _ranked(self, seen: _Seen, room: int) -> Iterator[str]:
        if seen.deal_try is None or seen.deal_try.score is None:
            yield f"|07{_('You see who stands where once you have played.')}"
            return
        yield from ranked(
            seen.placed, self._caller.record.id, room, self._console.screen.page_columns
        )

    def _prizes(self, seen: _Seen) -> Iterator[str]:
        if not seen.pot.by_place:
            yield _("It is played for the place.")
            return
        terms, entry = seen.terms, seen.entry
        if entry is not None and not entry.for_prize:
            yield _("You have entered for the place alone.")
        elif entry is None and not terms.for_prize and terms.known_on is not None:
            day = day_words(terms.known_on.isoformat())
            yield _("You play for the place: you can win minutes from {day}.").format(day=day)
        elif entry is None and not terms.for_prize:
            yield _("You play for the place: minutes are for callers with an account here.")
        won = ", ".join(map(span, seen.pot.by_place))
        yield _("To be won by place: {amounts}.").format(amounts=won)
        if entry is None and terms.for_prize and terms.price:
            yield _("It costs {amount} to enter.").format(amount=span(terms.price))
        elif entry is None and terms.for_prize:
            yield _("It costs nothing to enter.")

    def _standing(self, seen: _Seen) -> str:
        mine, waiting = placed_of(seen.placed, self._caller.record.id), None
        if mine is None and seen.deal_try is not None:
            waiting = self._hands(seen.tournament).game(seen.deal_try.acts).number
        return standing(mine, len(seen.placed), waiting)

    def _rules_text(self, tournament: Tournament) -> str:
        won = _(
            "Minutes can be won by callers whom the board has known long enough to send minutes."
            " Entries come on top of the prizes, in the same proportions. Prizes go to the time"
            " bank when it is over, also of who is not on. Callers who share a place share what"
            " their places win. Who enters and doesn't play to the end wins nothing."
        )
        rules = sealed_rules(rules_of(tournament.rules))
        seal = whole_seal(self._console, tournament.seal)
        return f"|07{how_scored()}\n\n{won}\n\n{rules}{seal}"

    async def _read_last(self) -> None:
        def look(desk: Desk) -> tuple[Tournament, list[tournaments.PlacedEntry]] | None:
            last = tournaments.last_settled(desk)
            return None if last is None else (last, tournaments.standings(desk, last.seal))

        found = await self._caller.look_up(look)
        heading = _("The last tournament")
        if found is None:
            waits = await self._caller.look_up(tournaments.is_due)
            told = _("No tournament has ended yet.")
            if waits:
                told = _("The tournament is over. Who has won is worked out just now.")
            await self._console.pager.read(heading, f"|07{told}")
            return
        await self._console.pager.read(heading, "\n".join(self._ended(*found)))

    def _ended(self, last: Tournament, placed: Sequence[tournaments.PlacedEntry]) -> Iterator[str]:
        champions = [each.name for each in placed if each.place == 1]
        told = _(
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
        yield f"|07{told}"

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

    async def _enter(self, seen: _Seen) -> None:
        """Enter, and play what is left of the hands, or leave it for later."""
        is_new = seen.entry is None
        if is_new and seen.terms.price:
            question = _("Pay {amount} to enter? It is gone if you don't win.")
            if not await self._console.prompt.agrees(
                question.format(amount=span(seen.terms.price)), "N"
            ):
                return
        entered: list[DealTry] = []
        seal, price = seen.tournament.seal, seen.terms.price

        def enter(desk: Desk, call_id: int, ticked: int) -> Receipt:
            found = tournaments.enter(desk, call_id, ticked, seal, price)
            entered[:] = [found.deal_try]
            return found.receipt

        try:
            await self._caller.post(enter)
            await self._hands(seen.tournament).play_on(list(entered[0].acts))
        except (OutOfStep, Refused) as refused:
            self._console.screen.say(f"|12{refused}")
            await self._console.pager.any_key()


def _is_sealed(desk: Desk) -> bool:
    found = tournaments.running(desk)
    return found is not None and desk.now < found.ends


def _entered(pot: Pot) -> str:
    if not pot.entered:
        return _("Nobody has entered yet.")
    told = ngettext("{number} caller has entered.", "{number} callers have entered.", pot.entered)
    return told.format(number=pot.entered)
