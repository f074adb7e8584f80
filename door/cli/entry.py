"""The installed command `door`: where a caller waits, nothing is loaded that they do not need."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command; `door run` hands its caller to the server of the board."""
    if sys.argv[1:2] == ["run"]:
        import signal

        from door.run.relay import relay

        # Whoever sets a terminal back from the background would be stopped.
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTTOU,))
        # The keys of a caller whose terminal is still as the host has set it are no signals.
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):
            signal.signal(number, signal.SIG_IGN)
        status = relay(sys.argv[2:], os.environ)
        if status is not None:
            sys.exit(status)
    from door.cli.main import main as command

    command()
