"""The host key that the board shows to callers by SSH, made once and stored in the data folder.

Callers' programs remember it, and warn of any other. So no new key is made while a file of this
name exists, even a broken one.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from asyncssh import (
    KeyImportError,
    SSHKey,
    generate_private_key,
    import_private_key,
)

from door.errors import HostKeyRefused
from timebank.files import sync_folder

NAME = "ssh_host_key"
KIND = "ssh-ed25519"  # signs in a twentieth of a millisecond; RSA takes some thirty times as long
_OWNER_ALONE = 0o600


def host_key(folder: Path) -> SSHKey:
    """Return the key in the data folder; make it if it is missing; raise `HostKeyRefused`."""
    path = folder / NAME
    with contextlib.suppress(FileNotFoundError):
        return _read(path)
    try:
        _make(path)
    except OSError as error:
        raise HostKeyRefused(
            f"The key for callers by SSH can't be made at {path} ({error.strerror or error})."
        ) from error
    return _read(path)


def existing(folder: Path) -> SSHKey | None:
    """Return the key in the data folder, None if it is missing; raise `HostKeyRefused`."""
    try:
        return _read(folder / NAME)
    except FileNotFoundError:
        return None


def _read(path: Path) -> SSHKey:
    try:
        key = import_private_key(path.read_bytes())
    except FileNotFoundError:
        raise
    except (OSError, KeyImportError) as error:
        reason = getattr(error, "strerror", None) or "it holds no private key without a password"
        raise HostKeyRefused(
            f"The key for callers by SSH can't be read from {path} ({reason}). Put back a copy of"
            " it, or move it away: then a new one is made, and callers' programs warn of it."
        ) from error
    if key.get_algorithm() != KIND:
        raise HostKeyRefused(
            f"The key for callers by SSH at {path} is {key.get_algorithm()}, and only {KIND} will"
            " do: others take too long to sign with."
        )
    return key


def _make(path: Path) -> None:
    """Make a key; if another server of the board is faster, its key stays."""
    made = generate_private_key(KIND)
    draft = path.with_name(f".{NAME}.{secrets.token_hex(8)}")
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
