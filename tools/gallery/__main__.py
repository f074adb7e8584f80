"""Write every screen as every terminal shows it: texts for all, pictures for three."""

from __future__ import annotations

import argparse
import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.gallery.paint import picture
from tools.gallery.terminals import PAINTED, TERMINALS
from tools.gallery.walks import WALKS, Shot, walk

SCREENS = Path(__file__).parents[2] / "docs" / "screens"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.gallery", description=__doc__)
    parser.add_argument("--into", type=Path, default=SCREENS, help="folder (default: docs/screens)")
    asyncio.run(draw(parser.parse_args(arguments).into))


async def draw(into: Path) -> None:
    for terminal in TERMINALS:
        shutil.rmtree(into / terminal, ignore_errors=True)
        (into / terminal).mkdir(parents=True)
        for name in WALKS:
            await _write(into / terminal, terminal, name)


async def _write(folder: Path, terminal: str, name: str) -> None:
    def keep(shot: Shot) -> None:
        file = folder / f"{shot.name}.txt"
        file.write_text(shot.text, encoding="utf-8")
        if terminal in PAINTED:
            picture(shot.terminal.screen).save(file.with_suffix(".png"), optimize=True)

    with TemporaryDirectory() as board:
        await walk(name, Path(board), *TERMINALS[terminal], keep)


if __name__ == "__main__":
    main()
