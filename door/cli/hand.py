"""`door hand`: a hand that was played, in words, as JSON or as a film."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from ansi.charset import Charset
from door.cli.common import config_option, load_config, reading
from door.errors import NoSuchHand
from door.games import hand_check as hands
from door.games import proofs
from door.tables import film
from timebank.cli.common import NUMBER
from timebank.cli.errors import UserError, refusing
from timebank.language import LANGUAGES

if TYPE_CHECKING:
    from door.config.config import Config


@click.command()
@config_option
@click.argument("number", type=NUMBER)
@click.option("--json", "as_json", is_flag=True, help="As JSON for `door replay`.")
@click.option("--proof", "as_proof", is_flag=True, help="As JSON for the page that checks hands.")
@click.option("--cast", "as_cast", is_flag=True, help="As a film of its table: an asciicast.")
@click.option("--to", type=NUMBER, help="The film goes on to this hand of the table.")
@click.option("--day", is_flag=True, help="The film goes on to the end of the day.")
@click.option("--size", default="80x24", show_default=True, help="The film's columns and rows.")
@click.option(
    "--charset",
    type=click.Choice(["utf-8", "cp437", "ascii"]),
    default="utf-8",
    show_default=True,
    help="The letters that are painted with; the film is UTF-8 in each.",
)
@click.option("--language", type=click.Choice(list(LANGUAGES)), default="en", show_default=True)
def hand(
    config_path: Path,
    number: int,
    as_json: bool,
    as_proof: bool,
    as_cast: bool,
    **film: Unpack[FilmAsked],
) -> None:
    """Show a played hand: seal, seed (once the shoe is done), cards, actions, transfers.

    With --cast, print a film of it for `asciinema play`, or of an evening at its table.
    """
    if as_json + as_proof + as_cast > 1:
        raise UserError("--json, --proof and --cast are different forms: ask for one.")
    if as_cast:
        _film(load_config(config_path), number, film)
        return
    with reading(load_config(config_path)) as desk, refusing(NoSuchHand):
        form = hands.as_json if as_json else proofs.as_proof if as_proof else hands.describe
        text = form(desk, number)
    click.echo(text)


class FilmAsked(TypedDict):
    to: int | None
    day: bool
    size: str
    charset: str
    language: str


def _film(config: Config, number: int, asked: FilmAsked) -> None:
    try:
        reel = film.reel_of(asked["size"], asked["language"], Charset(asked["charset"]))
    except ValueError as error:
        least, most = ("x".join(map(str, size)) for size in (film.LEAST_SIZE, film.LARGEST_SIZE))
        raise UserError(f"--size takes columns and rows, {least} to {most}.") from error
    last = asked["to"]
    if last is not None and asked["day"]:
        raise UserError("--to and --day both say where the film ends: give one.")
    if last is not None and last < number:
        raise UserError(f"--to {last} is before hand {number}.")
    with reading(config) as desk, refusing(NoSuchHand):
        is_one = last is None and not asked["day"]
        shown = [film.the_hand(desk, number)] if is_one else film.evening(desk, number, last)
        lines = list(film.film(shown, reel))
    click.echo("".join(lines), nl=False)
