"""The command `python -m verify.kills`: boards killed again and again while robots play.

    python -m verify.kills --rounds 1000 --boards 2
    python -m verify.kills --rounds 1000 --boards 2 --postgres
    python -m verify.kills --rounds 100 --kind "under doors"

`apart` has books in a process of their own, `rounds` plays and kills, `count` remembers what was
durable. The doors are those of `verify.robots.doors`.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

import click

from verify.kills.apart import ends_with_its_parent, run_apart
from verify.kills.rounds import KINDS, Tally

ROUNDS_A_BOOK = 15  # then fresh books, so that the audits stay quick


@click.command()
@click.option("--rounds", default=1000, show_default=True, help="How many rounds altogether.")
@click.option("--boards", default=2, show_default=True, help="How many boards at once.")
@click.option("--robots", default=24, show_default=True, help="How many callers each has.")
@click.option("--seed", default=1, show_default=True, help="Of the first books; others follow.")
@click.option("--postgres", is_flag=True, help="Have the books on a server of PostgreSQL.")
@click.option("--kind", type=click.Choice(list(KINDS)), help="Only rounds like this.")
def main(
    rounds: int, boards: int, robots: int, seed: int, postgres: bool, kind: str | None
) -> None:
    """Kill boards; exit with 1 when anything was wrong."""
    began = time.monotonic()
    total = Tally()
    sizes = [min(ROUNDS_A_BOOK, rounds - done) for done in range(0, rounds, ROUNDS_A_BOOK)]
    with ProcessPoolExecutor(
        boards, mp_context=get_context("spawn"), initializer=ends_with_its_parent
    ) as pool:
        books = [
            pool.submit(run_apart, seed + number, size, robots, postgres=postgres, kind=kind or "")
            for number, size in enumerate(sizes)
        ]
        for book in as_completed(books):
            tally = book.result()
            total.add(tally)
            click.echo(f"{time.monotonic() - began:.0f} s: {total}")
            for words in tally.wrong:
                click.echo(words)
    sys.exit(bool(total.wrong))


if __name__ == "__main__":
    main()
