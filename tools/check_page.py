"""Write the page that checks a hand as one file: `python -m tools.check_page check.html`.

The callers' port serves the same page in parts, with a policy against inline code. The one file
needs no server: it contains its style, and its scripts as one. `setup.py` makes it for the wheel,
and `tools/site.py` for the documentation's site.
"""

from __future__ import annotations

import re
import sys
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parent.parent
PARTS = ROOT / "door/lines/web/page"
_ICON = '<link rel="icon" href="icon.svg">\n'
_STYLE = '<link rel="stylesheet" href="check.css">'
# Each needs those before it.
_SCRIPTS = ("rules.js", "fairness.js", "payments.js", "packed.js", "check.js")
_SCRIPT = '<script type="module" src="check.js"></script>'


def built() -> str:
    """The whole page. Its own policy allows this style and this script, and no request at all."""
    parts = (re.sub(r"^(export |import .*\n)", "", _part(name), flags=re.M) for name in _SCRIPTS)
    script, style = "\n" + "\n".join(parts), f"\n{_part('check.css')}"
    policy = (
        f"default-src 'none'; script-src {_named(script)}; style-src {_named(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    page = _part("check.html").replace(_ICON, "")
    whole = page.replace(_STYLE, f"{head}<style>{style}</style>")
    return whole.replace(_SCRIPT, f'<script type="module">{script}</script>')


def _part(name: str) -> str:
    return (PARTS / name).read_text(encoding="utf-8")


def _named(content: str) -> str:
    digest = b64encode(sha256(content.encode()).digest()).decode()
    return f"'sha256-{digest}'"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(built(), encoding="utf-8")
