"""Who comes into restored books, and with what powers: nothing that was ended since comes back.

Recovery codes of a copy are void, for each may have been used since. Powers that a caller of the
copy has are taken if the books that are replaced say that they were gone; where those are missing,
broken, or not the last, nobody can tell, and the sysop is told. Passwords and locks stay those of
the copy: the books that are replaced may hold what a restore is to undo.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Set
from dataclasses import dataclass

from sqlalchemy import select

from timebank.callers import powers, recovery
from timebank.callers.notices import add_notice
from timebank.ledger import sqlite
from timebank.ledger.database import Desk
from timebank.ledger.schema import callers, stamp
from timebank.ledger.sql import Prepared

# Callers by number and by when they were registered (seconds since 1970): a number alone may be
# somebody else's in the books of another board.
Callers = Set[tuple[int, int]]

VOID = (
    f"Your recovery code is void, because the books of the board were restored: {recovery.ANOTHER}."
)


@dataclass(frozen=True)
class Admission:
    """What became of codes and powers. Names are as `powers.numbered` gives them."""

    codes: int
    holders: tuple[str, ...]
    taken: tuple[str, ...]
    # Whether the books that are replaced could be asked who has lost powers since.
    is_known: bool

    def sentences(self) -> list[str]:
        said = []
        if self.codes == 1:
            said.append("Made 1 recovery code void: its owner can make another at Your settings.")
        elif self.codes:
            said.append(
                f"Made {self.codes} recovery codes void:"
                " their owners can make others at Your settings."
            )
        if self.taken:
            said.append(
                f"Took the sysop's powers from {'; '.join(self.taken)}: they had none in the books"
                " before. `door callers grant` gives them."
            )
        holders = f"The sysop's powers: {'; '.join(self.holders) or 'nobody has them'}"
        if self.holders and not self.is_known:
            holders += (
                ", as in the copy. Callers who lost them since have them again:"
                " `door callers revoke` takes them"
            )
        locks = "Passwords and locks are those of the copy, also where they were changed since."
        return [*said, f"{holders}.", locks]


def admit(desk: Desk, powerless: Callers | None, by: str) -> Admission:
    """Void the codes of a restored copy, and take the powers of all who are `powerless`.

    `powerless` are those who have none in the books that are replaced, None where nobody can tell.
    """
    codes = recovery.void_all(desk)
    for caller_id in codes:
        add_notice(desk, caller_id, VOID)
    taken = [
        powers.revoke(desk, record.id, by)
        for record in powers.holders(desk)
        if (record.id, stamp(record.created)) in (powerless or ())
    ]
    return Admission(
        codes=len(codes),
        holders=tuple(map(powers.numbered, powers.holders(desk))),
        taken=tuple(map(powers.numbered, taken)),
        is_known=powerless is not None,
    )


_POWERLESS = Prepared(
    lambda: select(callers.c.id, callers.c.created).where(
        callers.c.powers == 0, callers.c.board.is_(None)
    )
)


def powerless_in(old: sqlite3.Connection) -> Callers:
    """Return who has no powers in books that are to be replaced; raises sqlite3.DatabaseError."""
    return frozenset(sqlite.ask(old, _POWERLESS))
