"""The start of a server by a door, if none runs.

The door takes the lock of the books (`timebank.serving`) and hands it down to the server, which
holds the lock all its life. Other doors wait meanwhile until they reach the server. A free lock
with the note of a starting server means that the start has failed. Then no door starts a server for
`RETRY_SECONDS`.

A door loads this module only if no server runs.
"""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import sys
import time

from door.lines import hand_over
from timebank import serving

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    from collections.abc import Mapping
    from types import FrameType
    from typing import NoReturn

LOG = "server.log"  # in the data folder
PROGRAM = "door.cli.for_doors"

# The limit of a start: ten times the usual, because an old server may have to end first.
START_SECONDS = 20.0
# Time for another user to start a server, if this door may not. A service restarts a killed server,
# so a door whose caller is online waits longer.
OTHERS_SECONDS, SERVICE_SECONDS = 0.5, 15.0
RETRY_SECONDS = 5.0  # between a failed start and the next
POLL_SECONDS = 0.02  # between two attempts to reach the server
REPLACING = (serving.RESTORING, serving.MOVING)  # the sysop is replacing the books

# Variables of the host that a server inherits, because they describe the machine and not a call.
MACHINE_VARIABLES = ("PATH", "TZ", "LANG", "HOME", "PYTHONPATH")
MACHINE_PREFIXES = ("LC_", "PG", "XDG_")
# The host's limits for a door that would kill a server during calls.
LIMITS = ((resource.RLIMIT_CPU, "CPU time"), (resource.RLIMIT_AS, "memory"))
FIRST_FREE = 16  # above all descriptors that a server gets
LOCK_DESCRIPTOR = 3  # in the server, after input, output and errors
# Signals for which a new server restores the default action.
RESET_SIGNALS = (
    *(signal.SIGALRM, signal.SIGHUP, signal.SIGTERM),
    *(signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP),
)


def objection(folder: str) -> str:
    """Return why this door may not start a server for a data folder; "" if it may.

    Only the owner of the folder may start a server, because the owner must be able to use and end
    it.
    """
    try:
        owner = os.stat(folder).st_uid
    except FileNotFoundError:
        owner = os.geteuid()  # the very first caller of a board
    if owner != os.geteuid():
        import pwd  # noqa: PLC0415

        try:
            name = pwd.getpwuid(owner).pw_name
        except KeyError:
            name = f"user {owner}"
        return (
            f"No server runs, and only {name}, who owns {folder}, may start one: run `door serve`"
            f" as {name}, or start the service that does (`systemctl start bjft`, as shipped)."
        )
    for limit, what in LIMITS:
        if resource.getrlimit(limit)[0] != resource.RLIM_INFINITY:
            return (
                f"The host limits the {what} of this door, and a server that it starts would end by"
                " that: start `door serve` when the machine starts."
            )
    return ""


def reach(config: str, folder: str, place: str, *, waits: bool = False) -> _socket.socket:
    """Reach the server of the board, and start one if none runs; return the connection.

    `config` is sysop.toml, `folder` the data folder, `place` the lock of the books. With `waits`
    the door retries after a failed start, and waits longer for a server of another user. Raises
    `OSError` without a server after `START_SECONDS`, and `PermissionError` if this door may not
    start a server.
    """
    usual = signal.signal(signal.SIGALRM, _give_up)
    signal.setitimer(signal.ITIMER_REAL, START_SECONDS)
    try:
        return _reach(config, folder, place, waits)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, usual)


def _give_up(number: int, frame: FrameType | None) -> NoReturn:
    raise TimeoutError("the server takes too long")


