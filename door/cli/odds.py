"""`door odds`: what the tables are worth to their callers, under the board's rules."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from door.cli.common import config_option, load_config, rows_option
from door.games.engine.errors import RulesRefused
from door.games.engine.game import HOUSE_SETS
from door.games.registry import GAMES, game_named
from door.games.solver import odds_text
from door.games.solver.cache import card_of, odds_of
from door.games.solver.strategy_card import card_lines
from timebank.cli.common import DEFAULT_CONFIG, say, sheet, show
from timebank.cli.errors import UserError
from timebank.reports import tables

if TYPE_CHECKING:
    from door.config.config import Config
    from door.games.engine.descriptor import Game
    from door.games.solver.odds import Odds
    from timebank.reports.exports import Record
    from timebank.reports.tables import Piece

FIELDS = ("game", "play", "mean", "sd", "staked")  # as in JSON; shares of the opening bet


def asked_tables(
    config: Config | None, table: str | None, given: Sequence[str]
) -> list[tuple[Game, Any]]:
    """Return one table with its rules, or all tables. The rules are those of `config`, or the
    defaults without it, changed by those `given` as "key=value"."""
    keys = [text for text in given if "=" in text]
    if table is None and keys:
        raise UserError("Rules belong to a table: name it before --rules.")
    games = list(GAMES.values()) if table is None else [_named(table)]
    chosen, changed = [text for text in given if "=" not in text], dict(map(_rule, keys))
    return [(game, rules_of(config, game, changed, chosen)) for game in games]


def pieces(
    config: Config | None, table: str | None, given: Sequence[str], form: str
) -> Iterator[Piece]:
    """Yield what the command prints about the tables."""
    asked = asked_tables(config, table, given)
    if form == "text":
        yield from _joined(
            odds_text.pieces(game.title, odds_of(game, rules)) for game, rules in asked
        )
    else:
        listed = [odds_of(game, rules) for game, rules in asked]
        yield _for_programs(listed, form, is_one=table is not None)


def _for_programs(listed: Sequence[Odds], form: str, *, is_one: bool) -> str:
    if form == "csv":
        from timebank.reports.exports import as_csv  # with all of SQLAlchemy behind it

        return "".join(as_csv(FIELDS, _records(listed))).rstrip("\n")
    plain = [odds.plain() for odds in listed]
    return json.dumps(plain[0] if is_one else plain, indent=2, ensure_ascii=False)


def _records(listed: Iterable[Odds]) -> Iterator[Record]:
    for odds in listed:
        for name, figures in odds.strategies.items():
            values = (odds.game, name, figures.mean, figures.sd, figures.staked)
            yield dict(zip(FIELDS, values, strict=True))


def show_cards(asked: Sequence[tuple[Game, Any]], form: str) -> Iterator[Piece]:
    """Yield the strategy cards of the tables, as "text" or "json"."""
    cards = [card_of(game, rules) for game, rules in asked]
    if form == "json":
        plain = [asdict(each) for each in cards]
        yield json.dumps(plain if len(plain) > 1 else plain[0], indent=2, ensure_ascii=False)
    else:
        yield from _joined(map(card_lines, cards))


def rules_of(
    config: Config | None, game: Game, changed: Mapping[str, object], chosen: Sequence[str] = ()
) -> Any:
    """Return the rules of a table, or of the last set `chosen`, with some of them changed; raise
    `UserError` if one is wrong."""
    settings = None if config is None else config.games[game.name]
    rules = getattr(settings, "rules", game.kind.base)
    for name in chosen:
        rules = _set_of(config, game, name)
    if not changed:
        return rules
    try:
        return game.kind.vary(changed, rules)
    except RulesRefused as refused:
        raise UserError(f"{game.title}: {refused}") from refused


def _set_of(config: Config | None, game: Game, name: str) -> Any:
    own = {} if config is None else tomllib.loads(config.text).get("rules", {})
    if name in HOUSE_SETS:
        return game.kind.rules_of(name)
    if name not in own:
        known = ", ".join((*HOUSE_SETS, *own))
        raise UserError(f"--rules takes KEY=VALUE or a set of rules ({known}), not {name}.")
    keys = {key: value for key, value in own[name].items() if key in game.kind.sysop_keys}
    return game.kind.vary(keys, game.kind.base)


def _named(table: str) -> Game:
    game = game_named(table)
    if game is None:
        raise UserError(f"There is no table {table}: it is {', '.join(GAMES)}.")
    return game


def _rule(text: str) -> tuple[str, object]:
    """Return the key and value of a rule as in sysop.toml; words need no quotation marks."""
    key, _, value = text.partition("=")
    try:
        read: object = tomllib.loads(f"value = {value.strip()}")["value"]
    except tomllib.TOMLDecodeError:
        read = value.strip()
    return key.strip(), read


def _joined(parts: Iterable[Iterator[Piece]]) -> Iterator[Piece]:
    for number, lines in enumerate(parts):
        if number:
            yield ""
        yield from lines


@click.command()
@config_option
@click.argument("table", required=False)
@click.option(
    "--rules",
    "rules",
    metavar="SET|KEY=VALUE",
    multiple=True,
    help="A set of rules such as casino, or a rule as in sysop.toml; may be given more than once.",
)
@click.option("--card", is_flag=True, help="The strategy card: what to do with which hand.")
@rows_option
def odds(
    config_path: Path,
    table: str | None,
    rules: tuple[str, ...],
    card: bool,
    form: str,
) -> None:
    """Show the exact odds of a TABLE, or of every table.

    They say what a table is worth to its callers. Without a sysop.toml in this folder, the default
    rules count. CSV has one line for each way to play; a card has no CSV.
    """
    is_set = config_path.exists() or config_path != DEFAULT_CONFIG
    config = load_config(config_path) if is_set else None
    if form == "csv" and card:
        raise UserError("A card is text or JSON: CSV is only for the odds.")
    if card:
        shown = show_cards(asked_tables(config, table, rules), form)
    else:
        shown = pieces(config, table, rules, form)
    if form == "text":
        show(tables.written(shown, sheet()))
    else:
        say(tables.written(shown))  # as wide as the table, because a program may read it
