"""The page on fair cards: seal, seed and cut, and how a caller checks them.

docs/fairness.md has the rules. The server seed is sealed before the bet and shown when its shoe is
done. The caller's cut is the client seed.
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

SHORT = 8  # digits shown at the table


@dataclass(frozen=True, slots=True)
class Fairness:
    """Seal and seed in hexadecimal, "" for none. `seed` belongs to the finished shoe.

    Where `is_next_sealed`, `seal` belongs to the next shoe and `last_seal` to the finished one.
    """

    seal: str = ""
    seed: str = ""
    cut: str = ""  # a line for each caller who cut
    is_next_sealed: bool = False
    last_seal: str = ""
    # For a seed that was sealed ahead: the anchor of its chain, and the shoe's number in it.
    anchor: str = ""
    link: int = 0
    last_link: int = 0
    # The caller's phrase for the next shoe, whether they chose it, and whether after the chain.
    phrase: str = ""
    is_own: bool = False
    proves: bool = False
    # The callers who cut a shared shoe, with their commitments.
    commitments: tuple[tuple[str, str], ...] = ()

    def sealed_ahead(
        self, preferences: Mapping[str, object], shoe: Shoe | None, last_link: int = 0
    ) -> Fairness:
        """Return a copy with the chain of `shoe` and the phrase from the caller's preferences.

        Without a chain, return it unchanged.
        """
        if shoe is None or shoe.anchor is None:
            return self
        phrase = phrases.stored(preferences)
        return replace(
            self,
            anchor=shoe.anchor,
            link=shoe.link,
            last_link=last_link if self.is_next_sealed and last_link < shoe.link else 0,
            phrase="" if phrase is None else phrase.text,
            is_own=phrase is not None and phrase.is_own,
            proves=phrase is not None and phrase.proves(shoe.anchor),
        )

    def short(self) -> str:
        """Return the first digits of the seed or the seal, for the table."""
        if self.seed:
            return _("Seed {digits}").format(digits=self.seed[:SHORT])
        return _("Seal {digits}").format(digits=self.seal[:SHORT]) if self.seal else ""

    def text(self) -> str:
        """Return the page behind <F>airness, pipe codes inside."""
        fields = [f"|14{name}\n|15{value}" for name, value in self._fields() if value]
        return "\n\n".join((*fields, f"|07{' '.join(self._explained())}"))

    def _fields(self) -> Iterator[tuple[str, str]]:
        seed_name = _("Seed of the last shoe") if self.is_next_sealed else _("Seed of this shoe")
        seal_name = _("Seal of the next shoe") if self.is_next_sealed else _("Seal of this shoe")
        yield seal_name, self.seal
        yield _("Seal of the last shoe"), self.last_seal
        yield seed_name, self.seed
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
        if self.anchor:
            yield _(
                "All seeds of the day are fixed ahead: each is the SHA-256 of the next one, and "
                "the anchor is the SHA-256 of the first."
            )
            yield _("So the seal of a shoe is the seed of the one before; note it before you bet.")
        yield _(
            "When a shoe is done you see its seed: hash it with SHA-256, and you must get its seal."
        )
        yield _(
            "Your phrase is mixed into every shuffle, and C at the table lets you type another one."
        )
        if self.proves:
            yield _(
                "You chose yours after this chain was sealed, so the house can't have picked cards."
            )
        elif self.is_own:
            yield _(
                "Today's chain is newer than your phrase. Type a new one: it proves the cards from "
                "the next shuffle on."
            )
        else:
            yield _("The house chose this phrase, so it proves nothing. Type C, and then your own.")
