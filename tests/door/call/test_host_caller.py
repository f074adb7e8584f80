"""A guest's clock, with the board's time standing still until the test moves it."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from door.call.console import Console
from door.call.entries import keep_posted, uncharged
from door.call.guest_caller import HostCaller
from door.dropfiles.formats import read
from door.dropfiles.interpretation import GiveBack, Way
from door.errors import TimeUp
from door.lines import hand_over
from door.server.door_calls import DoorWire
from door.session.session import answer_guest
from door.session.while_away import news_of
from tests.door.dropfiles.reads import AS_WRITTEN, put
from tests.door.dropfiles.writers import WRITERS
from tests.door.handed_over import LINES, a_guest, comes_in
from tests.door.session.test_while_away import plays
from tests.door.wall import Wall
from tests.timebank.books import act, lost, place_bet, wager
from tests.world import BOARD, NOON, World, world
from timebank.audit.accounts import audit
from timebank.callers import own_limits
from timebank.calls.calls import open_calls
from timebank.errors import Refused
from timebank.wagers.rounds import Move, Settlement
from timebank.window.corrections import adjust
from timebank.window.teller import borrow, withdraw
from timebank.words import span

NOT_UTF_8 = os.fsdecode(b"/x/n\x94d")
EVENTS_OFF = 'events = []\n[[listeners]]\nkind = "telnet"\nhost = "127.0.0.1"\nport = 0\n'


@asynccontextmanager
async def guest_of(folder: Path, **facts: Any) -> AsyncIterator[tuple[World, HostCaller]]:
    """Open a guest's call with a drop file; it is closed at the end."""
    async with world(folder, toml=EVENTS_OFF) as here:
        caller = await comes_in(here, **facts)
        yield here, caller
        await here.server.board.close_call(caller, "log-off")


async def withdraws_ten_minutes(here: World, caller: HostCaller) -> None:
    """Withdraw ten minutes, in addition to the host's."""
    with here.books() as desk:
        adjust(desk, caller.record.id, 600, "Sysop", "a gift")
    await caller.post(lambda desk, call, ticked: withdraw(desk, call, ticked, 600))


async def test_time_left_is_the_hosts_limit_however_rich_the_guest(tmp_path) -> None:
    async with guest_of(tmp_path) as (here, caller):
        assert (caller.purse.time_left(), caller.purse.spendable()) == (600, 600)
        await withdraws_ten_minutes(here, caller)
        assert (caller.purse.time_left(), caller.purse.spendable()) == (600, 1200)
        await here.clock.advance(100)
        assert (caller.purse.time_left(), caller.purse.spendable()) == (500, 1100)
        assert caller.purse.pot(60) == 18


async def test_limits_that_guests_set_for_themselves_hold_on_their_next_visit(tmp_path) -> None:
    """This holds for guests by rlogin and for guests by a door."""

    def bet(seconds: int):
        return caller.post(
            lambda desk, call, ticked: place_bet(desk, call, ticked, wager(seconds), None)
        )

    async with world(tmp_path, toml=EVENTS_OFF) as here:
        caller = await comes_in(here)
        number = caller.record.id
        await caller.ask_books(lambda desk: own_limits.limit_loss(desk, number, 5))
        await here.server.board.close_call(caller, "log-off")
        caller = await comes_in(here)
        assert caller.record.id == number
        assert caller.purse.posted.stake_left == 300
        with pytest.raises(Refused, match="Your own limit of 5 minutes"):
            await bet(360)
        await bet(300)
        assert caller.purse.posted.stake_left == 0
        await here.server.board.close_call(caller, "log-off")


async def test_nothing_lengthens_a_call_past_the_hosts_event(
    tmp_path,
) -> None:
    async with guest_of(tmp_path) as (here, caller):
        await withdraws_ten_minutes(here, caller)
        await here.clock.advance(599)
        assert caller.purse.may_go_on
        caller.clock.check_time()
        assert caller.console.keyboard.interruption is None
        await here.clock.advance(1)
        assert not caller.purse.may_go_on
        async with uncharged(caller) as seconds:
            assert seconds == 0
            caller.clock.check_time()
            assert isinstance(caller.console.keyboard.interruption, TimeUp)
        assert caller.time_up_words() == "Xibalba wants you back: your time here is up."


