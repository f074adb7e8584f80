"""Programs on machines: started in a namespace, known by their numbers, and surely ended."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from verify.machines.networks import CannotBeDone, Network

ENDING_SECONDS = 10.0
NEEDED = {
    "ip": "iproute2",
    "nft": "nftables",
    "patroni": "patroni",
    "etcd": "etcd-server",
    "haproxy": "haproxy",
    "setpriv": "util-linux",
}
# Where docs/many-machines.md puts a Patroni in place of the system's; else that is taken.
NEWER_PATRONI = "/opt/patroni/bin"
SOUND_PATRONI = (3, 0, 3)
DATABASE_USER = "postgres"  # the owner of PostgreSQL and Patroni
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")


def what_is_missing() -> str:
    """Return a sentence about what this machine lacks; "" if nothing."""
    if os.geteuid() != 0:
        return "Namespaces can only be made by root."
    path = _path(os.environ)
    lacking = [package for name, package in NEEDED.items() if not shutil.which(name, path=path)]
    if not any(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        lacking.append("postgresql")
    if lacking:
        return f"To be installed first: apt-get install {' '.join(lacking)}."
    return ""


def what_is_unsound() -> str:
    """Return a sentence about faults a run will find that are not the board's; "" if none."""
    # It is asked as it runs: of a folder that is root's alone the system's own is taken instead.
    words = [*as_user(DATABASE_USER), "env", f"PATH={_path(os.environ)}", "patroni", "--version"]
    version = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    return doubt_about(version)


def as_user(name: str) -> list[str]:
    """Return the words before a command that run it as this user."""
    return ["setpriv", f"--reuid={name}", f"--regid={name}", "--init-groups"]


def doubt_about(version: str) -> str:
    """Return the doubt about a Patroni of this version; "" if none.

    >>> doubt_about("patroni 3.0.3")
    ''
    """
    number = version.strip().rpartition(" ")[2]
    parts = tuple(int(part) for part in number.split(".") if part.isdecimal())
    if parts >= SOUND_PATRONI:
        return ""
    return (
        f"Patroni {number or '(of no known version)'} takes the leader's key back from whoever was"
        " promoted, once it has stood still for longer than its term: what was acknowledged"
        " meanwhile is lost, and the run says so. docs/many-machines.md tells how to have a newer"
        " one."
    )


class Program:
    """A program on a machine that can be killed, stopped and resumed, and restarted."""

    def __init__(
        self,
        network: Network,
        machine: str,
        words: Sequence[str],
        folder: Path,
        *,
        user: str = "",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Describe it; `folder` is its working folder and has its output."""
        self.machine = machine
        self.folder = folder
        self._network = network
        self._words = words
        self._user = user
        self._environment = dict(environment or {})
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        return self.folder / f"{self.machine}-{Path(self._words[0]).name}.log"

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def status(self) -> int | None:
        return None if self._process is None else self._process.poll()

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *("ip", "netns", "exec", self._network.namespace(self.machine)),
                    # Shared memory that is gone with the machine.
                    *("sh", "-c", 'mount -t tmpfs tmpfs /dev/shm && exec "$@"', "sh"),
                    *(as_user(self._user) if self._user else ()),
                    *("env", *(f"{name}={value}" for name, value in self._environment.items())),
                    *self._words,
                ],
                cwd=self.folder,
                env=_plain_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def send(self, number: signal.Signals) -> None:
        if self._process is not None and self.runs:
            self._process.send_signal(number)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def end(self, seconds: float = ENDING_SECONDS) -> None:
        """Ask it to end, and kill it when it does not."""
        if self._process is None:
            return
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()


def _plain_environment() -> dict[str, str]:
    names = ("PATH", "LANG", "LD_LIBRARY_PATH", "PYTHONPATH")
    environment = {name: os.environ[name] for name in names if name in os.environ}
    return {**environment, "PATH": _path(environment)}


def _path(environment: Mapping[str, str]) -> str:
    return f"{NEWER_PATRONI}:{environment.get('PATH', '')}:/usr/sbin:/sbin"


def wait_until(what: str, holds: Callable[[], bool], seconds: float, every: float = 0.1) -> float:
    """Wait until something holds; returns how long that took, raises `CannotBeDone` after that."""
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > seconds:
            raise CannotBeDone(f"After {seconds:g} seconds still not: {what}.")
        time.sleep(every)
    return time.monotonic() - began


def command_of(pid: int) -> str:
    """The command line of a process, "" when it is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    return ""


def signal_all(pids: Iterator[int] | Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
