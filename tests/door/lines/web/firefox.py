"""A person at Debian's Firefox, headless, driven by WebDriver BiDi.

https://w3c.github.io/webdriver-bidi says how. Playwright drives no Firefox but its own.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from tests.certificates import NEED_CLIENTS
from tests.door.lines.web.visitor import READ_SCREEN

PATIENCE = 60.0  # seconds
LISTENS = b"WebDriver BiDi listening on "
# A phone's screen is touched, and its user may read the clipboard.
PREFERENCES = {
    "ui.primaryPointerCapabilities": 1,
    "dom.events.testing.asyncClipboard": True,
    "app.normandy.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
}
SHOWS = """async text => {
    while (!(READ)().includes(text)) {
        await new Promise((done) => setTimeout(done, 50));
    }
}""".replace("READ", READ_SCREEN)
OFFERS = """async name => {
    for (;;) {
        const buttons = [...document.querySelectorAll("button:not([disabled])")];
        const found = buttons.find((each) => each.offsetParent
            && [each.textContent, each.querySelector("b")?.textContent].includes(name));
        if (found) {
            const { x, y, width, height } = found.getBoundingClientRect();
            return JSON.stringify([x + width / 2, y + height / 2]);
        }
        await new Promise((done) => setTimeout(done, 50));
    }
}"""
ENTER, CONTROL = "\ue007", "\ue009"


class Firefox:
    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._context = ""

    async def begin(self) -> None:
        await self._does("session.new", capabilities={})
        (tab,) = (await self._does("browsingContext.getTree"))["contexts"]
        self._context = tab["context"]

    async def opens(self, address: str, width: int, height: int) -> None:
        size = {"width": width, "height": height}
        await self._does("browsingContext.setViewport", context=self._context, viewport=size)
        await self._does(
            "browsingContext.navigate", context=self._context, url=address, wait="complete"
        )

    async def reloads(self) -> None:
        await self._does("browsingContext.reload", context=self._context, wait="complete")

    async def evaluates(self, function: str, *given: str) -> Any:
        answer = await self._does(
            "script.callFunction",
            functionDeclaration=function,
            arguments=[{"type": "string", "value": each} for each in given],
            target={"context": self._context},
            awaitPromise=True,
        )
        assert answer["type"] == "success", answer
        return answer["result"].get("value")

    async def sees(self, text: str) -> None:
        try:
            await self.evaluates(SHOWS, text)
        except TimeoutError:
            shown = await self.evaluates(READ_SCREEN)
            raise AssertionError(f"{text!r} never came to the screen:\n{shown}") from None

    async def types(self, *keys: str, held: str = "") -> None:
        """Press these keys one after the other, while another one is `held`."""
        strokes = [{"type": "keyDown", "value": each} for each in held]
        for key in keys:
            strokes += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        strokes += [{"type": "keyUp", "value": each} for each in held]
        await self._acts({"type": "key", "id": "keyboard", "actions": strokes})

    async def taps(self, name: str) -> None:
        """Touch the button of this text, or of this key, once it is there."""
        x, y = json.loads(await self.evaluates(OFFERS, name))
        touch = [
            {"type": "pointerMove", "x": int(x), "y": int(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        how = {"pointerType": "touch"}
        await self._acts({"type": "pointer", "id": "finger", "parameters": how, "actions": touch})

    async def _acts(self, actions: dict[str, Any]) -> None:
        await self._does("input.performActions", context=self._context, actions=[actions])

    async def _does(self, method: str, **parameters: Any) -> Any:
        number = next(self._numbers)
        command = {"id": number, "method": method, "params": parameters}
        await self._socket.send(json.dumps(command))
        async with asyncio.timeout(PATIENCE):
            while (answer := json.loads(await self._socket.recv())).get("id") != number:
                pass
        assert answer["type"] == "success", answer
        return answer["result"]


@asynccontextmanager
async def firefox(folder: Path, **preferences: object) -> AsyncIterator[Firefox]:
    """Start Firefox with a profile of its own in `folder`; skip the test where it is missing."""
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        assert NEED_CLIENTS not in os.environ, "Firefox must be here: apt-get install firefox-esr"
        pytest.skip(f"Firefox is not installed; {NEED_CLIENTS} makes that a failure")
    profile = folder / "profile"
    profile.mkdir()
    lines = (
        f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
        for name, value in {**PREFERENCES, **preferences}.items()
    )
    (profile / "user.js").write_text("".join(lines), encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        *(program, "--headless", "--remote-debugging-port=0", "--profile", str(profile)),
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        env={**os.environ, "HOME": str(folder)},
    )
    try:
        assert process.stderr is not None
        async with asyncio.timeout(PATIENCE):
            while not (line := await process.stderr.readline()).startswith(LISTENS):
                assert line, "Firefox ended before it listened"
        reading = asyncio.create_task(process.stderr.read())  # its complaints must not block it
        address = f"{line.removeprefix(LISTENS).decode().strip()}/session"
        async with connect(address, proxy=None, max_size=None) as socket:
            here = Firefox(socket)
            await here.begin()
            yield here
    finally:
        process.terminate()
        await process.wait()
        await reading