async def test_time_is_counted_from_the_drop_file_and_not_from_the_log_on(tmp_path) -> None:
    async with guest_of(tmp_path, arrived=990.0) as (here, caller):
        assert here.clock.monotonic() == 1000.0
        assert caller.purse.time_left() == 590


async def test_time_before_the_call_was_opened_is_a_row_of_its_own(tmp_path) -> None:
    async with guest_of(tmp_path, arrived=990.0) as (here, caller):
        await here.pass_time(5)
        await caller.touch()
        used = [line for line in here.lines(caller.record.name) if line.kind == "elapsed"]
        assert [(line.amount, line.why) for line in used] == [
            (
                10,
                f"Time used on node {caller.node} while Xibalba was putting you through",
            ),
            (5, f"Time used on node {caller.node}"),
        ]  # fmt: skip


async def test_the_last_second_that_the_host_leaves_is_the_guests_to_its_end(tmp_path) -> None:
    async with guest_of(tmp_path) as (here, caller):
        await withdraws_ten_minutes(here, caller)
        await here.clock.advance(599.5)
        assert (caller.purse.time_left(), caller.purse.time_is_up()) == (0, False)
        await here.clock.advance(0.5)
        assert caller.purse.time_is_up()


@pytest.mark.parametrize(("forward", "left"), [(3600, 0), (3300, 299)])
async def test_a_machine_that_slept_past_the_hosts_event_leaves_no_time(
    tmp_path, forward: int, left: int
) -> None:
    """The call ends within a second, whatever the host's limit."""
    async with guest_of(tmp_path, seconds=100, until=NOON + timedelta(hours=1)) as (here, caller):
        await withdraws_ten_minutes(here, caller)
        keeper = asyncio.create_task(keep_posted(caller))
        caller.clock.start()
        here.clock.suspend(forward)
        await here.pass_time(1)
        assert caller.purse.spendable() == left
        caller.clock.stop()
        keeper.cancel()


class AnsweringWall(Wall):
    """A line that records its output and answers each prompt with a key."""

    @property
    def said(self) -> str:
        return self.written.decode("ascii")

    def write(self, data: bytes) -> None:
        super().write(data)
        if "Press any key" in self.said:
            self.receiver.received(b" ")


async def test_a_guest_reads_that_the_books_are_locked(tmp_path) -> None:
    async with world(tmp_path, toml=EVENTS_OFF, busy_seconds=0) as here:
        line = AnsweringWall()
        console = Console(line, LINES, here.clock)
        with closing(sqlite3.connect(here.config.database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert not await answer_guest(here.server.board, console, a_guest(here), None)
        assert "The board's books can't be opened just now." in line.said


async def test_the_call_is_closed_once_however_many_ask(tmp_path) -> None:
    async with guest_of(tmp_path) as (here, caller):
        await withdraws_ten_minutes(here, caller)
        first = await caller.farewell("log-off")
        assert first == ["Your time bank here holds 10 minutes."]
        assert await caller.farewell("log-off") == first
        with here.books() as desk:
            assert open_calls(desk) == []


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({}, "You bring 10 minutes from Xibalba."),
        ({"seconds": 0}, "You bring no minutes from Xibalba."),
    ],
)
async def test_guests_read_how_much_time_they_bring(tmp_path, facts, words) -> None:
    async with guest_of(tmp_path, **facts) as (_, caller):
        assert caller.news() == [words]


# The goodbye


@pytest.fixture
def undealt(monkeypatch) -> None:
    """Insert hands without cards: the books must be in order, and no hand can be replayed."""

    def findings(here: World) -> list[Any]:
        with here.books() as desk:
            return list(audit(desk))

    monkeypatch.setattr(World, "findings", findings)


