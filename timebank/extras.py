"""How to add extras to this installation: libraries that not every board needs."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

PROGRAM = "blackjack-for-time"
# What other installers leave in an environment of theirs, and how each adds to it.
RECEIPTS = {
    "pipx_metadata.json": f"pipx inject {PROGRAM}",
    "uv-receipt.toml": "uv tool install",
}


def install_command(extra: str) -> str:
    """Return what to type to add an extra. A pip that the shell would not find has its path."""
    wanted = f"'{PROGRAM}[{extra}]'"
    for receipt, command in RECEIPTS.items():
        if (Path(sys.prefix) / receipt).exists():
            return f"{command} {wanted}"
    pip = Path(sys.executable).with_name("pip")
    is_first = shutil.which("pip") == str(pip)
    return f"{'pip' if is_first else pip} install {wanted}"
