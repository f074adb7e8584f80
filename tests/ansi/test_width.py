import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcwidth

from ansi.width import STEADY, character_width, text_width


def test_steady_characters_are_one_cell_to_wcwidth_too() -> None:
    assert {character for character in STEADY if wcwidth(character) != 1} == set()


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("♥│", 2), ("漢字a", 5), ("e\u0301\u200b\x07", 1)]
)
def test_the_width_of_a_text_is_that_of_its_cells(text: str, width: int) -> None:
    assert text_width(text) == width


@given(st.characters())
def test_every_character_takes_none_one_or_two_cells(character: str) -> None:
    assert character_width(character) in {0, 1, 2}


def test_the_tables_of_wcwidth_are_loaded_only_when_a_character_needs_them() -> None:
    script = (
        "import sys, ansi.canvas, ansi.cards, ansi.keys, ansi.art\n"
        "ansi.canvas.Canvas(80, 24).put(0, 0, '┌♥é')\n"
        "assert 'wcwidth' not in sys.modules\n"
        "ansi.canvas.Canvas(80, 24).put(0, 0, '漢')\n"
        "assert 'wcwidth' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
