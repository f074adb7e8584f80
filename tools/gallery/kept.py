"""The part of the gallery in the repository, in docs/screens.

Tests compare the texts of one terminal, a file for each walk. The pictures are those in documents.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

HOUSE = Path(__file__).parents[2]
KEPT = HOUSE / "docs" / "screens"
BUILT = HOUSE / "build" / "screens"  # where the whole gallery is drawn
TERMINAL = "80x24-utf8"
TEXTS = KEPT / TERMINAL
PICTURES = (
    "80x24-cp437/welcome.png",
    "80x24-cp437/menu.png",
    "80x24-cp437/bank.png",
    "80x24-cp437/bjft-natural-banner.png",
    "80x24-cp437/vegas-turn.png",
    "80x24-cp437/baccarat-win.png",
    "80x24-cp437/red-dog-raise.png",
    "80x24-cp437/unix-bj-hand.png",
    "80x24-cp437/daily-deal-ranking.png",
    "80x24-cp437/hall-of-fame.png",
    "80x24-cp437/french-bjft.png",
    "132x50-utf8/bjft-win.png",
    "40x25-cp437/bjft-win.png",
    "40x25-petscii/welcome.png",
    "40x25-petscii/bjft-win.png",
    "40x24-atascii/bjft-win.png",
    "web/desktop.png",
    "web/phone.png",
    "web/phone-on-its-side.png",
    "web/about.png",
    "web/ledger.png",
    "web/hand.png",
)

_TITLE = re.compile(r"^=== (\S+) ===\n", re.MULTILINE)


def joined(screens: Mapping[str, str]) -> str:
    """Return one text of screens by their names, each under its name.

    >>> joined({"menu": "<G>oodbye\\n"})
    '=== menu ===\\n<G>oodbye\\n'
    """
    return "\n".join(f"=== {name} ===\n{text}" for name, text in screens.items())


def screens_of(walk: str) -> dict[str, str]:
    """Read the screens that are kept of a walk, by their names."""
    parts = _TITLE.split((TEXTS / f"{walk}.txt").read_text(encoding="utf-8"))[1:]
    *others, last = parts[1::2]
    return dict(zip(parts[::2], [*(text.removesuffix("\n") for text in others), last], strict=True))


def keep_texts(walks: Mapping[str, Mapping[str, str]]) -> None:
    """Write the texts of the screens of all walks into docs/screens."""
    TEXTS.mkdir(exist_ok=True)
    for walk, screens in walks.items():
        (TEXTS / f"{walk}.txt").write_text(joined(screens), encoding="utf-8")


def keep_pictures(drawn: Path) -> None:
    """Copy into docs/screens the pictures of a gallery that documents show."""
    for name in PICTURES:
        if (drawn / name).exists():
            (KEPT / name).parent.mkdir(exist_ok=True)
            shutil.copy(drawn / name, KEPT / name)
