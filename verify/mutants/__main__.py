"""The command `python -m verify.mutants`: put small faults into the program for the suite to see.

    python -m verify.mutants --jobs 2
    python -m verify.mutants --room timebank/ledger --near
    python -m verify.mutants --only "off by one"

Each fault is a change of the program's text, in a copy of the tree. A fault that the suite does not
catch, or that fits the text of the program no more, makes the status 1.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

import click

from verify.mutants.catalogue import MUTANTS
from verify.mutants.looks import Bounds, GivenUp, Suite
from verify.mutants.mutant import Mutant, Stale
from verify.mutants.report import Results
from verify.mutants.tree import Tree, copied

ROOT = Path(__file__).parents[2]


class Hunt:
    """A run of the command over some mutants, several at once."""

    def __init__(self, root: Path, bounds: Bounds, results: Results) -> None:
        """Take the tree that is copied."""
        self.root = root
        self.bounds = bounds
        self.results = results
        self.stale: list[str] = []
        self.unsound: set[str] = set()
        self._one_speaks = threading.Lock()
        self._trees: list[Tree] = []
        self._is_over = threading.Event()

    def run(self, mutants: Sequence[Mutant], jobs: int) -> None:
        """Look at each mutant that is not known yet."""
        waiting: SimpleQueue[Mutant | None] = SimpleQueue()
        for mutant in (*mutants, *[None] * jobs):
            waiting.put(mutant)
        with ThreadPoolExecutor(jobs) as pool:
            working = [pool.submit(self._work, waiting) for _ in range(jobs)]
            try:
                for done in working:
                    done.result()
            finally:  # also when the command is interrupted, or one of them has failed
                self._is_over.set()
                for tree in self._trees:
                    tree.is_given_up.set()

    def _work(self, waiting: SimpleQueue[Mutant | None]) -> None:
        with copied(self.root) as tree:
            self._trees.append(tree)
            tree.check()
            suite = Suite(tree, self.bounds)
            while (mutant := waiting.get()) is not None and not self._is_over.is_set():
                try:
                    self._look(mutant, tree, suite)
                except GivenUp:
                    return
                except Stale as stale:
                    self.stale.append(str(stale))
                    self._say(f"stale: {stale}")
            self.unsound |= suite.unsound

    def _look(self, mutant: Mutant, tree: Tree, suite: Suite) -> None:
        known = self.results.of(mutant)
        if known is not None and not known.is_partial:
            return
        with tree.with_fault(mutant):
            look = suite.look(mutant)
        with self._one_speaks:
            self.results.know(mutant, look)
        came = f"caught by {look.caught}" if look.caught else "survived"
        self._say(
            f"{mutant.file}: {mutant.name}\n    {came} ({look.after} tests, {look.seconds:.1f} s)"
        )

    def _say(self, words: str) -> None:
        with self._one_speaks:
            click.echo(words)
            sys.stdout.flush()


@click.command(help=(__doc__ or "").partition("\n\n")[2])
@click.option("--list", "is_list", is_flag=True, help="Only list the mutants.")
@click.option("--only", multiple=True, help="Those with these words in their names or files.")
@click.option("--room", multiple=True, help="Those in this folder: timebank/ledger, door/lines.")
@click.option("--near", is_flag=True, help="Ask for quick tests of the same room alone.")
@click.option("--first", multiple=True, help="Ask these tests before all others.")
@click.option("--limit", default=3600.0, show_default=True, help="Seconds for one look.")
@click.option("--silence", default=120.0, show_default=True, help="Seconds in which no test ends.")
@click.option("--jobs", default=1, show_default=True, help="How many mutants at once.")
@click.option("--workers", default=2, show_default=True, help="Of pytest, for each of them.")
@click.option("--results", type=Path, help="A file of what is known, that is not asked again.")
def main(
    is_list: bool,
    only: tuple[str, ...],
    room: tuple[str, ...],
    near: bool,
    first: tuple[str, ...],
    limit: float,
    silence: float,
    jobs: int,
    workers: int,
    results: Path | None,
) -> None:
    mutants = [mutant for mutant in MUTANTS if _is_asked(mutant, only, room)]
    if not mutants:
        raise click.UsageError("There is no such mutant.")
    if is_list:
        for mutant in mutants:
            click.echo(f"{mutant.file}: {mutant.name}")
        return
    bounds = Bounds(silence, limit, workers, near, first)
    hunt = Hunt(ROOT, bounds, Results.read(results))
    hunt.run(mutants, jobs)
    sys.exit(_tell_the_rest(mutants, hunt))


def _is_asked(mutant: Mutant, only: tuple[str, ...], room: tuple[str, ...]) -> bool:
    named = f"{mutant.file}: {mutant.name}".casefold()
    return (not only or any(words.casefold() in named for words in only)) and (
        not room or any(f"{mutant.file}/".startswith(f"{each.rstrip('/')}/") for each in room)
    )


def _tell_the_rest(mutants: Sequence[Mutant], hunt: Hunt) -> int:
    """Name who survived, what is stale, and tests that fail by themselves; 1 if all is not well."""
    status = 0
    looks = [look for mutant in mutants if (look := hunt.results.of(mutant)) is not None]
    caught = sum(bool(look.caught) for look in looks)
    click.echo(f"\n{len(mutants)} mutants; the suite caught {caught} of {len(looks)}.")
    for test in sorted(hunt.unsound):
        click.echo(f"Left out, for it fails without a fault or not every time: {test}")
    for mutant in mutants:
        if hunt.results.survived(mutant):
            click.echo(f"Survived: {mutant.file}: {mutant.name}")
            status = 1
    for stale in hunt.stale:
        click.echo(f"Stale: {stale}")
        status = 1
    return status


if __name__ == "__main__":
    main()
