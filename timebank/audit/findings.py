"""What the audit finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from timebank.ledger.database import Desk
from timebank.ledger.sql import Build, Reader


class Finding(NamedTuple):
    """Something that is off: which row it is about, and a sentence that says what."""

    where: str
    sentence: str

    def __str__(self) -> str:
        r"""Write it in a line; what somebody put into the books is no word for the terminal.

        >>> str(Finding("caller 1", "Of \x1b[2JAnn."))
        'caller 1: Of  [2JAnn.'
        """
        said = f"{self.where}: {self.sentence}"
        return "".join(letter if letter.isprintable() else " " for letter in said)


Check: TypeAlias = Callable[[Desk], Iterable[Finding]]


def each_is_wrong(where: str, sentence: str) -> Callable[[Build], Check]:
    """Make a check of a query that chooses what is off; its columns fill in both texts."""

    def made(build: Build) -> Check:
        wrong: Reader[tuple[Any, ...]] = Reader(tuple, build)

        def check(desk: Desk) -> Iterator[Finding]:
            for row in wrong.stream(desk.connection):
                yield Finding(where.format(*row), sentence.format(*row))

        return check

    return made
