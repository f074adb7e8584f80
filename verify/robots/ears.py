"""Scrolling lines: hands of UNIX bj, and everything on a plain terminal."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from door.games.registry import GAMES
from verify.robots import phrases, reading
from verify.robots.screen import marked
from verify.robots.seen import Seen, Settlement

_TITLE = {title: game.name for game in GAMES.values() for title in phrases.versions(game.title)}
UNIX_BJ = GAMES["unix-bj"].title
_TELETYPE = re.compile(r"You (?:(win|lose) \$(\d+)|break even)")


class Ears:
    """Reads lines, and notes the settlements in them."""

    def __init__(self, trace: Seen, coin: int, now: Callable[[], float]) -> None:
        self._seen = trace
        self._coin = coin
        self._now = now
        self._seal = ""
        self._before = ""  # the line before
        self._game = ""
        self._told = ""  # of the hand on the table
        self._page: list[str] | None = None  # of the fairness page, while it is read
        self._is_fresh = False  # whether the last hand is the last settlement that was noted
        self._is_playing = False  # a hand of UNIX bj
        self._goes_on = False  # with a hand of black jack that was left

    def hears(self, line: str) -> None:
        line = line.strip()
        title, _dash, rest = line.partition(" - ")
        if sealed := phrases.SHORT_SEAL.fullmatch(line):
            self._seal = sealed["digits"]
        elif title in _TITLE and (rest or title != UNIX_BJ):
            self._game, self._told, self._seal = _TITLE[title], "", ""
            self._is_fresh = False  # they may have just sat down to another shoe
        elif line == "Black Jack":
            self._game = "unix-bj"
        elif line == UNIX_BJ:  # without a seal in the lines, the last one is of another run
            self._seal = ""
        if phrases.COINS_TO_BET.is_in(line) or phrases.PLACE_BETS.is_in(line):
            # from now on the current shoe may be a new one
            self._is_fresh = False
        if phrases.FAIRNESS.fullmatch(reading.without_part(line)):
            self._page = [line]
        elif self._page is not None:
            self._reads_fairness(line)
        if self._game == "unix-bj":
            self._hears_teletype(line)
        elif self._game == "baccarat":
            self._hears_baccarat(line)
        elif self._game not in ("", "vegas"):
            self._hears_one_alone(line)
        self._before = line

    def _reads_fairness(self, line: str) -> None:
        """Read the page as far as it has come; it ends with a question."""
        assert self._page is not None  # it was begun
        self._page.append(line)
        if reading.letters(marked(line)) or phrases.ANY_KEY.is_in(line):
            page = reading.fairness("\n".join(self._page))
            self._page = None
            self._seen.seals |= page.seals
            self._seen.seeds |= page.seeds
            if page.wrong:
                self._seen.complaints.append(page.wrong)
            settled = self._seen.settlements
            if self._is_fresh and page.shoe and self._game not in ("vegas", "unix-bj"):
                settled[-1] = replace(settled[-1], seal=page.shoe)

    def _hears_teletype(self, line: str) -> None:
        match = _TELETYPE.fullmatch(line)
        if line == "new game":
            self._is_playing = True
        elif match and self._is_playing and not self._before.startswith("Action $"):
            self._is_playing = False
            dollars = int(match[2] or 0)
            self._note("usd-cent", (-dollars if match[1] == "lose" else dollars) * 100, None)

    def _hears_one_alone(self, line: str) -> None:
        match, turns = phrases.YOUR_POT.search(line), phrases.TURNS.search(line)
        if match and turns:
            settled = _net_alone(self._told, self._coin)
            if settled:
                self._is_fresh = not self._goes_on  # its loss before it was left is not shown
                if self._is_fresh:
                    self._note("second", settled[0], int(turns["turns"]))
                self._goes_on = False
            self._told = ""
        elif phrases.RESUMED.is_in(line):
            self._goes_on = True
        else:
            self._told += f" {line}"

    def _hears_baccarat(self, line: str) -> None:
        name, _colon, rest = line.partition(": ")
        turns = phrases.TURNS.search(line)
        if phrases.NO_MORE_BETS.fullmatch(line):
            self._told = ""
        elif name in phrases.BANKROLL and rest.endswith("."):
            if settled := _net_of_coup(self._told):
                amount = settled[0]
                net = 0 if not amount.strip("-") else reading.money(amount)
                unit = "frf-cent" if "F" in rest.partition(",")[0] else "usd-cent"
                self._note(unit, net, None, rest)
                self._is_fresh = True
            self._told = ""
        elif name in phrases.POT and turns and rest.endswith("."):
            if settled := _net_of_coup(self._told):
                amount = settled[0].strip("-")
                net = reading.coins(amount, self._coin) if amount else 0
                net = -net if settled[0].startswith("-") else net
                self._note("second", net, int(turns["turns"]))
                self._is_fresh = True
            self._told = ""
        else:
            self._told += f" {line}"

    def _note(self, unit: str, net: int, number: int | None, held: str = "") -> None:
        balance = reading.money(held.partition(", ")[0]) if held else None
        self._seen.settlements.append(
            Settlement(self._game, unit, net, number, self._seal, balance, self._now())
        )


def _net_alone(text: str, coin: int) -> tuple[int] | None:
    """Return a hand's result by its sentences; None if no sentence ends it."""
    lose = phrases.one_of(phrases.LOST, phrases.INSURANCE_LOST)
    won, lost = (
        [reading.coins(phrases.amount(each), coin) for each in phrase.finditer(text)]
        for phrase in (phrases.WON, lose)
    )
    if not (won or lost or phrases.EVEN.is_in(text)):
        return None
    return (sum(won) - sum(lost),)


def _net_of_coup(text: str) -> tuple[str] | None:
    """Return a coup's result, with a sign and with its words; None if none is over."""
    if won := phrases.WON.search(text):
        return (phrases.amount(won),)
    if lost := phrases.LOST.search(text):
        return (f"-{phrases.amount(lost)}",)
    return ("",) if phrases.EVEN.is_in(text) else None
