"""Hands that everybody plays alike, at a daily deal or in a tournament, as a caller meets them.

A decision is durable before its card is shown, so whoever hangs up finds the hand as it was.
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
from door.tables.words import counted
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
NAME_CELLS = 17  # where there are too few columns for the longest names
NARROW, ROOMY = 48, 54  # columns that a ranking takes with prizes, and with them and those names
LEAST_SHOWN, MOST_SHOWN = 3, 50  # callers of a ranking

# Writes a decision down, behind those before it, with the score where it ends the last hand.
Note = Callable[[tuple[str, ...], str, "int | None"], Awaitable[None]]


@dataclass(slots=True)
class DealScene(BlackJackScene):
    """The table of the deal: no purse is at it, and a coin is no minute."""

    title: ClassVar[str] = TITLE

    number: int = 1
    hands: int = duplicate.HANDS
    chips: int = 0  # won so far, below zero for lost

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
        return [heading, *(self._told_cards() if self.mine else ())]

    def explain(self) -> Sequence[str]:
        return [
            _("Everybody on the board plays these ten hands today, with the same cards."),
            _("You bet 10 coins of play money on each. Nothing here touches your minutes."),
            _("Who decides best stands first: each decision is held against the book."),
        ]

    def explain_lines(self) -> Sequence[str]:
        return self.explain()


class SharedHands:
    """One caller at hands that everybody plays."""

    def __init__(
        self,
        console: Console,
        rules: BlackjackRules,
        seed: bytes,
        scene: DealScene,
        note: Note,
        leaving: str,
    ) -> None:
        """`note` writes a decision down; `leaving` says what becomes of a hand that is left."""
        self._console, self._rules, self._seed, self._scene = console, rules, seed, scene
        self._note, self._leaving = note, leaving

    def game(self, acts: Sequence[str]) -> Duplicate:
        return duplicate.played(self._rules, self._seed, acts, self._scene.hands)

    async def play_on(self, acts: list[str]) -> None:
        """Play what is left of them behind these decisions, or leave it for later."""
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
                # With what came of the hands where it ends them.
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
        """Deal a hand, or lay one down again that was left, with the decisions that were taken."""
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
        scene.changed()
        self._console.display.refresh()
        return hand

    async def _decide(self, hand: BlackjackRound) -> BlackjackAction | None:
        """Ask what to do; None for who leaves the hand for later."""
        actions = hand.legal()
        keys: Mapping[str, BlackjackAction] = {ACTIONS[each][0]: each for each in actions}
        labels = {letter: _(ACTIONS[each][1]) for letter, each in keys.items()}
        meanings = {letter: _(ACTIONS[each][2]) for letter, each in keys.items()}
        insures = BlackjackAction.INSURANCE in actions
        if not self._console.screen.is_painted:
            told = _("You have {count}.").format(count=counted(hand.seats[0].hands[0].cards))
            self._console.screen.say(f"|07{told}")
        choice = await self._console.prompt.ask(
            {**labels, "Q": _("Quit")},
            question=_("Insurance for 5 coins?") if insures else "",
            menu=lit({**labels, "Q": _("Quit")}),
            cancel="Q",
            meanings={**meanings, "Q": _(self._leaving)},
        )
        return keys.get(choice)

    async def _show(self, scene: DealScene, events: Sequence[Event]) -> None:
        """Let things happen one by one; any key shows their end."""
        for event in events:
            scene.follow(event)
            scene.changed()
            self._console.display.refresh()
            if said := self._sentence(scene, event):
                self._console.screen.say(said)
            if event is not events[-1]:
                await self._console.keyboard.beat(BlackJackForTimeTable.seconds(event, scene))

    def _sentence(self, scene: DealScene, event: Event) -> str:
        is_card = isinstance(
            event, happened.BlackjackDealt | happened.DealerDealt | happened.BlackjackRevealed
        )
        if isinstance(event, happened.BlackjackSettled) or (
            is_card and self._console.screen.is_painted
        ):
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
        self._console.screen.say(f"|{'10' if won > 0 else '12' if won < 0 else '14'}{told}")
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
        " best move would have won more, on average, in percent of a bet. Who has given away"
        " least stands first; of those alike, who has won most; who is alike in both shares the"
        " place."
    )


def room_below(console: Console, rows: Sequence[str]) -> int:
    """Say how many callers of a ranking have room on a page below other rows."""
    if not console.screen.is_painted:
        return MOST_SHOWN
    used = sum(len(wrap(row, console.screen.page_columns - MARGIN)) for row in rows)
    return max(LEAST_SHOWN, console.screen.page_rows - TITLE_ROWS - used - 1)


def seal_row(console: Console, seal: str) -> str:
    """Return the row of a page that has the seal: its first digits where they are read out."""
    if console.screen.is_painted:
        return f"|07{_('Seal')} |08{seal}"
    return f"|07{_('Seal {digits}: R shows all of it.').format(digits=seal[:SHORT])}"


def whole_seal(console: Console, seal: str) -> str:
    """Return what is below the rules where the page before has no more than the first digits."""
    return "" if console.screen.is_painted else f"\n\n|15{_('Seal')}|07  {seal}"


def placed_of(placed: Sequence[Placed], caller_id: int) -> Placed | None:
    return next((each for each in placed if each.caller_id == caller_id), None)


def standing(mine: Placed | None, among: int, waiting: int | None) -> str:
    """Say where a caller stands `among` so many, or which hand is `waiting` for them."""
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
    """List who stands where, the caller too where there is no room for all before them; `prizes`
    are what callers have won, by their numbers: where there are few `columns` they stand for the
    coins."""
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
