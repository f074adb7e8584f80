"""TLS that says nothing, over and over: it is answered a little, and then the line is cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from door.lines.tls.tls import ANSWER_BYTES, IDLE_BYTES
from tests.door.lines.board import PATIENCE, Board, Call
from tests.door.lines.test_tls import board_with_tls
from verify.fuzz.new_keys import NewKeys

pytestmark = pytest.mark.long

FLOOD = 10_000  # messages, of some thirty bytes
TO_ANSWER = f"more than {ANSWER_BYTES} bytes of TLS to answer"
IDLE = f"more than {IDLE_BYTES} bytes of TLS with nothing in them"


@asynccontextmanager
async def rude(board: Board) -> AsyncIterator[tuple[NewKeys, Call]]:
    program = await asyncio.to_thread(NewKeys, board.port)
    try:
        yield program, await board.answered()
    finally:
        program.close()


@pytest.mark.parametrize(("answered", "reason"), [(True, TO_ANSWER), (False, IDLE)])
async def test_new_keys_without_end_are_cut_off(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, *, answered: bool, reason: str
) -> None:
    caplog.set_level("INFO")
    async with board_with_tls(tmp_path) as board, rude(board) as (program, call):
        flood = program.updates(FLOOD, answered=answered)
        async with asyncio.timeout(PATIENCE):
            await asyncio.to_thread(program.push, flood)
        await call.until_ended()
        assert caplog.text.count(reason) == 1


async def test_keys_between_them_do_not_hide_a_flood(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    async with board_with_tls(tmp_path) as board, rude(board) as (program, call):
        flood = b"".join(
            program.updates(100, answered=True) + program.typed(b"x") for _ in range(FLOOD // 100)
        )
        async with asyncio.timeout(PATIENCE):
            await asyncio.to_thread(program.push, flood)
        await call.until_ended()
        assert caplog.text.count(TO_ANSWER) == 1
        assert len(call.typed) < 20


async def test_a_program_may_change_its_keys_now_and_then(tmp_path: Path) -> None:
    async with board_with_tls(tmp_path) as board, rude(board) as (program, call):
        for _ in range(20):
            changed = program.updates(1, answered=True) + program.typed(b"hit")
            await asyncio.to_thread(program.push, changed)
        await call.until_typed(b"hit" * 20)
