"""The page of a contest: its terms, the caller's place, the ranking, and the result of the last.

A kind of contest says in a subclass how it is found, what is written above the ranking, and how a
caller takes part. The ranking compares decisions with the book, so knowing the cards does not help.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from door.call.keyboard import CHANGED
from door.call.markup import literal, wrap
from door.call.page import MARGIN, TITLE_ROWS, Page
from door.errors import HelperUnavailable
from door.games.black_jack_for_time.game import BlackJackForTimeSettings
from door.games.blackjack import duplicate
from door.games.blackjack.duplicate import cut_of
from door.games.blackjack.rules import rules_to_mapping
from door.games.engine import shuffle
from door.lobby.greeting import champion_words
from door.session.review import TITLE, reviewed, walk
from door.session.shared_hands import DealScene, SharedHands, signed
from door.tables.black_jack_for_time.words import sealed_rules
from door.tables.scoring import hands_of, percent, played, rules_of, weigh_tries
from door.tables.tutor.tutor_process import TutorProcess
from timebank.errors import BooksFailed, OutOfStep, Refused, ShoeGone
from timebank.language import _, ngettext
from timebank.names import names
from timebank.wagers import contests
from timebank.words import clock_time, whole_date

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.flag import Flag
    from timebank.ledger.database import Desk
    from timebank.wagers.contests import Contest, ContestResult, ContestTry

NAME_CELLS = 17  # for names, where there is no room for the longest
NARROW, ROOMY = 48, 54  # columns of a ranking with prizes: with cut names, and with whole ones
LEAST_SHOWN, MOST_SHOWN = 3, 50  # callers of a ranking
MOST_WEIGHED = 20  # tries for each visit
WEIGHING_SECONDS = 5.0  # that plain lines wait for the costs before the page

log = logging.getLogger("door.tables")


@dataclass(frozen=True)
class Overview:
    """A contest, the caller's try, and the ranking, as stored in the books."""

    contest: Contest
    own_try: ContestTry | None
    placed: Sequence[ContestResult]

    @property
    def is_over(self) -> bool:
        """Whether the caller has finished their try."""
        return self.own_try is not None and self.own_try.score is not None


AnyOverview = TypeVar("AnyOverview", bound=Overview)


