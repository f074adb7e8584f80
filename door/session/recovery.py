"""A caller's recovery code, made and shown; it works when its owner has pressed a key under it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from door.call.page import Page
from door.defence.recovery import digest_of, new_code
from timebank.callers import recovery
from timebank.errors import BooksUnavailable, OutcomeUnknown

if TYPE_CHECKING:
    from door.call.console import Console
    from timebank.callers.recovery import Secrets
    from timebank.ledger.database import Desk

    # Carries out an operation in the books.
    Run = Callable[[Callable[[Desk], bool]], Awaitable[bool]]

WRITTEN_DOWN = "|08Press any key when you have written it down"
NOT_STORED = "|12The new code could not be stored, and does not work."
NEVER_KNOWN = "|12The disk has failed, and nobody knows yet whether the new code works. Keep both."


class NewCode:
    """Whatever happens before a key is pressed under it (the line is lost, the board ends), the
    earlier one works as before."""

    def __init__(self, caller_id: int, before: Secrets) -> None:
        self._code = new_code()
        self._caller_id = caller_id
        self._before = before

    async def give(self, console: Console, run: Run) -> bool:
        """Show it, wait for a key that was not typed ahead, and put it in force.

        False when the caller has another password or code by then: it never works. When `run`
        raises that the books could not be written, the caller has been told that of the code.
        """
        self._show(console)
        console.forget_keys()
        await console.any_key(WRITTEN_DOWN)
        digest = digest_of(self._code) or ""
        try:
            return await run(
                lambda desk: recovery.replace(desk, self._caller_id, self._before, digest)
            )
        except BooksUnavailable:
            console.say(f"{NOT_STORED} {self._earlier('The one you had still does.')}".rstrip())
            raise
        except OutcomeUnknown:
            console.say(NEVER_KNOWN)
            raise

    def _show(self, console: Console) -> None:
        body = [
            "|07This code lets you log on, once, in place of your password: when others",
            "|07keep guessing at it and you would have to wait, or when you forgot it.",
            "",
            f"|15  {self._code}",
            "",
            "|07Write it down and keep it secret. It is shown only now. You can make",
            "|07another one at Your settings.",
            "",
            "|07It works from when you press a key."
            f" {self._earlier('Until then the one you had works.')}".rstrip(),
        ]
        console.stage(Page("Your recovery code", body))

    def _earlier(self, words: str) -> str:
        """Return what is to be said where the caller has had a code before."""
        return "" if self._before.digest is None else words
