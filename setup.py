"""What pyproject.toml cannot say: a wheel has files that are made as it is built.

They are man pages, completions, and the page that checks a hand as one file. The documents of the
folder `docs` are added, without pictures, and two files that they name: `door docs` shows them.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from importlib import import_module
from pathlib import Path

from setuptools import Distribution, setup

HERE = Path(__file__).parent
DOCUMENTS = "share/doc/blackjack-for-time"
INSTALL_DATA = Distribution().get_command_class("install_data")


class WithMade(INSTALL_DATA):
    def run(self) -> None:
        sys.path.insert(0, str(HERE))  # a build has the current folder nowhere
        manual = import_module("tools.manual")  # loads the commands: for a wheel alone
        made = Path(self.get_finalized_command("build").build_base) / "made"
        page = made / DOCUMENTS / "check.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(import_module("tools.check_page").built(), encoding="utf-8")
        places: defaultdict[str, list[str]] = defaultdict(list)
        for path in manual.write(made, self.distribution.get_version()):
            places[str(path.parent)].append(str(made / path))
        for path in HERE.glob("docs/**/*.md"):
            if "screens" not in path.parts:
                places[f"{DOCUMENTS}/{path.parent.relative_to(HERE)}"].append(str(path))
        places[DOCUMENTS] += [str(HERE / name) for name in ("CHANGELOG.md", "sysop.toml")]
        self.data_files = list(places.items())
        super().run()


# Without a place for data nobody would be asked for it.
setup(cmdclass={"install_data": WithMade}, data_files=[("share/man/man1", [])])
