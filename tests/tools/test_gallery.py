"""Every screen matches its approved copy on one terminal, and others show the same.

`python -m tools.gallery --keep` rewrites the screens: see docs/screens/README.md.
"""

import logging
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ansi.charset import GLYPHS, Charset, encode
from tests import ROOT
from tools.gallery import __main__ as gallery
from tools.gallery import kept
from tools.gallery.__main__ import main
from tools.gallery.paint import PaintMissing
from tools.gallery.terminals import SCENES, TERMINALS
from tools.gallery.walks import HEADERS, WALKS, Shot, walk
from verify.robots.screen import marked

# Screens that name the terminal's letters, show a code or squares that need some of them, or offer
# another language to a terminal that names none.
OF_LETTERS = {
    *("bjft-check", "daily-deal-ranking", "french-settings", "look", "settings"),
    *("welcome", "welcome-champion"),
}
# Screens of some terminals alone: headers that wave.
OF_SOME = {f"{game}-header" for game in HEADERS}
PAGING = re.compile(r"<N>ext|Suiva<n>te|<Q>uit(ter)?|\((Enter|Entrée)\)|page")
WIDEST_LINE = 79
LOW_GLYPHS = {code: glyph for code, glyph in GLYPHS.items() if chr(code) != "\n"}


async def shots_of(
    name: str, terminal: str, folder: Path, caplog: pytest.LogCaptureFixture
) -> dict[str, str]:
    """Take a walk on a terminal, and check that the board logs no warning."""
    shots: dict[str, str] = {}

    def keep(shot: Shot) -> None:
        shots[shot.name] = shot.text

    await walk(name, folder, *TERMINALS[terminal], keep)
    warned = [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]
    assert warned == []
    return shots


