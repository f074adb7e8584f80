"""Write the table of facts in docs/formats.md: `python -m tools.facts`.

It is made of the reasons in `timebank/ledger/reasons.py`, a row for each code.
"""

from __future__ import annotations

import re
from pathlib import Path

from timebank.ledger.reasons import CODES

FORMATS = Path(__file__).parent.parent / "docs" / "formats.md"
_HEAD = "| Code | Kind of transfer | Parameters | Sentence |\n|---|---|---|---|\n"


def built(page: str) -> str:
    """Return the page with a table of the reasons as they are now."""
    rows = [
        f"| `{code}` | {f'`{reason.KIND}`' if reason.KIND else 'as it says'} |"
        f" {', '.join(f'`{name}`' for name in reason.__match_args__)} |"
        f" {reason.SENTENCE} |\n"
        for code, reason in CODES.items()
    ]
    return re.sub(rf"(?<={re.escape(_HEAD)})(\|.*\n)*", "".join(rows), page)


if __name__ == "__main__":
    FORMATS.write_text(built(FORMATS.read_text(encoding="utf-8")), encoding="utf-8")