async def loses(caller: HostCaller, seconds: int) -> None:
    """Lose a hand of so much."""
    placed = await caller.post(
        lambda desk, call, ticked: place_bet(desk, call, ticked, wager(seconds), None)
    )
    move = Move(placed.lead, 1, {"action": "stay"}, 4, 0, "", 60)
    await caller.post(lambda desk, call, ticked: act(desk, call, ticked, move, lost(seconds)))


@pytest.mark.usefixtures("undealt")
async def test_a_guest_without_minutes_is_promised_no_more_than_the_host_leaves(tmp_path) -> None:
    async with guest_of(tmp_path) as (here, caller):
        await loses(caller, 60)
        await here.clock.advance(540)
        async with uncharged(caller) as seconds:
            assert seconds == 60


@pytest.mark.usefixtures("undealt")
@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (300, "You owe Xibalba 5 minutes for what you lost."),
        (60, "You owe Xibalba 1 minute for what you lost."),
    ],
)
async def test_a_loss_that_the_host_does_not_show_is_announced_as_a_debt(
    tmp_path, seconds: int, words: str
) -> None:
    async with guest_of(tmp_path) as (here, caller):
        await loses(caller, seconds)
        assert await caller.farewell("log-off") == [f"{words} It comes off your next visit today."]
        again = await comes_in(here)
        assert again.news()[2].endswith(f"{span(seconds)} you lost here earlier today.")
        await here.server.board.close_call(again, "log-off")


@pytest.mark.usefixtures("undealt")
@pytest.mark.parametrize(
    ("bet", "words"),
    [
        (0, ["You paid back 30 minutes of your loan."]),
        (
            600,
            [
                "You paid back 20 minutes of your loan.",
                "You still owe 10 minutes here. Your next winnings pay that first.",
            ],
        ),
        (1800, ["You still owe 30 minutes here. Your next winnings pay that first."]),
    ],
)
async def test_the_goodbye_tells_the_outcome_of_a_loan(
    tmp_path, bet: int, words: list[str]
) -> None:
    toml = f"{EVENTS_OFF}[timebank]\nknown_days = 0\n"
    async with world(tmp_path, toml=toml) as here:
        caller = await comes_in(here)
        await caller.post(lambda desk, call, ticked: borrow(desk, call, ticked, 1800))
        if bet:
            await loses(caller, bet)
        assert await caller.farewell("log-off") == words


async def test_a_debt_won_back_is_not_announced(tmp_path) -> None:
    async with guest_of(tmp_path) as (_, caller):
        assert await caller.farewell("log-off") == []


@pytest.mark.usefixtures("undealt")
@pytest.mark.parametrize(
    ("won", "words"),
    [(1, "You take 1 minute back to Xibalba."), (2, "You take 2 minutes back to Xibalba.")],
)
async def test_minutes_are_counted_in_words_that_agree(
    tmp_path, caplog, won: int, words: str
) -> None:
    caplog.set_level(logging.INFO)
    drop = put(tmp_path, WRITERS["synchronet stdio"])
    who = read(drop, AS_WRITTEN).identity
    way = GiveBack(Way.MODUSER, tmp_path / "MODUSER.DAT", None, drop, who)
    async with guest_of(tmp_path, way=way) as (_, caller):
        placed = await caller.post(
            lambda desk, call, ticked: place_bet(desk, call, ticked, wager(60), None)
        )
        move = Move(placed.lead, 1, {"action": "stay"}, 4, 0, "", 60)
        gain = Settlement(0, 60, won * 60, "win", {"net": won * 60}, True)
        await caller.post(lambda desk, call, ticked: act(desk, call, ticked, move, gain))
        assert await caller.farewell("log-off") == [words]
    minutes = "1 minute" if won == 1 else "2 minutes"
    assert f"MODUSER.DAT for Moth@Xibalba: {minutes}" in caplog.text
    assert "1 minutes" not in caplog.text


# By a door


async def asked_to_give(here: World, caller: HostCaller, wire: DoorWire) -> asyncio.Task[list[str]]:
    """Have a guest win a minute and leave; return the goodbye once the door was asked to write."""
    placed = await caller.post(
        lambda desk, call, ticked: place_bet(desk, call, ticked, wager(60), None)
    )
    move = Move(placed.lead, 1, {"action": "stay"}, 4, 0, "", 60)
    gain = Settlement(0, 60, 60, "win", {"net": 60}, True)
    await caller.post(lambda desk, call, ticked: act(desk, call, ticked, move, gain))
    return asyncio.create_task(caller.farewell("log-off"))


