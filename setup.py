"""What pyproject.toml cannot say: a wheel has man pages and completions, made as it is built."""

from __future__ import annotations

import sys
from collections import defaultdict
from importlib import import_module
from pathlib import Path

from setuptools import Distribution, setup

HERE = Path(__file__).parent
INSTALL_DATA = Distribution().get_command_class("install_data")


class WithManual(INSTALL_DATA):
    def run(self) -> None:
        sys.path.insert(0, str(HERE))  # a build has the current folder nowhere
        manual = import_module("tools.manual")  # loads the commands: for a wheel alone
        made = Path(self.get_finalized_command("build").build_base) / "manual"
        places: defaultdict[str, list[str]] = defaultdict(list)
        for path in manual.write(made, self.distribution.get_version()):
            places[str(path.parent)].append(str(made / path))
        self.data_files = list(places.items())
        super().run()


# Without a place for data nobody would be asked for it.
setup(cmdclass={"install_data": WithManual}, data_files=[("share/man/man1", [])])
