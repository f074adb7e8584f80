"""Hands that all callers play with the same cards, in a daily deal or a tournament.

A decision is durable before its card is shown, so a caller who hangs up finds the hand unchanged.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from door.call.markup import lit, literal, wrap
from door.call.page import MARGIN, TITLE_ROWS
from door.games.blackjack import duplicate
from door.games.blackjack import events as happened
from door.games.blackjack.duplicate import STAKE, Duplicate, cards_of
from door.games.blackjack.round import BlackjackAction, BlackjackRound, start
from door.tables.black_jack_for_time.scene import ENDINGS, BlackJackScene
from door.tables.black_jack_for_time.table import BlackJackForTimeTable
from door.tables.black_jack_for_time.words import printed, sentence
from door.tables.fairness import SHORT
from door.tables.words import count_words
from timebank.language import N_, _, ngettext
from timebank.names import names
from timebank.wagers.deals import WHOLE_BET
from timebank.words import decimal

if TYPE_CHECKING:
    from door.call.console import Console
    from door.games.blackjack.events import Event
    from door.games.blackjack.rules import BlackjackRules
    from timebank.wagers.deals import Placed

TITLE = N_("The daily deal")
ACTIONS = BlackJackForTimeTable.action_keys
NAME_CELLS = 17  # for names, where there is no room for the longest
NARROW, ROOMY = 48, 54  # columns of a ranking with prizes: with cut names, and with whole ones
LEAST_SHOWN, MOST_SHOWN = 3, 50  # callers of a ranking

# Stores a decision after the given ones, with the score if it ends the last hand.
Note = Callable[[tuple[str, ...], str, "int | None"], Awaitable[None]]


@dataclass(slots=True)
class DealScene(BlackJackScene):
    """The table of the deal: it shows no purse, and its coins are play money."""

    title: ClassVar[str] = TITLE

    number: int = 1
    hands: int = duplicate.HANDS
    chips: int = 0  # won so far; negative for lost

    def _figures(self) -> list[tuple[str, str]]:
        return [(_("Hand"), self._turn_words()), *self._bet_figures(), (_("So far"), self._net())]

    def _net(self) -> str:
        return signed(self.chips)

    def _turn_words(self) -> str:
        return _("{turns} of {limit}").format(turns=self.number, limit=self.hands)

    def _turns_short(self) -> str:
        return f"{self.number} / {self.hands}"

    def lines(self) -> Sequence[str]:
        heading = f"|15{_(self.title)}|07 - {self._turn_words()}"
        return [heading, *(self._card_lines() if self.mine else ())]

    def explain(self) -> Sequence[str]:
        return [
            _("Everybody on the board plays these ten hands today, with the same cards."),
            _("You bet 10 coins of play money on each. Nothing here touches your minutes."),
            _("The best decisions win: each is compared with the book."),
        ]

    def explain_lines(self) -> Sequence[str]:
        return self.explain()


class SharedHands:
    """One caller at hands that all callers play."""

    def __init__(
        self,
        console: Console,
        rules: BlackjackRules,
        seed: bytes,
        scene: DealScene,
        note: Note,
        leaving: str,
    ) -> None:
        """`note` stores a decision; `leaving` explains the key that leaves a hand for later."""
        self._console, self._rules, self._seed, self._scene = console, rules, seed, scene
        self._note, self._leaving = note, leaving

    def game(self, acts: Sequence[str]) -> Duplicate:
        return duplicate.played(self._rules, self._seed, acts, self._scene.hands)

    async def play_on(self, acts: list[str]) -> None:
        """Play the hands that follow these decisions, or as many as the caller wants to."""
        game, scene = self.game(acts), self._scene
        scene.printed = printed(self._rules)
        number = game.number
        met = game.earlier
        while number <= scene.hands:
            scene.number = number
            scene.chips = sum(
                hand.totals.won - hand.totals.lost for hand in game.over[: number - 1]
            )
            hand = await self._deal_hand(scene, number, acts[met:])
            while not hand.over:
                action = await self._decide(hand)
                if action is None:
                    return
                game = duplicate.gone_on(self._rules, self._seed, game, action)
                await self._note(tuple(acts), str(action), game.score if game.is_over else None)
                acts.append(str(action))
                hand, events = hand.apply(action)
                await self._show(scene, events)
            met = len(acts)
            await self._tell_end(scene, hand)
            number += 1

    async def _deal_hand(
        self, scene: DealScene, number: int, before: Sequence[str]
    ) -> BlackjackRound:
        """Deal a hand, or lay out one that was left, with the decisions taken `before`."""
        rules = self._rules
        hand, events = start(rules, cards_of(rules, self._seed, number), [STAKE])
        scene.clear()
        scene.bet, scene.is_dealt = STAKE, True
        self._console.display.stage(scene)
        if not before:
            await self._show(scene, events)
            return hand
        for word in before:
            hand, _events = hand.apply(BlackjackAction(word))
        scene.lay(hand)
        scene.invalidate()
        self._console.display.refresh()
        return hand

    async def _decide(self, hand: BlackjackRound) -> BlackjackAction | None:
        """Ask for an action; return None if the caller leaves the hand for later."""
        actions = hand.legal()
        keys: Mapping[str, BlackjackAction] = {ACTIONS[each][0]: each for each in actions}
        labels = {letter: _(ACTIONS[each][1]) for letter, each in keys.items()}
        meanings = {letter: _(ACTIONS[each][2]) for letter, each in keys.items()}
        insures = BlackjackAction.INSURANCE in actions
        if not self._console.screen.is_painted:
            words = _("You have {count}.").format(count=count_words(hand.seats[0].hands[0].cards))
            self._console.screen.say(f"|07{words}")
        choice = await self._console.prompt.ask(
            {**labels, "Q": _("Quit")},
            question=_("Insurance for 5 coins?") if insures else "",
            menu=lit({**labels, "Q": _("Quit")}),
            cancel="Q",
            meanings={**meanings, "Q": _(self._leaving)},
        )
        return keys.get(choice)

    async def _show(self, scene: DealScene, events: Sequence[Event]) -> None:
        """Show the events one by one; any key shows the last at once."""
        for event in events:
            scene.follow(event)
            scene.invalidate()
            self._console.display.refresh()
            if words := self._sentence(scene, event):
                self._console.screen.say(words)
            if event is not events[-1]:
                await self._console.keyboard.beat(BlackJackForTimeTable.seconds(event, scene))

    def _sentence(self, scene: DealScene, event: Event) -> str:
        is_card = isinstance(
            event, happened.BlackjackDealt | happened.DealerDealt | happened.BlackjackRevealed
        )
        if isinstance(event, happened.BlackjackSettled) or (
            is_card and self._console.screen.is_painted
        ):
            return ""  # the painted table shows cards, and the end has a line of its own
        return sentence(event, scene.coin, scene.mine, scene.dealer)

    async def _tell_end(self, scene: DealScene, hand: BlackjackRound) -> None:
        won = hand.totals.won - hand.totals.lost
        scene.chips += won
        scene.invalidate()
        self._console.display.refresh()
        words = _("Hand {number}: {words} ({coins}). So far: {total}.").format(
            number=scene.number,
            words=_(ENDINGS[hand.outcomes[0]]),
            coins=signed(won),
            total=signed(scene.chips),
        )
        self._console.screen.say(f"|{'10' if won > 0 else '12' if won < 0 else '14'}{words}")
        await self._console.pager.any_key()


def about(hands: int) -> str:
    return ngettext(
        "{number} hand of Black Jack For Time with the same cards for everybody. You have one"
        " try, and the best decisions win.",
        "{number} hands of Black Jack For Time with the same cards for everybody. You have one"
        " try, and the best decisions win.",
        hands,
    ).format(number=hands)


def how_scored() -> str:
    return _(
        "You bet 10 coins of play money on each hand. What a decision costs is what the book's"
        " best move would have won more, on average, in percent of a bet. The lowest cost comes"
        " first, and of equal costs the most coins won. Equal results share a place."
    )


def room_below(console: Console, rows: Sequence[str]) -> int:
    """Return how many callers of a ranking fit on a page below `rows`."""
    if not console.screen.is_painted:
        return MOST_SHOWN
    used = sum(len(wrap(row, console.screen.page_columns - MARGIN)) for row in rows)
    return max(LEAST_SHOWN, console.screen.page_rows - TITLE_ROWS - used - 1)


def seal_row(console: Console, seal: str) -> str:
    """Return the row with the seal; on plain lines, which are read out, its first digits."""
    if console.screen.is_painted:
        return f"|07{_('Seal')} |08{seal}"
    return f"|07{_('Seal {digits}: R shows all of it.').format(digits=seal[:SHORT])}"


def whole_seal(console: Console, seal: str) -> str:
    """Return the whole seal for the rules, if the page before shows only its first digits."""
    return "" if console.screen.is_painted else f"\n\n|15{_('Seal')}|07  {seal}"


def placed_of(placed: Sequence[Placed], caller_id: int) -> Placed | None:
    return next((each for each in placed if each.caller_id == caller_id), None)


def place_words(mine: Placed | None, among: int, waiting: int | None) -> str:
    """Return the words for a caller's place `among` so many, or for the hand that is `waiting`."""
    if mine is not None and among == 1:
        return _("You're the first to play it to the end.")
    if mine is not None:
        return _("You're number {place} of {all}.").format(place=mine.place, all=among)
    if waiting is None:
        return _("You haven't played it yet.")
    return _("Hand {number} waits for you.").format(number=waiting)


def ranked(
    placed: Sequence[Placed],
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


def percent(cost: int) -> str:
    return f"{decimal(cost * 100 / WHOLE_BET)}%"


def signed(coins: int) -> str:
    """Write coins with their sign.

    >>> signed(15), signed(-5), signed(0)
    ('+15', '-5', '0')
    """
    return f"{coins:+}" if coins else "0"
