"""Fair cards, as a caller can check them: what was sealed, what was opened, and what to do with it.

The rules of it are those of docs/fairness.md: the server seed is sealed before the bet and shown
when its shoe is done; the words that a caller cuts with are the client seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from door.call import phrases
from door.call.markup import literal
from timebank.language import _

if TYPE_CHECKING:
    from timebank.wagers.journal import Shoe

SHORT = 8  # digits that stand at the table


@dataclass(frozen=True, slots=True)
class Fairness:
    """Seal and seed in hexadecimal, "" where there is none; `seed` is of the shoe that is done, and
    so of an earlier one than `seal` where `is_sealed_anew`. Then `last_seal` is what it opens."""

    seal: str = ""
    seed: str = ""
    cut: str = ""  # a line for each of those who cut
    is_sealed_anew: bool = False
    last_seal: str = ""
    # Of a shoe whose seed was sealed ahead: the anchor of its chain, and its number there.
    anchor: str = ""
    link: int = 0
    last_link: int = 0
    # What the caller cuts the next shoe with, and whether the chain was sealed before it.
    phrase: str = ""
    proves: bool = False
    # Who cuts a shoe that several share, and what commits them.
    commitments: tuple[tuple[str, str], ...] = ()

    def sealed_ahead(
        self, preferences: Mapping[str, object], shoe: Shoe | None, last_link: int = 0
    ) -> Fairness:
        """Return it with what is to be told of the chain of `shoe` to the caller who has these
        preferences; as it is where the seed of that shoe is of no chain."""
        if shoe is None or shoe.anchor is None:
            return self
        phrase = phrases.kept(preferences)
        return replace(
            self,
            anchor=shoe.anchor,
            link=shoe.link,
            last_link=last_link if self.is_sealed_anew and last_link < shoe.link else 0,
            phrase="" if phrase is None else phrase.text,
            proves=phrase is not None and phrase.proves(shoe.anchor),
        )

    def short(self) -> str:
        """Return what stands at the table after a hand: the first digits."""
        if self.seed:
            return _("Seed {digits}").format(digits=self.seed[:SHORT])
        return _("Seal {digits}").format(digits=self.seal[:SHORT]) if self.seal else ""

    def text(self) -> str:
        """Return the page behind <F>airness, pipe codes inside."""
        told = [f"|14{name}\n|15{value}" for name, value in self._fields() if value]
        between = " " if self.anchor else "\n\n|07"
        return "\n\n".join((*told, f"|07{between.join(self._explained())}"))

    def _fields(self) -> Iterator[tuple[str, str]]:
        of = _("Seed of the last shoe") if self.is_sealed_anew else _("Seed of this shoe")
        next_one = _("Seal of the next shoe") if self.is_sealed_anew else _("Seal of this shoe")
        yield next_one, self.seal
        yield _("Seal of the last shoe"), self.last_seal
        yield of, self.seed
        yield _("Cut with"), literal(" / ".join(self.cut.split("\n")))
        for name, digits in self.commitments:
            yield _("{name}'s cut, sealed").format(name=literal(name)), digits
        if self.phrase != self.cut:
            yield _("Your phrase"), literal(self.phrase)
        number = self.last_link or self.link
        last = _("Anchor of the chain; the last shoe is number {number} in it")
        this = _("Anchor of the chain; this shoe is number {number} in it")
        yield (last if self.last_link else this).format(number=number), self.anchor

    def _explained(self) -> Iterator[str]:
        if not self.anchor:
            yield _(
                "Before you bet, the seed that shuffles the shoe is sealed: the seal is its "
                "SHA-256. The cards can't change after that."
            )
            yield _(
                "When the shoe is done you see the seed. Hash it with SHA-256: you must get the "
                "seal."
            )
            yield _(
                "Press C at the table to cut the cards with a phrase of your own. It goes into the "
                "shuffle, so the house can't have picked the order."
            )
            return
        yield _(
            "All seeds of the day are fixed ahead: each is the SHA-256 of the next one, and the "
            "anchor is the SHA-256 of the first."
        )
        yield _("So the seal of a shoe is the seed of the one before; note it before you bet.")
        yield _(
            "When a shoe is done you see its seed: hash it with SHA-256, and you must get its seal."
        )
        yield _(
            "Your phrase is mixed into every shuffle, and C at the table lets you type another one."
        )
        yield (
            _("You chose yours after this chain was sealed, so the house can't have picked cards.")
            if self.proves
            else _(
                "The house knew your phrase when it sealed this chain, which proves nothing: type "
                "another one."
            )
        )
