"""The installed command `door`: where a caller waits, nothing is loaded that they do not need."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Relay = Callable[[Sequence[str], Mapping[str, str]], int | None]

UPDATE_SECONDS = 60  # for an update to replace the files of the program


def main() -> None:
    """Run the command; `door run` hands its caller to the server of the board."""
    if sys.argv[1:2] == ["run"]:
        import signal

        # Whoever sets a terminal back from the background would be stopped.
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTTOU,))
        # The keys of a caller whose terminal is still as the host has set it are no signals. Those
        # of the sysop at their own machine are.
        action = signal.SIG_DFL if "--local" in sys.argv else signal.SIG_IGN
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):
            signal.signal(number, action)
        status = _relay()(sys.argv[2:], os.environ)
        if status is not None:
            # Python gives up its own handlers before a process ends, but not that it ignores one.
            for number in (signal.SIGHUP, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN)
            sys.exit(status)
    from door.cli.main import main as command

    command()


def _relay() -> Relay:
    """Load the relay, and wait while an update replaces its files."""
    for _ in range(UPDATE_SECONDS):
        try:
            from door.run.relay import relay
        except ImportError:
            import importlib
            import time

            for name in [*sys.modules]:
                if name.startswith(("door.run", "door.lines")):
                    del sys.modules[name]  # of the release before
            importlib.invalidate_caches()
            time.sleep(1)
        else:
            return relay
    sys.exit("The program is not whole: install it again.")
