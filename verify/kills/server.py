"""A server of PostgreSQL for one run: as the tests have theirs, and gone afterwards."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import POSTGRES_FOLDER
from tests.timebank import cluster


@contextmanager
def served() -> Iterator[str]:
    """Start a server, and give the URL of a database with nothing in it."""
    folder = Path(tempfile.mkdtemp(prefix="kills-postgres-"))
    os.environ[POSTGRES_FOLDER] = str(folder)
    try:
        here = cluster.Cluster()
        try:
            yield here.url(here.empty())
        finally:
            here.close()
    finally:
        cluster.stop(folder)
        shutil.rmtree(folder)
