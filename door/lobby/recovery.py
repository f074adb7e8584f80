"""A caller's recovery code, made and shown; what follows when one has been used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from door.lobby.pages import Page
from door.recovery import digest_of, new_code
from timebank import recovery

if TYPE_CHECKING:
    from door.console import Console
    from timebank.database import Desk

WRITTEN_DOWN = "|08Press any key when you have written it down"


class NewCode:
    """A code that is yet to be put into the books, and then to be shown, once."""

    def __init__(self) -> None:
        """Make it."""
        self._code = new_code()

    def keep(self, desk: Desk, caller_id: int) -> None:
        """Store its digest, in place of any code the caller had."""
        recovery.keep(desk, caller_id, digest_of(self._code) or "")

    async def show(self, console: Console) -> None:
        """Show it, and wait for a key that was not typed ahead."""
        body = [
            "|07This code lets you log on, once, in place of your password: when others",
            "|07keep guessing at it and you would have to wait, or when you forgot it.",
            "",
            f"|15  {self._code}",
            "",
            "|07Write it down and keep it secret. It is shown only now. You can make",
            "|07another one at Your settings, and this one no longer works then.",
        ]
        console.stage(Page("Your recovery code", body))
        console.forget_keys()
        await console.any_key(WRITTEN_DOWN)
