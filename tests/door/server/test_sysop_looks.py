"""The sysop beside a caller: a look over the shoulder and a chat, by any server's socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from door.lines.commands import Conversation
from door.server.board_commands import COMMAND
from door.server.sysop_visit import ATTEND
from tests.door.vegas_callers import player, table_toml
from tests.door.visiting import MENU, Guest, seated, sysop_toml
from tests.terminal import REFUSING
from tests.world import World, world

TOML = sysop_toml(events="")


class Sysop:
    """The sysop's end of a look: the news so far, and the caller's current screen."""

    def __init__(self, board: World) -> None:
        self._board = board
        self._told: Mapping[str, Any] = {}
        self.screen = ""

    async def looks(self, node: int, call: int = 1) -> Sysop:
        wanted = {COMMAND: ATTEND, "node": node, "call": call}
        self._beside = Conversation(self._board.config.board.data, wanted)
        self.says = self._beside.say
        self._all = self._beside.answers()
        return self

    async def until(self, is_told: Callable[[Sysop, Mapping[str, Any]], bool]) -> None:
        """Let time pass until the news arrives."""
        reading = asyncio.create_task(self._read_until(is_told))
        while not reading.done():
            await self._board.clock.advance(0.2)
            await asyncio.wait([reading], timeout=0.001)
        await reading

    async def sees(self, words: str) -> None:
        await self.until(lambda sysop, _: words in sysop.screen)

    async def _read_until(self, is_told: Callable[[Sysop, Mapping[str, Any]], bool]) -> None:
        while not is_told(self, self._told):
            self._told = await anext(self._all)
            self.screen = "\n".join(self._told.get("screen", [self.screen]))

    async def leaves(self) -> None:
        self._beside.close()
        await self._all.aclose()


async def test_a_chat_covers_the_callers_screen_and_restores_it(board: World) -> None:
    ada = await seated(board, "Ada")
    sysop = await Sysop(board).looks(node=1)
    await sysop.sees("Black Jack For Time")
    await ada.sees("The sysop is looking over your shoulder.")
    sysop.says(chat=True)
    await ada.sees("The sysop wants to talk to you.")
    sysop.says(typing="Hel")
    await ada.sees("Hel")
    sysop.says(line="Hello, Ada")
    await ada.sees("Hello, Ada")
    ada.presses("b|15q\b\b hi\r")
    await sysop.sees("b│1 hi")
    assert board.moved("Ada") == [("grant", 3600)]  # no key has got to the table
    sysop.says(chat=False)
    await sysop.until(lambda _, told: told == {"chat": False})
    await ada.sees("The sysop has left the chat.")
    await ada.sees("<B>et")
    await ada.terminal.until_gone("Hello, Ada")
    await sysop.leaves()
    await ada.sees("The sysop has stopped looking over your shoulder.")
    await ada.presses("q").goes_on_to(MENU)


async def test_a_chat_works_in_plain_lines_and_ends_with_the_call(
    board: World,
) -> None:
    ada = Guest(board, "Ada")
    board.enter("Ada")
    await ada.visits(REFUSING)
    sysop = await Sysop(board).looks(node=1)
    await sysop.sees("oodbye")
    sysop.says(chat=True, by="jane\x07")
    await ada.sees("The sysop wants to talk to you.")
    sysop.says(line="Hello")
    await ada.sees("The sysop: Hello")
    ada.presses("Hi\r")
    await sysop.sees("Ada: Hi")
    second = await Sysop(board).looks(node=1)
    second.says(chat=True)  # one at a time
    refused = {"chat": False, "why": "jane talks to Ada now. Esc leaves."}
    await second.until(lambda _, told: told == refused)
    sysop.says(chat=False)
    await sysop.until(lambda _, told: told == {"chat": False})
    await ada.is_asked(MENU)
    second.says(chat=True)
    await second.until(lambda _, told: told == {"chat": True})
    ada.terminal.abort()
    await second.until(lambda _, told: "is no longer on node 1" in str(told.get("error")))
    nobody = await Sysop(board).looks(node=9)
    await nobody.until(lambda _, told: told == {"error": "Nobody is on node 9."})
    ada = Guest(board, "Ada")
    await ada.visits(REFUSING)
    late = await Sysop(board).looks(node=1, call=1)
    await late.until(lambda _, told: told == {"error": "Another call is on node 1 by now."})
    for each in (sysop, second, nobody, late):
        await each.leaves()


async def test_a_chat_at_a_shared_table_warns_that_play_goes_on(tmp_path: Path) -> None:
    async with world(tmp_path, toml=table_toml()) as board:
        ada = await player(board, "Ada")
        sysop = await Sysop(board).looks(node=1)
        await sysop.sees("Vegas")
        sysop.says(chat=True)
        await ada.sees("The table goes on meanwhile, and so does its clock.")
        await sysop.leaves()
        await ada.sees("The sysop has stopped looking over your shoulder.")
