"""The start of a server for doors, by the first door that comes where none runs.

The door takes the lock of the books (`timebank.serving`) and hands it down to the server, which
keeps it all its life. Other doors that come at the same moment wait until they reach the server. A
note of a starting server in a lock that is free means that the start has failed: then no door tries
again for `AGAIN_SECONDS`.

Light: a door loads this only where no server runs.
"""

from __future__ import annotations

import fcntl
import os
import resource
import select
import signal
import stat
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

LOG = "server.log"  # in the data folder: what such a server has to say
PROGRAM = "door.cli.for_doors"

# How long a server is waited for: some ten times what it takes, and one may have to end first.
START_SECONDS = 20.0
# How long others are left to start one, where this door may not: a service starts one again that
# was killed, and who is on waits for that.
OTHERS_SECONDS, SERVICE_SECONDS = 0.5, 15.0
AGAIN_SECONDS = 5.0  # until a start is tried again after one that failed
AWAKE_SECONDS = 1.0  # until a server that has been halted leaves a sign of life
POLL_SECONDS = 0.02  # between two looks whether the server is there

# What of the host's environment a server is left: it means the machine, and not one call.
KEPT = ("PATH", "TZ", "LANG", "HOME", "PYTHONPATH")
KEPT_BEGINNINGS = ("LC_", "PG", "XDG_")
# Limits of the host's for a door that would end a server in the middle of its callers.
LIMITS = ((resource.RLIMIT_CPU, "CPU time"), (resource.RLIMIT_AS, "memory"))
FIRST_FREE = 16  # a descriptor above those that a server is given
LOCK_AT = 3  # the descriptor of the lock there, behind input, output and errors
# Signals that mean to a server what they mean to any program, whatever they mean to a door.
USUAL = (
    *(signal.SIGALRM, signal.SIGHUP, signal.SIGTERM),
    *(signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP),
)


def why_not(folder: str) -> str:
    """Say why this door may start no server for a data folder, and who may; "" if it may.

    A server's books, socket and log must belong to the owner of the folder, who could not use or
    end it otherwise.
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


def end_hung(wire: _socket.socket, folder: str) -> bool:
    """End the server at the other end of a wire if it has stood still for long, and is ours.

    It may have stood still together with this door, on a machine that was halted: then it says in a
    moment that it goes on. Where nobody can leave a sign of life, nothing is known.
    """
    process = hand_over.process_of(wire)
    if not (process and hand_over.is_of(wire, os.geteuid()) and hand_over.stands_still(folder)):
        return False
    time.sleep(AWAKE_SECONDS)
    try:
        sock = os.path.join(folder, hand_over.NAME)
        os.chmod(sock, stat.S_IMODE(os.stat(sock).st_mode))
        if hand_over.stands_still(folder):
            os.kill(process, signal.SIGKILL)
            return True
    except OSError:  # the disk takes no signs, or the server is not ours to end
        pass
    return False


def has_ended(wire: _socket.socket) -> bool:
    """Return whether the server at the other end of a wire has ended: another door may have done it
    just now."""
    poll = select.poll()
    poll.register(wire, 0)  # the end is reported whatever is asked for
    return bool(poll.poll(0))


def reach(config: str, folder: str, place: str, *, waits: bool = False) -> _socket.socket:
    """Reach the server of the board, and start one if that is still needed.

    `config` is sysop.toml, `folder` the data folder, `place` the lock of the books. A door that
    `waits` stays when the last start has failed just now, until a start is tried again, and longer
    where another user starts the server. Raises `OSError` where no server is there in time,
    `PermissionError` where this door may start none.
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
    why = why_not(folder)
    _make_folder(config, folder)
    started = -AGAIN_SECONDS  # by us: a full disk takes no note of that
    others_until = time.monotonic() + (SERVICE_SECONDS if waits else OTHERS_SECONDS)
    while True:
        lock = None if why else serving.take_now(place)
        if why and not serving.is_held(place) and time.monotonic() > others_until:
            raise PermissionError(why)
        if lock is not None:
            try:
                has_failed = _has_failed(lock) or time.monotonic() < started + AGAIN_SECONDS
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
            raise ConnectionRefusedError(str(note))
        time.sleep(POLL_SECONDS)


def _keeps_out(note: serving.ServingNote, folder: str) -> bool:
    """Tell whether doors of a data folder wait in vain for the holder of the lock."""
    is_elsewhere = os.path.realpath(note.data) != os.path.realpath(folder)
    replaces = note.state in (serving.RESTORING, serving.MOVING)
    return replaces or (note.state == serving.SERVING and is_elsewhere)


def _make_folder(config: str, folder: str) -> None:
    """Make the data folder as the settings want it, for the very first caller of a board."""
    if os.path.isdir(folder):
        return
    from pathlib import Path  # noqa: PLC0415

    from door.config import config as settings  # noqa: PLC0415
    from door.config import privacy  # noqa: PLC0415
    from timebank.errors import SettingsError  # noqa: PLC0415

    try:
        privacy.make_folder(settings.load(Path(config)))
    except SettingsError as error:
        raise FileNotFoundError(str(error)) from error  # the door says what is wrong


def _has_failed(lock: serving.Lock) -> bool:
    before = lock.before
    if before is None or before.state != serving.STARTING:
        return False
    return 0 <= time.time() - os.fstat(lock.file).st_mtime < AGAIN_SECONDS


def _start(lock: int, config: str, folder: str) -> None:
    """Start a server that has nothing of this process but the lock, and outlives it."""
    signals = (signal.SIGALRM, signal.SIGHUP, signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        child = os.fork()
        if not child:
            _become_a_server(lock, config, folder)
        os.waitpid(child, 0)  # which has ended once it has a child of its own
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)


def environment(host: Mapping[str, str]) -> dict[str, str]:
    """Return what a server is left of a host's environment.

    >>> environment({"TZ": "UTC", "LC_ALL": "C", "SBBSNODE": "/sbbs/node1", "LD_PRELOAD": "x.so"})
    {'TZ': 'UTC', 'LC_ALL': 'C'}
    """
    return {
        name: value
        for name, value in host.items()
        if name in KEPT or name.startswith(KEPT_BEGINNINGS)
    }


def _log_of(folder: str, nothing: int) -> int:
    """Open the log for what Python itself may say; `nothing` where it is no file: a link that
    others may have put there could lead to any file of ours, and a pipe would be waited for."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return os.open(os.path.join(folder, LOG), flags, 0o600)
    except OSError:
        return nothing


def _become_a_server(lock: int, config: str, folder: str) -> NoReturn:
    """Leave the host's session and its terminal, and all that it has passed down."""
    try:
        os.setsid()
        if os.fork():
            os._exit(0)  # whoever leads no session never gets a terminal again
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a host may have set it low
        nothing = os.open(os.devnull, os.O_RDWR)
        log = _log_of(folder, nothing)
        ends = [fcntl.fcntl(each, fcntl.F_DUPFD, FIRST_FREE) for each in (nothing, log, log, lock)]
        for target, end in enumerate(ends):
            os.dup2(end, target)
        os.closerange(LOCK_AT + 1, os.sysconf("SC_OPEN_MAX"))
        whole = os.path.abspath(config)
        left = environment(os.environ)
        os.umask(0o077)
        os.chdir("/")
        for number in USUAL:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        # Without the folder that we are in, where the host may have anything.
        os.execve(sys.executable, [sys.executable, "-P", "-m", PROGRAM, whole, str(LOCK_AT)], left)
    finally:
        os._exit(1)
