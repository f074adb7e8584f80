"""What is told in lines that scroll by: hands of UNIX bj, and all that a plain terminal gets."""

from __future__ import annotations

import re
from collections.abc import Callable

from door.games.registry import GAMES
from verify.robots import reading
from verify.robots.seen import Seen, Settlement

_GAMES = {game.title: game.name for game in GAMES.values()}
_TITLE = re.compile(rf"({'|'.join(map(re.escape, _GAMES))}) - ")
_TELETYPE = re.compile(r"You (?:(win|lose) \$(\d+)|break even)")
_POT = re.compile(r"Your pot: .*\. Turns today: (\d+)")
_COUNTED = re.compile(r"turns today: (\d+)")
_BANKROLL = re.compile(r"Bankroll: (\$[0-9,.]+),")
# What a table for one caller and time says of a hand, and how often of an amount was won (insurance
# pays 2 to 1, and says what comes back with the stake).
_INSURED = re.compile(r"Insurance pays (.+?)\.(?: |$)")
_WON = re.compile(r"Paid [^:]+: (.+?) won\.")
_AMOUNT = r"(\S+ coins?|[0-9][^:.]*?(?:minutes?|seconds?))"
_LOST = re.compile(
    rf"(?:(?<=[.:] )|The insurance of ){_AMOUNT}(?: is)? lost\.|You lose {_AMOUNT}\."
)
_EVEN = "your bet comes back"
_COUP = re.compile(
    r"The player wins: (?P<won>.+?) for you|The bank wins and takes (?P<lost>.+?)\.(?: |$)|"
    r"A stand-off: all bets are off"
)


class Ears:
    """Listens to lines, and notes what they say was settled."""

    def __init__(self, seen: Seen, coin: int, now: Callable[[], float]) -> None:
        self._seen = seen
        self._coin = coin
        self._now = now
        self._seal = ""
        self._before = ""  # the line before
        self._game = ""
        self._told = ""  # of the hand on the table
        self._is_playing = False  # a hand of UNIX bj
        self._goes_on = False  # with a hand of black jack that was left

    def hears(self, line: str) -> None:
        line = line.strip()
        if sealed := reading.SEAL.fullmatch(line):
            self._seal = sealed[1]
            self._seen.seals.add(self._seal)
        elif (done := reading.SEED.fullmatch(line)) and self._seal:
            self._seen.seeds[self._seal] = done[1]
        elif title := _TITLE.match(line):
            self._game, self._told = _GAMES[title[1]], ""
        elif line == "Black Jack":
            self._game = "unix-bj"
        if self._game == "unix-bj":
            self._hears_teletype(line)
        elif self._game == "baccarat":
            self._hears_baccarat(line)
        elif self._game not in ("", "vegas"):
            self._hears_one_alone(line)
        self._before = line

    def _hears_teletype(self, line: str) -> None:
        found = _TELETYPE.fullmatch(line)
        if line == "new game":
            self._is_playing = True
        elif found and self._is_playing and not self._before.startswith("Action $"):
            self._is_playing = False
            dollars = int(found[2] or 0)
            self._note("usd-cent", (-dollars if found[1] == "lose" else dollars) * 100, None)

    def _hears_one_alone(self, line: str) -> None:
        if standing := _POT.match(line):
            settled = _net_alone(self._told, self._coin)
            if settled:
                if not self._goes_on:  # what it lost before it was left is not told again
                    self._note("second", settled[0], int(standing[1]))
                self._goes_on = False
            self._told = ""
        elif line.startswith("The hand you left is still"):
            self._goes_on = True
        else:
            self._told += f" {line}"

    def _hears_baccarat(self, line: str) -> None:
        counted, held = _COUNTED.search(line), _BANKROLL.search(line)
        if line == "No more bets.":
            self._told = ""
        elif line.startswith(("Pot: ", "Bankroll: ")) and (counted or held):
            found = _COUP.search(self._told)
            self._told = ""
            if found is None:
                return
            amount = found["won"] or found["lost"] or ""
            if held:
                net = reading.money(amount) if amount else 0
                self._note("usd-cent", -net if found["lost"] else net, None, held[1])
            elif counted:
                net = reading.coins(amount, self._coin) if amount else 0
                self._note("second", -net if found["lost"] else net, int(counted[1]))
        else:
            self._told += f" {line}"

    def _note(self, unit: str, net: int, number: int | None, held: str = "") -> None:
        balance = reading.money(held) if held else None
        self._seen.settlements.append(
            Settlement(self._game, unit, net, number, self._seal, balance, self._now())
        )


def _net_alone(told: str, coin: int) -> tuple[int] | None:
    """Return what a hand won or lost by its sentences; None where none says that it is over."""
    won = [reading.span(amount) for amount in _WON.findall(told)]
    lost = [reading.coins(one or other, coin) for one, other in _LOST.findall(told)]
    insured = [reading.coins(amount, coin) for amount in _INSURED.findall(told)]
    if not (won or lost or _EVEN in told):
        return None
    return (sum(won) - sum(lost) + sum(brought * 2 // 3 for brought in insured),)
