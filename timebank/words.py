"""How amounts and games are spoken of in the sentences that the books give as reasons."""

from __future__ import annotations

MINUTE = 60
HOUR = 3600


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

    >>> title("black-jack-for-time")
    'Black Jack For Time'
    """
    return game.replace("-", " ").title()
