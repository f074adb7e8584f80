"""The databases: three of PostgreSQL under Patroni, three of etcd, and HAProxy in front of them.

All of it is Debian's. What is written into the files of Patroni and HAProxy is what
docs/many-machines.md tells a sysop to write, with shorter times where that only makes a run faster.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import psycopg

from verify.machines.networks import SUBNET, Network, inside, processes_in, run
from verify.machines.programs import (
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
USER = "postgres"
STARTING_SECONDS = 120.0
MENDING_SECONDS = 120.0
LEADER = b"/service/books/leader"  # the key by which Patroni knows the primary
TTL, LOOP_WAIT, RETRY_TIMEOUT = 20, 2, 5  # seconds; Patroni knows no shorter ttl

HAPROXY = """
global
    maxconn 2000
defaults
    mode tcp
    timeout connect 3s
    timeout client 24h
    timeout server 24h
    timeout check 2s
listen databases
    bind {front}:5432
    option httpchk OPTIONS /primary
    http-check expect status 200
    default-server inter 1s fall 2 rise 2 on-marked-down shutdown-sessions
{databases}
listen callers
    bind {front}:2323
    balance leastconn
    default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
    default-server send-proxy-v2 check-send-proxy
{servers}
"""


class Databases:
    """The cluster, as the one knows it who starts it and does it harm."""

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
        """Start everything; there is a primary with a synchronous standby then.

        The machines of the board's servers are there too, with nothing on them.
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
        """End what was started, by its number, and unmount; the namespaces are the network's."""
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
        address = self.network.addresses[machine]
        peers = ",".join(f"{each}=http://{self.network.addresses[each]}:2380" for each in KEEPERS)
        words = [
            *("etcd", "--name", machine, "--data-dir", str(self.folder / machine / "data")),
            *("--listen-client-urls", f"http://{address}:2379"),
            *("--advertise-client-urls", f"http://{address}:2379"),
            *("--listen-peer-urls", f"http://{address}:2380"),
            *("--initial-advertise-peer-urls", f"http://{address}:2380"),
            *("--initial-cluster", peers, "--initial-cluster-state", "new"),
            *("--heartbeat-interval", "200", "--election-timeout", "2000"),
        ]
        return Program(self.network, machine, words, self.folder / machine)

    def _front(self) -> Program:
        databases = "\n".join(
            f"    server {each} {self.network.addresses[each]}:5432 check port 8008"
            for each in DATABASES
        )
        servers = "\n".join(
            f"    server {each} {SUBNET}{number}:{CALLERS_PORT} check"
            for each, number in SERVERS.items()
        )
        file = self.folder / FRONT / "haproxy.cfg"
        front = self.network.addresses[FRONT]
        file.write_text(HAPROXY.format(front=front, databases=databases, servers=servers))
        words = ["haproxy", "-db", "-f", str(file)]
        return Program(self.network, FRONT, words, self.folder / FRONT)

    def _patroni(self, machine: str) -> Program:
        disk = self.folder / machine / "disk"
        disk.mkdir()
        self._mounted.append(disk)  # before it is true, for whoever is broken off in between
        run("mount", "-t", "tmpfs", "-o", f"size={DISK}m,mode=700", "tmpfs", str(disk))
        shutil.chown(disk, USER, USER)
        file = self.folder / machine / "patroni.yml"
        file.write_text(json.dumps(self._settings(machine, disk), indent=1))  # JSON is YAML too
        words = ["patroni", str(file)]
        return Program(self.network, machine, words, self.folder / machine, user=USER)

    def _programs(self, machine: str) -> Path:
        """Give a folder with PostgreSQL's programs, whose server has a clock that can be moved."""
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

    def _settings(self, machine: str, disk: Path) -> dict[str, Any]:
        address = self.network.addresses[machine]
        who = {"username": USER, "password": "unused"}
        return {
            "scope": "books",
            "name": machine,
            "restapi": {"listen": f"{address}:8008", "connect_address": f"{address}:8008"},
            "etcd3": {"hosts": [f"{self.network.addresses[each]}:2379" for each in KEEPERS]},
            "bootstrap": {
                "dcs": {
                    "ttl": TTL,
                    "loop_wait": LOOP_WAIT,
                    "retry_timeout": RETRY_TIMEOUT,
                    # A primary that has crashed is left for a standby at once.
                    "primary_start_timeout": 0,
                    "master_start_timeout": 0,
                    "synchronous_mode": True,
                    "synchronous_mode_strict": True,
                    "postgresql": {
                        "use_pg_rewind": True,
                        "use_slots": False,
                        "parameters": {
                            "max_connections": 100,
                            "shared_buffers": "32MB",
                            "wal_keep_size": "64MB",
                            "max_wal_size": "64MB",
                            "min_wal_size": "8MB",
                            "wal_sender_timeout": "5s",
                            "wal_receiver_timeout": "5s",
                            "tcp_keepalives_idle": 5,
                            "tcp_keepalives_interval": 2,
                            "tcp_keepalives_count": 3,
                            "fsync": "on",
                        },
                    },
                },
                "initdb": ["data-checksums", {"encoding": "UTF8"}, {"wal-segsize": "4"}],
            },
            "postgresql": {
                "listen": f"{address}:5432",
                "connect_address": f"{address}:5432",
                "data_dir": str(disk / "data"),
                "bin_dir": str(self._programs(machine)),
                "authentication": {"superuser": who, "replication": who, "rewind": who},
                "parameters": {"unix_socket_directories": str(disk)},
                "pg_hba": [
                    "local all all trust",
                    "host all all 192.0.2.0/24 trust",
                    "host replication all 192.0.2.0/24 trust",
                ],
                "basebackup": [{"checkpoint": "fast"}],
                "remove_data_directory_on_rewind_failure": True,
                "remove_data_directory_on_diverged_timelines": True,
            },
            "watchdog": {"mode": "off"},
        }

    # What it looks like.

    def cluster(self, machine: str) -> dict[str, Any]:
        """What a machine's Patroni says of all, {} when it does not answer."""
        address = self.network.addresses[machine]

        def asked() -> dict[str, Any]:
            connection = http.client.HTTPConnection(address, 8008, timeout=2)
            try:
                connection.request("GET", "/cluster")
                found: dict[str, Any] = json.loads(connection.getresponse().read())
            finally:
                connection.close()
            return found

        try:
            return inside(self.network.namespace(machine), asked)
        except (OSError, ValueError, http.client.HTTPException):
            return {}

    def members(self) -> dict[str, dict[str, Any]]:
        """The databases by name, as the first one sees them that answers."""
        for machine in DATABASES:
            found = self.cluster(machine)
            if found:
                return {each["name"]: each for each in found.get("members", ())}
        return {}

    def primary(self) -> str:
        """The machine whose server says that it is the primary, "" if there is none."""
        return next((each for each in DATABASES if self._is_primary(each)), "")

    def _is_primary(self, machine: str) -> bool:
        address = self.network.addresses[machine]

        def asked() -> int:
            connection = http.client.HTTPConnection(address, 8008, timeout=2)
            try:
                connection.request("OPTIONS", "/primary")
                return connection.getresponse().status
            finally:
                connection.close()

        try:
            return inside(self.network.namespace(machine), asked) == 200
        except (OSError, http.client.HTTPException):
            return False

    def roles(self, role: str) -> list[str]:
        return [name for name, each in self.members().items() if each.get("role") == role]

    def is_whole(self) -> bool:
        """Tell whether all run, one is the primary, and one standby is in step with it."""
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
                found = connection.execute(text)  # type: ignore[call-overload]
                return list(found.fetchall()) if found.description else []

        return inside(self.network.namespace(machine or FRONT), asked)

    # What can be done to it.

    def _all_of(self, machine: str) -> list[int]:
        return processes_in(self.network.namespace(machine))

    def servers_of(self, machine: str, kind: str = "") -> list[int]:
        """The processes of a machine's PostgreSQL, all or those whose command has `kind`."""
        found = [(pid, command_of(pid)) for pid in self._all_of(machine)]
        return [
            pid
            for pid, words in found
            if (words.startswith("postgres:") or "/bin/postgres " in words) and kind in words
        ]

    def signal_server(self, machine: str, number: signal.Signals, kind: str = "") -> None:
        signal_all(self.servers_of(machine, kind), number)

    def signal_machine(self, machine: str, number: signal.Signals) -> None:
        signal_all(self._all_of(machine), number)

    def disk(self, machine: str) -> Path:
        return self.folder / machine / "disk"

    def end_term(self) -> None:
        """End the primary's term, as the keepers do after `TTL` seconds without word from it."""

        def asked(path: str, question: dict[str, Any]) -> dict[str, Any]:
            address = self.network.addresses[KEEPERS[0]]
            connection = http.client.HTTPConnection(address, 2379, timeout=2)
            try:
                connection.request("POST", f"/v3/{path}", json.dumps(question))
                found: dict[str, Any] = json.loads(connection.getresponse().read())
            finally:
                connection.close()
            return found

        def ended() -> None:
            key = base64.b64encode(LEADER).decode()
            for found in asked("kv/range", {"key": key}).get("kvs", ()):
                asked("lease/revoke", {"ID": found["lease"]})

        inside(self.network.namespace(KEEPERS[0]), ended)

    def set_clock(self, machine: str, seconds: int) -> None:
        """Move the clocks of all programs of a machine, against the real ones."""
        set_clock(self.folder / machine / "clock", seconds)


def set_clock(file: Path, seconds: int) -> None:
    """Write by how much a clock is moved; nobody ever reads half of it."""
    new = file.with_suffix(".new")
    new.write_text(f"{seconds:+d}")
    new.replace(file)


def clock_of(file: Path) -> dict[str, str]:
    """The environment of a program whose clock follows a file, where that can be had."""
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
