"""How amounts and games are spoken of in the sentences that the books give as reasons."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

# What an account counts; play money is in cents.
Unit = Literal["second", "usd-cent", "frf-cent"]

MINUTE = 60
ON_ANOTHER_DAY = ", on another day"  # why time is held that a new day comes before
HOUR = 3600
SIGNS = {"usd-cent": "$", "frf-cent": "FR "}
# Transfers from and to the mint of play money; their reasons say all.
FROM_THE_MINT = ("bankroll", "renewal", "casino")
# Games that are not written like other titles.
TITLES = {"unix-bj": "UNIX bj"}


def span(seconds: int) -> str:
    """Say a length of time in words, zero or more seconds.

    >>> span(60), span(150), span(45), span(7200)
    ('1 minute', '2 minutes 30 seconds', '45 seconds', '120 minutes')
    """
    minutes, rest = divmod(seconds, MINUTE)
    parts = []
    if minutes:
        parts.append(f"{minutes} minute" + ("s" if minutes != 1 else ""))
    if rest or not minutes:
        parts.append(f"{rest} second" + ("s" if rest != 1 else ""))
    return " ".join(parts)


def money(amount: int, unit: Unit) -> str:
    """Write an amount of play money, given in its cents, as briefly as it can be.

    >>> money(10_000_000, "usd-cent"), money(-150, "usd-cent"), money(100_000, "frf-cent")
    ('$100,000', '-$1.50', 'FR 1,000')
    """
    whole, cents = divmod(abs(amount), 100)
    written = f"{SIGNS[unit]}{whole:,}" + (f".{cents:02}" if cents else "")
    return f"-{written}" if amount < 0 else written


def amount_words(amount: int, unit: Unit) -> str:
    """Say an amount of any unit in a sentence, zero or more.

    >>> amount_words(150, "second"), amount_words(200, "usd-cent")
    ('2 minutes 30 seconds', '$2')
    """
    return span(amount) if unit == "second" else money(amount, unit)


def clock(seconds: int) -> str:
    """Write an amount of seconds as h:mm:ss, with a sign when it is negative.

    >>> clock(3725), clock(-59), clock(360000)
    ('1:02:05', '-0:00:59', '100:00:00')
    """
    sign = "-" if seconds < 0 else ""
    hours, rest = divmod(abs(seconds), HOUR)
    return f"{sign}{hours}:{rest // MINUTE:02}:{rest % MINUTE:02}"


def title(game: str) -> str:
    """Turn the key of a game into its title.

    >>> title("black-jack-for-time"), title("unix-bj")
    ('Black Jack For Time', 'UNIX bj')
    """
    return TITLES.get(game) or game.replace("-", " ").title()


def minutes(seconds: int) -> str:
    """Write an amount of time as callers read it, m:ss, or h:mm:ss from an hour on.

    >>> minutes(720), minutes(45), minutes(3725)
    ('12:00', '0:45', '1:02:05')
    """
    hours, rest = divmod(seconds, HOUR)
    if hours:
        return f"{hours}:{rest // MINUTE:02}:{rest % MINUTE:02}"
    return f"{rest // MINUTE}:{rest % MINUTE:02}"


def clean(text: str, longest: int) -> str:
    """Make one line of what somebody typed: no controls, no invisible characters, not too long.

    >>> clean("  thanks\\x1b[2J for\\nthe hint ", 60)
    'thanks[2J for the hint'
    """
    visible = "".join(
        " " if letter.isspace() else letter
        for letter in unicodedata.normalize("NFC", text)
        if letter.isspace() or unicodedata.category(letter)[0] != "C"
    )
    return " ".join(visible.split())[:longest].rstrip()


class Part(NamedTuple):
    """A row of an entry, from the side of the caller who reads of it.

    `source` and `target` are kinds of account, "other" for one of somebody else; `other` is his
    name. `why` is the reason as the books give it.
    """

    kind: str
    amount: int
    why: str
    source: str
    target: str
    other: str | None
    unit: Unit = "second"

    @property
    def said(self) -> str:
        """The amount as callers read it."""
        return minutes(self.amount) if self.unit == "second" else money(self.amount, self.unit)


def describe(parts: Sequence[Part]) -> str:
    """Say what an entry did, from its rows in their order.

    >>> game = "at Black Jack For Time (win)"
    >>> describe([
    ...     Part("returned", 600, f"Stake returned {game}", "stake", "online", None),
    ...     Part("won", 720, f"Won {game}", "house", "online", None),
    ...     Part("clamp", 180, "3 minutes won past Mail hour at 03:00: put in the bank", "online",
    ...          "bank", None),
    ... ])
    'Won 12:00 at Black Jack For Time, 3:00 of it banked because of Mail hour at 03:00'
    """
    phrases = list(_phrases(parts)) or [_of_time_used(part) for part in parts]
    said = ", ".join(phrases)
    return said[:1].upper() + said[1:]


def _phrases(parts: Sequence[Part]) -> Iterator[str]:
    """Say each row but time used, which has its own column, and a stake that comes with a win."""
    kinds = {part.kind for part in parts}
    whole = False  # something was said that the next row may take a part of
    for part in parts:
        if part.kind == "elapsed" or (part.kind == "returned" and "won" in kinds):
            continue
        of_it = " of it" if whole else ""
        yield _play(part) or _clock(part, of_it) or _gain(part) or _window(part)
        whole = whole or part.kind in ("won", "grant")


def _of_time_used(part: Part) -> str:
    return f"used {part.said}{part.why.removeprefix('Time used')}"


def _play(part: Part) -> str:
    """Say what a table did, or the mint before it."""
    amount = part.said
    if part.kind in FROM_THE_MINT:
        return _small(part.why)
    game = part.why.rpartition(" at ")[2].partition(" (")[0]
    if part.target == "stake":
        return f"{'bet' if part.kind == 'stake' else part.kind} {amount} at {game}"
    if part.kind in ("won", "lost"):
        return f"{part.kind} {amount} at {game}"
    return f"stake of {amount} returned at {game}" if part.kind == "returned" else ""


def _clock(part: Part, of_it: str) -> str:
    """Say what days, events and loans do by themselves."""
    amount, why = part.said, part.why
    match part.kind:
        case "grant":
            return f"granted {amount} for {why.rpartition(' for ')[2]}"
        case "forfeit" | "carry":
            return f"{amount} {'forfeited: ' if part.kind == 'forfeit' else ''}{_small(why)}"
        case "release":
            return f"{amount} back after {why.partition(' back after ')[2]}"
        case "held":
            return f"{amount}{of_it} held until after {why.partition(' after ')[2]}"
        case "clamp":
            event = why.partition(" won past ")[2].rpartition(": ")[0]
            done = "banked" if part.target == "bank" else "forfeited"
            return f"{amount}{of_it} {done} because of {event}"
        case "brought" if " brought from " in why:
            return f"brought {amount} from {why.partition(' brought from ')[2]}"
        case "brought":
            return f"{amount} more counted by {why.partition(' counted by ')[2]}"
        case "taken home":
            return f"took {amount} home to {why.partition(' taken home to ')[2]}"
        case "external":
            return f"{amount} passed on through THEBANK.EXT"
        case "loan share":
            return f"{amount}{of_it} paid back on the loan"
        case "loan paid":
            return f"paid back {amount} on the loan"
    return ""


def _gain(part: Part) -> str:
    """Say what a caller of another board gained, and what became of it."""
    amount, why = part.said, part.why
    match part.kind:
        case "gain":
            visit, _, kept = why.partition(" gained on ")[2].partition(": ")
            done = {"": "", "bank": ", put in the bank"}.get(part.target if kept else "")
            return f"gained {amount} on {visit}{', forfeited' if done is None else done}"
        case "given back":
            return f"gave {amount} back to {why.partition(' given back to ')[2]}"
        case "put back":
            return f"put {amount} of your own back in the bank{why.partition(' in the bank')[2]}"
        case "kept":
            board = why.partition(" be given back to ")[2].partition(": ")[0]
            return f"kept {amount} that could not be given back to {board}"
    return ""


def _window(part: Part) -> str:
    """Say what was done at the bank's window; of anything else, its reason."""
    amount = part.said
    match part.kind:
        case "deposit":
            return f"deposited {amount}{' at log-off' if part.why.endswith(' at log-off') else ''}"
        case "withdraw" | "withdrawal":
            return f"withdrew {amount}"
        case "loan":
            return f"borrowed {amount}"
        case "repay":
            return f"repaid {amount} of the loan"
        case "transfer" if part.other is not None:
            # Names have no colons: what follows the first one is the message.
            done, colon, words = part.why.partition(": ")
            if " sent by " in done:
                sent = f"received {amount} from" if part.source == "other" else f"sent {amount} to"
                return f"{sent} {part.other}{colon}{words}"
    # What a sysop or a program did says its amount and more.
    return part.why if part.why[:1].isdigit() else f"{amount}: {_small(part.why)}"


def _small(text: str) -> str:
    return text[:1].lower() + text[1:]
