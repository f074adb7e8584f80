"""Refusals of the teller's window in a real call, one for each key.

tests/timebank/window tests all rules with their words.
"""

from pathlib import Path

import pytest

from tests.door.banking import (
    SCREENS,
    WINDOW,
    at_the_window,
    hears,
    is_refused,
    is_refused_at_once,
    types_amount,
    window_toml,
)
from tests.door.visiting import MINUTE
from tests.terminal import Profile
from tests.world import world

HOUR = 60 * MINUTE
painted_and_lines = pytest.mark.parametrize("profile", SCREENS.values(), ids=SCREENS.keys())


@pytest.mark.parametrize(
    ("key", "limits", "sentence"),
    [
        ("w", "largest_withdrawal = 9", "You can withdraw 9 minutes a day;"),
        ("d", "keep_minutes = 51", "51 minutes must stay on your clock, and you have 60 minutes"),
        ("b", "largest_loan = 0", "Nobody can borrow minutes on this board."),
        ("t", "largest_transfer = 0", "Nobody can send minutes on this board."),
        ("r", "", "You owe nothing."),
    ],
)
async def test_a_refusal_by_a_limit_names_the_limit(
    tmp_path: Path, key: str, limits: str, sentence: str
) -> None:
    async with world(tmp_path, toml=window_toml(f"known_days = 0\n{limits}")) as board:
        ada = await at_the_window(board, "Ada", saved=30)
        before = ada.has
        if limits.endswith(" 0") or not limits:
            await is_refused_at_once(ada, key, sentence)
        else:
            await is_refused(ada, key, 10, sentence)
        assert ada.has == before


# Other modes.


async def test_the_window_that_closes_while_an_amount_is_typed_is_closed(tmp_path: Path) -> None:
    async with world(tmp_path, toml=window_toml('hours = ["fri 08:00-12:01"]')) as board:
        ada = await at_the_window(board, "Ada", saved=30)
        await ada.presses("w").is_asked("Withdraw how much")
        await board.pass_time(MINUTE)
        await types_amount(ada, "Withdraw", "5", "5 minutes")
        await hears(ada, "The window is closed.")
        assert ada.has["bank"] == 30 * MINUTE


@painted_and_lines
@pytest.mark.parametrize(
    ("mode", "what"),
    [
        (
            "external",
            "This board has its own bank. Whole minutes you win past an event go there",
        ),
        ("none", "This board has no time bank. What you win past an event is lost."),
    ],
)
async def test_other_modes_show_history_and_explain_themselves(
    tmp_path: Path, mode: str, what: str, profile: Profile
) -> None:
    toml = window_toml(f'mode = "{mode}"\nthebank_ext = "THEBANK.EXT"')
    async with world(tmp_path, toml=toml) as board:
        ada = await at_the_window(board, "Ada", profile=profile)
        await ada.sees(what)
        assert "<D>eposit" not in ada.screen
        ada.presses("dwtbral")
        await ada.presses("h").sees("Granted 1:00:00 for 20 November")
        await ada.presses("q").is_asked(WINDOW)
        assert ada.ledger == [("grant", HOUR)]
