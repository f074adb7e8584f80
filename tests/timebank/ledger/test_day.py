"""The rules of a day: the used time, its end, its grant, a loan's share and an old stake."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.timebank.books import GAME, in_english, settings_for
from timebank.ledger.entries import cutoff, day
from timebank.ledger.entries.state import CallerState, UpcomingEvent
from timebank.ledger.own_limits import OwnLimits, OwnLosses
from timebank.ledger.sentences import sentence
from timebank.settings.schedule import ClosedPeriod

BOARD = settings_for(Path("nowhere"))
TODAY, TOMORROW = "2026-06-01", "2026-06-02"


def moved(ruling):
    return [(leg.reason.kind, leg.amount, leg.source, leg.target) for leg in ruling.legs]


@pytest.mark.parametrize(
    ("known", "until", "charged", "waived"),
    [
        ({}, 600, 600, 0),
        ({}, 3600, 3600, 0),
        ({}, 3700, 3600, 100),
        ({"ticked": 600, "charged": 500, "waived": 100}, 700, 100, 0),
        ({"ticked": 600}, 600, 0, 0),
        ({"ticked": 600}, 599, 0, 0),
        ({"online": 0}, 60, 0, 60),
    ],
)
def test_used_time_is_charged_and_time_beyond_the_purse_waived(known, until, charged, waived):
    before = CallerState(**{"online": 3600, **known})
    ruling = day.charge(before, until)
    assert moved(ruling) == ([("elapsed", charged, "online", "elapsed")] if charged else [])
    after = ruling.state
    assert after.ticked == max(before.ticked, until)
    assert (after.charged - before.charged, after.waived - before.waived) == (charged, waived)


@pytest.mark.parametrize(
    ("of_caller", "is_over"),
    [(None, True), ("2026-05-31", True), (TODAY, False), (TOMORROW, False)],
)
def test_a_day_only_goes_forward(of_caller, is_over):
    assert day.is_over(CallerState(day=of_caller), TODAY) == is_over


def forfeits(amount, source="online"):
    return "forfeit", amount, source, "forfeit"


def carries(amount, source="online", target="bank"):
    return "carry", amount, source, target


@pytest.mark.parametrize(
    ("mode", "earned", "known", "expected", "old_stake", "carried"),
    [
        ("built-in", 0, {"online": 3000}, [forfeits(3000)], 0, 0),
        ("built-in", 780, {"online": 4379}, [forfeits(3599), carries(780)], 0, 0),
        # At most the rest, and nothing for a caller with a net loss.
        ("built-in", 900, {"online": 500}, [carries(500)], 0, 0),
        ("built-in", -300, {"online": 3299}, [forfeits(3299)], 0, 0),
        ("built-in", 900, {}, [], 0, 0),
        # Held minutes are part of the rest.
        (
            "built-in",
            0,
            {"online": 1740, "held": 1800},
            [forfeits(1740), forfeits(1800, "held")],
            0,
            0,
        ),
        (
            "built-in",
            1800,
            {"online": 599, "held": 1800},
            [forfeits(599, "held"), carries(599), carries(1201, "held")],
            0,
            0,
        ),
        # A stake on the table counts as earned, as far as the earnings reach.
        ("built-in", 0, {"online": 1800, "stake": 600}, [forfeits(1800)], 600, 0),
        ("built-in", 240, {"online": 2640, "stake": 600}, [forfeits(2640)], 360, 240),
        ("built-in", 900, {"online": 300, "stake": 600}, [carries(300)], 0, 600),
        # The unearned part of a stake of two days before stays unearned.
        (
            *("built-in", 540, {"online": 300, "stake": 600, "old_stake": 360}),
            *([carries(300)], 360, 240),
        ),
        ("none", 900, {"online": 4499}, [forfeits(3599), carries(900, target="forfeit")], 0, 0),
        ("none", 900, {"stake": 600}, [], 600, 0),
        (
            "external",
            630,
            {"online": 4229, "bank": 40},
            [forfeits(3599), carries(630), ("external", 660, "bank", "external")],
            0,
            0,
        ),
        # A frozen account takes nothing in: earnings stay, for the next day.
        ("built-in", 900, {"online": 4500, "is_frozen": True}, [forfeits(3600)], 0, 900),
        ("external", 900, {"online": 4500, "is_frozen": True}, [forfeits(3600)], 0, 900),
        ("built-in", 900, {"online": 300, "stake": 600, "is_frozen": True}, [], 0, 900),
        ("none", 900, {"online": 900, "is_frozen": True}, [carries(900, target="forfeit")], 0, 0),
    ],
)
def test_at_the_end_of_a_day_the_grant_goes_and_earnings_stay(
    mode, earned, known, expected, old_stake, carried
):
    ruling = day.end(CallerState(day=TODAY, **known), earned, replace(BOARD, mode=mode))
    assert moved(ruling) == expected
    assert (ruling.state.old_stake, ruling.state.carried) == (old_stake, carried)
    assert {leg.record for leg in ruling.legs if leg.target == "external"} <= {"Day change"}


@pytest.mark.parametrize(
    ("earned", "known", "expected"),
    [
        (0, {"online": 3600}, ()),
        (
            240,
            {"stake": 600},
            (
                "A new day: of your 6 minutes on the table, you keep only the winnings.",
                "You earned 4 minutes of your stake: what comes back of it is yours.",
            ),
        ),
        (
            900,
            {"online": 4000, "stake": 600, "is_frozen": True},
            (
                "You earned 10 minutes of your stake: what comes back of it is yours.",
                "Your account is frozen: you keep what you earned in your pot, 5 minutes.",
            ),
        ),
    ],
)
def test_the_end_of_a_day_explains_open_stakes_and_frozen_accounts(earned, known, expected):
    assert in_english(day.end(CallerState(day=TODAY, **known), earned, BOARD).remarks) == expected


@pytest.mark.parametrize(
    ("minutes", "share", "known", "expected"),
    [
        (60, 0, {}, [("grant", 3600)]),
        (0, 50, {"loan": -600}, []),
        (60, 0, {"loan": -600}, [("grant", 3600)]),
        (60, 10, {"loan": -600}, [("grant", 3600), ("loan share", 360)]),
        (60, 50, {"loan": -600}, [("grant", 3600), ("loan share", 600)]),
        (60, 50, {"loan": -600, "is_guest": True}, []),
    ],
)
def test_a_day_begins_with_its_grant_less_the_loans_share(minutes, share, known, expected):
    limits = replace(BOARD.limits, loan_share=share)
    board = replace(BOARD, minutes_per_day=minutes, limits=limits)
    before = CallerState(day=TODAY, turns={GAME: 2}, **known)
    ruling = day.begin(before, TOMORROW, board)
    assert [(leg.reason.kind, leg.amount) for leg in ruling.legs] == expected
    assert (ruling.state.day, ruling.state.turns) == (TOMORROW, {})


def test_a_grant_that_reaches_past_an_event_is_held_behind_it():
    noon = datetime(2026, 6, 1, 12, tzinfo=ZoneInfo("UTC"))
    period = ClosedPeriod(noon.replace(minute=30), noon.replace(hour=13), "Backup")
    begun = day.begin(CallerState(event=UpcomingEvent(period, 1800)), TODAY, BOARD)
    both = begun.then(cutoff.clamp, noon, BOARD)
    assert moved(both) == [
        ("grant", 3600, "allotment", "online"),
        ("held", 1800, "online", "held"),
    ]


@pytest.mark.parametrize(
    ("old_stake", "stake", "returned", "gone", "left", "carried"),
    [
        (0, 0, 600, 0, 0, 0),
        (600, 0, 600, 600, 0, 600),
        (360, 0, 600, 360, 0, 360),
        # A stake of the new day comes back whole, also from a hand half lost.
        (600, 0, 1200, 600, 0, 600),
        (600, 0, 300, 300, 0, 600),
        (600, 0, 0, 0, 0, 600),
        # While some of it is still on the table.
        (600, 600, 300, 300, 300, 300),
        (600, 200, 0, 0, 200, 400),
    ],
)
def test_of_a_stake_that_comes_back_the_earlier_day_s_minutes_go_first(
    old_stake, stake, returned, gone, left, carried
):
    before = CallerState(online=3600 + returned, stake=stake, old_stake=old_stake)
    ruling = day.end_old_stake(before, returned)
    assert moved(ruling) == ([forfeits(gone)] if gone else [])
    assert (ruling.state.old_stake, ruling.state.carried) == (left, carried)


@pytest.mark.parametrize(("is_in_doubt", "left"), [(False, 540), (True, 0)])
def test_a_day_begins_with_losses_of_its_open_stakes_and_all_when_in_doubt(is_in_doubt, left):
    own = OwnLosses(OwnLimits(600), lost=600, in_play=60, is_in_doubt=is_in_doubt)
    begun = day.begin(CallerState(day=TODAY, own=own), TOMORROW, BOARD).state
    assert begun.own.stake_left(0) == left


def test_the_reasons_name_the_day_and_where_its_earnings_went():
    ended = day.end(CallerState(day=TODAY, online=1500), 900, replace(BOARD, mode="none"))
    back = day.end_old_stake(CallerState(online=60, old_stake=60), 60)
    assert [sentence(leg.reason, leg.amount, "second") for leg in ended.legs + back.legs] == [
        "Minutes of 1 June that were not used",
        "Earned on 1 June: forfeited, this board keeps no time bank",
        "Bet from the minutes of an earlier day",
    ]
