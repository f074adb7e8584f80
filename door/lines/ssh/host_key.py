"""The host keys that the board shows to callers by SSH, made once and stored in the data folder.

Callers' programs remember one of them, and warn of any other. So no new key is made while a file of
its name exists, even a broken one.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from asyncssh import SSHKey, generate_private_key, import_private_key

from door.errors import HostKeyRefused
from door.lines.ssh.algorithms import ED25519, RSA
from timebank.files import sync_folder

FILES = {ED25519: "ssh_host_key", RSA: "ssh_host_rsa_key"}
_LEAST_RSA_BITS, _MOST_RSA_BITS = 2048, 4096  # longer ones take too long to sign with
_OWNER_ALONE = 0o600


def noun(kind: str) -> str:
    return "RSA key" if kind == RSA else "key"


def host_key(folder: Path, kind: str = ED25519) -> SSHKey:
    """Return a key in the data folder; make it if it is missing; raise `HostKeyRefused`."""
    path = folder / FILES[kind]
    with contextlib.suppress(FileNotFoundError):
        return _read(path, kind)
    try:
        _make(path, kind)
        return _read(path, kind)
    except OSError as error:
        raise HostKeyRefused(
            f"The key for callers by SSH can't be made at {path} ({error.strerror or error})."
        ) from error


def existing(folder: Path, kind: str = ED25519) -> SSHKey | None:
    """Return a key in the data folder, None if it is missing; raise `HostKeyRefused`."""
    try:
        return _read(folder / FILES[kind], kind)
    except FileNotFoundError:
        return None


def _read(path: Path, kind: str) -> SSHKey:
    try:
        key = import_private_key(path.read_bytes())
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:  # wrong numbers are no KeyImportError
        reason = getattr(error, "strerror", None) or "it holds no private key without a password"
        raise HostKeyRefused(
            f"The key for callers by SSH can't be read from {path} ({reason}). Put back a copy of"
            " it, or move it away: then a new one is made, and callers' programs warn of it."
        ) from error
    if key.get_algorithm() != kind:
        raise HostKeyRefused(
            f"The key for callers by SSH at {path} is {key.get_algorithm()}, and only {kind} will"
            " do there."
        )
    bits = getattr(key.pyca_key, "key_size", 0)  # those of the other kind have no number
    if kind == RSA and not _LEAST_RSA_BITS <= bits <= _MOST_RSA_BITS:
        raise HostKeyRefused(
            f"The key for callers by SSH at {path} has {bits} bits, and only"
            f" {_LEAST_RSA_BITS} to {_MOST_RSA_BITS} will do."
        )
    return key


def _make(path: Path, kind: str) -> None:
    """Make a key; if another server of the board is faster, its key stays."""
    made = generate_private_key(kind)  # with 2048 bits for RSA, as safe as the exchanges
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ALONE)
    try:
        with os.fdopen(file, "wb") as whole:
            whole.write(made.export_private_key())
            whole.flush()
            os.fsync(whole.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
    sync_folder(path.parent)
