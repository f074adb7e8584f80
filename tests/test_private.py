"""No private part of a library is used, or taken for a name of ours."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from tests.test_rooms import PRODUCT, modules

# Names of NamedTuple and of `os` that are documented.
DOCUMENTED = {"_replace", "_asdict", "_fields", "_make", "_exit"}
EXCEPTIONS = {
    # A door imports this before its caller can press a key: `socket` would take a tenth of that
    # time (tests/test_import_budget.py). Both have the same class of sockets.
    ("door.lines.hand_over", "_socket"),
    ("door.run.relay", "_socket"),
    ("door.run.starting", "_socket"),
    ("door.server.control_client", "_socket"),
}

BARE = {"builtins", "abc", "enum"}  # modules whose classes lend no private names


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in {"_", *DOCUMENTED}


def is_ours(module: str) -> bool:
    return module.partition(".")[0] in PRODUCT


@cache
def names_of_ours() -> frozenset[str]:
    """All private names that the product gives to something."""
    names = set()
    for tree in modules(PRODUCT).values():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif is_of_self(node) and isinstance(node.ctx, ast.Store):
                names.add(node.attr)
    return frozenset(filter(is_private, names))


def is_of_self(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in {"self", "cls"}
    )


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the parts of the names that are imported from elsewhere."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (part for each in node.names for part in each.name.split("."))
        elif isinstance(node, ast.ImportFrom) and not is_ours(node.module or ""):
            yield from (*(node.module or "").split("."), *(each.name for each in node.names))


def test_no_private_name_of_a_library_is_imported() -> None:
    uses = {
        (module, name)
        for module, tree in modules(PRODUCT).items()
        for name in filter(is_private, imported(tree))
    }
    assert uses == EXCEPTIONS


def test_no_private_name_of_a_library_is_read() -> None:
    clashes = [
        f"{module}:{node.lineno}: {node.attr}"
        for module, tree in modules(PRODUCT).items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and is_private(node.attr)
        and node.attr not in names_of_ours()
    ]
    assert clashes == []


def classes() -> Iterator[type[Any]]:
    for name in modules(PRODUCT):
        if not name.endswith("__main__"):
            module = import_module(name)
            yield from (
                value
                for value in vars(module).values()
                if isinstance(value, type) and value.__module__ == name
            )


@cache
def definitions(module: str) -> dict[str, ast.ClassDef]:
    """Return the classes of a module by their qualified names; none if it has no text."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError):  # it is not written in Python
        return {}
    found, nodes = {}, [(tree, "")]
    while nodes:
        parent, within = nodes.pop()
        for node in ast.iter_child_nodes(parent):
            name = within
            if isinstance(node, ast.ClassDef):
                found[within + node.name] = node
                name = f"{within}{node.name}."
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                name = f"{within}{node.name}.<locals>."
            nodes.append((node, name))
    return found


@cache
def names_of(kind: type[Any]) -> frozenset[str]:
    """Return the private names in the text of a class, of its own and of itself."""
    tree = definitions(kind.__module__).get(kind.__qualname__)
    if tree is None:
        return frozenset(filter(is_private, vars(kind)))
    names = set()
    for node in ast.walk(tree):
        if is_of_self(node):
            names.add(node.attr)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
    return frozenset(filter(is_private, names))


def test_no_subclass_reuses_a_private_name_of_its_library_class() -> None:
    """A name of ours that the library also has changes the library's behaviour."""
    clashes = []
    for kind in classes():
        theirs = [
            base
            for base in kind.__mro__
            if not is_ours(base.__module__) and base.__module__ not in BARE
        ]
        used = names_of(kind) if theirs else frozenset()
        clashes += [
            f"{kind.__module__}.{kind.__name__}: {name} of {base.__module__}.{base.__name__}"
            for base in theirs
            for name in sorted(used & names_of(base))
        ]
    assert clashes == []
