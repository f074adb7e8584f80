"""The settings about other callers are questions, in the caller's language."""

import pytest

from tests.door.visiting import visitor
from tests.world import World

QUESTIONS = {
    "en": (
        "Show who comes and goes?",
        "May others see your losses?",
        "Where may others watch you?",
    ),
    "fr": (
        "Annoncer qui vient et part ?",
        "Montrer vos pertes ?",
        "Où peut-on vous regarder ?",
    ),
}
ANSWERS = {"en": ("yes", "no", "at Vegas"), "fr": ("oui", "non", "à Vegas")}


@pytest.mark.parametrize("language", QUESTIONS)
async def test_what_others_may_see_is_asked_and_answered(board: World, language: str) -> None:
    ada = await visitor(board, "Ada")
    await ada.presses("y").sees("Your settings")
    if language == "fr":
        await ada.presses("l").sees("Réglages")
    rows = [" ".join(row.split()) for row in ada.terminal.picture.splitlines()]
    for question, answer in zip(QUESTIONS[language], ANSWERS[language], strict=True):
        assert any(f"{question} {answer}" in row for row in rows), "\n".join(rows)
