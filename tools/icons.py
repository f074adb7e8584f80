"""Draw the icons of a phone's home screen from `icon.svg`: `python -m tools.icons`.

A card on felt, with a margin that a phone may cut off. Chromium draws, so it must be installed.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).parent.parent / "door/lines/web/page"
SIZES = (192, 512)
FELT = "#0f5a27"


def main() -> None:
    card = (FOLDER / "icon.svg").read_text("utf-8")
    look = f"html{{background:{FELT}}}svg{{position:fixed;inset:20%;width:60%;height:60%}}"
    with sync_playwright() as drives:
        browser = drives.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for size in SIZES:
            page = browser.new_page(viewport={"width": size, "height": size})
            page.set_content(f"<style>{look}</style>{card}")
            page.screenshot(path=FOLDER / f"icon-{size}.png")
        browser.close()


if __name__ == "__main__":
    main()
