"""A caller's public keys for SSH, in their settings: listed, added, taken away."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from door.call.markup import literal
from door.call.page import Page
from door.defence import ssh_keys
from door.errors import KeyRefused
from timebank.callers import ssh_keys as stored_keys
from timebank.errors import Refused
from timebank.language import N_, _

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from door.call.caller import Caller

KEYS_TITLE = N_("Your SSH keys")
LABELS = {"A": N_("Add a key"), "T": N_("Take one away"), "Q": N_("Quit")}
MEANINGS = {
    "A": N_("Paste a public key. Anyone with its private half can log on as you."),
    "T": N_("Choose a key that should no longer log you on."),
    "Q": N_("Go back to your settings."),
}


def number_of(preferences: Mapping[str, object]) -> str:
    """Return the number of keys, or how to add one, for a row of the settings."""
    number = len(stored_keys.lines_of(preferences))
    return str(number) if number else _("none: type K to add one")


async def visit_keys(caller: Caller, is_proved: Callable[[], Awaitable[bool]]) -> None:
    """Show the keys, and add or take away one.

    `is_proved` asks for the password first, so that a stranger at a call left open adds none.
    """
    console = caller.console
    while True:
        lines = stored_keys.lines_of(caller.record.preferences)
        console.display.stage(Page(_(KEYS_TITLE), _rows(lines)))
        choice = await console.prompt.choose(LABELS, MEANINGS, () if lines else ("T",))
        if choice == "Q":
            return
        if choice == "T":
            await _take_away(caller, lines)
        elif await is_proved():
            await _add(caller)


def _rows(lines: Sequence[str]) -> list[str]:
    rows = [f"|07{_('Anyone with the private half of one of these can log on as you.')}", ""]
    if not lines:
        return [*rows, f"|15{_('You have no key here yet.')}"]
    for number, line in enumerate(lines, 1):
        key = ssh_keys.read(line)
        rows += [f"|15{number}  {literal(key.name or key.kind)}", f"|07   {key.fingerprint}"]
    return rows


async def _add(caller: Caller) -> None:
    console = caller.console
    where = _("Paste the line from your file of the public key, such as id_ed25519.pub.")
    console.screen.say(f"|07{where}")
    typed = await console.prompt.entry(
        f"|11{_('Public key:')}|07",
        longest=stored_keys.LONGEST,
        meaning=_("A line that begins with ssh-ed25519, ecdsa-sha2-nistp256 or ssh-rsa."),
    )
    if not typed:
        return
    try:
        key = ssh_keys.read(typed)
        caller.record = await caller.ask_books(
            partial(stored_keys.add, caller_id=caller.record.id, line=key.line)
        )
    except (KeyRefused, Refused) as refused:
        console.screen.say(f"|12{refused}")
    else:
        words = _("This key logs you on from now on: {fingerprint}")
        console.screen.say(f"|10{words.format(fingerprint=key.fingerprint)}")
    await console.pager.any_key()


async def _take_away(caller: Caller, lines: Sequence[str]) -> None:
    console = caller.console
    number = "1"
    if len(lines) > 1:
        typed = await console.prompt.entry(
            f"|11{_('Number of the key:')}|07", longest=1, accept=_is_one_of(len(lines))
        )
        if not typed:
            return
        number = typed
    line = lines[int(number) - 1]
    name = ssh_keys.read(line).fingerprint
    asked = _("Take away {fingerprint}?").format(fingerprint=name)
    if await console.prompt.agrees(asked, default="N"):
        caller.record = await caller.ask_books(
            partial(stored_keys.take_away, caller_id=caller.record.id, line=line)
        )


def _is_one_of(most: int) -> Callable[[str], bool]:
    return lambda digit: digit.isascii() and digit.isdigit() and 1 <= int(digit) <= most
