"""Fixtures for tests of the time bank."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.timebank.books import Books
from tests.timebank.cluster import Cluster, programs, shared
from tests.timebank.tables import Table
from tests.timebank.vandal import Vandal
from timebank.cli.main import main
from timebank.settings.place import read_place
from timebank.settings.settings import load
from timebank.wagers import chains

SHARED_MEMORY = Path("/dev/shm")

# Processes of tests are forked from one that has loaded these modules.
multiprocessing.set_forkserver_preload(["pytest", "tests.timebank.books", "timebank.cli.main"])
SETTINGS = """
[board]
time_zone = "Europe/Berlin"

[calls]
minutes_per_day = 60
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, if there is one, because every COMMIT waits for the disk."""
    if not os.access(SHARED_MEMORY, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY) as name:
        yield Path(name)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test of books on SQLite, and on PostgreSQL too where it is asked for.

    A long run does both everywhere. A usual run does both where a test is marked `both_engines`,
    because its SQL differs by engine. A test of a file alone is marked `of_a_file`.
    """
    marker = metafunc.definition.get_closest_marker
    if "engine" in metafunc.fixturenames and not marker("of_a_file"):
        on_both = metafunc.config.option.long or marker("both_engines")
        engines = ["sqlite", "postgres"] if on_both else ["sqlite"]
        metafunc.parametrize("engine", engines, indirect=True)


@pytest.fixture(autouse=True)
def single_shoes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seal chains of one shoe, whose seed is the root that a test names."""
    monkeypatch.setattr(chains, "LENGTH", 1)


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> str:
    """The kind of books, "sqlite" or "postgres"."""
    return getattr(request, "param", "sqlite")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A server of PostgreSQL."""
    if programs() is None:
        assert not os.environ.get("BJFT_NEED_CLIENTS"), "PostgreSQL must be here"
        pytest.skip("PostgreSQL is not installed")
    found = shared()
    yield found
    found.close()
    shared.cache_clear()


@pytest.fixture
def place(engine: str, request: pytest.FixtureRequest) -> Iterator[Callable[[Path], str]]:
    """Return a function that gives each folder a URL of new books; "" for a file there."""
    if engine == "sqlite":
        yield lambda folder: ""
        return
    cluster: Cluster = request.getfixturevalue("cluster")
    taken: dict[Path, str] = {}

    def of(folder: Path) -> str:
        if folder not in taken:
            taken[folder] = cluster.take()
        return cluster.url(taken[folder])

    yield of
    for name in taken.values():
        cluster.give_back(name)


@pytest.fixture
def open_books(folder: Path, place: Callable[[Path], str]) -> Iterator[Callable[..., Books]]:
    """Open books with settings of the test's choice."""
    opened: list[Books] = []

    def make(folder: Path = folder, **changes) -> Books:
        url = place(folder)
        server = read_place(url) if url else None
        opened.append(Books(folder, server=server, **changes))
        return opened[-1]

    yield make
    for books in opened:
        books.close()


@pytest.fixture
def books(open_books: Callable[..., Books]) -> Books:
    """The books of a board in UTC: 60 minutes a day, Mail hour at 03:00, now 12:00."""
    return open_books()


@pytest.fixture
def books_on_a_server(cluster: Cluster, folder: Path) -> Iterator[Books]:
    """Books on a server, for tests that do not apply to a file."""
    name = cluster.take()
    made = Books(folder, server=cluster.place(name))
    yield made
    made.close()
    cluster.give_back(name)


@pytest.fixture
def config(folder: Path, place: Callable[[Path], str]) -> Path:
    """A sysop.toml for tests of commands."""
    path = folder / "sysop.toml"
    url = place(folder)
    path.write_text(f'{SETTINGS}\n[timebank]\ndatabase = "{url}"\n' if url else SETTINGS)
    return path


@pytest.fixture
def board(config: Path) -> Iterator[Books]:
    """The books that this sysop.toml names, at noon in Berlin."""
    settings = load(config)
    noon = datetime(2026, 3, 1, 11, 0, tzinfo=UTC)
    folder, server = settings.database.parent, settings.server
    books = Books(folder, now=noon, zone=settings.zone, server=server)
    yield books
    books.close()


class Command:
    """The command `timebank`, over the settings of a board."""

    def __init__(self, config: Path) -> None:
        self.config = config

    def __call__(self, *words: str, at: Path | None = None) -> tuple[int, str, str]:
        """Run it; returns exit code, output, and errors."""
        config = str(at or self.config)
        result = CliRunner().invoke(main, [words[0], "--config", config, *words[1:]])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    def says(self, *words: str, at: Path | None = None) -> str:
        """Return the output of a command that finds nothing wrong."""
        code, output, error = self(*words, at=at)
        assert (code, error) == (0, "")
        return output

    def refuses(self, *words: str, at: Path | None = None) -> str:
        """Return why a command is refused."""
        code, output, error = self(*words, at=at)
        assert (code, output) == (2, "")
        return error


@pytest.fixture
def timebank(config: Path) -> Command:
    return Command(config)


@pytest.fixture
def ann(books):
    return books.caller("Ann")


@pytest.fixture
def bob(books):
    return books.caller("Bob")


@pytest.fixture
def vandal(books):
    return Vandal(books)


@pytest.fixture
def call(books, ann, bob):
    """Ann, known for a year, on line with her sixty minutes."""
    books.wait(365 * 86400)
    return books.call(ann)


@pytest.fixture
def evening(board: Books) -> Books:
    """Ann wins 15 minutes, and her next hand is open; Bob loses 20 and logs off."""
    ann = board.call(board.caller("Ann"))
    board.wait(65)
    ann.win(600, 900)
    ann.bet(300)
    bob = board.call(board.caller("Bob"), node=2)
    board.wait(100)
    bob.lose(1200)
    bob.close()
    return board


@pytest.fixture
def table(books):
    """Ann, Bob and Cid at a table, with sixty minutes each."""
    return Table(books, 3)


@pytest.fixture
def playing(table):
    """The same with a round in play: they have bet 1, 2 and 3 minutes."""
    table.bet({1: 60, 2: 120, 3: 180})
    return table
