"""What the audit finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from timebank.ledger.database import Desk
from timebank.ledger.sql import Build, Prepared


class Finding(NamedTuple):
    """Something that is off: which row it is about, and a sentence that says what."""

    where: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.where}: {self.sentence}"


Check = Callable[[Desk], Iterator[Finding]]


def each_is_wrong(where: str, sentence: str) -> Callable[[Build], Check]:
    """Make a check of a query that chooses what is off; its columns fill in both texts."""

    def made(build: Build) -> Check:
        wrong = Prepared(build)

        def check(desk: Desk) -> Iterator[Finding]:
            for row in wrong(desk.connection):
                yield Finding(where.format(*row), sentence.format(*row))

        return check

    return made
