"""Invalid TOML is reported in a sysop's words."""

from __future__ import annotations

from pathlib import Path

import pytest

from timebank.errors import SettingsError
from timebank.settings.forms import SomeOf
from timebank.settings.toml import open_table


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '[board]\nname = "a"\nsysop = "b"\nname = "c"\n',
            ", line 4, column 11: has name a second time; it stands on line 2 too: keep one of"
            " them.",
        ),
        (
            '[board]\nname = "a"\n[calls]\n[board]\nsysop = "b"\n',
            ", line 4, column 7: has the table [board] a second time; it begins on line 1: put all"
            " its keys there.",
        ),
        (
            'events = []\n[board]\n[[events]]\nname = "x"\n',
            ", line 3, column 9: has [[events]] here and `events = []` on line 1: keep one of"
            " them.",
        ),
        (
            '[events]\nname = "x"\n[[events]]\n',
            ", line 3, column 9: has [[events]] here and [events] on line 1: write all of them in"
            " the same way.",
        ),
        (
            "[board]\nname = My Board # ours\n",
            ', line 2, column 8: has text without quotes: write "My Board".',
        ),
        ("[events]\ntime = 03:00\n", ', line 2, column 9: has text without quotes: write "03:00".'),
        (
            '[timebank]\nhours = ["mon 08:00-10:00",\n\n[[events]]\n',
            ', line 2: has a list that begins here, hours, and has no "]".',
        ),
        (
            '[timebank]\nhours = ["mon 08:00-10:00"\nbarred = []\n',
            ', line 2: has a list that begins here, hours, and has no "]".',
        ),
        (
            '[board]\nname = "abc\nsysop = "x"\n',
            ", line 2, column 12: has text that begins with a quote and does not end with one on"
            " its line.",
        ),
        (
            "[board]\nname = 'abc",
            ", line 2: has text that begins with a quote and does not end with one on its line.",
        ),
        (
            "[server]\ntakes_doors = Yes\n",
            ", line 2, column 15: has Yes, which TOML writes true.",
        ),
        ("[board]\nname =\n", ', line 2, column 7: has nothing after the "=".'),
        ('[board]\nname: "x"\n', ', line 2, column 5: has ":" after name; TOML has "=" there.'),
        (
            '[board]\nboard name = "x"\n',
            ", line 2, column 7: has the key board name, and keys have no spaces.",
        ),
        (
            "[board]\nname\n",
            ', line 2, column 5: has name, and no "=" in it: each line is `key = value`.',
        ),
        ("[calls]\nnodes = 016\n", ", line 2, column 10: has 016: a number does not begin with 0."),
        (
            '[board]\nname = "a" "b"\n',
            ', line 2, column 12: has "b" after the value: one line holds one value.',
        ),
        (
            '[board]\ndata = "C:\\doors"\n',
            ', line 2, column 13: has a "\\" in text: write two of them for one, or put the text in'
            " single quotes.",
        ),
        (
            "[board\nname = 'x'\n",
            ", line 1, column 7: has a header that is not closed: write [board].",
        ),
        (
            "[board]\nname = “x”\n",
            ', line 2, column 8: has the quotes “; TOML knows only straight ones: ".',
        ),
    ],
)
def test_a_mistake_is_reported_with_its_line_and_column(
    tmp_path: Path, text: str, expected: str
) -> None:
    path = tmp_path / "sysop.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as refused:
        open_table(path)
    assert str(refused.value) == f"{path}{expected}"


def test_a_day_in_full_is_taken_for_its_short_name(tmp_path: Path) -> None:
    path = tmp_path / "sysop.toml"
    path.write_text('days = ["Monday"]\n', encoding="utf-8")
    root = open_table(path)
    root.read("days", SomeOf(("daily", "mon", "thu")), "daily")
    with pytest.raises(SettingsError, match='"Monday" is not; did you mean "mon"'):
        root.finish()
