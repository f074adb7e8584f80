"""Two servers of one board as processes: the one that deals is killed, or stopped for a while."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from tests.door.company import AT_TABLE, BETTING, YOUR_TURN, Player, player, table_toml
from tests.door.processes import Served, audits_are_clean
from tests.timebank.cluster import Cluster
from timebank.wagers import journal
from timebank.wagers.journal import StoredRound

pytestmark = pytest.mark.long

DOES_NOT_ANSWER = "The server of this table doesn't answer."
HAND_GOES_ON = "The table has moved to another server. Your hand goes on."
INSURANCE, DROP_THAT_CALL = "Insurance", "Drop that call"
QUESTIONS = (BETTING, YOUR_TURN, INSURANCE)
# Nobody is stood while the test looks at the books.
TABLE = {"turn_seconds": 600, "resume_wait": 600, "bell_seconds": 600}


@asynccontextmanager
async def two_servers(*folders: Path) -> AsyncIterator[list[Served]]:
    """Serve the board of these folders; at the end its books must be in order."""
    found: list[Served] = []
    async with AsyncExitStack() as stack:
        for folder in folders:
            board = Served(folder)
            stack.push_async_callback(board.close)
            await board.serve()
            found.append(board)
        yield found
    audits_are_clean(found[0])


@pytest.fixture(params=["one machine", "two machines"])
def folders(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Path]]:
    """Where the two servers are: in one folder, with books in a file, or in a folder each, where
    they have nothing in common but the database and reach each other by TLS."""
    if request.param == "one machine":
        (tmp_path / "sysop.toml").write_text(table_toml(**TABLE), encoding="utf-8")
        yield [tmp_path, tmp_path]
        return
    cluster: Cluster = request.getfixturevalue("cluster")
    name = cluster.take()
    toml = table_toml(timebank=f'database = "{cluster.url(name)}"', **TABLE)
    found = [tmp_path / "one", tmp_path / "two"]
    for each in found:
        each.mkdir()
        server = f'[server]\nname = "{each.name}"\nlink = "127.0.0.1:0"\n'
        (each / "sysop.toml").write_text(f"{toml}\n{server}", encoding="utf-8")
    yield found
    cluster.give_back(name)


def open_round(board: Served) -> StoredRound:
    with board.books() as desk:
        (found,) = journal.table_rounds(desk, "vegas")
    return found


def lease_runs_out(board: Served) -> None:
    """Let the table be held no longer, as it is twelve seconds after its server has stopped."""
    with board.books() as desk:
        desk.connection.exec_driver_sql("UPDATE leases SET until = 0 WHERE name = 'vegas/1'")


async def is_killed(board: Served) -> None:
    board.process.kill()
    await board.process.wait()
    board.port = 0  # there is nothing to close


async def is_asked_something(each: Player) -> None:
    await each.terminal.wait_for(
        lambda _: any(words in each.prompt for words in QUESTIONS), "a question"
    )


async def declines_insurance(each: Player) -> None:
    each.presses("n")
    await each.terminal.wait_for(lambda _: INSURANCE not in each.prompt, "insurance declined")


async def in_mid_round(*players: Player) -> None:
    """Let all bet until the first of them has to decide: some rounds are over when dealt."""
    (first, *_) = players
    while YOUR_TURN not in first.prompt:
        for each in players:
            await plays_out(each)
            await each.says_bet(1)
            await each.is_asked(AT_TABLE)  # also where the last bet deals a round that is over
        while True:
            asked = [asyncio.ensure_future(is_asked_something(each)) for each in players]
            await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
            for waiting in asked:
                waiting.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
            insured = [each for each in players if INSURANCE in each.prompt]
            if not insured:
                break
            await declines_insurance(insured[0])


async def plays_out(each: Player) -> None:
    """Stand, whatever the cards are, until the round is over for all."""
    await is_asked_something(each)
    while BETTING not in each.prompt:
        if INSURANCE in each.prompt:
            await declines_insurance(each)
        else:
            await each.stands()
        await is_asked_something(each)


async def comes_back(each: Player, board: Served) -> None:
    """Call another server than before, which may not know yet that the old call is over."""
    each.board = board
    await each.calls()
    await each.terminal.wait_for(
        lambda _: any(words in each.prompt for words in (DROP_THAT_CALL, AT_TABLE, YOUR_TURN)),
        "the table",
    )
    if DROP_THAT_CALL in each.prompt:
        each.presses("y")
    await each.is_asked(AT_TABLE)


def cards(each: Player) -> list[str]:
    """What lies before the two, as somebody sees it."""
    return [each.block(chair) for chair in (1, 2)]


async def test_a_table_outlives_the_servers_that_deal(folders: list[Path]) -> None:
    async with two_servers(*folders) as (one, two):
        ada, bob = await player(one, "Ada"), await player(two, "Bob")
        await in_mid_round(ada, bob)
        before, seen = open_round(two), cards(bob)

        one.process.send_signal(signal.SIGSTOP)
        lease_runs_out(two)
        await bob.sees(HAND_GOES_ON)
        assert open_round(two) == before
        ada.presses("s")
        one.process.send_signal(signal.SIGCONT)
        await ada.sees(HAND_GOES_ON)
        await one.logs("table 1 of Vegas is another server's now")
        assert open_round(two) == before
        assert cards(ada) == cards(bob) == seen
        await ada.stands()
        await plays_out(bob)

        await in_mid_round(ada, bob)
        before, seen = open_round(one), cards(ada)
        await is_killed(two)
        await ada.sees(DOES_NOT_ANSWER)
        lease_runs_out(one)
        await ada.sees(HAND_GOES_ON)
        await comes_back(bob, one)
        assert open_round(one) == before
        assert cards(ada) == cards(bob) == seen
        await ada.stands()
        await plays_out(bob)