class ContestPage(ABC, Generic[AnyOverview]):
    """One caller at the page of a contest."""

    title: ClassVar[str]
    rules_title: ClassVar[str]
    last_title: ClassVar[str]
    keys: ClassVar[Mapping[str, str]]
    meanings: ClassVar[Mapping[str, str]]
    scene: ClassVar[type[DealScene]] = DealScene
    leaving: ClassVar[str]  # explains the key that leaves a hand for later

    def __init__(self, board: Board, caller: Caller) -> None:
        self._board, self._caller, self._console = board, caller, caller.console
        self._rows: list[str] = []  # of the page that is shown

    async def visit(self) -> None:
        """Show the page until the caller leaves it; without a contest, the result of the last."""
        choice = "Q"
        while True:
            self._caller.place = self.title
            overview = await self.look()
            if overview is None:
                await self._read_last()
                return
            choice = await self._ask(overview, is_new=choice != CHANGED)
            if choice == "Q":
                return
            if choice == CHANGED:
                continue
            if choice == "P":
                await self._play(overview)
            elif choice == "R":
                await self._console.pager.read(_(self.rules_title), self._rules_text(overview))
            elif choice == "L":
                await self._read_last()
            elif choice == "V":
                await self._review(overview)
            else:
                await self.go_to(choice)

    async def _ask(self, overview: AnyOverview, *, is_new: bool) -> str:
        if is_new:
            self._rows = []
        self._rows[:] = self.rows(overview)
        weighing = asyncio.create_task(self._weigh_meanwhile(overview, self._rows))
        hidden = self.hidden_keys(overview)
        try:
            if not is_new:
                self._console.display.refresh()
            else:
                if not self._console.screen.is_painted:  # lines that are sent cannot change
                    await self._console.keyboard.pause(WEIGHING_SECONDS)
                self._console.display.stage(Page(_(self.title), self._rows))
            return await self._console.prompt.choose(
                self.keys, self.meanings, hidden, self.default(overview), self.changed
            )
        finally:
            weighing.cancel()
            await asyncio.gather(weighing, return_exceptions=True)

    async def _weigh_meanwhile(self, overview: AnyOverview, rows: list[str]) -> None:
        """Compute the costs that the books lack while the caller reads, and show them in `rows`.

        Plain lines are read again if that took longer than they wait.
        """
        told = list(rows)
        try:
            async for _caller in weigh_tries(self._board, overview.contest, MOST_WEIGHED):
                ranking = partial(self.ranking, contest=overview.contest)
                overview = replace(overview, placed=await self._board.books.read(ranking))
                rows[:] = self.rows(overview)
                self._console.display.refresh()
            await self.complete(overview, rows)
            if rows != told and not self._console.screen.is_painted:
                self._console.screen.reread()
            self._console.keyboard.nudge()
            last = await self._board.books.read(self.last)
            if last is not None:  # its last players may have hung up before the costs were known
                async for _caller in weigh_tries(self._board, last, MOST_WEIGHED):
                    pass
        except (BooksFailed, HelperUnavailable) as problem:  # the next visit tries again
            log.info("the cost of a try at a contest is not known yet: %s", problem)
            self._console.keyboard.nudge()

    # What a kind says.

    @abstractmethod
    async def look(self) -> AnyOverview | None:
        """Find the contest, or seal it if it is due. Return None without one."""

    @abstractmethod
    def terms(self, overview: AnyOverview) -> Iterator[str]:
        """Yield the rows above the caller's place."""

    @abstractmethod
    async def take_part(self, overview: AnyOverview) -> ContestTry | None:
        """Begin the caller's try or return it; None if the caller does not want to."""

    @staticmethod
    @abstractmethod
    def last(desk: Desk) -> Contest | None:
        """Return the contest of this kind that ended last."""

    @property
    def changed(self) -> Flag | None:
        """The flag after which the page is looked up again while the caller reads it."""
        return None

    def notes(self, overview: AnyOverview) -> Iterator[str]:
        """Yield the rows below the caller's place."""
        yield from ()

    async def complete(self, overview: AnyOverview, rows: list[str]) -> None:
        """Add to `rows` what the tutor works out after the costs. Raises `HelperUnavailable`."""

    def hidden_keys(self, overview: AnyOverview) -> set[str]:
        mine = placed_of(overview.placed, self._caller.record.id)
        return ({"P"} if overview.is_over else set()) | (set() if mine is not None else {"V"})

    def default(self, overview: AnyOverview) -> str | None:
        """Return the key that Enter stands for. It never begins a caller's only try."""
        if overview.is_over:
            return "Q"
        return "P" if overview.own_try is not None else None

    def is_ranking_shown(self, overview: AnyOverview) -> bool:
        return True

    @staticmethod
    def ranking(desk: Desk, contest: Contest) -> list[ContestResult]:
        """Return the results that this caller may see now."""
        return contests.ranking(desk, contest)

    def last_ranking(self, desk: Desk, last: Contest) -> list[ContestResult]:
        return contests.ranking(desk, last)

    def unseen_words(self) -> str:
        return _("The ranking appears once you have played.")

    def scoring(self) -> str:
        return _(
            "You bet 10 coins of play money on each hand. A mistake costs the difference "
            "between your move and the best one, on average, in percent of a bet. The "
            "lowest cost comes first; if costs are equal, the most coins. Equal results share a "
            "place."
        )

    def more_rules(self) -> str:
        return ""

    async def none_ended(self) -> str:
        return _("No deal is over yet.")

    async def go_to(self, choice: str) -> None:
        """Visit the room of a further key."""

    # The page.

    def rows(self, overview: AnyOverview) -> list[str]:
        rows = [
            *self.terms(overview),
            f"|14{self.place_words(overview)}",
            *self.notes(overview),
            "",
        ]
        if not self.is_ranking_shown(overview):
            return [*rows, f"|07{self.unseen_words()}"]
        if overview.placed:
            rows.append(f"|07{_('Cost: what mistakes lose on average, in percent of one bet.')}")
        return [*rows, *self._ranked(overview.placed, self._room_below(rows))]

    def _ranked(self, placed: Sequence[ContestResult], room: int) -> Iterator[str]:
        columns = self._console.screen.page_columns
        return ranked(placed, self._caller.record.id, room, columns)

    def _room_below(self, rows: Sequence[str]) -> int:
        """Return how many callers of a ranking fit on the page below `rows`."""
        screen = self._console.screen
        if not screen.is_painted:
            return MOST_SHOWN
        used = sum(len(wrap(row, screen.page_columns - MARGIN)) for row in rows)
        return max(LEAST_SHOWN, screen.page_rows - TITLE_ROWS - used - 1)

    def place_words(self, overview: AnyOverview) -> str:
        mine = placed_of(overview.placed, self._caller.record.id)
        if mine is not None and len(overview.placed) == 1:
            return _("You're the first to play it to the end.")
        if mine is not None:
            words = _("You're number {place} of {all}.")
            return words.format(place=mine.place, all=len(overview.placed))
        if overview.own_try is None:
            return _("You haven't played it yet.")
        waiting = played(overview.contest, overview.own_try.acts).number
        return _("Hand {number} waits for you.").format(number=waiting)

    def _rules_text(self, overview: AnyOverview) -> str:
        contest = overview.contest
        name = _("Name") if contest.is_worlds else _("Seal")
        seal = f"|15{name}|07  {contest.seal}"
        rules = sealed_rules(rules_of(contest.rules), is_worlds=contest.is_worlds)
        parts = [self.scoring(), self.more_rules(), rules, seal]
        return "|07" + "\n\n".join(filter(None, parts))

    async def _read_last(self) -> None:
        def look(desk: Desk) -> tuple[Contest, list[ContestResult]] | None:
            last = self.last(desk)
            return None if last is None else (last, self.last_ranking(desk, last))

        result = await self._caller.look_up(look)
        rows = [f"|07{await self.none_ended()}"] if result is None else self.ended(*result)
        await self._console.pager.read(_(self.last_title), "\n".join(rows))

    def ended(self, last: Contest, placed: Sequence[ContestResult]) -> list[str]:
        """Return the rows about a contest that has ended."""
        words = _(
            "The seed is open now. Each shuffle also mixes in the name of its hand, from "
            "{first} to {last}."
        ).format(first=cut_of(1), last=cut_of(hands_of(last)))
        prizes = {each.caller_id: clock_time(each.prize) for each in placed if each.prize}
        champions = [each.name for each in placed if each.place == 1 and last.ends is not None]
        columns = self._console.screen.page_columns
        return [
            f"|15{whole_date(last.day)}",
            *([f"|14{literal(champion_words(champions))}"] if champions else ()),
            "",
            *ranked(placed, self._caller.record.id, MOST_SHOWN, columns, prizes),
            "",
            f"|07{_('Name') if last.is_worlds else _('Seal')} {last.seal}",
            f"|07{_('Seed')} {last.shown_seed}",
            f"|07{words}",
        ]

    async def _review(self, overview: AnyOverview) -> None:
        """Show the caller's decisions next to the book's and those of the rival or the winner."""
        mine = placed_of(overview.placed, self._caller.record.id)
        if mine is None:
            return
        other = next((each for each in overview.placed if each is not mine), None)
        try:
            thinking = TutorProcess.among(self._board.shared)
            hands = await reviewed(thinking, overview.contest, mine, other)
        except HelperUnavailable:
            text = f"|12{_('The tutor does not answer. Please try again later.')}"
            await self._console.pager.read(_(TITLE), text)
            return
        await walk(self._console, hands)

    # The hands.

    async def _play(self, overview: AnyOverview) -> None:
        """Play the rest of the hands, or as many as the caller wants to."""
        contest, number = overview.contest, self._caller.record.id
        scene = self.scene(coin=1, turns_limit=None, has_purse=False, seal=contest.seal)
        scene.hands = hands_of(contest)

        async def note(before: tuple[str, ...], word: str, score: int | None) -> None:
            await self._caller.ask_books(
                lambda desk: contests.act(desk, contest, number, before, word, score)
            )

        rules = rules_of(contest.rules)
        hands = SharedHands(self._console, rules, contest.seed, scene, note, self.leaving)
        try:
            own_try = await self.take_part(overview)
            if own_try is not None:
                await hands.play_on(list(own_try.acts))
        except (OutOfStep, ShoeGone, Refused) as refused:
            self._console.screen.say(f"|12{refused}")
            await self._console.pager.any_key()


