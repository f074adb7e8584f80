"""The daily deal as a caller meets it: seal and ranking, ten hands, and the cards of the last one.

A decision is durable before its card is shown, so whoever hangs up finds the hand as it was. The
ranking is by what decisions cost against the book, which cards that somebody knows make no cheaper;
docs/daily-deal.md says what of it a second account could still do.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from door.call.console import lit
from door.call.display import literal, wrap
from door.call.page import MARGIN, TITLE_ROWS, Page
from door.errors import NoAdviceNow
from door.games.black_jack_for_time.game import BlackJackForTimeSettings
from door.games.black_jack_for_time.scene import ENDINGS, BlackJackScene, counted
from door.games.black_jack_for_time.table import BlackJackForTimeTable, seconds
from door.games.black_jack_for_time.words import printed, rules_text, sentence
from door.games.blackjack import duplicate
from door.games.blackjack import events as happened
from door.games.blackjack.duplicate import HANDS, STAKE, Duplicate, cards_of, cut_of
from door.games.blackjack.round import BlackjackAction, BlackjackRound, start
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, rules_from_mapping, rules_to_mapping
from door.games.blackjack.tutor import tutor
from door.games.blackjack.tutor.thinking import thinking_of
from door.games.engine import shuffle
from timebank.errors import BooksFailed, OutOfStep, ShoeGone
from timebank.language import N_, _
from timebank.wagers import deals
from timebank.wagers.deals import WHOLE_BET, DealTry, Placed, SealedDeal
from timebank.words import decimal, whole_date

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.games.blackjack.events import Event
    from door.games.blackjack.rules import BlackjackRules
    from timebank.ledger.database import Desk

TITLE = N_("The daily deal")
KEYS = {"P": N_("Play"), "R": N_("Rules"), "L": N_("Last deal"), "Q": N_("Quit")}
MEANINGS = {
    "P": N_("Play today's ten hands, or go on where you left them. You have one try."),
    "R": N_("Read the rules of the hands."),
    "L": N_("See who played the last deal best, and the cards, now that the day is over."),
    "Q": N_("Go back to the main menu."),
}
ACTIONS = BlackJackForTimeTable.action_keys
LEAST_SHOWN = 3  # of a ranking
MOST_SHOWN = 50
NAME_CELLS = 17
MOST_WEIGHED = 20  # tries, at one look

log = logging.getLogger("door.tables")


@dataclass(slots=True)
class DealScene(BlackJackScene):
    """The table of the deal: no purse is at it, and a coin is no minute."""

    title: ClassVar[str] = TITLE

    number: int = 1
    chips: int = 0  # won so far, below zero for lost

    def _figures(self) -> list[tuple[str, str]]:
        return [(_("Hand"), self._turn_words()), *self._bet_figures(), (_("So far"), self._net())]

    def _net(self) -> str:
        return signed(self.chips)

    def _turn_words(self) -> str:
        return _("{number} of {pages}").format(number=self.number, pages=HANDS)

    def _turns_short(self) -> str:
        return f"{self.number} / {HANDS}"

    def lines(self) -> Sequence[str]:
        heading = f"|15{_(self.title)}|07 - {self._turn_words()}"
        return [heading, *(self._told_cards() if self.mine else ())]

    def explain(self) -> Sequence[str]:
        return [
            _("Everybody on the board plays these ten hands today, with the same cards."),
            _("You bet 10 coins of play money on each. Nothing here touches your minutes."),
            _("Who decides best stands first: each decision is held against the book."),
        ]


class DailyDeal:
    """One caller at the deal of the day."""

    def __init__(self, board: Board, caller: Caller) -> None:
        self._board, self._caller, self._console = board, caller, caller.console
        self._settings = BlackJackForTimeSettings.of(board.config.games)
        self._deal: SealedDeal
        self._try: DealTry | None = None

    async def visit(self) -> None:
        console = self._console
        while True:
            self._caller.place = TITLE
            await self._look()
            placed = await self._caller.look_up(partial(deals.ranking, seal=self._deal.seal))
            rows = self._rows(placed)
            console.stage(Page(_(TITLE), rows))
            weighing = asyncio.create_task(self._weigh_beside(placed, rows))
            try:
                choice = await self._choose()
            finally:
                weighing.cancel()
                await asyncio.gather(weighing, return_exceptions=True)
            if choice == "Q":
                return
            if choice == "R":
                await console.read(_("The rules of the daily deal"), self._rules_text())
            elif choice == "L":
                await self._read_last()
            else:
                await self._play()

    async def _choose(self) -> str:
        is_over = self._try is not None and self._try.score is not None
        return await self._console.ask(
            {key: _(label) for key, label in KEYS.items() if key != "P" or not is_over},
            default="Q" if is_over else "P",
            cancel="Q",
            meanings={key: _(words) for key, words in MEANINGS.items()},
        )

    async def _look(self) -> None:
        """Find today's deal, sealed for all by whoever comes first, and the caller's try at it."""
        rules = replace(self._settings.rules, insurance_unit=1)
        seed = self._caller.new_seed()
        while duplicate.played(rules, seed, ()).is_over:  # nobody would have anything to decide
            seed = self._caller.new_seed()
        number, seal, kept = self._caller.record.id, shuffle.seal(seed), rules_to_mapping(rules)

        def look(desk: Desk) -> tuple[SealedDeal, DealTry | None]:
            deal = deals.todays(desk, seed, seal, kept)
            return deal, deals.try_of(desk, deal.seal, number)

        self._deal, self._try = await self._caller.ask_books(look)

    # The ranking.

    async def _weigh_beside(self, placed: Sequence[Placed], rows: list[str]) -> None:
        """Weigh what nobody has weighed yet while the caller looks. Each cost comes into the `rows`
        of the page as it is known; where there is no page, the caller's own is told."""
        books = self._board.books
        try:
            for each in _unweighed(placed):
                await self._weigh(self._deal, each)
                placed = await books.read(partial(deals.ranking, seal=self._deal.seal))
                rows[:] = self._rows(placed)
                self._console.display.refresh()
                if each.caller_id == self._caller.record.id and not self._console.is_painted:
                    self._tell_own(placed)
            last = await books.read(deals.last_closed)
            if last is not None:  # somebody hung up before theirs was weighed
                for each in _unweighed(await books.read(partial(deals.ranking, seal=last.seal))):
                    await self._weigh(last, each)
        except (BooksFailed, NoAdviceNow) as problem:  # whoever looks next asks again
            log.info("not every try at the daily deal is weighed: %s", problem)

    def _tell_own(self, placed: Sequence[Placed]) -> None:
        mine = self._mine(placed)
        if mine is not None and mine.cost is not None:
            told = _("Your decisions cost {percent} of a bet.").format(percent=percent(mine.cost))
            self._console.say(f"|14{told} {self._standing(placed)}")

    async def _weigh(self, deal: SealedDeal, each: Placed) -> None:
        """Write down what the decisions of a try cost; raises `NoAdviceNow`."""
        cost = await self._cost(deal, each.acts)
        await self._board.books.run(
            partial(deals.weigh, seal=deal.seal, caller_id=each.caller_id, cost=cost)
        )

    async def _cost(self, deal: SealedDeal, acts: Sequence[str]) -> int:
        """Return what decisions cost against the book; raises `NoAdviceNow`."""
        thinking, cost = thinking_of(self._board), 0.0
        for hand, action in duplicate.played(_rules_of(deal), deal.seed, acts).decisions:
            asked = tutor.decision(hand, hand.legal())
            told = tutor.advised(asked, await thinking.ask(asked.spot))
            cost += told.values[told.best] - told.values[action]
        return round(cost * WHOLE_BET)

    # What is read.

    def _rows(self, placed: Sequence[Placed]) -> list[str]:
        console = self._console
        rows = [
            "|07"
            + _(
                "Ten hands of Black Jack For Time with the same cards for everybody, for honour. "
                "You have one try, and the best decisions win."
            ),
            f"|14{self._standing(placed)}",
            f"|07{_('Seal')} |08{self._deal.seal}",
            "",
        ]
        columns = console.page_columns - MARGIN
        room = MOST_SHOWN
        if console.is_painted:
            used = sum(len(wrap(row, columns)) for row in rows)
            room = max(LEAST_SHOWN, console.page_rows - TITLE_ROWS - used - 1)
        return [*rows, *self._ranked(placed, room)]

    def _standing(self, placed: Sequence[Placed]) -> str:
        mine = self._mine(placed)
        if mine is not None:
            told = _("You're number {place} of {all}.")
            return told.format(place=mine.place, all=len(placed))
        if self._try is None:
            return _("You haven't played it yet.")
        game = self._game(self._try.acts)
        return _("Hand {number} waits for you.").format(number=game.number)

    def _mine(self, placed: Sequence[Placed]) -> Placed | None:
        number = self._caller.record.id
        return next((each for each in placed if each.caller_id == number), None)

    def _ranked(self, placed: Sequence[Placed], room: int) -> Iterator[str]:
        """List who stands where, the caller too where there is no room for all before them."""
        if not placed:
            yield f"|07{_('Nobody has played it to the end yet.')}"
            return
        heads = (_("Caller"), _("Coins"), _("Cost"))
        yield f"|11   {heads[0]:<18}{heads[1]:>6}{heads[2]:>9}"
        shown = list(placed[:room])
        mine = self._mine(placed)
        if mine is not None and mine not in shown:
            shown[-1] = mine
        for each in shown:
            colour = "|14" if each is mine else "|15"
            cost = "?" if each.cost is None else percent(each.cost)
            name = literal(each.name[:NAME_CELLS])
            yield f"|07{each.place:>2} {colour}{name:<18}|07{signed(each.score):>6}{cost:>9}"

    def _rules_text(self) -> str:
        scored = _(
            "You bet 10 coins of play money on each of ten hands. What a decision costs is what "
            "the book's best move would have won more, on average, in percent of a bet. Who has "
            "given away least stands first; of those alike, who has won most."
        )
        return f"|07{scored}\n\n{rules_text(self._settings)}"

    async def _read_last(self) -> None:
        deal = await self._caller.look_up(deals.last_closed)
        heading = _("The last deal")
        if deal is None:
            await self._console.read(heading, f"|07{_('No deal is over yet.')}")
            return
        placed = await self._caller.look_up(partial(deals.ranking, seal=deal.seal))
        told = _(
            "The seed is open now. The shuffle of each hand mixes in its words: {first} for the "
            "first, {last} for the last."
        ).format(first=cut_of(1), last=cut_of(HANDS))
        rows = [
            f"|15{whole_date(deal.day)}",
            "",
            *self._ranked(placed, MOST_SHOWN),
            "",
            f"|07{_('Seal')} {deal.seal}",
            f"|07{_('Seed')} {deal.shown_seed}",
            f"|07{told}",
        ]
        await self._console.read(heading, "\n".join(rows))

    # The hands.

    def _game(self, acts: Sequence[str]) -> Duplicate:
        return duplicate.played(_rules_of(self._deal), self._deal.seed, acts)

    async def _play(self) -> None:
        """Play what is left of the ten hands, or leave it for later."""
        begin = partial(deals.begin, seal=self._deal.seal, caller_id=self._caller.record.id)
        try:
            acts = (await self._caller.ask_books(begin)).acts
            await self._play_on(list(acts))
        except (OutOfStep, ShoeGone) as refused:
            self._console.say(f"|12{refused}")
            await self._console.any_key()

    async def _play_on(self, acts: list[str]) -> None:
        game = self._game(acts)
        scene = DealScene(coin=1, turns_limit=None, has_purse=False, seal=self._deal.seal)
        scene.printed = printed(_rules_of(self._deal))
        number = game.number
        met = game.earlier
        while number <= HANDS:
            scene.number = number
            scene.chips = sum(
                hand.totals.won - hand.totals.lost for hand in game.over[: number - 1]
            )
            hand = await self._deal_hand(scene, number, acts[met:])
            while not hand.over:
                action = await self._decide(hand)
                if action is None:
                    return
                await self._note(acts, action)
                acts.append(str(action))
                hand, events = hand.apply(action)
                await self._show(scene, events)
            game = self._game(acts)
            met = len(acts)
            await self._tell_end(scene, hand)
            number += 1

    async def _deal_hand(
        self, scene: DealScene, number: int, before: Sequence[str]
    ) -> BlackjackRound:
        """Deal a hand, or lay one down again that was left, with the decisions that were taken."""
        rules = _rules_of(self._deal)
        hand, events = start(rules, cards_of(rules, self._deal.seed, number), [STAKE])
        scene.clear()
        scene.bet, scene.is_dealt = STAKE, True
        self._console.stage(scene)
        if not before:
            await self._show(scene, events)
            return hand
        for word in before:
            hand, _events = hand.apply(BlackjackAction(word))
        scene.lay(hand)
        scene.changed()
        self._console.display.refresh()
        return hand

    async def _note(self, acts: Sequence[str], action: BlackjackAction) -> None:
        """Write a decision into the books, with what came of the ten hands where it ends them."""
        after = self._game([*acts, str(action)])
        score = after.score if after.is_over else None
        seal, number, before = self._deal.seal, self._caller.record.id, tuple(acts)
        await self._caller.ask_books(
            lambda desk: deals.act(desk, seal, number, before, str(action), score)
        )

    async def _decide(self, hand: BlackjackRound) -> BlackjackAction | None:
        """Ask what to do; None for who leaves the hand for later."""
        actions = hand.legal()
        keys: Mapping[str, BlackjackAction] = {ACTIONS[each][0]: each for each in actions}
        labels = {letter: _(ACTIONS[each][1]) for letter, each in keys.items()}
        meanings = {letter: _(ACTIONS[each][2]) for letter, each in keys.items()}
        insures = BlackjackAction.INSURANCE in actions
        if not self._console.is_painted:
            told = _("You have {count}.").format(count=counted(hand.seats[0].hands[0].cards))
            self._console.say(f"|07{told}")
        choice = await self._console.ask(
            {**labels, "Q": _("Quit")},
            question=_("Insurance for 5 coins?") if insures else "",
            menu=lit({**labels, "Q": _("Quit")}),
            cancel="Q",
            meanings={**meanings, "Q": _("Leave the deal. The hand waits for you until midnight.")},
        )
        return keys.get(choice)

    async def _show(self, scene: DealScene, events: Sequence[Event]) -> None:
        """Let things happen one by one; any key shows their end."""
        for event in events:
            scene.follow(event)
            scene.changed()
            self._console.display.refresh()
            if said := self._sentence(scene, event):
                self._console.say(said)
            if event is not events[-1]:
                await self._console.beat(seconds(event, scene))

    def _sentence(self, scene: DealScene, event: Event) -> str:
        is_card = isinstance(
            event, happened.BlackjackDealt | happened.DealerDealt | happened.BlackjackRevealed
        )
        if isinstance(event, happened.BlackjackSettled) or (is_card and self._console.is_painted):
            return ""  # a card on a painted table speaks for itself
        return sentence(event, scene.coin, scene.mine, scene.dealer)

    async def _tell_end(self, scene: DealScene, hand: BlackjackRound) -> None:
        won = hand.totals.won - hand.totals.lost
        scene.chips += won
        scene.changed()
        self._console.display.refresh()
        told = _("Hand {number}: {words} ({coins}). So far: {total}.").format(
            number=scene.number,
            words=_(ENDINGS[hand.outcomes[0]]),
            coins=signed(won),
            total=signed(scene.chips),
        )
        self._console.say(f"|{'10' if won > 0 else '12' if won < 0 else '14'}{told}")
        await self._console.any_key()


def _unweighed(placed: Sequence[Placed]) -> list[Placed]:
    return [each for each in placed if each.cost is None][:MOST_WEIGHED]


def _rules_of(deal: SealedDeal) -> BlackjackRules:
    return rules_from_mapping(deal.rules, BLACK_JACK_FOR_TIME)


def percent(cost: int) -> str:
    return f"{decimal(cost * 100 / WHOLE_BET)}%"


def signed(coins: int) -> str:
    """Write coins with their sign.

    >>> signed(15), signed(-5), signed(0)
    ('+15', '-5', '0')
    """
    return f"{coins:+}" if coins else "0"
