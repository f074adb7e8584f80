"""A robot's view of its screen: news is noted once."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace

from verify.robots import phrases, reading
from verify.robots.ears import Ears
from verify.robots.reading import Done, Panel, Short, Table
from verify.robots.screen import Screen
from verify.robots.seen import Movement, Place, Purse, Seen, Settlement

_NOTHING = Panel(0, (0, 0, 0), None, None, "second")


class Watcher:
    """The eyes of the caller of this name, for one call; the results go to `seen`."""

    def __init__(self, trace: Seen, coin: int) -> None:
        self._seen = trace
        self._coin = coin
        self._ears = Ears(trace, coin, time.time)
        self._alone = _NOTHING
        self._goes_on = False  # with a hand that was left
        self._ended: tuple[object, ...] | None = None  # at baccarat; None until it was looked at
        self._unit = ""  # of the panel at the last look, likewise
        self._is_fresh = False  # whether the last hand is the last settlement that was noted
        self._nets: dict[str, int] = {}  # by unit
        self.is_in_company = False  # at a table that waits for other callers
        self.expected: Done | None = None  # requested at the bank's window

    def look(self, screen: Screen, *, is_last: bool = False) -> None:
        """Note the news; may be called at any moment, and once more when the line is gone."""
        for line in screen.heard():
            self._ears.hears(line)
        picture = screen.picture
        prompt = screen.prompt
        if phrases.WRONG.is_in(picture):
            self._seen.complaints.append(picture)
        self._goes_on = self._goes_on or phrases.RESUMED.is_in(picture)
        if phrases.IS_REGISTERED.is_in(picture):
            self._seen.is_registered = True
        if phrases.MAIN_MENU.is_in(prompt):
            self._alone, self._ended, self._nets = _NOTHING, None, {}
            self._goes_on = self._is_fresh = self.is_in_company = False
        with contextlib.suppress(ValueError):  # half a screen, when the line is lost on the way
            table = reading.table(screen, self._seen.name, self._coin)
            if table is not None:
                self.is_in_company = table.game == "vegas"
                self._watch(table, prompt, is_last=is_last)
        self._hear_of_the_bank(prompt, picture)
        if screen.is_asking:
            self._read_fairness(screen)
        purse = reading.status(screen)
        # The status line is kept back while cards are on their way, when nothing is asked.
        if purse is not None and screen.is_asking:
            self._seen.purses.append(Purse(*purse, time.time()))

    def _watch(self, table: Table, prompt: str, *, is_last: bool) -> None:
        panel = table.panel
        is_asked = bool(reading.letters(prompt))
        if table.game == "baccarat":
            if is_asked and self._ended is None:
                self._ended, self._nets[panel.unit] = panel.ended, panel.net
                self._unit = panel.unit
            if reading.is_between_hands(prompt) or phrases.PLACE_BETS.is_in(prompt):
                self._watch_baccarat(table, prompt)
        elif table.game == "vegas":
            # The turns are above the seats: on half a screen they are another hand's.
            if panel.ended and not is_last and not self._knows(table):
                self._note(table, panel.net)
        else:
            if table.cards and panel.number is not None:
                self._seen.cards[Place(table.game, panel.number, is_asked)] |= table.cards
            self._watch_alone(table, prompt)

    def _read_fairness(self, screen: Screen) -> None:
        """Note seals and seeds; a seed that does not open its seal is a complaint."""
        if not phrases.FAIRNESS.is_in(screen.rows[0]):
            return
        page = reading.fairness(screen.picture)
        self._seen.seals |= page.seals
        self._seen.seeds |= page.seeds
        if page.wrong:
            self._seen.complaints.append(page.wrong)
        settled = self._seen.settlements
        if self._is_fresh and page.shoe and settled and settled[-1].game != "vegas":
            settled[-1] = replace(settled[-1], seal=page.shoe)

    def _watch_alone(self, table: Table, prompt: str) -> None:
        """Note a hand when the score counts it; insurance is lost before that.

        Losses of a hand before it was left are not part of the resumed sitting.
        """
        panel, before = table.panel, self._alone
        if panel.ended == before.ended:
            return
        self._alone = panel
        # A late look sees the sum of two hands, and cannot separate them.
        is_one = _hands(panel) == _hands(before) + 1
        self._is_fresh = is_one and not self._goes_on
        if self._is_fresh:
            self._note(_with_its_shoe(table, prompt), panel.net - before.net)
        self._goes_on = False

    def _watch_baccarat(self, table: Table, prompt: str) -> None:
        """Note a coup when the scoreboard has it and the next is not dealt.

        Not for a coup that was left: its stake is no part of the resumed sitting. Not after an
        unseen change of money either: the panel is about another.
        """
        panel = table.panel
        if panel.ended != self._ended:
            is_one = _is_one_more(_coups(self._ended or ()), _coups(panel.ended))
            is_same_money = panel.unit == self._unit
            self._is_fresh = is_one and is_same_money and not self._goes_on
            self._goes_on = False
            if self._is_fresh:
                self._note(_with_its_shoe(table, prompt), panel.net - self._nets.get(panel.unit, 0))
            self._ended = panel.ended
        self._unit = panel.unit
        self._nets[panel.unit] = panel.net

    def _knows(self, table: Table) -> bool:
        numbers = (
            known.number for known in reversed(self._seen.settlements) if known.game == table.game
        )
        return next(numbers, None) == table.panel.number

    def _note(self, table: Table, net: int) -> None:
        panel, short = table.panel, table.short
        if table.game == "vegas":  # the shoe there may be the next one already
            short = Short()
        self._seen.settlements.append(
            Settlement(
                *(table.game, panel.unit, net, panel.number, short.seal, panel.balance),
                *(time.time(), short.seed),
            )
        )

    def _hear_of_the_bank(self, prompt: str, picture: str) -> None:
        expected = self.expected
        if expected is None or not phrases.WINDOW.is_in(prompt):
            return
        self.expected = None
        if expected in reading.done_at_the_window(picture):
            self._seen.movements.append(Movement(*expected, time.time()))


def _with_its_shoe(table: Table, prompt: str) -> Table:
    """Return a table without the digits of a shoe, for a robot that has typed ahead."""
    return table if reading.is_between_hands(prompt) else replace(table, short=Short())


def _hands(panel: Panel) -> int:
    """Return how many hands the score has."""
    return sum(int(str(number)) for number in panel.ended)


def _coups(marks: tuple[object, ...]) -> list[tuple[str, ...]]:
    """Return the coups on the score board, the latest last."""
    columns = zip(*map(str, marks), strict=True)
    return [coup for coup in columns if any(mark != "·" for mark in coup)]


def _is_one_more(before: list[tuple[str, ...]], now: list[tuple[str, ...]]) -> bool:
    """Return whether one coup was added; a full board drops its first."""
    return bool(now) and now[:-1] in (before, before[1:])
