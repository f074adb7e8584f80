"""The installed command `door`. `door run`, for which a caller waits, loads only what it needs."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Relay = Callable[[Sequence[str], Mapping[str, str]], int | None]

UPDATE_SECONDS = 60  # for an update to replace the program's files


def main() -> None:
    """Run the command; `door run` hands its caller over to the board's server."""
    if sys.argv[1:2] == ["run"]:
        import signal

        # A background process that sets the terminal would be stopped.
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTTOU,))
        # A caller's keys must not be signals while the terminal is still as the host has set it.
        # The keys of a sysop at this machine are signals.
        action = signal.SIG_DFL if "--local" in sys.argv else signal.SIG_IGN
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):
            signal.signal(number, action)
        status = _relay()(sys.argv[2:], os.environ)
        if status is not None:
            # At exit Python restores default actions for its own handlers, but not for SIG_IGN.
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
                    del sys.modules[name]  # of the older release
            importlib.invalidate_caches()
            time.sleep(1)
        else:
            return relay
    sys.exit("The program is not complete: install it again.")
