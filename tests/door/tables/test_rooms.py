"""A game is a folder: allowed imports among games, and modules that may name one."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from door.games.engine.descriptor import LONGEST_CODE, Game
from door.games.registry import GAMES
from door.session.menu import MENU_LABELS
from door.tables.registry import TABLES
from tests import ROOT
from timebank.words import title as bank_title
from verify.samples import SAMPLES

ROOM = ROOT / "door" / "games"
# The shared engine of three black jacks is a folder without a descriptor.
FOLDERS = sorted({path.parent.name for path in ROOM.glob("*/game.py")} - {"engine"})
# Modules that a rules module may import besides its own folder: those of the engine without
# screen, purse or books. Their errors belong to the tree of the board's. Errors are phrases,
# worded in each reader's language.
PURE = {
    *("door.errors", "timebank.language"),
    *("timebank.settings.forms", "timebank.settings.quoting"),
    *(
        f"door.games.engine.{name}"
        for name in ("cards", "errors", "game", "quoting", "replay", "rules", "shuffle")
    ),
}
# Modules that may name a game besides its own folders: the lists of games and of tables.
MAY_NAME_RED_DOG = {"door/games/registry.py", "door/tables/registry.py"}


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    packages = ("ansi", "timebank", "door")
    return {module_of(path): path for name in packages for path in (ROOT / name).rglob("*.py")}


@cache
def imports(module: str, *, late: bool) -> frozenset[str]:
    """The modules of ours that one imports: for types alone too; with `late`, in functions too."""
    tree = ast.parse(modules()[module].read_text(encoding="utf-8"))
    names = set()
    for node in ast.walk(tree) if late else _at_the_top(tree.body):
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                inner = f"{node.module}.{name.name}"
                names.add(inner if inner in modules() else node.module)
    return frozenset(names & modules().keys() - {module})


def _at_the_top(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, ast.If):  # TYPE_CHECKING
            yield from node.body


def reached(module: str) -> set[str]:
    """Return all modules imported by one, directly or not."""
    known: set[str] = set()
    todo = [module]
    while todo:
        here = todo.pop()
        if here not in known:
            known.add(here)
            todo += imports(here, late=False)
    return known


def test_every_folder_of_a_game_is_in_the_registry() -> None:
    assert sorted(game.folder for game in GAMES.values()) == FOLDERS


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_rules_of_a_game_know_the_engine_alone(folder: str) -> None:
    """From the rounds of a game, or its shared kind, only the engine and itself are reached."""
    shared, own = "door.games.blackjack.kind", f"door.games.{folder}."
    is_shared = shared in imports(f"{own}game", late=True)
    begun, ours = (shared, "door.games.blackjack.") if is_shared else (f"{own}round", own)
    for module in reached(begun):
        assert module in PURE or module.startswith(ours), module


@pytest.mark.parametrize("module", [name for name in modules() if ".games.engine." in name])
def test_the_engine_knows_no_game(module: str) -> None:
    """It imports neither the registry and its readers nor tables, calls and lobby."""
    for other in imports(module, late=True):
        results = ("door.games.solver.strategy_card", "door.games.solver.odds")
        ours = ("door.games.engine", "door.errors", *results)
        assert not other.startswith("door.") or other.startswith(ours), other


def test_games_know_of_each_other_no_more_than_the_shared_engine() -> None:
    for module in modules():
        folder = module.split(".")[2] if module.startswith("door.games.") else ""
        if folder not in FOLDERS:
            continue
        shared = ("door.games.engine", "door.games.solver", "door.games.blackjack")
        own = (f"door.games.{folder}", *shared)
        for other in imports(module, late=True):
            assert not other.startswith("door.games.") or other.startswith(own), (module, other)


def test_no_module_of_the_games_is_in_a_circle_of_imports() -> None:
    """Types that are imported for a checker alone count as well."""
    for module in modules():
        if module.startswith(("door.games", "door.config", "door.call")):
            for other in imports(module, late=False):
                assert module not in reached(other), (module, other)


@pytest.mark.parametrize("module", [name for name in modules() if name.startswith("door.call.")])
def test_a_board_is_given_its_tables(module: str) -> None:
    """The parts of a call know the engine, and no game."""
    for other in imports(module, late=True):
        assert not other.startswith("door.games.") or other.startswith("door.games.engine"), other


@pytest.mark.parametrize("module", [name for name in modules() if name.startswith("timebank")])
def test_the_bank_imports_no_game(module: str) -> None:
    assert not any(other.startswith("door") for other in imports(module, late=True))


def test_settings_are_read_without_tables_or_books() -> None:
    """Every command reads the registry."""
    code = (
        "import sys; before = set(sys.modules); import door.config.config;"
        " print('\\n'.join(sys.modules.keys() - before))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    assert "door.games.registry" in loaded
    heavy = {"sqlalchemy", "telnetlib3", "asyncio", "door.call.caller"}
    assert [name for name in loaded if name in heavy or name.startswith("door.tables")] == []


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_a_descriptor_fits_its_game(game: Game) -> None:
    assert TABLES[game.name].game is game
    hands = SAMPLES[game.name].hands
    assert hands
    assert all(hand["game"] == game.name for hand in hands)
    assert len(game.code) <= LONGEST_CODE


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_the_bank_calls_a_game_by_its_title(game: Game) -> None:
    """It has no list of its own: the house says it (`timebank.title`)."""
    assert bank_title(game.name) == game.title
    paths = (ROOT / "timebank").rglob("*.py")
    assert not [path for path in paths if f'"{game.name}"' in _code_of(path)]


def _code_of(path: Path) -> str:
    """The text of a module without its examples."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith((">>>", "...")))


def test_letters_codes_and_titles_of_games_are_unique() -> None:
    for names in (
        [*(game.letter for game in GAMES.values()), *MENU_LABELS],
        [game.code for game in GAMES.values()],
        [game.title for game in GAMES.values()],
    ):
        assert len(set(names)) == len(names)


def test_red_dog_is_named_only_where_the_guide_for_new_games_says() -> None:
    """This proves docs/new-game.md complete."""
    named = re.compile(r"red.?dog", re.IGNORECASE)
    names = {
        str(path.relative_to(ROOT))
        for path in modules().values()
        if path.parent.name != "red_dog" and named.search(path.read_text(encoding="utf-8"))
    }
    assert names == MAY_NAME_RED_DOG
