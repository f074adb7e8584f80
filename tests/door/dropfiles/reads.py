"""Files put in folders, and read again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from door.dropfiles.dropfile import DropFile, HostSettings
from door.dropfiles.formats import read
from door.dropfiles.interpretation import Understood, understand
from door.dropfiles.search import find
from tests.door.dropfiles.writers import WRITERS, Written

NOW = datetime(2026, 11, 20, 20, 0, tzinfo=UTC)
AS_WRITTEN = HostSettings(NOW, "auto", "auto")
NO_ENVIRONMENT: Mapping[str, str] = {}


def put(folder: Path, written: Written, *, ago: float = 1) -> Path:
    """Write a file into a folder, so many seconds before now."""
    path = folder / written.name
    path.write_bytes(written.content)
    at = (NOW - timedelta(seconds=ago)).timestamp()
    os.utime(path, (at, at))
    return path


def reading_of(folder: Path, writer: str, reading: HostSettings = AS_WRITTEN) -> DropFile:
    return read(put(folder, WRITERS[writer]), reading)


def understood_in(folder: Path, reading: HostSettings = AS_WRITTEN) -> Understood:
    return understand(find(folder, NO_ENVIRONMENT, None), reading)


def understood(folder: Path, name: str, content: bytes) -> Understood:
    """Return what the door understands of one file."""
    path = put(folder, Written(name, content))
    return understand(find(path, NO_ENVIRONMENT, None), AS_WRITTEN)


def understood_of(folder: Path, *files: Written | str) -> Understood:
    """Return what the door understands of several files, given whole or by their writer."""
    for file in files:
        put(folder, WRITERS[file] if isinstance(file, str) else file)
    return understood_in(folder)
