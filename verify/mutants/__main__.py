"""The command `python -m verify.mutants`: put small faults into the program, and see who sees them.

    python -m verify.mutants --jobs 2
    python -m verify.mutants --room timebank/ledger --suite
    python -m verify.mutants --only "off by one" --simulate

Each fault is a change of the program's text, in a copy of the tree. The suite and the simulator are
asked apart from each other (`--suite` or `--simulate` asks one of them alone). A fault that
survives both, or that fits the text of the program no more, makes the status 1.
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
from verify.mutants.looks import Bounds, GivenUp, Look, Suite, simulate
from verify.mutants.mutant import Mutant, Stale
from verify.mutants.report import Results, rooms, table, totals
from verify.mutants.tree import Tree, copied

ROOT = Path(__file__).parents[2]


class Hunt:
    """A run of the command over some mutants, several at once."""

    def __init__(self, root: Path, bounds: Bounds, results: Results, asked: Sequence[str]) -> None:
        """Take the tree that is copied, and who is asked: "suite", "simulator" or both."""
        self.root = root
        self.bounds = bounds
        self.results = results
        self.asked = asked
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
        found = self.results.of(mutant)
        with tree.with_fault(mutant):
            if "suite" in self.asked and (found.suite is None or found.suite.is_partial):
                self._know(mutant, "suite", suite.look(mutant))
            if "simulator" in self.asked and found.simulator is None:
                self._know(mutant, "simulator", simulate(tree, self.bounds))

    def _know(self, mutant: Mutant, who: str, look: Look) -> None:
        with self._one_speaks:
            setattr(self.results.of(mutant), who, look)
            self.results.keep()
        came = f"caught by {look.caught}" if look.caught else "survived"
        count = f"{look.after} {'tests' if who == 'suite' else 'seeds'}, {look.seconds:.1f} s"
        self._say(f"{mutant.file}: {mutant.name}\n    {who}: {came} ({count})")

    def _say(self, words: str) -> None:
        with self._one_speaks:
            click.echo(words)
            sys.stdout.flush()


@click.command(help=(__doc__ or "").partition("\n\n")[2])
@click.option("--list", "is_list", is_flag=True, help="Only list the mutants.")
@click.option("--only", multiple=True, help="Those with these words in their names or files.")
@click.option("--room", multiple=True, help="Those in this folder: timebank/ledger, door/lines.")
@click.option("--suite", "is_suite", is_flag=True, help="Ask the suite alone.")
@click.option("--simulate", "is_simulate", is_flag=True, help="Ask the simulator alone.")
@click.option("--near", is_flag=True, help="Ask the suite for quick tests of the same room alone.")
@click.option("--first", multiple=True, help="Ask these tests before all others.")
@click.option("--limit", default=3600.0, show_default=True, help="Seconds for one look.")
@click.option("--silence", default=120.0, show_default=True, help="Seconds in which no test ends.")
@click.option("--jobs", default=1, show_default=True, help="How many mutants at once.")
@click.option("--workers", default=2, show_default=True, help="Of pytest, for each of them.")
@click.option("--seeds", default="1-3", show_default=True, help="That are simulated.")
@click.option("--steps", default=200, show_default=True, help="Of each seed.")
@click.option("--results", type=Path, help="A file of what is known, that is not asked again.")
@click.option("--table", "table_file", type=Path, help="Write the tables to this file, too.")
def main(
    is_list: bool,
    only: tuple[str, ...],
    room: tuple[str, ...],
    is_suite: bool,
    is_simulate: bool,
    near: bool,
    first: tuple[str, ...],
    limit: float,
    silence: float,
    jobs: int,
    workers: int,
    seeds: str,
    steps: int,
    results: Path | None,
    table_file: Path | None,
) -> None:
    mutants = [mutant for mutant in MUTANTS if _is_asked(mutant, only, room)]
    if not mutants:
        raise click.UsageError("There is no such mutant.")
    if is_list:
        for mutant in mutants:
            click.echo(f"{mutant.file}: {mutant.name}")
        return
    begin, _, end = seeds.partition("-")
    played = int(begin), int(end or begin)
    bounds = Bounds(silence, limit, workers, near, first, played, steps)
    asked = [who for who, is_one in (("suite", is_suite), ("simulator", is_simulate)) if is_one]
    asked = asked or ["suite", "simulator"]
    hunt = Hunt(ROOT, bounds, Results.read(results), asked)
    hunt.run(mutants, jobs)
    known = hunt.results
    told = [*rooms(mutants, known), "", *table(mutants, known), "", totals(mutants, known)]
    click.echo("\n".join(["", *told]))
    if table_file is not None:
        table_file.write_text("\n".join(told) + "\n")
    sys.exit(_tell_the_rest(mutants, hunt))


def _is_asked(mutant: Mutant, only: tuple[str, ...], room: tuple[str, ...]) -> bool:
    named = f"{mutant.file}: {mutant.name}".casefold()
    return (not only or any(words.casefold() in named for words in only)) and (
        not room or any(f"{mutant.file}/".startswith(f"{each.rstrip('/')}/") for each in room)
    )


def _tell_the_rest(mutants: Sequence[Mutant], hunt: Hunt) -> int:
    """Name who survived, what is stale, and tests that fail by themselves; 1 if all is not well."""
    status = 0
    for test in sorted(hunt.unsound):
        click.echo(f"Left out, for it fails without a fault or not every time: {test}")
    for mutant in mutants:
        if not hunt.results.of(mutant).survived:
            continue
        why = f"explained: {mutant.explained}" if mutant.explained else "NOT explained"
        click.echo(f"Survived: {mutant.file}: {mutant.name} ({why})")
        status = status if mutant.explained else 1
    for stale in hunt.stale:
        click.echo(f"Stale: {stale}")
        status = 1
    return status


if __name__ == "__main__":
    main()
