"""A command and its answer: a hung or ending server, long answers, and idle minutes."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread

import pytest

from door import closed
from door.errors import NoAnswer
from door.lines import commands, hand_over
from door.server import control_client
from tests.door.processes import OPEN_ALL_DAY
from tests.door.server.test_for_doors import SECONDS, for_doors, has_ended
from tests.door.shell import CommandResult, Shell

NODES = {"control": "nodes"}
HUNG_UP = (
    "Nothing was done: the server in {data} has hung up without reading this. If it is of release"
    " 1.0, close it with `door upgrade`; otherwise try again."
)


@contextmanager
def deaf(folder: Path, queue: int = 1) -> Iterator[socket.socket]:
    """A server that listens and does nothing."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as wire:
        wire.bind(str(folder / hand_over.NAME))
        wire.listen(queue)
        yield wire


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_client, "RECEIPT_SECONDS", 0.05)


@pytest.mark.usefixtures("impatient")
def test_a_hung_server_is_named_and_never_runs_the_command_later(tmp_path: Path) -> None:
    with deaf(tmp_path) as server:
        with pytest.raises(
            NoAnswer, match=r"^The server has read nothing.*Nothing was done.*end it with SIGKILL"
        ):
            control_client.ask(tmp_path, NODES)
        near, _ = server.accept()
        with near:
            text = hand_over.unpacked(near.recv(hand_over.LARGEST))[1]
            with pytest.raises(BrokenPipeError):
                commands.SysopCommand(near, text)


@pytest.mark.usefixtures("impatient")
def test_a_server_with_a_full_queue_counts_as_hung(tmp_path: Path) -> None:
    with (
        deaf(tmp_path, queue=0),
        closing(hand_over.dial(str(tmp_path))),
        pytest.raises(NoAnswer, match="stands still"),
    ):
        control_client.ask(tmp_path, NODES)


def test_a_command_received_by_a_dying_server_has_an_unknown_outcome(tmp_path: Path) -> None:
    def hear() -> None:
        near, _ = server.accept()
        with near:
            commands.SysopCommand(near, hand_over.unpacked(near.recv(hand_over.LARGEST))[1])

    with deaf(tmp_path) as server:
        (ear := Thread(target=hear)).start()
        with pytest.raises(NoAnswer, match="has ended, and nobody knows whether it did this"):
            control_client.ask(tmp_path, NODES)
        ear.join()


def test_a_server_that_hangs_up_unread_is_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    far.close()
    monkeypatch.setattr(hand_over, "dial", lambda *_: near)
    with pytest.raises(NoAnswer) as refused:
        control_client.ask(tmp_path, NODES)
    assert str(refused.value) == HUNG_UP.format(data=tmp_path)


def test_a_socket_of_another_kind_is_named_with_what_to_do(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as wire:
        wire.bind(str(tmp_path / hand_over.NAME))
        wire.listen()
        with pytest.raises(NoAnswer) as refused:
            control_client.ask(tmp_path, NODES)
    assert str(refused.value) == (
        f"Can't talk to a server in {tmp_path} (Protocol wrong type for socket). If none runs"
        " there, `door serve` starts one."
    )


def test_a_server_of_release_1_0_is_not_taken_for_a_closed_board(tmp_path: Path) -> None:
    """A server of release 1.0 holds no lock, and hangs up on commands."""
    config, data = tmp_path / "sysop.toml", tmp_path / "data"
    config.write_text(OPEN_ALL_DAY, encoding="utf-8")
    data.mkdir()
    with deaf(data) as server:

        def hang_up() -> None:
            for _ in range(2):
                server.accept()[0].close()

        (ear := Thread(target=hang_up, daemon=True)).start()
        assert Shell(config)("stop") == CommandResult(2, "", HUNG_UP.format(data=data) + "\n")
        ear.join()
    assert not closed.is_closed(str(data))


def test_a_command_that_no_server_could_read_is_not_sent(tmp_path: Path) -> None:
    with deaf(tmp_path), pytest.raises(NoAnswer, match=r"too long\. Nothing was done"):
        control_client.ask(tmp_path, {"control": "say", "text": "no " * hand_over.LARGEST})


def test_a_long_answer_comes_in_parts() -> None:
    what = {"nodes": ["é|0" * 10] * 5000}
    packets = commands.packets(what)
    assert len(packets) > 3
    assert all(len(each) < hand_over.LARGEST for each in packets)
    words = [hand_over.unpacked(each)[0] for each in packets]
    assert words == [commands.PART] * (len(packets) - 1) + [commands.LAST_PART]
    assert json.loads("".join(hand_over.unpacked(each)[1] for each in packets)) == what


async def test_commands_do_not_keep_a_server_for_doors(tmp_path: Path) -> None:
    async with for_doors(tmp_path) as board:
        for _ in range(3):
            await board.pass_time(SECONDS / 3 - 1)
            await asyncio.to_thread(control_client.ask, board.config.board.data, NODES)
        await board.pass_time(3)
        assert has_ended(board)
