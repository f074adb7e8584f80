"""One name for one class, and one place to look for errors."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from functools import cache

import pytest

from tests.test_rooms import PRODUCT, modules

# Where the errors of a package are; the rules of games know the engine alone, so it has a branch.
TREES = {
    "timebank": ("timebank.errors", "timebank.cli.errors"),
    "door": ("door.errors", "door.games.engine.errors"),
}
ROOTS = {"timebank": {"TimeBankError", "UserError"}, "door": {"DoorError"}}


@cache
def classes() -> list[tuple[str, ast.ClassDef]]:
    """Every class of the product that others may use, with its module."""
    return [
        (module, node)
        for module, tree in modules(PRODUCT).items()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]


def bases(node: ast.ClassDef) -> set[str]:
    return {ast.unparse(base).rpartition(".")[2] for base in node.bases}


@cache
def errors() -> dict[str, tuple[str, ast.ClassDef]]:
    """Those of them that can be raised, by name."""
    raised = {
        name
        for name, value in vars(builtins).items()
        if isinstance(value, type) and issubclass(value, BaseException)
    } | {"ClickException"}
    found: dict[str, tuple[str, ast.ClassDef]] = {}
    while True:
        more = {
            node.name: (module, node)
            for module, node in classes()
            if node.name not in found and bases(node) & (raised | found.keys())
        }
        if not more:
            return found
        found |= more


def test_no_two_classes_have_the_same_name() -> None:
    times = Counter(node.name for _, node in classes())
    assert [name for name, number in times.items() if number > 1] == []


@pytest.mark.parametrize("package", TREES)
def test_errors_are_one_tree_in_one_place(package: str) -> None:
    here = {
        name: (module, node)
        for name, (module, node) in errors().items()
        if module.startswith(f"{package}.")
    }
    assert len(here) > 30
    for name, (module, node) in here.items():
        assert module in TREES[package], f"{module} has {name}"
        assert name in ROOTS[package] or bases(node) & here.keys(), f"{name} hangs on no root"
