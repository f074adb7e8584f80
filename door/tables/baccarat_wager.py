"""Before the deal: the wager as it is asked for, and the habits that are remembered of a caller."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, get_args

from door.tables import baccarat_words as words
from door.tables.baccarat_dialogue import Language
from timebank.database import BooksFailed

if TYPE_CHECKING:
    from door.caller import Caller
    from door.console import Console
    from door.tables.baccarat_dialogue import Dialogue
    from door.tables.baccarat_stakes import Stakes

LONGEST_AMOUNT = 15
AMOUNT_LETTERS = frozenset("0123456789 .,")


async def ask_wager(console: Console, said: Dialogue, stakes: Stakes, habits: Habits) -> int | None:
    """Return the wager in coins, `None` when the caller thinks better of it; Enter repeats the
    last one as far as that can still be wagered."""

    def warn(typed: str) -> None:
        wager = words.amount_typed(typed)
        if wager is not None and (warning := stakes.warning(said, wager)):
            console.say(warning)

    while True:
        least, most = stakes.limits()
        if most < least:  # time has ticked meanwhile
            return None
        last = min(max(habits.last_wager(stakes), least), most)
        live = console.is_painted
        warn(str(last if live else most))
        amounts = {
            name: stakes.amount(said, number * stakes.coin)
            for name, number in (("least", least), ("most", most), ("last", last))
        }
        typed = await console.entry(
            said.bets.format(**amounts),
            longest=LONGEST_AMOUNT,
            accept=AMOUNT_LETTERS.__contains__,
            # Told in lines, every digit would bring another line.
            changed=warn if live else None,
        )
        if typed is None:
            return None
        wager = words.amount_typed(typed) if typed.strip() else last
        if wager is None:
            console.say(said.which_amount.format(example=amounts["most"]))
        elif refused := stakes.refused(said, wager):
            console.say(refused)
        else:
            return wager


class Habits:
    """What is remembered of a caller at this table: language, what he plays for, last wagers."""

    def __init__(self, caller: Caller, usual: Language) -> None:
        """Read them from his preferences; `usual` is spoken with one who has not chosen."""
        self.caller = caller
        self.usual = usual

    @property
    def language(self) -> Language:
        """The language that he chose."""
        kept = self._kept().get("language")
        return next((known for known in get_args(Language) if known == kept), self.usual)

    @property
    def mode(self) -> object:
        """What he chose to play for, `None` before he did."""
        return self._kept().get("mode")

    @property
    def cuts(self) -> bool:
        """Whether he is asked to cut a new shoe, at any table."""
        return self.caller.record.preferences.get("cut") is True

    async def switch_cut(self) -> None:
        """Ask him for a cut from now on, or no more; raises `BooksUnavailable`."""
        await self.caller.remember({"cut": not self.cuts})

    def last_wager(self, stakes: Stakes) -> int:
        """Return what he wagered last for these stakes, in coins."""
        last = self._wagers().get(stakes.unit)
        return last if isinstance(last, int) else stakes.first_wager

    async def keep(self, **habits: str) -> None:
        """Remember a choice; raises `BooksUnavailable`, and nothing has changed."""
        await self.caller.remember({"baccarat": {**self._kept(), **habits}})

    async def keep_wager(self, stakes: Stakes, wager: int) -> None:
        """Remember a wager that was placed; no coup is held up when that fails."""
        if wager == self.last_wager(stakes):
            return
        wagers = {**self._wagers(), stakes.unit: wager}
        with contextlib.suppress(BooksFailed):
            await self.caller.remember({"baccarat": {**self._kept(), "wagers": wagers}})

    def _kept(self) -> dict[str, object]:
        kept = self.caller.record.preferences.get("baccarat")
        return kept if isinstance(kept, dict) else {}

    def _wagers(self) -> dict[str, object]:
        wagers = self._kept().get("wagers")
        return wagers if isinstance(wagers, dict) else {}
