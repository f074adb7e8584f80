"""Fair cards, as a caller can check them: what was sealed, what was opened, and what to do with it.

The rules of it are those of docs/fairness.md: the server seed is sealed before the bet and shown
when its shoe is done; the words that a caller cuts with are the client seed.
"""

from __future__ import annotations

from dataclasses import dataclass

from door.call.display import literal
from timebank.language import _

SHORT = 8  # digits that stand at the table


@dataclass(frozen=True, slots=True)
class Fairness:
    """Seal and seed in hexadecimal, "" where there is none; `seed` is of the shoe that is done, and
    so of an earlier one than `seal` where `is_sealed_anew`."""

    seal: str = ""
    seed: str = ""
    cut: str = ""
    is_sealed_anew: bool = False

    def short(self) -> str:
        """Return what stands at the table after a hand: the first digits."""
        if self.seed:
            return _("Seed {digits}").format(digits=self.seed[:SHORT])
        return _("Seal {digits}").format(digits=self.seal[:SHORT]) if self.seal else ""

    def text(self) -> str:
        """Return the page behind <F>airness, pipe codes inside."""
        told = []
        if self.seal:
            told += [f"|14{_('Seal of this shoe')}", f"|15{self.seal}", ""]
        if self.cut:
            told += [f"|14{_('Cut with')}", f"|15{literal(self.cut)}", ""]
        if self.seed:
            of = _("Seed of the last shoe") if self.is_sealed_anew else _("Seed of this shoe")
            told += [f"|14{of}", f"|15{self.seed}", ""]
        told += [
            "|07"
            + _(
                "The seal is the SHA-256 of the seed that shuffled this shoe. You see it before "
                "you bet, so the cards cannot change afterwards."
            ),
            "|07"
            + _(
                "When the shoe is done you see the seed. Check that its SHA-256 is the seal, and "
                "deal the hand again: `door replay` on this board, or any program that follows "
                "the method the sysop can give you."
            ),
            "|07"
            + _(
                "Press C at the table to cut the cards with words of your own. They take part in "
                "the shuffle, so the house cannot have chosen the order."
            ),
        ]
        return "\n".join(told)
