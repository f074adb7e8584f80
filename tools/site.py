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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from door.config import default_file, schema
from tools import check_page
from tools.gallery import __main__ as gallery
from tools.gallery import kept
from tools.gallery.paint import PaintMissing
from tools.gallery.terminals import PAINTED, TERMINALS

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
    """List every key of sysop.toml: type, bounds, default, and its text in the file."""
    parts = [
        "# Every key of sysop.toml\n",
        "`door config example` prints a file with all of them. `door config show --effective` shows"
        " what holds on your board, and [the guide](../guide/settings.md) says more.\n",
        *_table_parts("", schema.schema()),
    ]
    return "\n".join(parts)


def _table_parts(name: str, table: Mapping[str, Any]) -> Iterator[str]:
    inner: list[tuple[str, Mapping[str, Any]]] = []
    rows: list[tuple[str, Mapping[str, Any]]] = []
    for key, entry in table["properties"].items():
        (inner if _table_in(entry) is not None else rows).append((key, entry))
    if name:
        yield f"## `{name}`\n"
    if table.get("description"):
        yield f"{_text(table['description'])}\n"
    if rows:
        yield "| Key | Takes | Default | What it does |\n|---|---|---|---|"
        for key, entry in rows:
            default = f"`{_toml(entry['default'])}`" if "default" in entry else "none: it is needed"
            what = _text(entry.get("description", ""))
            yield f"| `{key}` | {_takes(entry)} | {default} | {what} |"
        yield ""
    dotted = name.strip("[]")
    for key, entry in inner if name else sorted(inner, key=_where_in_the_file):
        below = f"{dotted}.{key}" if dotted else key
        is_list = entry.get("type") == "array"
        yield from _table_parts(f"[[{below}]]" if is_list else f"[{below}]", _table_in(entry) or {})
    for entry in table.get("patternProperties", {}).values():
        yield from _table_parts(f"[{dotted}.NAME]", entry)


def _where_in_the_file(table: tuple[str, object]) -> int:
    """Find where a table comes in the annotated file, which has them in the order to read them."""
    match = re.search(rf"^#? ?\[+{table[0]}\b", default_file.text(), re.MULTILINE)
    assert match is not None  # it has every table
    return match.start()


def _table_in(entry: Mapping[str, Any]) -> Mapping[str, Any] | None:
    inner: Mapping[str, Any] = entry.get("items", entry) if entry.get("type") == "array" else entry
    return inner if inner.get("type") == "object" else None


def _takes(entry: Mapping[str, Any]) -> str:
    """Return a key's type and bounds, in words.

    >>> _takes({"type": "integer", "minimum": 1, "maximum": 9})
    'a whole number, 1 to 9'
    >>> _takes({"enum": ["on", "off"]}), _takes({"type": "array", "items": {"type": "string"}})
    ('`"on"`, `"off"`', 'a list of texts')
    """
    if "enum" in entry:
        return ", ".join(f"`{_toml(each)}`" for each in entry["enum"])
    for several in ("anyOf", "oneOf"):
        if several in entry:
            return ", or ".join(_takes(each) for each in entry[several])
    if entry.get("type") == "array":
        items = entry.get("items", {})
        return f"a list of {_takes(items)}" if "enum" in items else "a list of texts"
    words = {"integer": "a whole number", "boolean": "`true` or `false`", "string": "text"}
    kind = words.get(entry.get("type", ""), "a value")
    if "minimum" in entry and "maximum" in entry:
        return f"{kind}, {entry['minimum']:,} to {entry['maximum']:,}"
    return kind


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


def pages(drawn: Mapping[str, Mapping[str, Mapping[str, str]]] = NOTHING_DRAWN) -> dict[str, str]:
    """Return the pages that are made, by their places on the site; `drawn` is the gallery."""
    made = {"reference/settings.md": settings_page()}
    made |= {f"reference/{name}.md": command_page(name) for name in COMMANDS}
    made |= {f"screens/{name}.md": screens_page(name, walks) for name, walks in drawn.items()}
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
    for terminal in PAINTED:
        for picture in (kept.BUILT / terminal).glob("*.png"):
            name = f"{terminal}/{picture.name}"
            if name not in kept.PICTURES:  # those are in docs/
                made = File.generated(config, f"screens/{name}", abs_src_path=str(picture))
                files.append(made)
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    return turned(markdown, page.file.src_uri)
