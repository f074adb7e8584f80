"""The page of the tournament of the week, which callers enter for minutes.

Only callers who have played see the ranking before it is over. docs/tournaments.md has the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from door.session.contest_page import ContestPage, Overview, about, new_shoe
from door.session.shared_hands import DealScene
from door.tables.scoring import settle_tournament
from timebank.language import N_, _, ngettext
from timebank.wagers import contests, tournaments
from timebank.wagers.contests import Contest, ContestResult, ContestTry, Entry
from timebank.wagers.tournaments import EntryTerms, Pot, Tournament
from timebank.words import day_time_words, day_words, span

if TYPE_CHECKING:
    from timebank.ledger.database import Desk
    from timebank.ledger.purse import Receipt

TITLE = N_("The tournament")
GAME = "black-jack-for-time"


@dataclass(slots=True)
class TournamentScene(DealScene):
    title: ClassVar[str] = TITLE

    def explain(self, *, in_lines: bool = False) -> Sequence[str]:
        return [
            _("Everybody plays these hands once, with the same cards."),
            _("You bet 10 coins of play money on each. The page before shows the prizes."),
            _("The best decisions win: each is compared with the book."),
        ]


@dataclass(frozen=True)
class TournamentOverview(Overview):
    contest: Tournament
    pot: Pot
    entry: Entry | None
    entry_terms: EntryTerms


class TournamentPage(ContestPage[TournamentOverview]):
    """One caller at the tournament."""

    title = rules_title = TITLE
    last_title = N_("The last tournament")
    scene = TournamentScene
    leaving = N_("Leave the tournament. The hand waits for you until it closes.")
    keys: ClassVar = {
        "P": N_("Play"),
        "V": N_("Review"),
        "R": N_("Rules"),
        "L": N_("Last one"),
        "Q": N_("Quit"),
    }
    meanings: ClassVar = {
        "P": N_("Enter and play, or go on where you left it. You have one try."),
        "V": N_("See each of your decisions next to the book's and the leader's."),
        "R": N_("Read how it is played, and what can be won."),
        "L": N_("See who won the last tournament, and its seed."),
        "Q": N_("Go back to the daily deal."),
    }
    last = staticmethod(tournaments.last_settled)

    async def look(self) -> TournamentOverview | None:
        await settle_tournament(self._board)
        if not await self._caller.look_up(_is_sealed):
            hands = self._board.config.tournament.hands
            seed, seal, rules = new_shoe(self._board, self._caller, hands)
            terms = (seed, seal, GAME, rules, hands)
            await self._caller.ask_books(lambda desk: tournaments.current(desk, *terms))
        number, call = self._caller.record.id, self._caller.call_id

        def find(desk: Desk) -> TournamentOverview | None:
            running = tournaments.running(desk)
            if running is None or not running.is_open(desk.now):
                return None
            return TournamentOverview(
                running,
                contests.try_of(desk, running.seal, number),
                contests.ranking(desk, running),
                tournaments.pot(desk, running),
                contests.entry_of(desk, running.seal, number),
                tournaments.terms_for(desk, call, running.seal),
            )

        return await self._caller.look_up(find)

    def terms(self, overview: TournamentOverview) -> Iterator[str]:
        tournament = overview.contest
        ends = day_time_words(self._caller.bank_settings.schedule.local(tournament.ends))
        open_until = _("Open until {time}.").format(time=ends)
        yield f"|07{about(tournament.hands)}"
        yield f"|11{open_until} {_entered(overview.pot)}"
        yield from (f"|10{row}" for row in _prizes(overview))

    def is_ranking_shown(self, overview: TournamentOverview) -> bool:
        return overview.is_over

    def last_ranking(self, desk: Desk, last: Contest) -> list[ContestResult]:
        return tournaments.standings(desk, last.seal)

    def more_rules(self) -> str:
        return _(
            "New callers play for rank only: you can win minutes once you can send some. Entry "
            "fees are added to the prizes, in the same proportions. Prizes go to the winners' "
            "time banks when it ends, online or not. Callers who tie share the prizes of their "
            "places. If you don't play to the end, you win nothing."
        )

    async def none_ended(self) -> str:
        if await self._caller.look_up(tournaments.is_due):
            return _("The tournament is over. The winners are being worked out.")
        return _("No tournament has ended yet.")

    async def take_part(self, overview: TournamentOverview) -> ContestTry | None:
        """Enter if the caller has not; None if the caller does not want to pay."""
        seal, price = overview.contest.seal, overview.entry_terms.price
        if overview.entry is None and price:
            question = _("Pay {amount} to enter? You lose it if you don't win.")
            if not await self._console.prompt.agrees(question.format(amount=span(price)), "N"):
                return None
        entered: list[ContestTry] = []

        def enter(desk: Desk, call_id: int, ticked: int) -> Receipt:
            entry = tournaments.enter(desk, call_id, ticked, seal, price)
            entered[:] = [entry.deal_try]
            return entry.receipt

        await self._caller.post(enter)
        return entered[0]


def _is_sealed(desk: Desk) -> bool:
    running = tournaments.running(desk)
    return running is not None and desk.now < running.ends


def _entered(pot: Pot) -> str:
    if not pot.entered:
        return _("Nobody has entered yet.")
    words = ngettext("{number} caller has entered.", "{number} callers have entered.", pot.entered)
    return words.format(number=pot.entered)


def _prizes(overview: TournamentOverview) -> Iterator[str]:
    if not overview.pot.by_place:
        yield _("It is played for rank only.")
        return
    terms, entry = overview.entry_terms, overview.entry
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
