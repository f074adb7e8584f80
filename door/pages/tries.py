"""How often somebody may be wrong at the pages: by the rules of the log-on, counted in the books.

The rules are those of `door.defence`; what they know is made anew, for each password, of the tries
that the books have from its address and for its name. So several processes that show the pages
give no more tries than one, and neither does a restart. A try is in the books before it is checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from door.defence.counts import (
    DAY,
    FAILURE_SECONDS,
    FIRST,
    MOST_FAILURES,
    Defence,
    Rank,
    digest_of,
    kept_of,
)
from door.defence.front_ends import known_networks
from door.defence.tries import Tries
from timebank.callers import page_tries
from timebank.ledger.schema import stamp
from timebank.names import names

if TYPE_CHECKING:
    from door.pages.reading import Reading
    from timebank.ledger.database import Desk

KEPT = int(max(DAY, MOST_FAILURES * FAILURE_SECONDS))  # seconds until nothing is owed for a try


class PageTried(NamedTuple):
    """A password that may be checked, or that has to wait for so many seconds."""

    wait: float
    rank: Rank
    number: str  # "" where nothing is counted


class PageTries:
    """Its methods wait for the disk."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def begin(self, address: str, name: str) -> PageTried:
        """Count a password as wrong, if it may be checked; raises `BooksFailed`."""
        config = self._reading.config
        defence = Defence(config.defence)
        defence.keep_to(config.defence, known_networks(config))
        who, digest = defence.counted(address), digest_of(names.fold(name))
        if who is None:
            return PageTried(0.0, FIRST, "")
        kept = kept_of(digest)

        def work(desk: Desk) -> PageTried:
            now, since = desk.now.timestamp(), stamp(desk.now) - KEPT
            for row in page_tries.of(desk, str(who), kept, since):
                about = digest if row.name == kept else int(row.name, 16)
                defence.begin(int(row.address), about, min(row.at, now))
            tries = Tries(defence)
            tried = tries.present(address, names.fold(name), now, _nobody_waits)
            if not tried.is_due:
                return PageTried(tries.wait(tried, now), FIRST, "")
            return PageTried(0.0, tried.rank, page_tries.add(desk, str(who), kept, since))

        return self._reading.work(work)

    def take_back(self, tried: PageTried) -> None:
        """Uncount a password that was right, or could not be checked."""
        if tried.number:
            self._reading.work(lambda desk: page_tries.take_back(desk, tried.number))


def _nobody_waits() -> None:
    """Nothing waits for a turn here: whoever is early is told when to come again."""
