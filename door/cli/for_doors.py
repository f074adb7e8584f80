"""The program of a server that a door has started (`door.run.starting`); sysops do not run it.

python -P -m door.cli.for_doors SYSOP.TOML LOCK
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from pathlib import Path

from door.config import config as settings
from door.config import log_file
from door.errors import BoardClosed, CannotJoin, CannotListen
from door.server import server
from door.server.for_doors import ForDoors
from timebank.errors import BooksFailed, DatabaseRefused, SettingsError
from timebank.serving import Lock

log = logging.getLogger("door.server")


def main() -> None:
    """Serve until no caller has been online for a while; exit with 1 if the server cannot start."""
    path, lock = sys.argv[1:]
    os.set_inheritable(int(lock), False)  # no child process may keep the lock
    part = ForDoors(Lock(int(lock)))
    try:
        config = part.adapt(settings.load(Path(path)))
        log_file.begin(config)
        part.lock.refuse_another(config.bank.lock)
        with asyncio.Runner(loop_factory=server.loop_of(config)) as runner:
            runner.run(server.serve(config, log.info, for_doors=part))
    except (
        *(SettingsError, DatabaseRefused, BooksFailed, CannotJoin, CannotListen),
        *(BoardClosed, OSError),
    ) as error:
        log.error("%s", error)
        sys.exit(1)
    except Exception:
        log.exception("the server failed")
        sys.exit(1)


if __name__ == "__main__":
    main()
