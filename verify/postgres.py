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
from tests.timebank.cluster import Cluster


@contextmanager
def served(where: Path | None = None) -> Iterator[Cluster]:
    """Start a server whose files are below a folder, and stop it at the end."""
    folder = Path(tempfile.mkdtemp(prefix="verify-postgres-", dir=where))
    os.environ[POSTGRES_FOLDER] = str(folder)
    try:
        here = Cluster()
        try:
            yield here
        finally:
            here.close()
    finally:
        cluster.stop(folder)
        shutil.rmtree(folder)
