"""No online time reaches past the next system event: winnings go, the rest waits."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest

from tests.timebank.books import DAILY, MAIL_HOUR, settings_for
from timebank.language import Viewer, speaking_to
from timebank.ledger.entries.cutoff import clamp, next_event, release
from timebank.ledger.entries.state import CallerState
from timebank.ledger.reasons import Cutoff
from timebank.ledger.schema import stamp
from timebank.ledger.sentences import sentence
from timebank.settings.schedule import Event

NOW = datetime(2026, 6, 2, 2, tzinfo=UTC)  # an hour before Mail hour
BOARD = settings_for(Path("nowhere"))


def state(now=NOW, events=(MAIL_HOUR,), **known):
    event = next_event(replace(BOARD, events=events).schedule, now)
    return CallerState(day="2026-06-02", event=event, **known)


def moved(ruling):
    return [(leg.reason.kind, leg.amount, leg.source, leg.target) for leg in ruling.legs]


def sentences(ruling):
    return [sentence(leg.reason, leg.amount, "second") for leg in ruling.legs]


def to_bank(kind, amount):
    return kind, amount, "online", "bank"


def goes_out(amount):
    return "external", amount, "bank", "external"


def held(amount):
    return "held", amount, "online", "held"


@pytest.mark.parametrize(
    ("won", "known", "mode", "expected"),
    [
        (900, {"online": 3600}, "built-in", []),
        (900, {"online": 4500}, "built-in", [to_bank("clamp", 900)]),
        (900, {"online": 3900}, "built-in", [to_bank("clamp", 300)]),
        (0, {"online": 3900}, "built-in", [held(300)]),
        (300, {"online": 4800}, "built-in", [to_bank("clamp", 300), held(900)]),
        (10**12, {"online": 10**12 + 3600}, "built-in", [to_bank("clamp", 10**12)]),
        (900, {"online": 4500}, "none", [("clamp", 900, "online", "forfeit")]),
        (930, {"online": 4530}, "external", [to_bank("clamp", 930), goes_out(900)]),
        (59, {"online": 3659}, "external", [to_bank("clamp", 59)]),
        # Seconds wait in the bank for a whole minute; whole ones that it held before stay there.
        (90, {"online": 3690, "bank": 640}, "external", [to_bank("clamp", 90), goes_out(120)]),
        (900, {"online": 4500, "is_frozen": True}, "built-in", [held(900)]),
        (900, {"online": 4500, "is_frozen": True}, "external", [held(900)]),
        (900, {"online": 4500, "is_frozen": True}, "none", [("clamp", 900, "online", "forfeit")]),
        (
            900,
            {"online": 4500, "loan": -500, "is_guest": True},
            "external",
            [to_bank("clamp", 900), ("loan paid", 500, "bank", "loan"), goes_out(360)],
        ),
        (900, {"online": 4500, "events": ()}, "built-in", []),
        (0, {"online": 60, "events": (Event("Now", time(1, 30), DAILY, 60),)}, "none", [held(60)]),
    ],
)
def test_minutes_past_the_event_are_moved(won, known, mode, expected):
    before = state(**known)
    clamped = clamp(before, NOW, replace(BOARD, mode=mode), won, "red-dog")
    assert moved(clamped) == expected
    after = clamped.state
    assert before.online - after.online == sum(leg[1] for leg in expected if leg[2] == "online")
    assert after.held == sum(leg[1] for leg in expected if leg[3] == "held")
    assert [leg.record for leg in clamped.legs if leg.target == "external"] == [
        "Red Dog" for leg in expected if leg[3] == "external"
    ]


def test_the_reason_names_the_events_and_where_winnings_went():
    events = (MAIL_HOUR, Event("Backup", time(3, 30), DAILY, 60))
    clamped = clamp(state(events=events, online=4800), NOW, BOARD, 900, "red-dog")
    assert sentences(clamped) == [
        "15 minutes won past Mail hour and Backup at 03:00: put in the bank",
        "5 minutes available after Mail hour and Backup at 03:00",
    ]
    trimmed = clamp(state(online=4500), NOW, replace(BOARD, mode="none"), 900, "red-dog")
    assert sentences(trimmed) == [
        "15 minutes won past Mail hour at 03:00: forfeited, this board keeps no time bank"
    ]


@pytest.mark.parametrize(
    ("minutes", "day", "another"),
    [(60, "2026-06-02", False), (1380, "2026-06-02", True), (1380, "2026-06-03", False)],
)
def test_the_reason_says_whether_held_minutes_return_on_another_day(minutes, day, another):
    events = (replace(MAIL_HOUR, minutes=minutes),)
    known = state(events=events, online=3660)._replace(day=day)
    assert clamp(known, NOW, BOARD).legs[0].reason.another_day == another
    assert not clamp(known._replace(is_guest=True), NOW, BOARD).legs[0].reason.another_day


REPAIR = Event("Repair", time(2, 20), DAILY, 10)
ENDS = {"Repair": NOW + timedelta(minutes=30), "Mail hour": NOW + timedelta(hours=2)}


@pytest.mark.parametrize(
    ("at", "events", "online", "back", "waits"),
    [
        # Its event is over at the end of that, and not before; losing makes no room.
        ("02:29:59", (REPAIR,), 0, 0, "Repair"),
        ("02:30:00", (REPAIR,), 0, 2400, "Repair"),
        # A clock that stepped back releases nothing.
        ("01:10:00", (REPAIR, MAIL_HOUR), 0, 0, "Repair"),
        # An event removed from the schedule is over.
        ("02:10:00", (), 0, 2400, "Repair"),
        ("02:10:00", (MAIL_HOUR,), 600, 2400, "Repair"),
        # Time that does not fit before the next event waits for that one.
        ("02:30:00", (REPAIR, MAIL_HOUR), 0, 1800, "Mail hour"),
        ("02:30:00", (REPAIR, MAIL_HOUR), 600, 1200, "Mail hour"),
        # With no room, the next entry finds it as it was.
        ("02:30:00", (REPAIR, MAIL_HOUR), 1800, 0, "Repair"),
    ],
)
def test_held_time_comes_back_when_its_event_is_no_longer_the_next(at, events, online, back, waits):
    waiting = clamp(state(events=(REPAIR,), online=3600), NOW, BOARD).state
    assert (waiting.online, waiting.held) == (1200, 2400)
    event = state(datetime.fromisoformat(f"2026-06-02T{at}+00:00"), events).event
    released = release(waiting._replace(online=online, event=event), BOARD)
    assert moved(released) == ([("release", back, "held", "online")] if back else [])
    assert sentences(released) == [
        f"{back // 60} minutes back after Repair at 02:20" for leg in released.legs
    ]
    assert Cutoff.decode(released.state.held_behind).event == waits
    assert released.state.held_until == stamp(ENDS[waits])


def test_a_guest_s_call_ends_with_the_host_s_event_when_that_is_first():
    first, later = stamp(NOW) + 600, stamp(NOW) + 7200
    event = next_event(BOARD.schedule, NOW, first, "Elsewhere")
    assert (event.seconds, event.host) == (600, "Elsewhere")
    assert next_event(BOARD.schedule, NOW, later, "Elsewhere") == state().event
    with speaking_to(Viewer("fr")):
        assert str(event.period.name) == "la fin de votre appel sur Elsewhere"
