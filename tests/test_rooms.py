"""The order of the rooms: imports go one way, and never in a circle."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Container, Iterator
from functools import cache
from itertools import pairwise

import pytest

from tests import ROOT
from tests.uncollected import uncollected

# Each room may use those before it. A name stands for the module and for all that is in it, and the
# longest name counts.
ORDER = {
    "ansi": ("ansi",),
    "timebank": (
        "timebank",
        "timebank.words",
        "timebank.errors",
        "timebank.files",
        "timebank.serving",
        "timebank.names",
        "timebank.settings",
        "timebank.ledger",
        "timebank.servers",
        "timebank.callers",
        "timebank.audit",
        "timebank.window",
        "timebank.guests",
        "timebank.calls",
        "timebank.wagers",
        "timebank.thebank",
        "timebank.reports",
        "timebank.keeping",
        "timebank.cli",
    ),
    "door": (
        "door",
        "door.errors",
        "door.closed",
        "door.clock",
        "door.flag",
        "door.wording",
        "door.helper",
        "door.helper_process",
        "door.lines",
        "door.dropfiles",
        "door.games",
        "door.config",
        "door.config.log_file",
        "door.defence",
        "door.peers",
        "door.call",
        "door.lobby",
        "door.tables",
        "door.session",
        "door.server",
        "door.run",
        "door.desk",
        "door.setup",
        "door.cli",
    ),
}
MAY_USE = {"ansi": {"ansi"}, "timebank": {"timebank"}, "door": {"ansi", "timebank", "door"}}
PRODUCT = tuple(MAY_USE)
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
TOOLS = ("verify", "bench", "tools")


@cache
def modules(packages: tuple[str, ...]) -> dict[str, ast.Module]:
    """Read every module of some packages."""
    with uncollected():
        return dict(_modules(packages))


def _modules(packages: tuple[str, ...]) -> Iterator[tuple[str, ast.Module]]:
    for package in packages:
        for file in sorted((ROOT / package).rglob("*.py")):
            parts = file.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            yield name, ast.parse(file.read_text("utf-8"))


@cache
def imports(packages: tuple[str, ...]) -> dict[str, set[str]]:
    """Return each module's imports of the others, for its types alone or late ones too."""
    ours = modules(packages)
    return {name: set(_imports(tree, ours)) - {name} for name, tree in ours.items()}


def _imports(tree: ast.Module, ours: Container[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in ours)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                inner = f"{node.module}.{each.name}"
                if inner in ours:
                    yield inner
                elif node.module in ours:
                    yield node.module


def room_of(name: str, order: tuple[str, ...]) -> str:
    rooms = [room for room in order if name == room or name.startswith(f"{room}.")]
    return max(rooms, key=len)


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the modules in circles, by removing leaves repeatedly."""
    left = dict(graph)
    while free := [name for name, uses in left.items() if not uses & left.keys()]:
        for name in free:
            del left[name]
    used = set().union(*left.values()) if left else set()
    return [sorted(left.keys() & used)] if left else []


def test_packages_depend_in_one_direction() -> None:
    for name, uses in imports(PRODUCT).items():
        package = name.partition(".")[0]
        used = {each.partition(".")[0] for each in uses}
        assert used <= MAY_USE[package], name


@pytest.mark.parametrize("package", ORDER)
def test_rooms_use_only_rooms_below_them(package: str) -> None:
    order = ORDER[package]
    floor = {room: number for number, room in enumerate(order)}
    for name, uses in imports(PRODUCT).items():
        if name.partition(".")[0] != package:
            continue
        here = room_of(name, order)
        for used in uses:
            if used.partition(".")[0] != package:
                continue
            there = room_of(used, order)
            assert floor[there] <= floor[here], f"{name} uses {used}"


@pytest.mark.parametrize("package", ORDER)
def test_every_room_has_a_rank_and_a_docstring(package: str) -> None:
    rooms = set(ORDER[package])
    assert rooms <= modules(PRODUCT).keys()
    for room in rooms:
        assert ast.get_docstring(modules(PRODUCT)[room]), room


@pytest.mark.parametrize("packages", [PRODUCT, TOOLS], ids=" ".join)
def test_no_modules_import_each_other_in_a_circle(packages: tuple[str, ...]) -> None:
    assert circles(imports(packages)) == []


def test_a_circle_of_imports_is_detected() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set()}
    assert circles(graph) == [["a", "b", "c"]]
    assert circles({one: {two} for one, two in pairwise("abcde")} | {"e": set()}) == []


@pytest.mark.parametrize("package", ORDER)
def test_the_wheel_has_all_that_is_in_a_room(package: str) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"][package]
    room = ROOT / package
    named = {
        pattern: {path for path in room.glob(pattern) if path.is_file()} for pattern in patterns
    }
    assert [pattern for pattern, paths in named.items() if not paths] == [], "these match nothing"
    files = {
        path for path in room.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    assert sorted(files - set().union(*named.values())) == [], "an installed board lacks these"


def test_the_document_of_the_rooms_names_files_that_are_there() -> None:
    """Each row of a table in docs/architecture.md tells of one room, and names files of it."""
    rows = re.findall(r"^\| `(\w+/)` \| (.*) \|$", ARCHITECTURE, re.MULTILINE)
    assert len(rows) > 20
    for room, cell in rows:
        there = [file for package in PRODUCT for file in (ROOT / package / room).rglob("*.*")]
        named = re.findall(r"`([\w/]+\.(?:py|js))`", cell)
        gone = [name for name in named if not any(f"{file}".endswith(f"/{name}") for file in there)]
        assert gone == [], room