def _reach(config: str, folder: str, place: str, waits: bool) -> _socket.socket:
    why = objection(folder)
    _make_folder(config, folder)
    started = -RETRY_SECONDS  # a full disk takes no note of the start
    others_until = time.monotonic() + (SERVICE_SECONDS if waits else OTHERS_SECONDS)
    while True:
        lock = None if why else serving.take_now(place)
        if why and not serving.is_held(place) and time.monotonic() > others_until:
            raise PermissionError(why)
        if lock is not None:
            try:
                has_failed = _has_failed(lock) or time.monotonic() < started + RETRY_SECONDS
                if has_failed and not waits:
                    raise ConnectionRefusedError("the last server could not be started")
                if not has_failed:
                    lock.note(serving.STARTING, folder)
                    started = time.monotonic()
                    _start(lock.file, config, folder)
            finally:
                os.close(lock.file)
        wire = hand_over.dial_if_any(folder)
        if wire is not None:
            return wire
        note = serving.read(place)
        if note is not None and _keeps_out(note, folder) and serving.is_held(place):
            is_replaced = note.state in REPLACING
            raise (PermissionError if is_replaced else ConnectionRefusedError)(str(note))
        time.sleep(POLL_SECONDS)


def _keeps_out(note: serving.ServingNote, folder: str) -> bool:
    """Return whether the holder of the lock will not serve the doors of a data folder."""
    is_elsewhere = os.path.realpath(note.data) != os.path.realpath(folder)
    return note.state in REPLACING or (note.state == serving.SERVING and is_elsewhere)


def _make_folder(config: str, folder: str) -> None:
    """Make the data folder by the settings, for the very first caller of a board."""
    if os.path.isdir(folder):
        return
    from pathlib import Path  # noqa: PLC0415

    from door.config import config as settings  # noqa: PLC0415
    from door.config import privacy  # noqa: PLC0415
    from timebank.errors import SettingsError  # noqa: PLC0415

    try:
        privacy.make_folder(settings.load(Path(config)))
    except SettingsError as error:
        raise FileNotFoundError(str(error)) from error  # the door reports OSErrors


def _has_failed(lock: serving.Lock) -> bool:
    before = lock.before
    if before is None or before.state != serving.STARTING:
        return False
    return 0 <= time.time() - os.fstat(lock.file).st_mtime < RETRY_SECONDS


def _start(lock: int, config: str, folder: str) -> None:
    """Start a server that inherits only the lock from this process, and outlives it."""
    signals = (signal.SIGALRM, signal.SIGHUP, signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        child = os.fork()
        if not child:
            _become_a_server(lock, config, folder)
        os.waitpid(child, 0)  # ends as soon as it has forked the server
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)


def environment(host: Mapping[str, str]) -> dict[str, str]:
    """Return the part of a host's environment that a server inherits.

    >>> environment({"TZ": "UTC", "LC_ALL": "C", "SBBSNODE": "/sbbs/node1", "LD_PRELOAD": "x.so"})
    {'TZ': 'UTC', 'LC_ALL': 'C'}
    """
    return {
        name: value
        for name, value in host.items()
        if name in MACHINE_VARIABLES or name.startswith(MACHINE_PREFIXES)
    }


def _open_log(folder: str, fallback: int) -> int:
    """Open the log for messages of Python itself; return `fallback` if the log cannot be opened.

    Refuses a link, because another user could lead it to any file, and a pipe, which would block.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return os.open(os.path.join(folder, LOG), flags, 0o600)
    except OSError:
        return fallback


def _become_a_server(lock: int, config: str, folder: str) -> NoReturn:
    """Leave the host's session, terminal, descriptors and environment, and run the server."""
    try:
        os.setsid()
        if os.fork():
            os._exit(0)  # without a session of its own, a process gets no terminal
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))  # the host may have set it low
        null = os.open(os.devnull, os.O_RDWR)
        log = _open_log(folder, null)
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, FIRST_FREE) for end in (null, log, log, lock)]
        for target, end in enumerate(ends):
            os.dup2(end, target)
        os.closerange(LOCK_DESCRIPTOR + 1, os.sysconf("SC_OPEN_MAX"))
        path = os.path.abspath(config)
        variables = environment(os.environ)
        os.umask(0o077)
        os.chdir("/")
        for number in RESET_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        # -P keeps the current folder, which is the host's, out of the module path.
        command = [sys.executable, "-P", "-m", PROGRAM, path, str(LOCK_DESCRIPTOR)]
        os.execve(sys.executable, command, variables)
    finally:
        os._exit(1)
