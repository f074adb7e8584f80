"""What the audit finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import BindParameter, Integer, bindparam

from timebank.ledger.database import Desk
from timebank.ledger.sql import NEVER, Build, Prepared, Reader


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


class Since(NamedTuple):
    """Where an audit begins in each table; by itself before everything.

    A checkpoint (checkpoints.py) is behind all hands, calls and visits before these, and all
    transfers up to `row`.
    """

    # Transfers after this one are checked.
    row: int = -NEVER
    # No transfer before it is of a call from `call` on.
    first_row: int = -NEVER
    # The first ones that are checked.
    hand: int = -NEVER
    call: int = -NEVER
    visit: int = -NEVER

    @property
    def is_the_beginning(self) -> bool:
        return self == BEGINNING


BEGINNING = Since()

Check: TypeAlias = Callable[[Desk, Since], Iterable[Finding]]


def bound(name: str) -> BindParameter[int]:
    """Stand in a query for a field of the `Since` that `chosen` is given."""
    return bindparam(f"since_{name}", type_=Integer)


def chosen(query: Prepared, desk: Desk, since: Since) -> Any:
    """Run a query, however many rows it finds, with those bounds that it names."""
    return query.long(desk.connection, **_bounds(query, desk, since))


def _bounds(query: Prepared, desk: Desk, since: Since) -> dict[str, int]:
    names = query.text(desk.connection.dialect).names
    bounds = {f"since_{name}": value for name, value in since._asdict().items()}
    return {name: value for name, value in bounds.items() if name in names}


def each_is_wrong(where: str, sentence: str) -> Callable[[Build], Check]:
    """Make a check of a query that chooses what is off; its columns fill in both texts.

    It may name bounds.
    """

    def made(build: Build) -> Check:
        wrong: Reader[tuple[Any, ...]] = Reader(tuple, build)

        def check(desk: Desk, since: Since) -> Iterator[Finding]:
            for row in wrong.stream(desk.connection, **_bounds(wrong, desk, since)):
                yield Finding(where.format(*row), sentence.format(*row))

        return check

    return made
