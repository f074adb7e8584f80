"""A sysop.toml of chance: any board that a sysop might run."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from verify.simulate.hosts import agreed

# A zone, and a day in it on which the clocks change, or midnight itself does not exist.
PLACES = (
    ("UTC", datetime(2026, 11, 20, 12, tzinfo=UTC)),
    ("Europe/Berlin", datetime(2026, 3, 28, 20, tzinfo=UTC)),
    ("Europe/Berlin", datetime(2026, 10, 24, 20, tzinfo=UTC)),
    ("America/New_York", datetime(2026, 11, 1, 2, tzinfo=UTC)),
    ("Australia/Lord_Howe", datetime(2026, 10, 3, 10, tzinfo=UTC)),
    ("America/Havana", datetime(2026, 3, 8, 1, tzinfo=UTC)),
    ("Africa/Cairo", datetime(2026, 4, 23, 18, tzinfo=UTC)),
    ("Pacific/Chatham", datetime(2026, 4, 4, 8, tzinfo=UTC)),
)

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True)
class Place:
    """The board's time zone, and the start of its story."""

    zone: str
    begins: datetime


def some_place(chance: random.Random) -> Place:
    zone, begins = chance.choice(PLACES)
    return Place(zone, begins + timedelta(seconds=chance.randrange(6 * 3600)))


def some_house(chance: random.Random, place: Place, nodes: int) -> str:
    """Write a sysop.toml for a board of so many nodes."""
    pick, whole = chance.choice, chance.randint
    mode = pick(("built-in", "built-in", "built-in", "external", "none"))
    own = mode == "built-in"
    lines = [
        "[board]",
        'name = "The Simulated Board"',
        f'time_zone = "{place.zone}"',
        "[[listeners]]",
        'kind = "telnet"',
        'host = "127.0.0.1"',
        "port = 0",
        "[calls]",
        f"nodes = {pick((nodes, nodes, max(2, nodes // 3)))}",
        f"minutes_per_day = {pick((60, 60, 20, 45, 180, 6))}",
        "idle_warning_seconds = 120",
        f"idle_limit_seconds = {pick((180, 300))}",
        f"logon_seconds = {pick((60, 180))}",
        "[timebank]",
        f'mode = "{mode}"',
        'thebank_ext = "THEBANK.EXT"',
        *(('import = ["COMING.EXT"]', f"import_seconds = {pick((5, 30))}") if own else ()),
        f"largest_deposit = {pick((60, 10, 1440))}",
        f"largest_transfer = {pick((60, 0))}",
        f"largest_loan = {pick((30, 5))}",
        f"known_days = {pick((0, 0, 0, 1))}",
        f"keep_minutes = {pick((5, 0))}",
        f"loan_share = {pick((50, 100, 33, 0))}",
        *_events(chance),
        "[games.black-jack-for-time]",
        *_stakes(chance),
        f"decks = {pick((1, 1, 2))}",
        f'shuffle = "{pick(("hand", "shoe"))}"',
        f'ties = "{pick(("dealer", "push"))}"',
        "[games.baccarat]",
        *_stakes(chance),
        f'language = "{pick(("english", "english", "french"))}"',
        f'bank_option_3v9 = "{pick(("draw", "stand", "toss"))}"',
        f'bank_option_5v4 = "{pick(("draw", "toss"))}"',
        "[games.unix-bj]",
        f'stakes = "{pick(("play money", "minutes"))}"',
        f'prompts = "{pick(("1975", "1971"))}"',
        f"turns_per_day = {pick((20, 0))}",
        "[games.vegas]",
        *_stakes(chance),
        f"seats = {whole(2, 7)}",
        f"bell_seconds = {pick((5, 20))}",
        f"turn_seconds = {pick((5, 30))}",
        f"resume_wait = {pick((5, 60))}",
        f"decks = {pick((1, 2, 6))}",
        f'dealer = "{pick(("stand 17", "hit soft 17", "hit 17 with an ace"))}"',
        *agreed(chance),
    ]
    return "\n".join((*lines, ""))


def _events(chance: random.Random) -> list[str]:
    """Return one event, or two; the second may begin too soon for all held time to fit between."""
    begins = 60 * chance.randrange(24) + chance.choice((0, 0, 30, 59))
    minutes = chance.choice((1, 15, 60, 120))
    lines = _event("Mail hour", begins, minutes, chance)
    second = chance.random()
    if second < 0.3:
        begins = 60 * chance.randrange(24) + chance.choice((0, 0, 30, 59))
    elif second < 0.7:
        begins += minutes + chance.choice((5, 20, 50))
    else:
        return lines
    return lines + _event("Backup", begins, chance.choice((1, 15, 60, 120)), chance)


def _event(name: str, begins: int, minutes: int, chance: random.Random) -> list[str]:
    return [
        "[[events]]",
        f'name = "{name}"',
        f'time = "{begins // 60 % 24:02}:{begins % 60:02}"',
        f'days = "{chance.choice(("daily", "daily", "weekdays"))}"',
        f"minutes = {minutes}",
    ]


def _stakes(chance: random.Random) -> list[str]:
    return [
        f"coin_minutes = {chance.choice((1, 1, 1, 2, 5))}",
        f"largest_bet = {chance.choice((10, 10, 3, 60))}",
        f"turns_per_day = {chance.choice((20, 0, 0, 3))}",
    ]


def some_tournament(chance: random.Random, now: datetime, place: Place) -> str:
    """Write a section of sysop.toml with which a tournament is open now, and over before long."""
    begins = now.astimezone(ZoneInfo(place.zone)) - timedelta(hours=chance.randrange(3))
    prizes = chance.choice(("[15, 10, 5]", "[30]", "[10, 10, 10, 1]", "[]"))
    return "\n".join(
        (
            "[tournament]",
            f'day = "{WEEKDAYS[begins.weekday()]}"',
            f"hour = {begins.hour}",
            f"hours = {chance.choice((3, 4, 30))}",
            f"entry_minutes = {chance.choice((1, 2, 10, 0))}",
            f"prize_minutes = {prizes}",
            f"house_minutes = {chance.choice((30, 30, 7))}",
            "",
        )
    )


def next_change(place: Place, now: datetime) -> datetime | None:
    """Find the next change of the clocks within two days."""
    zone = ZoneInfo(place.zone)
    at, step = now, timedelta(minutes=15)
    offset = now.astimezone(zone).utcoffset()
    while at < now + timedelta(days=2):
        at += step
        if at.astimezone(zone).utcoffset() != offset:
            return at
    return None
