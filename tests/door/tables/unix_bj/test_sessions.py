"""Whole runs of the UNIX game bj, character for character, as on paper.

Each file in `sessions` is a run. Its head gives the options of the program (`Run`) and the cards
of each hand in dealing order: the dealer's up card, the hole card, the player's two, and the drawn
ones. Below a blank line is the paper, with `⏎` for the newline key and `␡` for DEL.
tests/door/games/blackjack/test_unix_bj_rules.py tests the rules; here letters and layout count.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from door.tables.unix_bj.teletype import is_yes
from tests.door.teletype import STRUCK, Run, paper

SESSIONS = sorted(Path(__file__).with_name("sessions").glob("*.txt"))
# The end of a question, and the answer after it.
ANSWER = re.compile(rf"\? ?([^?\n]*)(⏎|{STRUCK})$", re.MULTILINE)


@pytest.mark.parametrize("session", SESSIONS, ids=lambda path: path.stem)
def test_a_session_is_to_the_letter(session: Path) -> None:
    head, _, text = session.read_text(encoding="utf-8").partition("\n\n")
    pairs = [line.split(": ", 1) for line in head.splitlines()]
    hands = [cards for key, cards in pairs if key == "deals"]
    how: dict[str, Any] = {
        key: value if key == "prompts" else int(value)
        for key, value in pairs
        if key not in ("deals", "note")
    }
    typed = " ".join(word or struck for word, struck in ANSWER.findall(text))
    assert Run(**how).plays(*hands, typed=typed) == paper(text)


@pytest.mark.parametrize("line", ["y", "Y", "yes", "y\n", "y\r\n", " y"])
def test_yes(line: str) -> None:
    assert is_yes(line)


@pytest.mark.parametrize("line", ["", "\n", "\r\n", "n", "no", "hit", "?", "\x00", "\ufffd"])
def test_no(line: str) -> None:
    assert not is_yes(line)
