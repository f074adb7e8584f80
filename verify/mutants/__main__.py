"""The command `python -m verify.mutants`: plant small faults that the suite must catch.

    python -m verify.mutants --jobs 2
    python -m verify.mutants --room timebank/ledger --near
    python -m verify.mutants --only "off by one"

Each fault is a change of the program's text, in a copy of the tree. The status is 1 for a fault
that the suite does not catch, or that no longer fits the program's text.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue

import click

from verify.mutants.catalogue import MUTANTS
from verify.mutants.looks import Suite
from verify.mutants.mutant import Mutant, Stale
from verify.mutants.tree import copied

ROOT = Path(__file__).parents[2]


@click.command(help=(__doc__ or "").partition("\n\n")[2])
@click.option("--list", "is_list", is_flag=True, help="Only list the mutants.")
@click.option("--only", multiple=True, help="Those with these words in their names or files.")
@click.option("--room", multiple=True, help="Those in this folder: timebank/ledger, door/lines.")
@click.option("--near", is_flag=True, help="Ask for quick tests of the same room alone.")
@click.option("--jobs", default=1, show_default=True, help="How many mutants at once.")
@click.option("--workers", default=2, show_default=True, help="Of pytest, for each of them.")
def main(
    is_list: bool,
    only: tuple[str, ...],
    room: tuple[str, ...],
    near: bool,
    jobs: int,
    workers: int,
) -> None:
    mutants = [mutant for mutant in MUTANTS if _is_asked(mutant, only, room)]
    if not mutants:
        raise click.UsageError("There is no such mutant.")
    if is_list:
        for mutant in mutants:
            click.echo(f"{mutant.file}: {mutant.name}")
        return
    sys.exit(0 if hunt(ROOT, mutants, jobs, workers, is_near=near) else 1)


def _is_asked(mutant: Mutant, only: tuple[str, ...], room: tuple[str, ...]) -> bool:
    named = f"{mutant.file}: {mutant.name}".casefold()
    return (not only or any(words.casefold() in named for words in only)) and (
        not room or any(f"{mutant.file}/".startswith(f"{each.rstrip('/')}/") for each in room)
    )


def hunt(
    root: Path, mutants: Sequence[Mutant], jobs: int, workers: int, *, is_near: bool = False
) -> bool:
    """Say which test sees each mutant; return whether each fits the program and is seen."""
    free: SimpleQueue[Suite] = SimpleQueue()

    def look(mutant: Mutant) -> tuple[bool, str]:
        suite = free.get()
        try:
            test = suite.look(mutant)
        except Stale as stale:
            return False, f"stale: {stale}"
        finally:
            free.put(suite)
        return bool(test), f"caught by {test}" if test else "survived"

    is_well, unsound = True, set[str]()
    with ExitStack() as copies, ThreadPoolExecutor(jobs) as pool:
        for _ in range(jobs):
            tree = copies.enter_context(copied(root))
            free.put(Suite(tree, workers, is_near, unsound))
        for mutant, (is_caught, words) in zip(mutants, pool.map(look, mutants), strict=True):
            click.echo(f"{mutant.file}: {mutant.name}\n    {words}")
            sys.stdout.flush()
            is_well &= is_caught
    for test in sorted(unsound):
        click.echo(f"Left out, for it fails without a fault or not every time: {test}")
    return is_well


if __name__ == "__main__":
    main()
