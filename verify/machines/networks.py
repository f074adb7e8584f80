"""A private network: namespaces joined by a bridge, which can be cut in any direction.

Its addresses are reserved for documentation (192.0.2.0/24), and it has no way out.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

PREFIX = "bjft"
SUBNET = "192.0.2."
FOLDER = Path("/run/netns")
DYING_SECONDS = 10
_NEW_NETWORK = 0x40000000  # CLONE_NEWNET


class CannotBeDone(Exception):
    """A system command was refused."""


def run(*words: str, check: bool = True, **how: object) -> str:
    """Run a system command and return its output; raises `CannotBeDone`."""
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        **how,  # type: ignore[call-overload]
    )
    if check and done.returncode:
        raise CannotBeDone(f"{' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
    return str(done.stdout)


class Network:
    """A bridge, and a namespace for each machine at it."""

    def __init__(self) -> None:
        """Name it by the number of our process; nothing is made yet."""
        self.name = f"{PREFIX}{os.getpid()}"
        self.addresses: dict[str, str] = {}
        self._switch = f"{self.name}-lan"

    def namespace(self, machine: str) -> str:
        return f"{self.name}-{machine}"

    def open(self) -> None:
        run("ip", "netns", "add", self._switch)
        self._at(self._switch, "ip", "link", "add", "bridge", "type", "bridge")
        self._at(self._switch, "ip", "link", "set", "bridge", "up")

    def add(self, machine: str, number: int) -> str:
        """Join a machine to the network, by a number from 2 to 254; returns its address."""
        namespace, port = self.namespace(machine), f"port{number}"
        run("ip", "netns", "add", namespace)
        pair = ("type", "veth", "peer", "name", "net", "netns", namespace)
        self._at(self._switch, "ip", "link", "add", port, *pair)
        self._at(self._switch, "ip", "link", "set", port, "master", "bridge", "up")
        address = f"{SUBNET}{number}"
        self._at(namespace, "ip", "address", "add", f"{address}/24", "dev", "net")
        for link in ("lo", "net"):
            self._at(namespace, "ip", "link", "set", link, "up")
        self._at(namespace, "nft", "add table inet faults")
        for hook in ("input", "output"):
            chain = f"add chain inet faults {hook} {{ type filter hook {hook} priority 0; }}"
            self._at(namespace, "nft", chain)
        self.addresses[machine] = address
        return address

    def cut(self, machine: str, other: str, *, one_way: bool = False) -> None:
        """Drop all traffic from `other` to `machine`, and back unless it is one-way."""
        address = self.addresses[other]
        self._drop(machine, "input", "saddr", address)
        if not one_way:
            self._drop(machine, "output", "daddr", address)

    def isolate(self, machine: str) -> None:
        for other in self.addresses:
            if other != machine:
                self.cut(machine, other)

    def heal(self) -> None:
        for machine in self.addresses:
            for chain in ("input", "output"):
                self._at(self.namespace(machine), "nft", f"flush chain inet faults {chain}")

    def _drop(self, machine: str, chain: str, which: str, address: str) -> None:
        rule = f"add rule inet faults {chain} ip {which} {address} drop"
        self._at(self.namespace(machine), "nft", rule)

    def _at(self, namespace: str, *words: str) -> None:
        run("ip", "netns", "exec", namespace, *words)

    def close(self) -> None:
        """End all that runs in the namespaces, and remove them."""
        remove(self.name)


def namespaces(name: str) -> list[str]:
    """List the namespaces of a network that are still there."""
    if not FOLDER.is_dir():
        return []
    return sorted(each.name for each in FOLDER.iterdir() if each.name.startswith(f"{name}-"))


def processes_in(namespace: str) -> list[int]:
    return [int(pid) for pid in run("ip", "netns", "pids", namespace, check=False).split()]


def remove(name: str) -> None:
    """End all processes in a network's namespaces by number, and remove the namespaces."""
    latest = time.monotonic() + DYING_SECONDS
    for namespace in namespaces(name):
        while (left := processes_in(namespace)) and time.monotonic() < latest:
            for pid in left:
                _kill(pid)
            time.sleep(0.02)
        run("ip", "netns", "delete", namespace, check=False)


def abandoned() -> list[str]:
    """Name the networks of runs that were killed: their process is gone."""
    if not FOLDER.is_dir():
        return []
    names = {each.name.partition("-")[0] for each in FOLDER.iterdir()}
    numbers = {name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)}
    gone = (each for each in numbers if each.isdigit() and not Path("/proc", each).exists())
    return sorted(f"{PREFIX}{each}" for each in gone)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def inside(namespace: str, work: Callable[[], T]) -> T:
    """Do `work` in a thread inside a namespace: its new sockets are there, and stay there."""

    def enter() -> T:
        with (FOLDER / namespace).open("rb") as file:
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.setns(file.fileno(), _NEW_NETWORK):
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number))
        return work()

    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(enter).result()
