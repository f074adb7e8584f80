"""`door odds`: what the tables are worth to their callers, under the rules as they are set."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from door.cli.common import DEFAULT_CONFIG, config_option, load_config, rows_option
from door.config import config as configs
from door.games.engine.errors import RulesRefused
from door.games.registry import GAMES, game_named
from door.games.solver import odds_text
from door.games.solver.cache import card_of, odds_of
from door.games.solver.evening import Ends, Evening, House, Plan, evening, house
from door.games.solver.odds import RUNS_ON
from door.games.solver.odds_text import percent
from door.games.solver.strategy_card import card_lines, card_svg
from timebank.cli.common import say, sheet, show
from timebank.cli.errors import UserError
from timebank.reports import tables
from timebank.settings.schedule import DAY_MINUTES
from timebank.settings.toml import Problems, TomlTable

if TYPE_CHECKING:
    from door.config.config import Config
    from door.games.engine.descriptor import Game
    from door.games.solver.odds import Odds
    from timebank.reports.exports import Record
    from timebank.reports.tables import Piece

# `door odds --evening`: what callers have after some turns at a table, and what the house pays.

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


def show_evenings(
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


FIELDS = ("game", "play", "mean", "sd", "staked")  # as in JSON, shares of the opening bet


def asked_tables(
    config: Config | None, table: str | None, given: Sequence[str]
) -> list[tuple[Game, Any]]:
    """Return one table with its rules, or all of them: those of `config` (the defaults where there
    is none) with those `given` as "key=value" in their place."""
    if table is None and given:
        raise UserError("Rules belong to a table: name it before --rules.")
    games = list(GAMES.values()) if table is None else [_named(table)]
    changed = dict(map(_rule, given))
    return [(game, rules_of(config, game, changed)) for game in games]


def pieces(
    config: Config | None, table: str | None, given: Sequence[str], form: str
) -> Iterator[Piece]:
    """Give what is printed of the tables that are asked for."""
    found = [(game, odds_of(game, rules)) for game, rules in asked_tables(config, table, given)]
    if form == "text":
        yield from _joined(odds_text.pieces(game.title, odds) for game, odds in found)
    else:
        yield _for_programs([odds for _, odds in found], form, is_one=table is not None)


def _for_programs(found: Sequence[Odds], form: str, *, is_one: bool) -> str:
    if form == "csv":
        from timebank.reports.exports import as_csv  # with all of SQLAlchemy behind it

        return "".join(as_csv(FIELDS, _records(found))).rstrip("\n")
    plain = [odds.plain() for odds in found]
    return json.dumps(plain[0] if is_one else plain, indent=2, ensure_ascii=False)


def _records(found: Iterable[Odds]) -> Iterator[Record]:
    for odds in found:
        for name, figures in odds.strategies.items():
            values = (odds.game, name, figures.mean, figures.sd, figures.staked)
            yield dict(zip(FIELDS, values, strict=True))


def show_cards(found: Sequence[tuple[Game, Any]], form: str) -> Iterator[Piece]:
    """Give the strategy cards of these tables: as "text", "json", or one of them as "svg"."""
    if form == "svg" and len(found) > 1:
        raise UserError("An SVG is of one table: name it.")
    cards = [card_of(game, rules) for game, rules in found]
    if form == "svg":
        yield card_svg(cards[0]).rstrip("\n")
    elif form == "json":
        plain = [asdict(each) for each in cards]
        yield json.dumps(plain if len(plain) > 1 else plain[0], indent=2, ensure_ascii=False)
    else:
        yield from _joined(map(card_lines, cards))


def rules_of(config: Config | None, game: Game, changed: Mapping[str, object]) -> Any:
    """Return the rules of a table, some of them changed; a wrong one is the command's refusal."""
    settings = None if config is None else config.games[game.name]
    rules = getattr(settings, "rules", game.kind.base)
    if not changed:
        return rules
    try:
        return game.kind.vary(changed, rules)
    except RulesRefused as refused:
        raise UserError(f"{game.title}: {refused}") from refused


def _named(table: str) -> Game:
    game = game_named(table)
    if game is None:
        raise UserError(f"There is no table {table}: it is {', '.join(GAMES)}.")
    return game


def _rule(text: str) -> tuple[str, object]:
    """Read a rule as sysop.toml has it; words need no quotation marks."""
    key, equals, value = text.partition("=")
    if not equals:
        raise UserError(f"--rules takes KEY=VALUE, not {text}.")
    try:
        read: object = tomllib.loads(f"value = {value.strip()}")["value"]
    except tomllib.TOMLDecodeError:
        read = value.strip()
    return key.strip(), read


def _joined(told: Iterable[Iterator[Piece]]) -> Iterator[Piece]:
    for number, lines in enumerate(told):
        if number:
            yield ""
        yield from lines


@click.command()
@config_option
@click.argument("table", required=False)
@click.option(
    "--rules",
    "rules",
    metavar="KEY=VALUE",
    multiple=True,
    help="A rule as in sysop.toml, in place of the house's; may be given more than once.",
)
@click.option("--evening", is_flag=True, help="What is left of a pot after an evening.")
@click.option("--turns", type=int, help="Turns of the evening; else those of a day.")
@click.option("--pot", type=int, metavar="COINS", help="What a caller comes with; else the day's.")
@click.option("--bet", type=int, metavar="COINS", help="Of every turn; else the largest.")
@click.option("--callers", type=int, help="Who play; else as many as there are nodes.")
@click.option("--event", type=int, metavar="MINUTES", help="To the next event; else none comes.")
@click.option("--card", is_flag=True, help="The strategy card: what to do with which hand.")
@click.option("--svg", is_flag=True, help="The card as a picture.")
@rows_option
def odds(
    config_path: Path,
    table: str | None,
    rules: tuple[str, ...],
    evening: bool,
    card: bool,
    svg: bool,
    form: str,
    **asked: int | None,
) -> None:
    """Show what a TABLE, or every table, is worth to its callers: exact odds for its rules.

    Without a sysop.toml in this folder: the odds of the default rules. CSV has a line for each way
    to play; cards and evenings are text or JSON.
    """
    is_set = config_path.exists() or config_path != DEFAULT_CONFIG
    config = load_config(config_path) if is_set else None
    if form == "csv" and (evening or card):
        raise UserError("A card and an evening are text or JSON: CSV is of the odds themselves.")
    if (evening and card) or (svg and (form == "json" or not card)):
        raise UserError("--evening and --card are two things, and --svg is one way to see a card.")
    if card:
        found = asked_tables(config, table, rules)
        shown = show_cards(found, "svg" if svg else form)
    elif evening:
        found = asked_tables(config, table, rules)
        wanted = EveningAsked(**asked)
        shown = show_evenings(config, found, wanted, as_json=form == "json")
    elif any(each is not None for each in asked.values()):
        raise UserError("--turns, --pot, --bet, --callers and --event belong to --evening.")
    else:
        shown = pieces(config, table, rules, form)
    if form == "text" and not svg:
        show(tables.written(shown, sheet()))
    else:
        say(tables.written(shown))  # for programs: as wide as it is
