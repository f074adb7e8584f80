"""Draw every screen as every terminal shows it: texts for all, pictures of most."""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.gallery import kept
from tools.gallery.paint import PaintMissing, letters, picture
from tools.gallery.terminals import PAINTED, SCENES, TERMINALS
from tools.gallery.walks import WALKS, Shot, walk

Texts = dict[str, dict[str, str]]  # of one terminal: by the walk, and by the screen's name


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.gallery", description=__doc__)
    parser.add_argument("--into", type=Path, default=kept.BUILT, help="folder (build/screens)")
    parser.add_argument("--keep", action="store_true", help="renew docs/screens from it")
    asked = parser.parse_args(arguments)
    missing = ""
    try:
        drawn = asyncio.run(draw(asked.into))
    except PaintMissing as error:
        missing = str(error)
        drawn = asyncio.run(draw(asked.into, is_painted=False))
    if asked.keep:
        kept.keep_texts(drawn[kept.TERMINAL])
        kept.keep_pictures(asked.into)
    if missing:
        sys.exit(f"The texts are drawn, and no pictures: {missing}")


async def draw(into: Path, *, is_painted: bool = True) -> dict[str, Texts]:
    """Draw into a folder for each terminal, and return the texts by the terminal's name.

    Without the means for pictures, `is_painted` raises `PaintMissing` before any drawing.
    """
    if is_painted:
        letters()
    drawn: dict[str, Texts] = {}
    for terminal in TERMINALS:
        shutil.rmtree(into / terminal, ignore_errors=True)
        (into / terminal).mkdir(parents=True)
        drawn[terminal] = {
            name: await _write(into / terminal, terminal, name, is_painted=is_painted)
            for name in WALKS
        }
    return drawn


async def _write(folder: Path, terminal: str, name: str, *, is_painted: bool) -> dict[str, str]:
    texts: dict[str, str] = {}

    def keep(shot: Shot) -> None:
        texts[shot.name] = shot.text
        file = folder / f"{shot.name}.txt"
        file.write_text(shot.text, encoding="utf-8")
        if is_painted and (terminal in PAINTED or shot.name in SCENES):
            picture(shot.terminal.screen).save(file.with_suffix(".png"), optimize=True)

    with TemporaryDirectory() as board:
        await walk(name, Path(board), *TERMINALS[terminal], keep)
    return texts


if __name__ == "__main__":
    main()
