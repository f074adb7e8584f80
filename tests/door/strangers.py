"""Strangers in tests: their addresses, their guesses, and the counts about them."""

from __future__ import annotations

from tests.door.visiting import MENU, Guest, sysop_toml
from tests.terminal import REFUSING
from tests.world import PASSWORD, World

HOME, CAFE, VILLAIN = "127.0.0.7", "127.0.0.8", "127.0.0.66"


def defended(**rules: object) -> str:
    """A sysop.toml for a board to which this machine's addresses are strangers."""
    rules_text = "\n".join(f"{key} = {value}" for key, value in {"allow": "[]", **rules}.items())
    return f"{sysop_toml(events='')}\n[defence]\n{rules_text}\n"


class Stranger(Guest):
    """A caller with their own address."""

    def __init__(self, board: World, name: str, address: str) -> None:
        super().__init__(board, name)
        self.address = address

    async def connects(self) -> None:
        self.terminal = await self.board.call(REFUSING, self.address)

    async def tries(self, password: str) -> None:
        await self.is_asked("Name:")
        await self.presses(f"{self.name}\r").is_asked("Password:")
        self.presses(f"{password}\r")

    async def is_wrong(self, times: int) -> None:
        """Give wrong passwords, three a call."""
        for number in range(times):
            if number % 3 == 0:
                await self.connects()
            await self.tries("guessed")
            await self.terminal.until_heard("Wrong name or")
        await self.terminal.close()

    async def waits(self, wait: str) -> None:
        """Find that a password is not checked yet, and read how long that takes, as m:ss."""
        await self.sees("yours is in the queue")
        await self.is_asked(f"Yours is checked in about {wait}")

    async def is_let_in(self) -> None:
        await self.connects()
        await self.tries(PASSWORD)
        await self.goes_on_to(MENU)

    async def is_told(self, words: str) -> None:
        await self.terminal.until_closed()
        assert words in " ".join(self.terminal.transcript.split())


def refusals(board: World) -> list[str]:
    """The log of refusals, without the times."""
    lines = (board.folder / "data" / "refused.log").read_text(encoding="ascii").splitlines()
    return [line.partition(" ")[2] for line in lines]
