"""The phrase that a caller cuts the cards with unless they type another: always there, theirs.

The house draws the first one. A phrase proves something against the house for the chains of seeds
that were sealed before it was chosen (docs/fairness.md), so what it comes after is kept with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ansi.width import character_width
from door.errors import NotNow
from door.games.engine.shuffle import normal_cut
from timebank.callers import callers
from timebank.language import Phrase
from timebank.wagers import chains

if TYPE_CHECKING:
    from door.call.caller import Caller
    from timebank.callers.callers import CallerRecord
    from timebank.ledger.database import Desk

KEPT_AT = "phrase"
LONGEST = 60
_SYLLABLES = tuple(first + second for first in "bdfghjklmnprstvz" for second in "aeio")


@dataclass(frozen=True)
class StandingPhrase:
    text: str
    # The caller's words; False for those that the house drew.
    is_own: bool
    # The anchors of the chains that were sealed when it was chosen.
    after: tuple[str, ...] = ()

    def proves(self, anchor: str) -> bool:
        """Tell whether the house sealed this chain before it could know the phrase."""
        return self.is_own and anchor in self.after


def kept(preferences: Mapping[str, object]) -> StandingPhrase | None:
    """Find the phrase among preferences; None where there is none that can be read."""
    found = preferences.get(KEPT_AT)
    if not isinstance(found, dict) or not isinstance(found.get("text"), str) or not found["text"]:
        return None
    after = found.get("after")
    anchors = tuple(each for each in after if isinstance(each, str)) if after else ()
    return StandingPhrase(found["text"], found.get("own") is True, anchors)


def drawn(entropy: bytes) -> StandingPhrase:
    """Make a phrase of the house's: ten syllables, which hold 60 bits.

    >>> drawn(bytes(range(10))).text
    'babe-bibo-dade-dido-fafe'
    """
    syllables = [_SYLLABLES[each % 64] for each in entropy[:10]]
    pairs = zip(syllables[::2], syllables[1::2], strict=True)
    return StandingPhrase("-".join(one + other for one, other in pairs), is_own=False)


async def of(caller: Caller) -> StandingPhrase:
    """Return a caller's phrase; the house draws one for whoever has none. Raises
    `BooksUnavailable`."""
    found = kept(caller.record.preferences)
    if found is None:
        found = drawn(caller.new_seed())
        await _keep(caller, found.text, is_own=False)
    return found


async def choose(caller: Caller, text: str) -> StandingPhrase:
    """Make these words the caller's phrase. Raises `NotNow` for words that others could not see,
    or none, and `BooksUnavailable`."""
    phrase = normal_cut(text)
    if not phrase or not all(map(character_width, phrase)):
        raise NotNow(Phrase("Not everybody can see those characters. Try other words."))
    return await _keep(caller, phrase, is_own=True)


async def _keep(caller: Caller, text: str, *, is_own: bool) -> StandingPhrase:
    caller_id = caller.record.id
    chosen: list[StandingPhrase] = []

    def write(desk: Desk) -> CallerRecord:
        phrase = StandingPhrase(text, is_own, tuple(chains.open_anchors(desk, caller_id)))
        chosen[:] = [phrase]
        row = {"text": text, "own": is_own, "after": list(phrase.after)}
        return callers.change_preferences(desk, caller_id, {KEPT_AT: row})

    caller.record = await caller.ask_books(write)
    return chosen[0]
