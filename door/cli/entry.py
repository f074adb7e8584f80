"""The installed command `door`: where a caller waits, nothing is loaded that they do not need."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command; `door run` hands its caller to the server of the board, if one runs."""
    before = None
    if sys.argv[1:2] == ["run"]:
        from door.run.relay import relay

        before = relay(sys.argv[2:], os.environ)
        if isinstance(before, int):
            sys.exit(before)
    from door.cli.main import main as command

    command(obj=before)
