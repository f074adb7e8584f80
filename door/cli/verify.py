"""`door verify`: shows the cards that a seed has sealed."""

from __future__ import annotations

import click

from door.games.engine import shuffle
from timebank.cli.common import WholeNumber
from timebank.cli.errors import UserError, refusing


@click.command()
@click.option("--seed", required=True, help="The seed (64 hexadecimal digits).")
@click.option(
    "--cut",
    "cuts",
    multiple=True,
    help="The phrase the caller cut the cards with; for several callers, one after another.",
)
@click.option(
    "--chain",
    "link",
    type=WholeNumber(1, 500),
    help="The shoe's number in its chain, if its seed was sealed ahead.",
)
@click.option(
    "--decks", type=WholeNumber(1, 8), default=1, show_default=True, help="Decks in the shoe."
)
@click.option(
    "--shuffle",
    "number",
    type=WholeNumber(1),
    default=1,
    show_default=True,
    help="Which shuffle of the seed, if the shoe was reshuffled.",
)
@click.option(
    "--toss",
    "tosses",
    type=WholeNumber(0, 9999),
    multiple=True,
    metavar="P",
    help="Show the Baccarat toss before card P of the shoe, counted from 0.",
)
def verify(
    seed: str,
    cuts: tuple[str, ...],
    link: int | None,
    decks: int,
    number: int,
    tosses: tuple[int, ...],
) -> None:
    """Print a seed's seal and the order of its cards."""
    try:
        raw = bytes.fromhex(seed)
    except ValueError as error:
        raise UserError("--seed takes hexadecimal digits.") from error
    if link is None and len(cuts) > 1:
        raise UserError("--cut goes in more than once only with --chain.")
    text = "\n".join(cuts)
    cut = text if link is None else shuffle.Phrases(text, link)
    with refusing(ValueError):
        seal, cards = shuffle.seal(raw), shuffle.shuffle(raw, cut, decks, number)
        anchor = "" if link is None else shuffle.anchor(raw, link)
        commitments = [] if link is None else [shuffle.commitment(raw, each, link) for each in cuts]
    click.echo(f"seal {seal}")
    if anchor:
        click.echo(f"anchor {anchor}")
    for each in commitments:
        click.echo(f"commitment {each}")
    for start in range(0, len(cards), 13):
        click.echo(" ".join(cards[start : start + 13]))
    for position in tosses:
        came = "a card for the bank" if shuffle.toss(raw, cut, position) else "no card for the bank"
        click.echo(f"toss before card {position}: {came}")
