"""The parts of the documentation's site outside `docs/`: a hook of mkdocs, see mkdocs.yml.

`python -m mkdocs build --strict` runs it. Pages under `reference/` are made from the program
during the build, so none can be out of date: every key of sysop.toml from its declaration, and
every command from click. So are the page that checks a hand, and every screen on every terminal.
Repository files that documents link to are copied under `repository/`. Links out of `docs/` are
rewritten to their place on the site.
"""

from __future__ import annotations

import asyncio
import json
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from door.config import schema
from tools import check_page
from tools.gallery import __main__ as gallery
from tools.gallery import kept
from tools.gallery.paint import PaintMissing
from tools.gallery.terminals import PAINTED, SCENES, TERMINALS

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

HOUSE = Path(__file__).parent.parent
DOCS, REPOSITORY = "docs", "repository"
NOTHING_DRAWN: Mapping[str, Mapping[str, Mapping[str, str]]] = {each: {} for each in TERMINALS}
CHECK_PAGE, CHECK_SOURCE = "check.html", "door/lines/web/page/check.html"
COMMANDS = {"door": "door.cli.main", "timebank": "timebank.cli.main"}
BESIDE = (
    "README.md",
    "CHANGELOG.md",
    "bench/README.md",
    "verify/README.md",
    *(f"verify/{part}/README.md" for part in ("fuzz", "machines", "mutants", "robots")),
)
_LINK = re.compile(r"(!?)\[([^\[\]]*)\]\(([^)\s:#]+)(#[^)\s]*)?\)")


def settings_page() -> str:
    """List every key of sysop.toml: its default, what it means, and the values it takes."""
    parts = [
        "# Every key of sysop.toml\n",
        "`door config list` shows the same with the values of your board, and"
        " [the guide](../guide/settings.md) says more.",
    ]
    table, meanings = "", schema.meanings()
    for key in schema.default_keys():
        if key.path[0] == "rules":  # has the keys of the games
            continue
        if schema.header(key.table) != table:
            about = meanings[str(key.path[0])]["about"]
            is_first = not table.startswith(f"[{key.path[0]}.")
            table = schema.header(key.table)
            parts += [f"\n## `{table}`\n", *([f"{_text(about)}\n"] if is_first else [])]
            parts.append("| Key | Default | What it does |\n|---|---|---|")
        default = _toml(key.default)
        parts.append(f"| `{key.path[-1]}` | `{default}` | {_text(key.meaning)} |")
    parts += ["\n## `[rules.NAME]`\n", _text(meanings["rules"]["about"])]
    return "\n".join([*parts, ""])


def _toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _text(words: str) -> str:
    return " ".join(words.split()).replace("|", r"\|").replace("<", "&lt;")


def command_page(name: str) -> str:
    """Return a page that mkdocs-click fills with a command and all below it."""
    options = {"module": COMMANDS[name], "command": "main", "prog_name": name, "depth": 1}
    lines = [f"    :{key}: {value}" for key, value in options.items()]
    return "\n".join([f"# The {name} command", "", "::: mkdocs-click", *lines, ""])


def screens_page(terminal: str, walks: Mapping[str, Mapping[str, str]]) -> str:
    """Return a page of a terminal's screens: pictures, or the texts where none are drawn.

    >>> print(screens_page("80x24-cp437", {"lobby": {"menu": "<G>oodbye"}}))
    # Every screen: 80x24-cp437
    <BLANKLINE>
    ## lobby
    <BLANKLINE>
    ![menu](80x24-cp437/menu.png)
    <BLANKLINE>
    """
    parts = [f"# Every screen: {terminal}\n"]
    for walk, screens in walks.items():
        parts.append(f"## {walk}\n")
        for name, text in screens.items():
            picture = f"![{name}]({terminal}/{name}.png)\n"
            parts.append(picture if terminal in PAINTED else f"```text\n{text}```\n")
    return "\n".join(parts)


def side_by_side_page(drawn: Mapping[str, Mapping[str, Mapping[str, str]]]) -> str:
    """Return a table of the same screens, a row each, with a column for each terminal.

    >>> print(side_by_side_page({"lines": {"first-call": {"welcome": "Name:"}}}).splitlines()[8])
    | welcome | ![welcome](lines/welcome.png){ style="min-width: 12rem" } |
    """
    names = [terminal for terminal, walks in drawn.items() if walks]
    parts = [
        "---\nhide: [navigation, toc]\n---\n",
        "# Side by side\n",
        f"| |{'|'.join(names)}|",
        f"|---|{'---|' * len(names)}",
    ]
    for scene in SCENES:
        cells = (f'![{scene}]({each}/{scene}.png){{ style="min-width: 12rem" }}' for each in names)
        parts.append(f"| {scene} | {' | '.join(cells)} |")
    return "\n".join([*parts, ""])


def pages(drawn: Mapping[str, Mapping[str, Mapping[str, str]]] = NOTHING_DRAWN) -> dict[str, str]:
    """Return the pages that are made, by their places on the site; `drawn` is the gallery."""
    made = {"reference/settings.md": settings_page()}
    made |= {f"reference/{name}.md": command_page(name) for name in COMMANDS}
    made |= {f"screens/{name}.md": screens_page(name, walks) for name, walks in drawn.items()}
    made["screens/side-by-side.md"] = side_by_side_page(drawn)
    return made | {f"{REPOSITORY}/{path}": (HOUSE / path).read_text("utf-8") for path in BESIDE}


def turned(text: str, place: str) -> str:
    """Rewrite the links of a page that lead out of its folder of the clone.

    A link to something that is not on the site, such as a folder, becomes plain words.
    """
    is_beside = place.startswith(f"{REPOSITORY}/")
    own = place.removeprefix(f"{REPOSITORY}/") if is_beside else f"{DOCS}/{place}"

    def turn(match: re.Match[str]) -> str:
        mark, words, link, anchor = match[1], match[2], match[3], match[4] or ""
        target = posixpath.normpath(posixpath.join(posixpath.dirname(own), link))
        if target.startswith(f"{DOCS}/") and (HOUSE / target).is_file():
            return f"{mark}[{words}]({_way(place, target.removeprefix('docs/'))}{anchor})"
        if target == CHECK_SOURCE:
            return f"{mark}[{words}]({_way(place, CHECK_PAGE)}{anchor})"
        if target in BESIDE:
            return f"{mark}[{words}]({_way(place, f'{REPOSITORY}/{target}')}{anchor})"
        if (HOUSE / target).exists():
            return words
        return match[0]

    return _LINK.sub(turn, text)


def _way(place: str, target: str) -> str:
    return posixpath.relpath(target, posixpath.dirname(place) or ".")


# Hooks of mkdocs.


def on_files(files: Files, config: MkDocsConfig) -> Files:
    from mkdocs.exceptions import PluginError
    from mkdocs.structure.files import File

    try:
        drawn = asyncio.run(gallery.draw(kept.BUILT))
    except PaintMissing as error:
        raise PluginError(str(error)) from error
    for place, content in {**pages(drawn), CHECK_PAGE: check_page.built()}.items():
        files.append(File.generated(config, place, content=content))
    for terminal in TERMINALS:
        for picture in (kept.BUILT / terminal).glob("*.png"):
            name = f"{terminal}/{picture.name}"
            if name not in kept.PICTURES:  # those are in docs/
                made = File.generated(config, f"screens/{name}", abs_src_path=str(picture))
                files.append(made)
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    return turned(markdown, page.file.src_uri)
