"""Write every screen as every terminal shows it: texts for all, pictures for three."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.gallery.paint import picture
from tools.gallery.terminals import PAINTED, TERMINALS
from tools.gallery.walks import WALKS, Shot, walk

SCREENS = Path(__file__).parents[2] / "docs" / "screens"


async def main() -> None:
    for terminal in TERMINALS:
        shutil.rmtree(SCREENS / terminal, ignore_errors=True)
        (SCREENS / terminal).mkdir(parents=True)
        for name in WALKS:
            await _write(terminal, name)


async def _write(terminal: str, name: str) -> None:
    def keep(shot: Shot) -> None:
        file = SCREENS / terminal / f"{shot.name}.txt"
        file.write_text(shot.text, encoding="utf-8")
        if terminal in PAINTED:
            picture(shot.terminal.screen).save(file.with_suffix(".png"), optimize=True)

    with TemporaryDirectory() as folder:
        await walk(name, Path(folder), *TERMINALS[terminal], keep)


if __name__ == "__main__":
    asyncio.run(main())
