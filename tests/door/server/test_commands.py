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

from door.errors import NoAnswer
from door.lines import commands, hand_over
from door.server import control_client
from tests.door.server.test_for_doors import SECONDS, for_doors, has_ended

NODES = {"control": "nodes"}


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
