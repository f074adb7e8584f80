"""The mutants of `catalogue.diff`, by the rooms of the program.

Each is one plain mistake in a line that holds minutes, hands or trust: a second, a day or a minute
too many, a missing step, another account, a check that always passes. `verify.simulate.faults` has
others, which remove whole parts of the program; no fault is in both.

A mutant begins with its file and a sentence about the mistake. The text after `-`, which occurs
once and may be a part of a line, is replaced by the text after `+`.
"""

from __future__ import annotations

from pathlib import Path

from verify.mutants.mutant import Mutant


def read(text: str) -> tuple[Mutant, ...]:
    """Read mutants, which an empty line parts.

    >>> read("toy.py: A minute has 59 seconds.\\n-minutes * 60\\n+minutes * 59\\n")[0].new
    'minutes * 59'
    """
    mutants = []
    for each in text.strip("\n").split("\n\n"):
        heading, *lines = each.split("\n")
        file, _, name = heading.partition(": ")
        old, new = ("\n".join(line[1:] for line in lines if line[0] == sign) for sign in "-+")
        mutants.append(Mutant(name, file, old, new))
    return tuple(mutants)


MUTANTS = read(Path(__file__).with_name("catalogue.diff").read_text("utf-8"))