def new_shoe(board: Board, caller: Caller, hands: int) -> tuple[bytes, str, Mapping[str, Any]]:
    """Return seed, seal and rules of a new shoe, which has something to decide."""
    rules = replace(BlackJackForTimeSettings.among(board.config.games).rules, insurance_unit=1)
    seed = caller.new_seed()
    while duplicate.replay(rules, seed, (), hands).is_over:
        seed = caller.new_seed()
    return seed, shuffle.seal(seed), rules_to_mapping(rules)


def about(hands: int) -> str:
    return ngettext(
        "{number} hand of Black Jack For Time with the same cards for everybody. You have one"
        " try, and the best decisions win.",
        "{number} hands of Black Jack For Time with the same cards for everybody. You have one"
        " try, and the best decisions win.",
        hands,
    ).format(number=hands)


def placed_of(placed: Sequence[ContestResult], caller_id: int) -> ContestResult | None:
    return next((each for each in placed if each.caller_id == caller_id), None)


def ranked(
    placed: Sequence[ContestResult],
    caller_id: int,
    room: int,
    columns: int,
    prizes: Mapping[int, str] | None = None,
) -> Iterator[str]:
    """Return the rows of a ranking of at most `room` callers, this caller always among them.

    `prizes` are by caller number. They replace the coins where there are too few `columns`.
    """
    if not placed:
        yield f"|07{_('Nobody has played it to the end yet.')}"
        return
    mine = placed_of(placed, caller_id)
    has_coins = not (prizes and columns < NARROW)
    cells = names.LONGEST if columns >= ROOMY else NAME_CELLS
    coins = f"{_('Coins'):>6}" if has_coins else ""
    won = f"{_('Prize'):>7}" if prizes else ""
    yield f"|11   {_('Caller'):<{cells + 1}}{coins}{_('Cost'):>9}{won}"
    shown = list(placed[:room])
    if mine is not None and mine not in shown:
        shown[-1] = mine
    for each in shown:
        colour = "|14" if each is mine else "|15"
        cost = "?" if each.cost is None else percent(each.cost)
        name = literal(each.name[:cells])
        coins = f"{signed(each.score):>6}" if has_coins else ""
        won = f"|10{prizes.get(each.caller_id, ''):>7}" if prizes else ""
        yield f"|07{each.place:>2} {colour}{name:<{cells + 1}}|07{coins}{cost:>9}{won}"
