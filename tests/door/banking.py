"""Callers at the bank's window, for tests; `Guest` is the caller."""

from __future__ import annotations

from collections.abc import Mapping

from tests.door.visiting import MINUTE, Guest, sysop_toml, visitor
from tests.terminal import MODERN, REFUSING, Profile
from tests.world import World
from timebank.callers import callers
from timebank.window.corrections import adjust

WINDOW = "Your choice"
# A terminal that paints, and one that has nothing but lines.
SCREENS = {"painted": MODERN, "lines": REFUSING}

AMOUNTS: Mapping[str, str] = {"d": "Deposit", "w": "Withdraw", "b": "Borrow", "r": "Repay"}
DONE = {"d": "deposited", "w": "withdrawn", "b": "borrowed", "r": "repaid"}


def window_toml(timebank: str = "known_days = 0", **calls: int) -> str:
    """Return the settings of a board without events, so that only the window's rules count."""
    return sysop_toml(events="", timebank=timebank, **calls)


async def at_the_window(
    board: World, name: str, *, saved: int = 0, profile: Profile = MODERN
) -> Guest:
    """Bring a new caller with `saved` minutes in the bank to its window."""
    guest = await visitor(board, name, saved=saved * MINUTE, profile=profile)
    await guest.goes_to_the_bank()
    return guest


async def types_amount(guest: Guest, what: str, typed: str, echoed: str) -> None:
    """Type an amount and confirm the echoed sum."""
    await guest.is_asked(f"{what} how much")
    await guest.presses(f"{typed}\r").is_asked(f"{what} {echoed}?")
    guest.presses("y")


async def moves(guest: Guest, key: str, typed: str, echoed: str) -> None:
    """Deposit, withdraw, borrow or repay an amount, and come back to the window."""
    what = AMOUNTS[key]
    guest.presses(key)
    await types_amount(guest, what, typed, echoed)
    await hears(guest, f"{echoed} {DONE[key]}.")


async def is_refused(guest: Guest, key: str, minutes: int, sentence: str) -> None:
    """Ask for more than is allowed, and read why not."""
    guest.presses(key)
    await is_refused_amount(guest, AMOUNTS[key], minutes, sentence)


async def is_refused_amount(guest: Guest, what: str, minutes: int, sentence: str) -> None:
    """Type an amount above the prompt's limit and expect a refusal and the same question."""
    await guest.is_asked(f"{what} how much")
    await guest.presses(f"{minutes}\r").sees(sentence)
    await guest.is_asked(f"{what} how much")
    await guest.presses("\x1b").is_asked(WINDOW)


async def is_refused_at_once(guest: Guest, key: str, sentence: str) -> None:
    """Ask for an act that is not allowed and read the reason."""
    guest.presses(key)
    await hears(guest, sentence)


async def hears(guest: Guest, sentence: str) -> None:
    """Read a sentence and then the window's question."""
    await guest.sees(sentence)
    await guest.is_asked(WINDOW)


async def names_receiver(guest: Guest, receiver: str) -> None:
    await guest.presses("t").is_asked("Send to:")
    guest.presses(f"{receiver}\r")


async def sends(guest: Guest, receiver: str, minutes: int, message: str = "") -> None:
    """Send minutes with a message; the test reads the result."""
    await names_receiver(guest, receiver)
    await types_amount(guest, "Send", str(minutes), f"{minutes} minutes to {receiver.title()}")
    await guest.is_asked("Add a note")
    guest.presses(f"{message}\r")


async def page(guest: Guest) -> str:
    """Wait for the page that a key was pressed for, and read it."""
    terminal = guest.terminal
    if guest.caller.console.screen.is_painted:
        # Text already in the prompt is not sent again, and a page arrives in one piece.
        await terminal.wait_for(
            lambda _: bool(terminal.heard) and "<Q>uit" in guest.prompt, "a page"
        )
        return "\n".join(terminal.row(row) for row in range(19))
    await terminal.until_heard("<Q>uit")
    return terminal.heard.rpartition("\n")[0].partition("\n")[2]


def gives(board: World, name: str, minutes: int, why: str = "for the test") -> None:
    """Adjust a caller's account as the sysop does, without a server."""
    with board.books() as desk:
        adjust(desk, number(board, name, desk), minutes * MINUTE, why, "Tester")


def number(board: World, name: str, desk=None) -> int:
    """The number of a caller."""
    if desk is None:
        with board.books() as desk:
            return number(board, name, desk)
    return callers.number_named(desk, name)


def last_column_is_empty(guest: Guest) -> bool:
    """Return whether the column where some terminals wrap is empty."""
    return all(line[-1] == " " for line in guest.terminal.lines)
