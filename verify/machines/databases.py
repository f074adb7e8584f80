"""The databases: three of PostgreSQL under Patroni, three of etcd, and HAProxy in front of them.

All of it is Debian's. Its settings are the files that docs/many-machines.md has a sysop install
(shipped.py), with addresses and places of these machines, and less memory and disk.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import psycopg

from verify.machines import shipped
from verify.machines.networks import SUBNET, Network, inside, processes_in, run
from verify.machines.programs import (
    DATABASE_USER,
    FAKETIME,
    Program,
    command_of,
    signal_all,
    wait_until,
)

DATABASES = ("db1", "db2", "db3")
KEEPERS = ("etcd1", "etcd2", "etcd3")
FRONT = "front"
NUMBERS = {
    FRONT: 5,
    **{name: 11 + place for place, name in enumerate(DATABASES)},
    **{name: 21 + place for place, name in enumerate(KEEPERS)},
}
# The board's servers; the front passes callers on to them.
SERVERS = {"server1": 31, "server2": 32}
CALLERS_PORT = 2323
DISK = 400  # megabytes of each database
USER = DATABASE_USER
EXAMPLE_PEERS = ",".join(f"db{each}=http://10.0.0.1{each}:2380" for each in (1, 2, 3))
STARTING_SECONDS = 120.0
MENDING_SECONDS = 120.0
TTL = 20  # seconds, as in the settings of Patroni, which knows no shorter one


class Databases:
    """The cluster, for its operator and its saboteur."""

    def __init__(self, network: Network, folder: Path) -> None:
        self.network = network
        self.folder = folder
        self.keepers: dict[str, Program] = {}
        self.patronis: dict[str, Program] = {}
        self.front: Program
        self._mounted: list[Path] = []

    def url(self, database: str) -> str:
        return f"postgresql://{USER}@{self.network.addresses[FRONT]}:5432/{database}"

    # Its life.

    def open(self) -> None:
        """Start everything; then there is a primary with a synchronous standby.

        The machines of the board's servers exist too, and are empty.
        """
        for machine, number in NUMBERS.items():
            self.network.add(machine, number)
            (self.folder / machine).mkdir()
        for machine, number in SERVERS.items():
            self.network.add(machine, number)
        self.folder.chmod(0o755)
        for machine in KEEPERS:
            self.keepers[machine] = self._keeper(machine)
            self.keepers[machine].start()
        self.front = self._front()
        self.front.start()
        for machine in DATABASES:
            self.patronis[machine] = self._patroni(machine)
        # The first one becomes the primary, and the others copy it.
        self.patronis[DATABASES[0]].start()
        wait_until("a first primary", lambda: bool(self.primary()), STARTING_SECONDS)
        for machine in DATABASES[1:]:
            self.patronis[machine].start()
        wait_until("three databases in step", self.is_whole, STARTING_SECONDS)

    def create(self, database: str) -> None:
        """Make room for books; raises `psycopg.Error`."""
        self.ask(f"CREATE DATABASE {database} TEMPLATE template0 LOCALE 'C.UTF-8'")

    def close(self) -> None:
        """End the started processes by number, and unmount; the network removes the namespaces."""
        for program in (*self.patronis.values(), *self.keepers.values()):
            program.kill()
        if hasattr(self, "front"):
            self.front.kill()
        for machine in DATABASES:
            if machine in self.network.addresses:
                signal_all(self._all_of(machine), signal.SIGKILL)
        for mounted in self._mounted:
            wait_until(
                f"{mounted} let go",
                lambda at=mounted: _unmount(at),
                10,  # type: ignore[misc]
            )
        self._mounted.clear()

    def _keeper(self, machine: str) -> Program:
        addresses = self.network.addresses
        peers = ",".join(f"{each}=http://{addresses[each]}:2380" for each in KEEPERS)
        text = shipped.fitted(
            "etcd.default",
            {"NAME": machine, "ADDRESS": addresses[machine]},
            {
                "/var/lib/etcd/books": str(self.folder / machine / "data"),
                EXAMPLE_PEERS: peers,
            },
        )
        settings = shipped.environment(text)
        folder = self.folder / machine
        return Program(self.network, machine, ["etcd"], folder, environment=settings)

    def _front(self) -> Program:
        folder, front = self.folder / FRONT, self.network.addresses[FRONT]
        instead = {
            "/run/haproxy/admin.sock": str(folder / "admin.sock"),
            "bind 127.0.0.1:5432": f"bind {front}:5432",
            "bind :23 ": f"bind {front}:{CALLERS_PORT} ",
        }
        for number, machine in enumerate(DATABASES, 1):
            address = self.network.addresses[machine]
            instead[f"server db{number} 10.0.0.1{number}:5432"] = f"server {machine} {address}:5432"
        for number, (machine, host) in enumerate(SERVERS.items(), 1):
            address = f"{SUBNET}{host}:{CALLERS_PORT}"
            instead[f"server board{number} 10.0.0.3{number}:2323"] = f"server {machine} {address}"
        file = folder / "haproxy.cfg"
        file.write_text(shipped.fitted("haproxy.cfg", {}, instead))
        words = ["haproxy", "-db", "-f", str(file)]
        return Program(self.network, FRONT, words, self.folder / FRONT)

    def _patroni(self, machine: str) -> Program:
        disk = self.folder / machine / "disk"
        disk.mkdir()
        self._mounted.append(disk)  # noted before the mount, in case of an interruption
        run("mount", "-t", "tmpfs", "-o", f"size={DISK}m,mode=700", "tmpfs", str(disk))
        shutil.chown(disk, USER, USER)
        file = self.folder / machine / "patroni.yml"
        file.write_text(self._settings(machine, disk))
        words = ["patroni", str(file)]
        return Program(self.network, machine, words, self.folder / machine, user=USER)

    def _programs(self, machine: str) -> Path:
        """Return a folder with PostgreSQL's programs, with a server whose clock can be moved."""
        clock = self.folder / machine / "clock"
        clock.write_text("+0")
        real = max(Path("/usr/lib/postgresql").glob("*/bin"))
        folder = self.folder / machine / "bin"
        folder.mkdir()
        for program in real.iterdir():
            if program.name != "postgres":
                (folder / program.name).symlink_to(program)
        ours = " ".join(f"{name}={value}" for name, value in clock_of(clock).items())
        server = folder / "postgres"
        server.write_text(f'#!/bin/sh\nexec env {ours} {real / "postgres"} "$@"\n')
        server.chmod(0o755)
        return folder

    def _settings(self, machine: str, disk: Path) -> str:
        own = {
            "NAME": machine,
            "ADDRESS": self.network.addresses[machine],
            "REPLICATION": "a-secret",
            "REWIND": "another",
        }
        instead = {
            f"10.0.0.1{number}:2379": f"{self.network.addresses[each]}:2379"
            for number, each in enumerate(KEEPERS, 1)
        }
        instead |= {
            "/var/lib/postgresql/15/books": str(disk / "data"),
            "/usr/lib/postgresql/15/bin": str(self._programs(machine)),
            "/var/run/postgresql": str(disk),
            # Three machines have one home of their user.
            "  use_unix_socket: true": f"  use_unix_socket: true\n  pgpass: {disk / 'pgpass'}",
            # Processes of the bank come without passwords.
            "all all 10.0.0.0/24 scram-sha-256": f"all all {SUBNET}0/24 trust",
            "replicator 10.0.0.0/24": f"replicator {SUBNET}0/24",
            # Space is small, and the disk is filled on purpose.
            "shared_buffers: 256MB": "shared_buffers: 32MB",
            "wal_keep_size: 1GB": "wal_keep_size: 64MB",
            "max_wal_size: 1GB": "max_wal_size: 64MB",
            "min_wal_size: 80MB": "min_wal_size: 8MB",
            "    - data-checksums": '    - data-checksums\n    - wal-segsize: "4"',
            # The watchdog is that of the real machine.
            "mode: automatic": 'mode: "off"',
        }
        return shipped.fitted("patroni.yml", own, instead)

    # Observations.

    def _asked(self, machine: str, method: str, path: str) -> tuple[int, bytes]:
        """Return the answer of a machine's Patroni; its status is 0 without an answer."""
        address = self.network.addresses[machine]

        def asked() -> tuple[int, bytes]:
            connection = http.client.HTTPConnection(address, 8008, timeout=2)
            try:
                connection.request(method, path)
                answer = connection.getresponse()
                return answer.status, answer.read()
            finally:
                connection.close()

        try:
            return inside(self.network.namespace(machine), asked)
        except (OSError, http.client.HTTPException):
            return 0, b""

    def members(self) -> dict[str, dict[str, Any]]:
        """The databases by name, as the first one sees them that answers."""
        for machine in DATABASES:
            status, body = self._asked(machine, "GET", "/cluster")
            if status == 200:
                return {each["name"]: each for each in json.loads(body)["members"]}
        return {}

    def primary(self) -> str:
        """The machine whose server claims to be the primary, "" without one."""
        return next(
            (each for each in DATABASES if self._asked(each, "OPTIONS", "/primary")[0] == 200), ""
        )

    def roles(self, role: str) -> list[str]:
        return [name for name, each in self.members().items() if each.get("role") == role]

    def is_whole(self) -> bool:
        """Return whether all run, one is the primary, and one standby is in step with it."""
        members = self.members()
        running = [
            each for each in members.values() if each.get("state") in ("running", "streaming")
        ]
        roles = sorted(str(each.get("role")) for each in running)
        return roles == ["leader", "replica", "sync_standby"] and all(
            not each.get("lag") for each in running
        )

    def ask(self, text: str, *, machine: str = "") -> list[Any]:
        """Ask the primary, through the front, or a machine's server; no books are open to it."""

        def asked() -> list[Any]:
            with psycopg.connect(
                host=self.network.addresses[machine or FRONT],
                user=USER,
                dbname="postgres",
                autocommit=True,
                connect_timeout=5,
            ) as connection:
                rows = connection.execute(text)  # type: ignore[call-overload]
                return list(rows.fetchall()) if rows.description else []

        return inside(self.network.namespace(machine or FRONT), asked)

    # Harm.

    def _all_of(self, machine: str) -> list[int]:
        return processes_in(self.network.namespace(machine))

    def servers_of(self, machine: str, kind: str = "") -> list[int]:
        """Return the processes of a machine's PostgreSQL, all or those whose command has `kind`."""
        processes = [(pid, command_of(pid)) for pid in self._all_of(machine)]
        return [
            pid
            for pid, words in processes
            if (words.startswith("postgres:") or "/bin/postgres " in words) and kind in words
        ]

    def signal_server(self, machine: str, number: signal.Signals) -> None:
        signal_all(self.servers_of(machine), number)

    def signal_machine(self, machine: str, number: signal.Signals) -> None:
        signal_all(self._all_of(machine), number)

    def disk(self, machine: str) -> Path:
        return self.folder / machine / "disk"

    def set_clock(self, machine: str, seconds: int) -> None:
        """Move the clock of a machine's PostgreSQL against the real one."""
        file = self.folder / machine / "clock"
        new = file.with_suffix(".new")  # PostgreSQL must not read half of it
        new.write_text(f"{seconds:+d}")
        new.replace(file)


def clock_of(file: Path) -> dict[str, str]:
    """Return the environment of a program with a clock that follows a file, if possible."""
    if not FAKETIME.exists():
        return {}
    return {
        "LD_PRELOAD": str(FAKETIME),
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_CACHE_DURATION": "1",
    }


def _unmount(folder: Path) -> bool:
    if not os.path.ismount(folder):
        return True
    run("umount", str(folder), check=False)
    return not os.path.ismount(folder)
