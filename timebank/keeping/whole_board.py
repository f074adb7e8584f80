"""One file with all of a board: books, sysop.toml, the sysop's texts, and the SSH keys, sealed.

It is a tar file, whose first member says in words what it holds and how it goes back. A restore
takes the books out of it. `tar` unpacks the rest into the folder of a board.
"""

from __future__ import annotations

import io
import os
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from timebank import files
from timebank.errors import BackupRefused
from timebank.extras import install_command
from timebank.keeping.backup import ROOM, Copied, check_source, new_file
from timebank.settings.forms import Text
from timebank.settings.settings import BankSettings
from timebank.settings.toml import open_table

CONTENTS, CONFIG, TEXTS = "CONTENTS.txt", "sysop.toml", "texts"
BOOKS = {"books.sqlite3": "SQLite", "books.pgdump": "pg_restore"}  # and what reads them
# The SSH keys, and where they are in the data folder.
KEYS = {f"{name}.pem": name for name in ("ssh_host_key", "ssh_host_rsa_key")}
SEALED = ": an SSH key, sealed with the passphrase"
OWNER_ALONE = 0o600
LONGEST_PASSPHRASE = 1023  # bytes; OpenSSL takes no more


def back_up(
    config: Path,
    settings: BankSettings,
    now: datetime,
    target: Path,
    passphrase: bytes | None,
    copy_books: Callable[[Path], Copied],
) -> tuple[Copied, str]:
    """Write everything to a new file; return the outcome of the books' copy, and the contents.

    Without a passphrase the SSH keys are left out. Raises `BackupRefused`.
    """
    if passphrase is not None and not 0 < len(passphrase) <= LONGEST_PASSPHRASE:
        must = f"must have 1 to {LONGEST_PASSPHRASE} bytes"
        raise BackupRefused(f"The passphrase, the first line of its file, {must}.")
    paths = {each: settings.database.with_name(name) for each, name in KEYS.items()}
    keys = {each: path for each, path in paths.items() if path.exists()}
    written: Path = open_table(config).table("board").read("texts", Text(Path), TEXTS)
    data, texts = (_place(each, config) for each in (settings.database.parent, written))
    with (
        new_file(target) as part,
        tempfile.TemporaryDirectory(prefix=ROOM, dir=part.parent) as room,
    ):
        name = list(BOOKS)[settings.server is not None]
        books = Path(room, name)
        copied = copy_books(books)
        members = {CONFIG: _read(config), **_screens(written, texts)}
        if passphrase is not None:
            members |= {each: _sealed(key, passphrase) for each, key in keys.items()}
        why = "--passphrase-file adds them" if keys else "the board has none"
        left_out = f"No SSH keys are in it; {why}."
        about_keys = [] if keys.keys() & members.keys() else [left_out]
        steps = [f"mkdir -p {texts}; mv {TEXTS}/* {texts}"] if texts.is_absolute() else []
        steps += [f"openssl pkey -in {e} -out {data / KEYS[e]}" for e in KEYS if e in members]
        local = settings.schedule.local(now)
        words = _contents(members, copied, name, local, about_keys, steps)
        with tarfile.open(part, "w") as tar:
            for each, content in {CONTENTS: words.encode(), **members}.items():
                tar.addfile(_member(each, len(content), now), io.BytesIO(content))
            with books.open("rb") as file:
                tar.addfile(_member(name, books.stat().st_size, now), file)
    return copied, words


def _place(folder: Path, config: Path) -> Path:
    """Return a folder as seen from the board's folder, or its whole path if it is not in there."""
    home, whole = config.absolute().parent, Path(os.path.abspath(folder))
    return whole.relative_to(home) if whole.is_relative_to(home) else whole


def _screens(folder: Path, place: Path) -> dict[str, bytes]:
    """Return the screens that the board shows by their paths in its folder, else in "texts"."""
    top = Path(TEXTS) if place.is_absolute() else place
    found = {}
    for path in sorted([*folder.glob("*.ans"), *folder.glob("*.asc")]):
        real = files.own_links_followed(path)
        with suppress(OSError), files.opened(real, os.O_RDONLY) as file:
            found[(top / path.name).as_posix()] = os.read(file, os.fstat(file).st_size)
    return found


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason = files.forbidden(path) or f"{path} cannot be read: {error.strerror}."
        raise BackupRefused(reason) from error


def _member(name: str, size: int, now: datetime) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = size, int(now.timestamp()), OWNER_ALONE
    return member


def _contents(
    members: Mapping[str, bytes],
    copied: Copied,
    books: str,
    local: datetime,
    about_keys: list[str],
    steps: list[str],
) -> str:
    state = "with faults: see `timebank audit`" if copied.findings else "in order"
    lines = [
        f"All of a board on {local:%Y-%m-%d %H:%M}.",
        f"  {books}: {copied.transfers} transfers, {state}; {BOOKS[books]} reads it",
        *(f"  {name}{SEALED if name in KEYS else ''}" for name in members),
        *about_keys,
        "Never in it: certificates, passwords of PostgreSQL, logs, files of other programs.",
        "It holds password hashes and the seeds of shoes: let nobody read it.",
        "To put all of it back, as the user of the board, in its folder or an empty one:",
        f"  tar xf FILE --exclude={books}; timebank restore FILE",
        *(f"  {step}" for step in steps),
    ]
    return "".join(f"{line}\n" for line in lines)


def _sealed(path: Path, passphrase: bytes) -> bytes:
    try:
        from cryptography.hazmat.primitives import serialization as forms  # noqa: PLC0415
    except ImportError as error:
        missing = f"A library that seals keys is missing: run {install_command('ssh')}"
        raise BackupRefused(f"{missing}, or give no passphrase.") from error
    data = _read(path)
    is_openssh = b"OPENSSH PRIVATE KEY" in data  # else as `openssl pkey` writes it
    read = forms.load_ssh_private_key if is_openssh else forms.load_pem_private_key
    try:
        key = read(data, None)
    except (TypeError, ValueError) as error:  # TypeError if it has a passphrase
        raise BackupRefused(f"{path} holds no SSH key without a passphrase.") from error
    sealing = forms.BestAvailableEncryption(passphrase)
    return key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, sealing)


@contextmanager
def books_in(source: Path) -> Iterator[Path]:
    """Yield a copy of the books in a whole board's file; any other file as it is.

    Raises `BackupRefused` for a file that cannot be read.
    """
    check_source(source)
    with tempfile.TemporaryDirectory(prefix="timebank-") as room:
        try:
            books = _unpacked(source, Path(room, source.name))
        except tarfile.TarError as error:
            raise BackupRefused(f"{source} is cut off or damaged: {error}.") from error
        except OSError as error:
            reason = f"cannot be unpacked into {tempfile.gettempdir()}: {error.strerror}"
            raise BackupRefused(f"{source} {reason}.") from error
        yield books


def _unpacked(source: Path, target: Path) -> Path:
    try:
        tar = tarfile.open(source, "r:")  # noqa: SIM115 - closed below
    except tarfile.ReadError:  # the books alone
        return source
    with tar:
        for member in tar:
            file = tar.extractfile(member) if member.isreg() else None
            if file is not None and member.name in BOOKS:
                files.put_new(target, file)  # type: ignore[arg-type]  # it is only read
                return target
    raise BackupRefused(f"{source} is not a backup of a board: it holds no books.")
