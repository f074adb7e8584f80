"""The phrase that cuts a caller's cards unless they type another.

The house draws the first one. A phrase of the caller's own proves that the house could not fit the
chains of seeds that were sealed before it was chosen (docs/fairness.md). So it is stored with the
anchors of these chains.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ansi.width import character_width
from door.errors import NotNow
from door.games.engine.shuffle import normal_cut
from timebank.callers import callers
from timebank.language import N_, Phrase
from timebank.wagers import chains

if TYPE_CHECKING:
    from door.call.caller import Caller
    from timebank.callers.callers import CallerRecord
    from timebank.ledger.database import Desk

PREFERENCE = "phrase"
LONGEST = 60
KNOWN = N_("The house knows that phrase already, so it proves nothing new. Another one would.")
_SYLLABLES = tuple(first + second for first in "bdfghjklmnprstvz" for second in "aeio")


@dataclass(frozen=True)
class CutPhrase:
    text: str
    is_own: bool  # the caller's own words, not drawn by the house
    after: tuple[str, ...] = ()  # anchors of the chains that were sealed when it was chosen

    def proves(self, anchor: str) -> bool:
        """Return whether the house sealed this chain before it could know the phrase."""
        return self.is_own and anchor in self.after


def stored(preferences: Mapping[str, object]) -> CutPhrase | None:
    """Return the phrase in a caller's preferences; None if there is none, or not a valid one."""
    row = preferences.get(PREFERENCE)
    if not isinstance(row, dict) or not isinstance(row.get("text"), str) or not row["text"]:
        return None
    after = row.get("after")
    anchors = tuple(each for each in after if isinstance(each, str)) if after else ()
    return CutPhrase(row["text"], row.get("own") is True, anchors)


def drawn(new_seed: Callable[[], bytes]) -> CutPhrase:
    """Make a phrase for the house: ten syllables, with 60 bits of a new seed.

    >>> drawn(lambda: bytes(range(10))).text
    'babe-bibo-dade-dido-fafe'
    """
    syllables = [_SYLLABLES[each % 64] for each in new_seed()[:10]]
    pairs = zip(syllables[::2], syllables[1::2], strict=True)
    return CutPhrase("-".join(one + other for one, other in pairs), is_own=False)


async def phrase_of(caller: Caller) -> CutPhrase:
    """Return a caller's phrase; the house draws one if they have none.

    Raises `BooksUnavailable`.
    """
    phrase = stored(caller.record.preferences)
    if phrase is None:
        phrase = drawn(caller.new_seed)
        await _store(caller, phrase.text, is_own=False)
    return phrase


async def choose(caller: Caller, text: str) -> CutPhrase:
    """Make these words the caller's phrase.

    Raises `NotNow` if they are empty, have invisible characters, or are the caller's phrase, and
    `BooksUnavailable`.
    """
    phrase, before = normal_cut(text), stored(caller.record.preferences)
    if before is not None and phrase == before.text:
        raise NotNow(Phrase(KNOWN))
    if not phrase or not all(map(character_width, phrase)):
        raise NotNow(Phrase("Not everybody can see those characters. Try other words."))
    return await _store(caller, phrase, is_own=True)


async def _store(caller: Caller, text: str, *, is_own: bool) -> CutPhrase:
    caller_id = caller.record.id
    chosen: list[CutPhrase] = []

    def write(desk: Desk) -> CallerRecord:
        phrase = CutPhrase(text, is_own, tuple(chains.open_anchors(desk, caller_id)))
        chosen[:] = [phrase]
        row = {"text": text, "own": is_own, "after": list(phrase.after)}
        return callers.change_preferences(desk, caller_id, {PREFERENCE: row})

    caller.record = await caller.ask_books(write)
    return chosen[0]
