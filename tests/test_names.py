"""One name for one class, and one place to look for errors."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Container, Iterator
from functools import cache

import pytest

from tests.test_rooms import PRODUCT, TOOLS, modules

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
    """Return those of them that can be raised, by name."""
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


def bound(tree: ast.Module) -> set[str]:
    """Every name that is given to something in a module: assigned, defined, imported, or taken."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.ClassDef(name=name) | ast.arg(arg=name) | ast.Name(name, ast.Store()):
                names.add(name)
            case ast.alias(name=name, asname=None) | ast.alias(asname=str(name)):
                names.add(name.partition(".")[0])
    return names


def asked_of(tree: ast.Module, known: Container[str]) -> Iterator[tuple[str, str]]:
    """Yield each name that a file uses or patches in a module of ours, after that module."""
    nodes = list(ast.walk(tree))
    modules_by = {
        each.asname or each.name: f"{node.module}.{each.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for each in node.names
        if f"{node.module}.{each.name}" in known
    }
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            modules_by.pop(node.id, None)  # a variable of that name, which may be anything
    for node in nodes if modules_by else ():
        match node:
            case ast.Attribute(ast.Name(name), asked) if name in modules_by:
                yield modules_by[name], asked
            # monkeypatch.setattr(module, "NAME", ...), mock.patch.object(module, "NAME")
            case ast.Call(ast.Attribute(), [ast.Name(name), ast.Constant(str(asked)), *_]) if (
                name in modules_by
            ):
                yield modules_by[name], asked


def test_names_used_of_a_module_are_in_it() -> None:
    """Types are checked of the product alone, and the long tools call most of theirs late."""
    known = modules(PRODUCT) | modules(TOOLS)
    names = {name: bound(tree) for name, tree in known.items()}
    assert [
        f"{name}: {module}.{asked}"
        for name, tree in (modules(TOOLS) | modules(("tests",))).items()
        for module, asked in asked_of(tree, known)
        if asked not in names[module] and f"{module}.{asked}" not in known
        if not asked.startswith("__")
    ] == []
