"""What all tests share: folders for files, and the profiles of Hypothesis.

Hypothesis tries the same examples in every run. `pytest --hypothesis-profile=search` tries random
others, in search of faults. Passwords cost next to nothing, except in tests of their cost.

Expensive tests are marked `long`. A usual run leaves them out; `pytest --long` runs them, and so
does naming their file.
"""

import compileall
import gc
import importlib
import logging
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from unittest import mock

import pytest
from argon2 import PasswordHasher
from hypothesis import settings

from door.games.engine import shuffle
from tests import ROOT

# Files lie in memory where there is room: every COMMIT of thousands of tests waits for the disk.
MEMORY, ROOM = "/dev/shm", 2**31
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)

# Hundreds of tests start programs. Each would compile all its modules where Python may not store
# bytecode.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Many tests look for a seed that deals the hand they want, from the same numbers on.
SHUFFLES = 16_384
shuffle._shuffled = lru_cache(SHUFFLES)(shuffle._shuffled.__wrapped__)

settings.register_profile("suite", derandomize=True, deadline=None, max_examples=30)
settings.register_profile("search", derandomize=False, deadline=None)
settings.load_profile("suite")


# Where the tests of the bank have their server of PostgreSQL, one for all workers of a run.
PACKAGES = ("ansi", "bench", "door", "timebank", "verify")
POSTGRES_FOLDER = "BJFT_POSTGRES_FOLDER"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--long", action="store_true", help="run the long tests too, and both engines everywhere"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Name the folder of the server before there are workers; stop it when they are gone."""
    is_worker = hasattr(config, "workerinput")
    if not is_worker and _names_files(config):
        config.option.long = True  # workers get it with the other options
    if is_worker or POSTGRES_FOLDER in os.environ:
        return
    for package in PACKAGES:  # once, and not in each worker
        compileall.compile_dir(ROOT / package, quiet=2, workers=0)
    folder = Path(tempfile.mkdtemp(prefix="bjft-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
    os.environ[POSTGRES_FOLDER] = str(folder)
    # Caches of programs must not go to the home of the user who runs the tests.
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    os.environ["SUDO_USER"] = "jane"  # the name in the sysop's log, on every machine
    config.add_cleanup(lambda: _clear_away(folder))


def _names_files(config: pytest.Config) -> bool:
    """Return whether the command line names test files, and no folder."""
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        return False
    return all(arg.partition("::")[0].endswith(".py") for arg in config.args)


# A mark of a whole file, on one line or as a list on several.
LONG_FILE = re.compile(r"^pytestmark = (\[\n(    .*\n)*|.*)\bmark\.long\b", re.MULTILINE)


def _is_long(file: Path) -> bool:
    """Return whether all tests of a file are long. Importing it would cost as much as a test."""
    return LONG_FILE.search(file.read_text("utf-8")) is not None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if config.option.long or not collection_path.match("test_*.py"):
        return None
    return _is_long(collection_path) or None


def _clear_away(folder: Path) -> None:
    if (folder / "data").exists():  # some test has started it
        from tests.timebank.cluster import stop

        stop(folder)
    shutil.rmtree(folder, ignore_errors=True)
    del os.environ[POSTGRES_FOLDER]


def pytest_collection(session: pytest.Session) -> None:
    """Import a worker's share of the tests before all workers import all of them in one order.

    pytest rewrites each `assert` and caches the bytecode. In a fresh clone every worker would do
    that for every file, because all reach a file at the same moment. Parameters of a test must not
    depend on modules imported before: all workers must collect the same tests.
    """
    gc.disable()  # until all tests are there: nothing of this is garbage
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None or session.config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    if not session.config.option.long:
        files = [file for file in files if not _is_long(file)]
    workers = int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    for file in files[int(worker.removeprefix("gw")) :: workers]:
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        with suppress(Exception, pytest.skip.Exception):  # reported at the file's collection
            importlib.import_module(name)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.option.long:
        long = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("long")]


# New objects between two collections of garbage: ten times as many as Python takes by itself.
UNCOLLECTED = 7000


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Reencode a test's log in UTF-8, because a worker can pass on nothing else.

    A host's folder may have any name.
    """
    report = yield
    report.sections = [
        (name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections
    ]
    return report


def pytest_collection_finish() -> None:
    """Keep the collector from scanning thousands of tests and all their imports."""
    gc.freeze()
    gc.set_threshold(UNCOLLECTED)
    gc.enable()


@pytest.fixture(autouse=True, scope="module")
def few_to_scan() -> None:
    """Keep the collector from scanning what earlier files left in caches; some tests collect."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def usual_log_level() -> Iterator[None]:
    """Set the level back that a command of the tests may have set for its own log."""
    root = logging.getLogger()
    level = root.level
    yield
    root.setLevel(level)


@cache
def quick_hasher() -> PasswordHasher:
    """Hash like the callers of `tests.world`, so that no log-on renews a hash."""
    return PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture(autouse=True, scope="session")
def cheap_passwords() -> Iterator[None]:
    with mock.patch("door.call.passwords._hasher", quick_hasher):
        yield
