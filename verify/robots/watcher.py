"""What a robot makes of its screen: what is new there is noted, and nothing twice."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from typing import NamedTuple

from verify.robots import reading
from verify.robots.ears import Ears
from verify.robots.reading import Panel, Table
from verify.robots.screen import Screen
from verify.robots.seen import Movement, Purse, Seen, Settlement

# What is asked at baccarat while no card of the last coup is on its way any more.
_BETWEEN = ("<P>lace bet", "<P>onter", "lace your bets", "aites vos jeux")
# What is asked when a hand is over, by game.
_MENUS = {"black-jack-for-time": ("<B>et",), "baccarat": ("<P>lace bet", "<P>onter")}
_WRONG = ("Something went wrong here", "Traceback")
_NOTHING = Panel(0, (0, 0, 0), None, None, "second")


class Expected(NamedTuple):
    """What a robot has just asked for at the bank's window, and what the window will say of it."""

    kind: str
    amount: int
    to: str
    words: str


class Watcher:
    """The eyes of the caller of this name, for one call; what they see goes to `seen`."""

    def __init__(self, seen: Seen, coin: int) -> None:
        self._seen = seen
        self._coin = coin
        self._ears = Ears(seen, coin, time.time)
        self._alone = _NOTHING
        self._goes_on = False  # with a hand that was left
        self._ended: tuple[object, ...] = ()  # at baccarat
        self._nets: dict[str, int] = {}  # by unit
        self.expected: Expected | None = None

    def look(self, screen: Screen, *, is_last: bool = False) -> None:
        """Note what is new; may be called at any moment, and a last time when the line is gone."""
        for line in screen.heard():
            self._ears.hears(line)
        picture = screen.picture
        prompt = screen.prompt
        if any(words in picture for words in _WRONG):
            self._seen.complaints.append(picture)
        self._goes_on = self._goes_on or "The hand you left is still" in picture
        if "Remember your password" in picture:
            self._seen.is_registered = True
        if prompt.startswith("Your game"):
            self._alone, self._ended, self._nets = _NOTHING, (), {}
            self._goes_on = False
        with contextlib.suppress(ValueError):  # half a screen, when the line is lost on the way
            found = reading.table(screen, self._seen.name, self._coin)
            if found is not None:
                self._watch(found, prompt, is_last=is_last)
        self._hear_of_the_bank(prompt, picture)
        purse = reading.status(screen)
        # The status line is kept back while cards are on their way, when nothing is asked.
        if purse is not None and screen.is_asking:
            self._seen.purses.append(Purse(*purse, time.time()))

    def _watch(self, table: Table, prompt: str, *, is_last: bool) -> None:
        if table.seal:
            self._seen.seals.add(table.seal)
            # At Vegas it is of the shoe before; while nothing is asked, both may be half painted.
            if table.seed and _has_ended(table, prompt):
                self._seen.seeds[table.seal] = table.seed
        panel = table.panel
        if table.game == "baccarat":
            if any(words in prompt for words in _BETWEEN):
                self._watch_baccarat(table, prompt)
        elif table.game == "vegas":
            # The turns are above the seats: on half a screen they are another hand's.
            if panel.ended and not is_last and not self._knows(table):
                self._note(table, panel.net)
        else:
            if table.cards and table.seal and panel.number is not None:
                self._seen.cards[table.seal, panel.number] |= table.cards
            self._watch_alone(table, prompt)

    def _watch_alone(self, table: Table, prompt: str) -> None:
        """Note a hand when the score counts it; insurance is lost before that.

        What was lost of a hand before it was left is not part of the sitting that goes on with it.
        """
        panel, before = table.panel, self._alone
        if panel.ended == before.ended:
            return
        self._alone = panel
        # Who looks too late sees what two hands came to, and cannot tell them apart.
        is_one = _hands(panel) == _hands(before) + 1
        if is_one and not self._goes_on:
            self._note(_with_its_shoe(table, prompt), panel.net - before.net)
        self._goes_on = False

    def _watch_baccarat(self, table: Table, prompt: str) -> None:
        """Note a coup when the scoreboard has it, and the next one has not been dealt."""
        panel = table.panel
        if panel.ended != self._ended:
            if _is_one_more(_coups(self._ended), _coups(panel.ended)):
                self._note(_with_its_shoe(table, prompt), panel.net - self._nets.get(panel.unit, 0))
            self._ended = panel.ended
        self._nets[panel.unit] = panel.net

    def _knows(self, table: Table) -> bool:
        numbers = (
            known.number for known in reversed(self._seen.settlements) if known.game == table.game
        )
        return next(numbers, None) == table.panel.number

    def _note(self, table: Table, net: int) -> None:
        panel = table.panel
        seal = "" if table.game == "vegas" else table.seal
        self._seen.settlements.append(
            Settlement(table.game, panel.unit, net, panel.number, seal, panel.balance, time.time())
        )

    def _hear_of_the_bank(self, prompt: str, picture: str) -> None:
        expected = self.expected
        if expected is None or "Your choice:" not in prompt:
            return
        self.expected = None
        if expected.words in picture:
            kind, amount, to, _ = expected
            self._seen.movements.append(Movement(kind, amount, to, time.time()))


def _has_ended(table: Table, prompt: str) -> bool:
    """Tell whether a table lies as the last hand has left it."""
    return table.game in _MENUS and any(menu in prompt for menu in _MENUS[table.game])


def _with_its_shoe(table: Table, prompt: str) -> Table:
    """Return a table without the seal of the next hand, seen by a robot that has typed ahead."""
    return table if _has_ended(table, prompt) else replace(table, seal="")


def _hands(panel: Panel) -> int:
    """Return how many hands the score has."""
    return sum(int(str(number)) for number in panel.ended)


def _coups(marks: tuple[object, ...]) -> list[tuple[str, ...]]:
    """Return the coups on the score board, the latest last."""
    columns = zip(*map(str, marks), strict=True)
    return [coup for coup in columns if any(mark != "·" for mark in coup)]


def _is_one_more(before: list[tuple[str, ...]], now: list[tuple[str, ...]]) -> bool:
    """Tell whether one coup has come to those that were there; a full board drops its first."""
    return bool(now) and now[:-1] in (before, before[1:])
