"""A finding of the audit, and the checks that yield findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from timebank.ledger.database import Desk
from timebank.ledger.sql import Build, Reader


class Finding(NamedTuple):
    """An error in the books: the row that has it, and a sentence that describes it."""

    where: str
    sentence: str

    def __str__(self) -> str:
        r"""Return one line, without the control characters that the books may contain.

        >>> str(Finding("caller 1", "Of \x1b[2JAnn."))
        'caller 1: Of  [2JAnn.'
        """
        line = f"{self.where}: {self.sentence}"
        return "".join(letter if letter.isprintable() else " " for letter in line)


Check: TypeAlias = Callable[[Desk], Iterable[Finding]]


def each_is_wrong(where: str, sentence: str) -> Callable[[Build], Check]:
    """Make a check of a query for wrong rows.

    The columns of each row fill the placeholders of `where` and `sentence`.
    """

    def made(build: Build) -> Check:
        wrong: Reader[tuple[Any, ...]] = Reader(tuple, build)

        def check(desk: Desk) -> Iterator[Finding]:
            for row in wrong.stream(desk.connection):
                yield Finding(where.format(*row), sentence.format(*row))

        return check

    return made