@pytest.mark.parametrize("name", WALKS)
async def test_screens_match_the_stored_gallery(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    screens = kept.screens_of(name)
    shots = await shots_of(name, kept.TERMINAL, tmp_path, caplog)
    assert list(shots) == list(screens)
    for shot, text in shots.items():
        assert text == screens[shot], f"{shot}: is it meant? `python -m tools.gallery --keep`"


def in_cp437(text: str) -> str:
    return encode(text, Charset.CP437).decode("cp437").translate(LOW_GLYPHS)


def in_ascii(text: str) -> str:
    return encode(text, Charset.ASCII).decode("ascii")


def keys(text: str) -> set[str]:
    return set(re.findall(r"<(\S+?)>", text))


def words(text: str) -> set[str]:
    """Return words, amounts and times, without those that turn pages."""
    return set(re.findall(r"\w[\w'’:,]{2,}", PAGING.sub("", text)))


def has_no_more_stand_ins(text: str, usual: str) -> bool:
    """Return whether no character was replaced because the terminal lacks it."""
    return text.count("?") <= usual.count("?") and "\N{REPLACEMENT CHARACTER}" not in text


def is_in_cp437(text: str, usual: str) -> bool:
    return text == in_cp437(usual)


def is_in_ascii(text: str, usual: str) -> bool:
    """Return whether all text is ASCII; drawn screens have their own pictures there."""
    return text.isascii() and words(in_ascii(usual)) <= words(text)


def has_all_words(text: str, usual: str) -> bool:
    return words(usual) <= words(text)


def has_all_keys(text: str, usual: str) -> bool:
    """Return whether the open keys are the same, in fewer words."""
    return keys(text) == keys(usual) and has_no_more_stand_ins(text, usual)


# The output of each terminal that differs from the approved one.
SHOWS: dict[str, Callable[[str, str], bool]] = {
    "80x24-cp437": is_in_cp437,
    "80x24-ascii": is_in_ascii,
    "132x50-utf8": has_all_words,
    "40x25-cp437": has_all_keys,
    "40x25-petscii": has_all_keys,
    "40x24-atascii": has_all_keys,
}


@pytest.mark.long
@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("terminal", SHOWS)
async def test_other_terminals_show_the_same(
    terminal: str, name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    screens = kept.screens_of(name)
    shots = await shots_of(name, terminal, tmp_path, caplog)
    assert shots.keys() ^ screens.keys() <= OF_SOME
    of_letters = OF_LETTERS if terminal.startswith("80x24") else set()
    for shot in (shots.keys() & screens.keys()) - of_letters:
        text, usual = shots[shot], screens[shot]
        assert SHOWS[terminal](text, usual), f"{shot}:\n{text}\n{usual}"


@pytest.mark.long
@pytest.mark.parametrize("name", WALKS)
async def test_plain_lines_offer_the_same_keys_and_draw_nothing(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Lines show only news, so a key may have been offered some screens earlier."""
    screens = kept.screens_of(name)
    shots = await shots_of(name, "lines", tmp_path, caplog)
    assert shots.keys() ^ screens.keys() <= OF_SOME
    output = "".join(shots.values())
    # Plain lines mark a letter where it stands in the label, and tell the menu whole once.
    told = set("BCUVRTWNMSDHYG") if "? for the list" in output else set()
    assert keys("".join(screens.values()).upper()) <= keys(marked(output).upper()) | told
    # Which letters are right is asked by showing all of them.
    text = "".join(text for shot, text in shots.items() if shot not in OF_LETTERS)
    assert re.fullmatch(r"[ -~\n\a]*", text)
    assert max(map(len, text.split("\n"))) <= WIDEST_LINE


def test_a_lost_row_or_letter_is_detected() -> None:
    usual = "You win 5:00 – ♥\n <B>et  <N>ext (Enter)\n"
    drawn = usual.replace("–", "-")
    assert is_in_cp437(drawn, usual)
    assert not is_in_cp437(usual, usual)
    assert is_in_ascii("You win 5:00 - H\n<B>et", usual)
    assert not is_in_ascii("You win 5:00 - ♥\n<B>et", usual)
    assert not is_in_ascii("You win\n<B>et", usual)
    assert has_all_words("You win 5:00\n<B>et", usual)
    assert not has_all_words("<B>et", usual)
    assert has_all_keys("<B>et <N>ext", usual)
    assert not has_all_keys("<B>et", usual)
    assert not has_all_keys("? <B>et <N>ext", usual)


def test_every_stored_picture_is_in_a_document_and_the_reverse() -> None:
    documents = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {
        (document.parent / link).resolve()
        for document in documents
        for link in re.findall(r"!\[[^]]*\]\(([^):]*\.png)\)", document.read_text("utf-8"))
    }
    pictures = {kept.KEPT / name for name in kept.PICTURES}
    assert shown == pictures == set((ROOT / "docs").rglob("*.png"))
    assert {file.stem for file in kept.TEXTS.iterdir()} == set(WALKS)


def test_the_scenes_that_are_shown_side_by_side_are_screens_of_walks() -> None:
    assert set(SCENES) <= {shot for walk in WALKS for shot in kept.screens_of(walk)}


def test_help_is_shown_and_nothing_drawn(tmp_path: Path, capsys) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--into", str(tmp_path), "--help"])
    assert end.value.code == 0
    assert "--into" in capsys.readouterr().out
    assert not any(tmp_path.iterdir())


def test_unpaintable_screens_are_stored_as_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def letters() -> None:
        raise PaintMissing("Pillow is missing.")

    monkeypatch.setattr(gallery, "letters", letters)
    monkeypatch.setattr(gallery, "WALKS", {"fame": WALKS["fame"]})
    monkeypatch.setattr(gallery, "TERMINALS", {kept.TERMINAL: TERMINALS[kept.TERMINAL]})
    monkeypatch.setattr(kept, "TEXTS", tmp_path / "texts")
    monkeypatch.setattr(kept, "KEPT", tmp_path)
    with pytest.raises(SystemExit, match=r"^The texts are drawn, and no pictures: Pillow is miss"):
        gallery.main(["--into", str(tmp_path / "built"), "--keep"])
    assert [file.name for file in kept.TEXTS.iterdir()] == ["fame.txt"]
    assert not list(tmp_path.rglob("*.png"))
