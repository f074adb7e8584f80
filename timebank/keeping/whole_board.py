"""One file with all of a board: books, sysop.toml, the sysop's texts, and the SSH key, sealed.

It is a tar file, whose first member says in words what it holds. A restore puts the books in place
as from any backup, and writes the other files where they are missing. It never overwrites one.
"""

from __future__ import annotations

import io
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from timebank import files
from timebank.errors import BackupRefused
from timebank.keeping.backup import Copied, check_source, new_file
from timebank.settings.forms import Text
from timebank.settings.settings import BankSettings
from timebank.settings.toml import open_table

CONTENTS, CONFIG, KEY, TEXTS = "CONTENTS.txt", "sysop.toml", "ssh_host_key.pem", "texts"
BOOKS = {"books.sqlite3": "SQLite", "books.pgdump": "pg_restore"}  # and what reads them
SSH_KEY = "ssh_host_key"  # in the data folder
OWNER_ALONE = 0o600


@dataclass(frozen=True)
class Dump:
    """An open dump. `books` is a copy of its books; `others` has the other members' contents.

    `config` has the settings to restore with: those here, or the dump's where there are none.
    """

    books: Path
    config: Path
    others: Mapping[str, bytes]


def key_path(settings: BankSettings) -> Path:
    return settings.database.with_name(SSH_KEY)


def back_up(
    config: Path,
    settings: BankSettings,
    now: datetime,
    target: Path,
    passphrase: str | None,
    copy_books: Callable[[Path], Copied],
) -> tuple[Copied, str]:
    """Write everything to a new file; return the outcome of the books' copy, and the contents.

    Without a passphrase the SSH key is left out. Raises `BackupRefused`.
    """
    texts = _texts_folder(config)
    paths = {f"{TEXTS}/{path.relative_to(texts).as_posix()}": path for path in _files_in(texts)}
    with (
        new_file(target) as part,
        tempfile.TemporaryDirectory(prefix=".timebank-", dir=part.parent) as room,
    ):
        name = list(BOOKS)[settings.server is not None]
        books = Path(room, name)
        copied = copy_books(books)
        members = {each: path.read_bytes() for each, path in {CONFIG: config, **paths}.items()}
        if passphrase is not None and key_path(settings).exists():
            members[KEY] = _sealed(key_path(settings), passphrase)
        words = _contents(members, copied, name, settings.schedule.local(now))
        with tarfile.open(part, "w") as tar:
            for each, data in {CONTENTS: words.encode(), **members}.items():
                tar.addfile(_member(each, len(data), now), io.BytesIO(data))
            with books.open("rb") as file:
                tar.addfile(_member(name, books.stat().st_size, now), file)
    return copied, words


def _texts_folder(config: Path) -> Path:
    folder: Path = open_table(config).table("board").read("texts", Text(Path), TEXTS)
    return folder


def _files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _member(name: str, size: int, now: datetime) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = size, int(now.timestamp()), OWNER_ALONE
    return member


def _contents(members: Mapping[str, bytes], copied: Copied, books: str, local: datetime) -> str:
    texts = sum(name.startswith(f"{TEXTS}/") for name in members)
    state = "with faults: see `timebank audit`" if copied.findings else "in order"
    lines = [
        f"All of a board on {local:%Y-%m-%d %H:%M}. `timebank restore` puts it back.",
        f"{books}: {copied.transfers} transfers, {state}; {BOOKS[books]} reads it",
        f"{CONFIG}: the settings",
        f"{TEXTS}: {texts} files of the sysop",
        f"{KEY}: the SSH key, sealed; `openssl pkey` opens it with the passphrase"
        if KEY in members
        else "No SSH key, because no passphrase was given: a board elsewhere makes a new one.",
        "Never in it: certificates, passwords of PostgreSQL, logs, files of other programs.",
        "It holds password hashes and the seeds of shoes: let nobody read it.",
    ]
    return "".join(f"{line}\n" for line in lines)


