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
    so of an earlier one than `seal` where `is_sealed_anew`. Then `last_seal` is what it opens."""

    seal: str = ""
    seed: str = ""
    cut: str = ""
    is_sealed_anew: bool = False
    last_seal: str = ""

    def short(self) -> str:
        """Return what stands at the table after a hand: the first digits."""
        if self.seed:
            return _("Seed {digits}").format(digits=self.seed[:SHORT])
        return _("Seal {digits}").format(digits=self.seal[:SHORT]) if self.seal else ""

    def text(self) -> str:
        """Return the page behind <F>airness, pipe codes inside."""
        of = _("Seed of the last shoe") if self.is_sealed_anew else _("Seed of this shoe")
        next_one = _("Seal of the next shoe") if self.is_sealed_anew else _("Seal of this shoe")
        fields = (
            (next_one, self.seal),
            (_("Seal of the last shoe"), self.last_seal),
            (of, self.seed),
            (_("Cut with"), literal(self.cut)),
        )
        told = [f"|14{name}\n|15{value}" for name, value in fields if value]
        told += [
            "|07"
            + _(
                "Before you bet, the seed that shuffles the shoe is sealed: the seal is its "
                "SHA-256. The cards can't change after that."
            ),
            "|07"
            + _(
                "When the shoe is done you see the seed. Hash it with SHA-256: you must get the "
                "seal."
            ),
            "|07"
            + _(
                "Press C at the table to cut the cards with a phrase of your own. It goes into the "
                "shuffle, so the house can't have picked the order."
            ),
        ]
        return "\n\n".join(told)
