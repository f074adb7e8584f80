"""Renew the third-party files of the web pages: `python -m tools.vendored FONT.ttf`.

It packs the versions named below with npm, and takes the files that the callers' page and the
sysop's pages load, with their licences. FONT.ttf is Terminus (TTF) of Debian's package
fonts-terminus; the letters used by this board become a web font, which needs fonttools and brotli.
All files go into the `vendored` folders of both, to be committed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOOR = ROOT / "door"
FOLDER = DOOR / "lines/web/page/vendored"  # of the callers' page
BOOKS = DOOR / "desk/pages/static/vendored"  # of the sysop's
FAMILY = "Board Terminal"

# The files of each package, and their names here.
PACKAGES: Mapping[str, Mapping[str, str]] = {
    "@xterm/xterm@6.0.0": {
        "lib/xterm.mjs": "xterm.mjs",
        "css/xterm.css": "xterm.css",
        "LICENSE": "xterm.LICENSE.txt",
    },
    "@xterm/addon-webgl@0.19.0": {
        "lib/addon-webgl.mjs": "addon-webgl.mjs",
        "LICENSE": "addon-webgl.LICENSE.txt",
    },
    "@xterm/addon-web-links@0.12.0": {
        "lib/addon-web-links.mjs": "addon-web-links.mjs",
        "LICENSE": "addon-web-links.LICENSE.txt",
    },
}
OF_BOOKS: Mapping[str, Mapping[str, str]] = {
    "uplot@1.6.32": {
        "dist/uPlot.esm.js": "uPlot.js",
        "dist/uPlot.min.css": "uPlot.css",
        "LICENSE": "uPlot.LICENSE.txt",
    },
}

# Where the font has no letter of CP437, another that looks like it.
ALIKE = {0x25BA: 0x25B6, 0x25C4: 0x25C0}
# Latin with its accents, punctuation, arrows, mathematics, boxes and shapes.
BLOCKS = ((0x20, 0x17F), (0x2010, 0x203F), (0x20A0, 0x20BF), (0x2190, 0x21FF), (0x2200, 0x22FF))
BLOCKS += ((0x2300, 0x23FF), (0x2500, 0x27BF))
_MAP = re.compile(rb"\n?//# sourceMappingURL=.*\n?")


def take(package: str, wanted: Mapping[str, str], folder: Path) -> None:
    """Pack a package by npm and take files from it; raises `CalledProcessError` or `KeyError`."""
    with tempfile.TemporaryDirectory() as there:
        command = ("npm", "pack", "--silent", package)
        packed = subprocess.run(command, cwd=there, check=True, capture_output=True, text=True)
        with tarfile.open(Path(there, packed.stdout.split()[-1])) as archive:
            for name, here in wanted.items():
                member = archive.extractfile(f"package/{name}")
                assert member is not None  # a file, not a folder
                (folder / here).write_bytes(_MAP.sub(b"\n", member.read()))


def make_font(source: Path, target: Path) -> None:
    """Write the letters that a terminal shows as a font of the web, under a name of its own.

    The licence keeps the name of the original for the original.
    """
    from fontTools import subset  # noqa: PLC0415 - nothing else of the house needs it
    from fontTools.ttLib import TTFont  # noqa: PLC0415

    font = TTFont(source)
    for table in font["cmap"].tables:
        if table.isUnicode():
            for letter, alike in ALIKE.items():
                if letter not in table.cmap and alike in table.cmap:
                    table.cmap[letter] = table.cmap[alike]
    options = subset.Options(hinting=False, layout_features=[], name_IDs=[0, 1, 2, 4, 6, 13])
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=[code for first, last in BLOCKS for code in range(first, last + 1)])
    cutter.subset(font)
    for number, text in {1: FAMILY, 4: FAMILY, 6: FAMILY.replace(" ", "")}.items():
        for record in [each for each in font["name"].names if each.nameID == number]:
            font["name"].setName(text, number, record.platformID, record.platEncID, record.langID)
    font.flavor = "woff2"
    font.save(target)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    for folder, packages in ((FOLDER, PACKAGES), (BOOKS, OF_BOOKS)):
        folder.mkdir(exist_ok=True)
        for package, wanted in packages.items():
            take(package, wanted, folder)
    (BOOKS / "versions.txt").write_text("\n".join(OF_BOOKS) + "\n", encoding="utf-8")
    make_font(Path(arguments[0]), FOLDER / "terminal.woff2")
    versions = [*PACKAGES, f"{FAMILY}: letters of {Path(arguments[0]).stem}"]
    (FOLDER / "versions.txt").write_text("\n".join(versions) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
