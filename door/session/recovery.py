"""Make and show a recovery code; it works once its owner has pressed a key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from door.call.page import Page
from door.defence.recovery import digest_of, new_code
from timebank.callers import recovery
from timebank.errors import BooksUnavailable, OutcomeUnknown
from timebank.language import N_, _

if TYPE_CHECKING:
    from door.call.console import Console
    from timebank.callers.recovery import Secrets
    from timebank.ledger.database import Desk

    # Runs an operation in the books.
    Run = Callable[[Callable[[Desk], bool]], Awaitable[bool]]

WRITTEN_DOWN = N_("It is valid as soon as you go on.")
NOT_STORED = N_("The new code couldn't be stored and doesn't work.")
NEVER_KNOWN = N_("Something has failed. The new code may or may not work: keep both.")


class NewCode:
    """A code that replaces the earlier one when the caller has pressed a key.

    If the line is lost or the board ends before that, the earlier one still works.
    """

    def __init__(self, caller_id: int, before: Secrets) -> None:
        self._code = new_code()
        self._caller_id = caller_id
        self._before = before

    async def give(self, console: Console, run: Run) -> bool:
        """Show the code, wait for a key that was not typed ahead, and store the code.

        Return False if password or code were changed meanwhile: this one never works. If the books
        fail, say on the screen what that means for the code and raise the error of `run`.
        """
        self._show(console)
        console.keyboard.forget_keys()
        await console.pager.any_key(_(WRITTEN_DOWN))
        digest = digest_of(self._code) or ""
        try:
            return await run(
                lambda desk: recovery.replace(desk, self._caller_id, self._before, digest)
            )
        except BooksUnavailable:
            earlier = self._earlier(_("Your old code still does."))
            console.screen.say(f"|12{_(NOT_STORED)} {earlier}".rstrip())
            raise
        except OutcomeUnknown:
            console.screen.say(f"|12{_(NEVER_KNOWN)}")
            raise

    def _show(self, console: Console) -> None:
        what = _(
            "Forgot your password, or somebody's guessing it? This code logs you on once, in place"
            " of your password."
        )
        keep = _(
            "Write it down and keep it secret: you see it only now. You can make another in your"
            " settings."
        )
        earlier = self._earlier(_("Until then your old code works."))
        body = [
            f"|07{what}",
            "",
            f"|15  {self._code}",
            "",
            f"|07{keep}",
            "",
            f"|07{earlier}",
        ]
        console.display.stage(Page(_("Your recovery code"), body))

    def _earlier(self, words: str) -> str:
        """Return `words` if the caller had a code before, else ""."""
        return "" if self._before.digest is None else words
