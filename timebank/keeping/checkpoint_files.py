"""Checkpoints of audits (audit/checkpoints.py), kept beside the books, each under its digest.

They are no part of the books: none is believed that has not the digest under which it is kept.
"""

from __future__ import annotations

import contextlib
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from timebank import files
from timebank.audit import checkpoints
from timebank.audit.checkpoints import Checkpoint
from timebank.errors import CheckpointRefused
from timebank.keeping.side_files import place_of
from timebank.settings.settings import BankSettings

# A month of nights; older ones are forgotten.
MOST_KEPT = 31
_LARGEST = 2**30  # bytes, of what could be read: more is none of ours
_NAME = re.compile(r".*\.checkpoint-([0-9a-f]{64})", re.DOTALL)


def keep(settings: BankSettings, checkpoint: Checkpoint) -> str | None:
    """Keep a checkpoint and return its digest; None where the books have no folder here.

    Raises `OSError`.
    """
    text = checkpoint.encoded()
    digest = checkpoints.digest_of(text)
    place = _place(settings, digest)
    if not place.parent.is_dir():
        return None
    files.replace(place, zlib.compress(text))
    others = sorted((each for each in _kept(settings) if each != place), key=_age, reverse=True)
    for old in others[MOST_KEPT - 1 :]:
        old.unlink(missing_ok=True)
    return digest


def kept(settings: BankSettings, digest: str) -> Checkpoint | None:
    """Find the checkpoint with a digest, None without one; raises `CheckpointRefused`."""
    try:
        packed = _place(settings, digest).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CheckpointRefused(f"The checkpoint can't be read: {error}.") from error
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(packed, _LARGEST)
    except zlib.error:
        text = b""
    return checkpoints.decoded(text, digest)


def last_kept(settings: BankSettings) -> str | None:
    """Give the digest of the checkpoint that was kept last, of those that may be read: another
    user, root say, may have left one of their own. An earlier one has more checked, not less."""
    readable = (path for path in _kept(settings) if os.access(path, os.R_OK))
    newest = max(readable, key=_age, default=None)
    found = None if newest is None else _NAME.fullmatch(newest.name)
    return None if found is None else found[1]


def _place(settings: BankSettings, digest: str) -> Path:
    return place_of(settings.database, f"checkpoint-{digest}")


def _kept(settings: BankSettings) -> Iterator[Path]:
    beside = f"{settings.database.name}.checkpoint-"
    with contextlib.suppress(OSError):
        for path in settings.database.parent.iterdir():
            is_named_so = path.name.startswith(beside) and _NAME.fullmatch(path.name)
            if is_named_so and path.is_file():
                yield path


def _age(path: Path) -> tuple[int, str]:
    try:
        return path.stat().st_mtime_ns, path.name
    except OSError:
        return 0, path.name
