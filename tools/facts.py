"""Write the table of facts in docs/formats.md: `python -m tools.facts`.

It is made of the reasons in `timebank/ledger/reasons.py`, a row for each code.
"""

from __future__ import annotations

import re
from pathlib import Path

from timebank.ledger.reasons import CODES, Reason

FORMATS = Path(__file__).parent.parent / "docs" / "formats.md"
_HEAD = "| Code (kind) | Sentence with its parameters; others |\n|---|---|\n"


def built(page: str) -> str:
    """Return the page with the current table of reasons."""
    rows = [
        f"| `{code}`{_kind(code, reason)} | {_sentence(reason)} |\n"
        for code, reason in CODES.items()
    ]
    return re.sub(rf"(?<={re.escape(_HEAD)})(\|.*\n)*", "".join(rows), page)


def _kind(code: str, reason: type[Reason]) -> str:
    """Return the kind of transfer where its name is not the code."""
    return f" (`{reason.KIND}`)" if reason.KIND and code != reason.KIND else ""


def _sentence(reason: type[Reason]) -> str:
    """Return the sentence of a reason, and the parameters that are not in it."""
    names = [name for name in reason.__match_args__ if f"{{{name}}}" not in reason.SENTENCE]
    others = ", ".join(f"`{name}`" for name in names)
    return f"{reason.SENTENCE}; {others}" if others else reason.SENTENCE


if __name__ == "__main__":
    FORMATS.write_text(built(FORMATS.read_text(encoding="utf-8")), encoding="utf-8")
