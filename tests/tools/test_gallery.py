"""Every screen is as it was when it was last looked at: `python -m tools.gallery` writes them anew.

See docs/screens/README.md.
"""

import logging
from pathlib import Path

import pytest

from tools.gallery.__main__ import main
from tools.gallery.terminals import TERMINALS
from tools.gallery.walks import WALKS, Shot, walk

LESS_COMMON = [
    pytest.param(each, marks=pytest.mark.long)
    for each in TERMINALS
    if each not in ("80x24-utf8", "lines")
]
SCREENS = Path(__file__).parents[2] / "docs" / "screens"


@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("terminal", ["80x24-utf8", "lines", *LESS_COMMON])
async def test_screens_are_as_they_are_kept(
    terminal: str, name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shots: list[Shot] = []
    await walk(name, tmp_path, *TERMINALS[terminal], shots.append)
    assert shots
    warned = [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]
    assert warned == []
    for shot in shots:
        file = SCREENS / terminal / f"{shot.name}.txt"
        assert shot.text == file.read_text(encoding="utf-8"), f"{file.name} on {terminal}"


def test_help_is_shown_and_nothing_drawn(tmp_path: Path, capsys) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--into", str(tmp_path), "--help"])
    assert end.value.code == 0
    assert "--into" in capsys.readouterr().out
    assert not any(tmp_path.iterdir())