def states(here: World) -> list[str]:
    with here.books() as desk:
        rows = desk.connection.exec_driver_sql("SELECT state FROM given_back")
        return [state for (state,) in rows]


@pytest.mark.usefixtures("undealt")
@pytest.mark.parametrize(
    ("answer", "state", "words"),
    [
        ([hand_over.GIVEN, "/x/MODUSER.DAT"], "written", "You take 1 minute back"),
        ([hand_over.NOT_GIVEN, "It has gone."], "kept", "can't take your 1 minute just now"),
        ([hand_over.IN_DOUBT, "It may be."], "doubtful", "can't tell if Xibalba got your 1 minute"),
        # A host with folder names in CP437.
        ([hand_over.GIVEN, f"{NOT_UTF_8}/MODUSER.DAT"], "written", "You take 1 minute back"),
        ([hand_over.NOT_GIVEN, f"{NOT_UTF_8} has gone."], "kept", "can't take your 1 minute"),
        (
            [hand_over.IN_DOUBT, f"{NOT_UTF_8} may be."],
            "doubtful",
            "can't tell if Xibalba got your",
        ),
        (None, "doubtful", "can't tell if Xibalba got your 1 minute"),
    ],
)
async def test_a_door_that_is_asked_to_give_answers_or_is_killed_meanwhile(
    tmp_path, answer: list[str] | None, state: str, words: str
) -> None:
    drop = put(tmp_path, WRITERS["synchronet stdio"])
    who = read(drop, AS_WRITTEN).identity
    way = GiveBack(Way.MODUSER, tmp_path / "MODUSER.DAT", None, drop, who)
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    near.setblocking(False)
    far.setblocking(False)
    wire = DoorWire(near)
    with near, far:
        async with guest_of(tmp_path, way=way, give=wire.give) as (here, caller):
            wire.listen()
            leaving = await asked_to_give(here, caller, wire)
            loop = asyncio.get_running_loop()
            message = hand_over.unpacked(await loop.sock_recv(far, hand_over.LARGEST))
            assert message[:2] == [hand_over.GIVE, "1"]
            assert not (tmp_path / "MODUSER.DAT").exists()
            if answer is None:
                far.close()
            else:
                await loop.sock_sendall(far, hand_over.packed(*answer))
            (goodbye,) = await leaving
            assert words in goodbye
            assert states(here) == [state]
            wire.stop()


@pytest.mark.usefixtures("undealt")
@pytest.mark.parametrize("has_heard", [True, False])
async def test_a_door_that_is_killed_before_it_is_asked_has_given_nothing(
    tmp_path, has_heard: bool
) -> None:
    drop = put(tmp_path, WRITERS["synchronet stdio"])
    who = read(drop, AS_WRITTEN).identity
    way = GiveBack(Way.MODUSER, tmp_path / "MODUSER.DAT", None, drop, who)
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    near.setblocking(False)
    wire = DoorWire(near)
    with near:
        async with guest_of(tmp_path, way=way, give=wire.give) as (here, caller):
            wire.listen()
            far.close()
            if has_heard:
                wire._obey()
            leaving = await asked_to_give(here, caller, wire)
            (goodbye,) = await leaving
            assert "We keep it for you here" in goodbye
            assert states(here) == ["kept"]
            wire.stop()


async def test_a_guest_reads_what_the_board_did_since_the_last_visit(tmp_path) -> None:
    async with world(tmp_path, toml=f"events = []\n{BOARD}") as here:
        caller = await comes_in(here)
        await here.server.board.close_call(caller, "log-off")
        await here.pass_time(1)
        await plays(here, "Bob", "win")
        news = await news_of(await comes_in(here))
        assert "|11Biggest win: Bob, 5 minutes with one hand." in news.board
        assert news.minutes[0] == "You bring 10 minutes from Xibalba."