def _sealed(path: Path, passphrase: str) -> bytes:
    from cryptography.hazmat.primitives import serialization as forms  # noqa: PLC0415 - of an extra

    data = path.read_bytes()
    try:
        key = forms.load_ssh_private_key(data, None)
    except ValueError as error:
        raise BackupRefused(f"{path} holds no SSH key without a passphrase.") from error
    sealing = forms.BestAvailableEncryption(passphrase.encode())
    return key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, sealing)


@contextmanager
def opened(source: Path, config: Path, passphrase: str | None) -> Iterator[Dump | None]:
    """Open a dump, with its books in a temporary folder; yield None for any other file.

    Raises `BackupRefused` for one that cannot be read, and for a wrong passphrase.
    """
    check_source(source)
    with tempfile.TemporaryDirectory(prefix="timebank-") as room:
        books = Path(room, source.name)
        try:
            others = _read(source, books) if tarfile.is_tarfile(source) else None
        except tarfile.TarError as error:
            raise BackupRefused(f"{source} is cut off or damaged: {error}.") from error
        except OSError as error:
            raise BackupRefused(f"{source} cannot be read: {error.strerror}.") from error
        if others is None:
            yield None
            return
        if KEY in others and passphrase is not None:
            others[SSH_KEY] = _unsealed(others[KEY], passphrase)
        with _settings_file(config, others[CONFIG]) as place:
            yield Dump(books, place, others)


def _read(source: Path, books: Path) -> dict[str, bytes]:
    """Copy the books of a dump to a file, and return the other members."""
    others = {}
    with tarfile.open(source) as tar:
        for member in tar:
            file = tar.extractfile(member) if member.isreg() else None
            if file is not None and member.name in BOOKS:
                files.put_new(books, file)  # type: ignore[arg-type]  # it is only read
            elif file is not None:
                others[member.name] = file.read()
    if not books.exists() or CONFIG not in others:
        raise BackupRefused(f"{source} is not a backup of a board: it lacks books or {CONFIG}.")
    return others


@contextmanager
def _settings_file(config: Path, data: bytes) -> Iterator[Path]:
    """Yield the board's settings file, or a copy of the dump's next to where it is missing."""
    if config.exists():
        yield config
        return
    try:
        with tempfile.NamedTemporaryFile(dir=config.absolute().parent, prefix=".sysop-") as file:
            file.write(data)
            file.flush()
            yield Path(file.name)
    except OSError as error:
        raise BackupRefused(f"{config} cannot be written: {error.strerror}.") from error


def _unsealed(data: bytes, passphrase: str) -> bytes:
    try:
        from cryptography.hazmat.primitives import serialization as forms  # noqa: PLC0415

        key = forms.load_pem_private_key(data, passphrase.encode())
    except ImportError as error:
        raise BackupRefused("The SSH key needs the extra `ssh` to be opened.") from error
    except ValueError as error:
        raise BackupRefused("The passphrase does not open the SSH key.") from error
    form = forms.PrivateFormat.OpenSSH
    return key.private_bytes(forms.Encoding.PEM, form, forms.NoEncryption())


def put_back(dump: Dump, config: Path, settings: BankSettings) -> list[str]:
    """Write the files that are missing here; return sentences. Raises `BackupRefused`."""
    written, differing = [], []
    texts = _texts_folder(dump.config)
    for name, data in dump.others.items():
        place = {CONFIG: config, SSH_KEY: key_path(settings)}.get(name)
        folder, *parts = PurePosixPath(name).parts
        if folder == TEXTS and ".." not in parts:
            place = texts.joinpath(*parts)
        try:
            if place is not None and not place.exists():
                files.make_folder(place.parent)
                files.replace(place, data)
                written.append(str(place))
            elif place is not None and place.read_bytes() != data:
                differing.append(str(place))
        except OSError as error:
            raise BackupRefused(f"{place} cannot be written: {error.strerror}.") from error
    sentences = [f"Written: {', '.join(written)}."] if written else []
    if differing:
        stay = "stays as it is" if len(differing) == 1 else "stay as they are"
        sentences.append(f"Not as in the backup, and {stay}: {', '.join(differing)}.")
    if KEY in dump.others and SSH_KEY not in dump.others:
        sentences.append("The SSH key stays sealed in the backup: --passphrase-file opens it.")
    return sentences
