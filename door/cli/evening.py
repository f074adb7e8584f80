"""`door odds --evening`: what callers have after some turns at a table, and what the house pays."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from door.config import config as configs
from door.games.solver.cache import odds_of
from door.games.solver.evening import Ends, Evening, House, Plan, evening, house
from door.games.solver.odds import RUNS_ON
from door.games.solver.odds_text import percent
from timebank.cli.errors import UserError
from timebank.settings.schedule import DAY_MINUTES
from timebank.settings.toml import Problems, TomlTable

if TYPE_CHECKING:
    from door.config.config import Config
    from door.games.engine.descriptor import Game
    from timebank.reports.tables import Piece

T = TypeVar("T")

MOST_TURNS = 100  # more of them take minutes to go through
MOST_CALLERS = 1000

BY_THEMSELVES = (
    "Callers are taken to play by themselves. At one table of Vegas they have the dealer's hand in"
    " common: the mean is the same, the deviation up to that of one caller times their number."
)
FRESH = "Every turn is taken as if it were dealt from a fresh shoe: this one runs on."
PLAY_MONEY = "The table is played for play money as it is set: this is for minutes."
NO_TIME = "No time ticks away: it would take from the pot and from the room before the event alike."


@dataclass(frozen=True)
class EveningAsked:
    """What was given at the shell; None for what the table and the board say."""

    turns: int | None = None
    pot: int | None = None  # coins
    bet: int | None = None  # coins
    callers: int | None = None
    event: int | None = None  # minutes to it


def default_config() -> Config:
    """The settings of a board that has written none."""
    return configs.read(TomlTable({}, Problems("", ""), Path()), Path("sysop.toml"))


def show(
    config: Config | None,
    games: Sequence[tuple[Game, object]],
    asked: EveningAsked,
    *,
    as_json: bool,
) -> Iterator[Piece]:
    """Give what is printed of evenings at these tables under these rules."""
    board = config or default_config()
    told = [_at_table(board, game, rules, asked) for game, rules in games]
    if as_json:
        plain = [each.plain() for each in told]
        yield json.dumps(plain if len(plain) > 1 else plain[0], indent=2, ensure_ascii=False)
        return
    for number, each in enumerate(told):
        if number:
            yield ""
        yield from each.lines()


def _at_table(board: Config, game: Game, rules: object, asked: EveningAsked) -> _Told:
    plan = plan_of(board, game, asked)
    callers = board.calls.nodes if asked.callers is None else asked.callers
    _refuse("--callers", callers, 1, MOST_CALLERS)
    odds = odds_of(game, rules)
    found = evening(odds.purses, plan)
    play_money = getattr(board.games[game.name], "stakes", "") == "play money"
    return _Told(game, dict(odds.rules), found, callers, board.bank.mode, odds.notes, play_money)


def plan_of(board: Config, game: Game, asked: EveningAsked) -> Plan:
    """Return how an evening is played within what the table allows; refuses what it does not."""
    table = board.games[game.name]
    most = min(table.turns_per_day or MOST_TURNS, MOST_TURNS)
    turns = most if asked.turns is None else asked.turns
    _refuse("--turns", turns, 1, most)
    bet = table.largest_bet if asked.bet is None else asked.bet
    _refuse("--bet", bet, table.smallest_bet, table.largest_bet)
    pot = board.bank.minutes_per_day // table.coin_minutes if asked.pot is None else asked.pot
    _refuse("--pot", pot, 1, DAY_MINUTES)
    if asked.event is not None:
        _refuse("--event", asked.event, 0, DAY_MINUTES)
    return Plan(turns, pot, bet, table.smallest_bet, table.coin_minutes, asked.event)


def _refuse(option: str, given: int, least: int, most: int) -> None:
    if not least <= given <= most:
        raise UserError(f"{option} must be from {least} to {most} here, is {given}.")


@dataclass(frozen=True)
class _Told:
    """An evening at one table, for whoever asked."""

    game: Game
    rules: dict[str, object]
    found: Evening
    callers: int
    mode: str
    notes: tuple[str, ...]
    is_play_money: bool

    def plain(self) -> dict[str, object]:
        found = self.found
        return {
            "game": self.game.name,
            "rules": self.rules,
            "plan": asdict(found.plan),
            "bank": self.mode,
            "caller": {
                "ruined": found.ruined,
                "cut": found.cut,
                "cutting": found.cutting,
                **{name: _plain(result) for name, result in self._results()},
            },
            "house": {name: asdict(house) for name, house in self._houses()},
            "states": [
                {"pot": pot / 2, "cut": cut / 2, "chance": chance}
                for (pot, cut), chance in sorted(found.states.items())
            ],
            "notes": self._notes(),
        }

    def lines(self) -> Iterator[str]:
        found, plan = self.found, self.found.plan
        before = "" if plan.event is None else f", {_minutes(plan.event)} before an event"
        yield (
            f"{self.game.title}: {_turns(plan.turns)} of {_coins(plan.bet)} with"
            f" {_coins(plan.pot)} of {_minutes(plan.coin_minutes)}{before}, perfect play"
        )
        yield ""
        for bank, result in self._shown(self._results()):
            yield (
                f"  {bank}A caller gains {result.mean:+.3f} minutes (deviation {result.sd:.3f});"
                f" twice as much or more: {_share(result.doubled)}."
            )
        yield f"  Nothing left to bet: {_share(found.ruined)}."
        if plan.event is not None:
            yield (
                f"  The event cuts off {found.cut:.3f} minutes on average, something in"
                f" {_share(found.cutting)} of evenings."
            )
        callers = "1 caller" if self.callers == 1 else f"{self.callers} callers"
        for bank, each in self._shown(self._houses()):
            yield (
                f"  {bank}The house wins {each.mean:+.3f} minutes of {callers}"
                f" (deviation {each.sd:.3f})."
            )
            yield f"    It {_paid(each.pays_in_20)} in one evening of 20, and"
            yield f"    {_paid(each.pays_in_100)} in one of 100."
        for note in self._notes():
            yield f"  {note}"

    def _notes(self) -> list[str]:
        notes = [NO_TIME]
        if self.game.kind.most_seats > 1:
            notes.append(BY_THEMSELVES)
        if RUNS_ON in self.notes:
            notes.append(FRESH)
        if self.is_play_money:
            notes.append(PLAY_MONEY)
        return [*notes, *(note for note in self.notes if note != RUNS_ON)]

    def _results(self) -> list[tuple[str, Ends]]:
        banked, forfeited = (self.found.result(banked=banked) for banked in (True, False))
        return [("banked", banked), ("none", forfeited)]

    def _houses(self) -> list[tuple[str, House]]:
        return [(name, house(result, self.callers)) for name, result in self._results()]

    def _shown(self, both: list[tuple[str, T]]) -> Iterator[tuple[str, T]]:
        """Both modes of the bank where an event makes them differ, that of the board first."""
        (_, banked), (_, forfeited) = both
        if self.found.plan.event is None:
            yield "", banked
            return
        said = [("With a bank. ", banked), ('With the bank at "none". ', forfeited)]
        yield from reversed(said) if self.mode == "none" else said


def _plain(result: Ends) -> dict[str, object]:
    return {"mean": result.mean, "sd": result.sd, "doubled": result.doubled}


def _paid(amount: float) -> str:
    """
    >>> _paid(90.0), _paid(-2.5)
    ('pays 90 minutes or more', 'wins 2.5 minutes or less')
    """
    if amount < 0:
        return f"wins {-amount:g} minutes or less"
    return f"pays {amount:g} minutes or more"


def _share(chance: float) -> str:
    return percent(chance).lstrip("+")


def _coins(number: int) -> str:
    return "1 coin" if number == 1 else f"{number} coins"


def _turns(number: int) -> str:
    return "1 turn" if number == 1 else f"{number} turns"


def _minutes(number: int) -> str:
    return "1 minute" if number == 1 else f"{number} minutes"
