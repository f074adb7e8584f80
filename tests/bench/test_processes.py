import socket
import subprocess
import sys
from pathlib import Path

import pytest

from bench import machines
from bench.processes import kept_port

HOST = "127.0.0.1"


def test_a_kept_port_is_for_a_listener_alone() -> None:
    with kept_port() as port:
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind((HOST, port))
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((HOST, port))
        with socket.create_server((HOST, port)), socket.create_connection((HOST, port)):
            pass


def test_a_server_that_ends_before_it_is_ready_is_not_waited_for(tmp_path: Path) -> None:
    with kept_port() as port:
        process = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
        server = machines._Postgres(tmp_path, port, process.pid)
        with pytest.raises(RuntimeError, match="its status is 3"):
            machines._wait_for(server, process)
