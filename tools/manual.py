"""Man pages and completions of the commands `door` and `timebank`, for the wheel.

`setup.py` makes them from the current commands whenever a wheel is built. So none of them can be
out of date, and none is in the repository. To look at them, run `python -m tools.manual FOLDER`
and then `man -l FOLDER/share/man/man1/door.1`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete
from click_man.core import get_short_help_str, write_man_pages

from door.cli.main import main as door
from timebank.cli.main import main as timebank

COMMANDS = {"door": door, "timebank": timebank}
MAN = Path("share/man/man1")
# Letters of the sentence that `apropos` shows; click-man's 45 end most of them in dots.
get_short_help_str.__defaults__ = (200,)
# Where each shell looks for others' completions, below a prefix.
COMPLETIONS: dict[str, tuple[type[ShellComplete], str]] = {
    "share/bash-completion/completions": (BashComplete, "{name}"),
    "share/zsh/site-functions": (ZshComplete, "_{name}"),
    "share/fish/vendor_completions.d": (FishComplete, "{name}.fish"),
}


def write(folder: Path, version: str) -> list[Path]:
    """Write all of them below a folder, and return all files there, relative to it."""
    pages = folder / MAN
    pages.mkdir(parents=True, exist_ok=True)
    for name, command in COMMANDS.items():
        write_man_pages(name, command, version=version, target_dir=str(pages))
        for place, (shell, file) in COMPLETIONS.items():
            path = folder / place / file.format(name=name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(completion(shell, name, command), encoding="utf-8")
    for page in pages.glob("*.1"):
        page.write_text(plain_dots(page.read_text(encoding="utf-8")), encoding="utf-8")
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def completion(shell: type[ShellComplete], name: str, command: click.Command) -> str:
    """Return a script that asks the command at each Tab, so that it follows every release."""
    asked = shell(command, {}, name, f"_{name.upper()}_COMPLETE")
    # Without the look at the version of a shell that may not be here: `BashComplete.source`.
    return ShellComplete.source(asked)


def plain_dots(page: str) -> str:
    """Keep lines of text from being taken for requests of troff, and click's marks out.

    >>> print(plain_dots(".SH NAME\\n.toml is a file\\n\\b"))
    .SH NAME
    \\&.toml is a file
    """
    requests = (".TH ", ".SH ", ".PP", ".B ", ".TP")
    lines = (line for line in page.split("\n") if line != "\b")
    return "\n".join(
        rf"\&{line}" if line.startswith((".", "'")) and not line.startswith(requests) else line
        for line in lines
    )


if __name__ == "__main__":
    for written in write(Path(sys.argv[1]), "in work"):
        print(written)
