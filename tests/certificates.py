"""Certificates that a test makes for itself."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

NEED_CLIENTS = "BJFT_NEED_CLIENTS"  # set where a missing program is a failure, not a skip


@cache
def pair(number: int = 1) -> tuple[bytes, bytes]:
    """A certificate for localhost and its key, as files hold them; each number has its own."""
    if shutil.which("openssl") is None:
        assert not os.environ.get(NEED_CLIENTS), "openssl must be here: apt-get install openssl"
        pytest.skip(f"openssl is not installed; {NEED_CLIENTS} makes that a failure")
    with TemporaryDirectory() as folder:
        certificate, key = Path(folder, "certificate.pem"), Path(folder, "key.pem")
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-nodes", "-days", "20", "-newkey", "ec"),
                *("-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", f"/CN=board {number}"),
                *("-addext", "subjectAltName=DNS:localhost"),
                *("-keyout", key, "-out", certificate),
            ],
            check=True,
            capture_output=True,
        )
        return certificate.read_bytes(), key.read_bytes()


def put_into(folder: Path, number: int = 1) -> tuple[Path, Path]:
    """Write a certificate and its key into a folder; return where they are."""
    paths = folder / "certificate.pem", folder / "key.pem"
    for path, content in zip(paths, pair(number), strict=True):
        path.write_bytes(content)
    return paths


def trusting(number: int = 1) -> ssl.SSLContext:
    """Return the context of a caller's program that trusts a board with that certificate only."""
    return ssl.create_default_context(cadata=pair(number)[0].decode("ascii"))


# A key behind a password.
LOCKED_KEY = b"""\
-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAithPl6MDx3KwICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEGnsTjze3RhAovanjhx8xnYEgZDA
xi5arIOq7Z0A9zb26U32dMfuVjWOHGKfTxMoEujQdPYb8+0qGGCiyFOT02inZZ4x
bm+Uk+eDTF/ttwVLl1oxo74tFV7wLeo3YfNnXT2hF5PFiQkCmqkmiHKawARFMqbl
Q0kiqMBFUQpKGHhYMq2Bp8jMU0m4iiMI5nW3tReehKMl8JkMZD5ASol75GWh1sg=
-----END ENCRYPTED PRIVATE KEY-----
"""
