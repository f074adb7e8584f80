"""Public keys as callers paste them: accepted forms and stored parts."""

from __future__ import annotations

import base64

import asyncssh
import pytest

from door.defence import ssh_keys
from door.defence.ssh_keys import MOST_BITS
from door.errors import KeyRefused


def made(kind: str, **more: object) -> asyncssh.SSHKey:
    return asyncssh.generate_private_key(kind, **more)


def text(*parts: bytes) -> str:
    data = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    "key",
    [
        made("ssh-ed25519", comment="Ada's laptop"),
        made("ecdsa-sha2-nistp256"),
        made("ecdsa-sha2-nistp384"),
        made("ecdsa-sha2-nistp521"),
        made("ssh-rsa", key_size=2048),
    ],
    ids=lambda key: key.get_algorithm(),
)
def test_keys_written_by_openssh_are_accepted(key: asyncssh.SSHKey) -> None:
    read = ssh_keys.read(key.export_public_key().decode())
    assert (read.kind, read.data) == (key.get_algorithm(), key.public_data)
    assert read.fingerprint == key.get_fingerprint()
    assert read.name == (key.get_comment() or "")
    assert ssh_keys.read(read.line) == read


@pytest.mark.parametrize(
    "line",
    [
        "sk-ssh-ed25519@openssh.com " + text(b"sk-ssh-ed25519@openssh.com", bytes(32), b"ssh:"),
        "sk-ecdsa-sha2-nistp256@openssh.com "
        + text(b"sk-ecdsa-sha2-nistp256@openssh.com", b"nistp256", b"\4" + bytes(64), b"ssh:"),
    ],
)
def test_keys_of_devices_are_taken(line: str) -> None:
    assert ssh_keys.read(line).line == line


ED25519 = text(b"ssh-ed25519", bytes(32))


@pytest.mark.parametrize(
    "line",
    [
        "",
        "hello",
        "ssh-ed25519",
        "ssh-ed25519 !!!!",
        "ssh-ed25519 AAAA",
        f"ssh-ed25519 {ED25519[:-4]}",
        f"ssh-rsa {ED25519}",
        f"ssh-dss {ED25519}",
        f'from="10.0.0.1" ssh-ed25519 {ED25519}',
        f"ssh-ed25519 {text(b'ssh-ed25519', bytes(31))}",
        f"ssh-ed25519 {text(b'ssh-ed25519', bytes(32), b'more')}",
        f"ssh-ed25519 {text()}",
        f"ssh-rsa {text(b'ssh-rsa', bytes(4))}",
        f"ssh-rsa {text(b'ssh-rsa', b'2', bytes(1) + bytes([255]) * 256)}",
        f"ssh-rsa {text(b'ssh-rsa', bytes([255]) * 5, bytes([255]) * 256)}",
        f"ssh-rsa {text(b'ssh-rsa', bytes([0]), bytes([255]) * 256)}",
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        "ssh-ed25519-cert-v01@openssh.com " + text(b"ssh-ed25519-cert-v01@openssh.com"),
    ],
)
def test_anything_else_is_refused_in_a_sentence(line: str) -> None:
    with pytest.raises(KeyRefused, match="That's no public key"):
        ssh_keys.read(line)


@pytest.mark.parametrize("bits", [1024, MOST_BITS + 8])
def test_rsa_has_bounds(bits: int) -> None:
    line = f"ssh-rsa {text(b'ssh-rsa', bytes([1, 0, 1]), bytes([255]) * (bits // 8))}"
    with pytest.raises(KeyRefused, match=f"2048 to 4096 bits here, and yours has {bits}"):
        ssh_keys.read(line)


def test_a_key_name_is_cut_to_printable_text() -> None:
    line = f"ssh-ed25519 {ED25519} \x1b[2Jmine {'x' * 200}"
    assert ssh_keys.read(line).name == "[2Jmine " + "x" * 32
