"""One caller in a process that does nothing else: how long the board lets them wait for an echo.

A thousand robots in one process are late themselves; what they measure is theirs as well.
"""

from __future__ import annotations

import asyncio

from verify.robots import phone
from verify.robots.phone import SYNCTERM, Phone
from verify.robots.robot import PASSWORD

EVERY = 0.1  # seconds, a key
PATIENCE = 60.0  # seconds until what is asked for stands on their screen


async def probe(port: int, name: str, stop: asyncio.Event) -> list[float]:
    """Sit in the bet field until `stop`, typing a digit and rubbing it out; return the waits."""
    line = await phone.call("127.0.0.1", port, SYNCTERM)
    try:
        for prompt, keys in (
            ("Name:", f"{name}\r"),
            ("Password:", f"{PASSWORD}\r"),
            ("any key", " "),
            ("Your game", "b"),
            ("<B>et", "b"),
            ("Coins to bet", ""),
        ):
            await _answer(line, prompt, keys)
        line.waits.clear()
        number = 0
        while not (stop.is_set() or line.ended.is_set()):
            line.press("1\x08"[number % 2], is_echoed=True)
            number += 1
            await asyncio.sleep(EVERY)
        return line.waits
    finally:
        line.hang_up()


async def _answer(line: Phone, prompt: str, keys: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while prompt not in line.screen.prompt:
            line.news.clear()
            await line.news.wait()
    line.press(keys)
