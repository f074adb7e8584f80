"""A door that begins again as the release that is installed now, in the middle of a call.

Where the server of a new release speaks otherwise, the process runs its command once more: it keeps
the caller's descriptors and its number. What has become of the call is handed on in a sealed file
without a name. The environment says only which descriptor that is, and could be a caller's: nothing
else that a door has open is sealed, so nobody can claim another time of arrival.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys

from door.lines import handed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST = 256  # bytes of what is handed on
SIGNALS = (signal.SIGHUP, signal.SIGTERM)
_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


def begin_again(facts: str, environment: Mapping[str, str]) -> None:
    """Run the command of this process once more, which is handed these facts; returns only where
    that cannot be done. A signal that comes meanwhile is heard afterwards."""
    words = [sys.executable, *sys.orig_argv[1:]]
    try:
        end = os.memfd_create(handed.GOES_ON, os.MFD_ALLOW_SEALING)
        os.set_inheritable(end, True)
        os.write(end, facts.encode("ascii"))
        fcntl.fcntl(end, fcntl.F_ADD_SEALS, _SEALS)
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        os.execve(sys.executable, words, {**environment, handed.GOES_ON: str(end)})
    except OSError:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def handed_on(environment: Mapping[str, str]) -> str:
    """Return the facts that were handed to this process, "" where there are none."""
    try:
        end = int(environment[handed.GOES_ON])
        if fcntl.fcntl(end, fcntl.F_GET_SEALS) & _SEALS != _SEALS:
            return ""
        facts = os.pread(end, LONGEST, 0).decode("ascii")
        os.close(end)
    except (OSError, ValueError, OverflowError):
        return ""
    return facts
