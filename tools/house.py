"""Compare commits by files, lines, imports and the English of docstrings and comments.

    python -m tools.house bf5d6f4 HEAD

Without arguments it measures HEAD. It reads files and runs none of them. Every import counts, also
one in a function or for types alone. The rows of English are a report and not a gate: the words in
a sentence, and how many of a thousand words belong to turns that readers had to read twice.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tarfile
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

PRODUCT = ("ansi", "timebank", "door")
OTHERS = ("tests", "bench", "fuzz", "verify", "tools")
GAME = "baccarat"  # the example for the row that counts the files naming a game

MAX_SUBJECT = 72  # letters in the subject of a commit
TURNS = re.compile(
    r"\b(whoever|whichever|anew|thereof|of which|of whom|be had|had come to|is to be|are to be|"
    r"what there is|that there is|is told|are told|was told|is said|are said|as ever|but for|"
    r"stands? for itself|the other|no more|beside|lets? \w+ be|what what|of those that)\b"
)
POOR_NAMES = "told heard said seen found of kept ways beside standing course company".split()  # noqa: SIM905

Graph = Mapping[str, set[str]]


def files_of(commit: str) -> dict[PurePosixPath, str]:
    """Read the Python files of a commit."""
    tar = subprocess.run(["git", "archive", commit], check=True, stdout=subprocess.PIPE).stdout
    files = {}
    with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            if member.isfile() and path.suffix == ".py" and path.parts[0] in PRODUCT + OTHERS:
                file = archive.extractfile(member)
                assert file is not None
                files[path] = file.read().decode("utf-8")
    return files


def imports(modules: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """Return the names of the modules that each module imports, of those given."""
    graph: dict[str, set[str]] = {name: set() for name in modules}
    for name, tree in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                graph[name] |= {each.name for each in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported = {f"{node.module}.{each.name}" for each in node.names}
                graph[name] |= imported & modules.keys()
                if imported - modules.keys():
                    graph[name].add(node.module)
        graph[name] = (graph[name] & modules.keys()) - {name}
    return graph


def prose(text: str, tree: ast.Module) -> Iterator[str]:
    """Yield the docstrings and the blocks of comments of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            if docstring:
                yield docstring
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.strip("# ")


def english(texts: Iterable[str]) -> str:
    """Return the words in a sentence and the turns in a thousand words, as a cell of the table.

    >>> english(["Who is told. What there is, anew."])
    ' 3.5 words a sentence, 285 turns in 1,000 words'
    """
    words = sentences = turns = 0
    for text in texts:
        words += len(re.findall(r"[A-Za-z']+", text))
        sentences += max(1, len(re.findall(r"[.:;?!](?:\s|$)", text)))
        turns += len(TURNS.findall(text))
    mean = words / max(1, sentences)
    return f"{mean:4.1f} words a sentence, {turns * 1000 // max(1, words)} turns in 1,000 words"


def poor_names(tree: ast.Module) -> int:
    """Count the functions, arguments and variables called `told` and the like."""
    names = [
        getattr(node, "name", None) or getattr(node, "arg", None) or getattr(node, "id", None)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.arg)
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    ]
    return sum(name.strip("_") in POOR_NAMES for name in names if name)


def long_subjects(commit: str) -> int:
    """Count the subjects over 72 letters among the last 500 commits up to this one."""
    command = ["git", "log", "-500", "--format=%s", commit]
    subjects = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return sum(len(subject) > MAX_SUBJECT for subject in subjects.splitlines())


def circles(graph: Graph) -> list[list[str]]:
    """Return the strongly connected parts of more than one name, by Tarjan's algorithm."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    waiting: list[str] = []
    parts = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        waiting.append(name)
        for used in graph[name]:
            if used not in number:
                visit(used)
            if used in waiting:
                lowest[name] = min(lowest[name], lowest[used])
        if lowest[name] == number[name]:
            at = waiting.index(name)
            if len(waiting) - at > 1:
                parts.append(sorted(waiting[at:]))
            del waiting[at:]

    for name in graph:
        if name not in number:
            visit(name)
    return parts


def floors(graph: Graph) -> int:
    """Return the length of the longest chain of imports; a circle counts as one module."""
    first = {name: circle[0] for circle in circles(graph) for name in circle}
    uses: dict[str, set[str]] = defaultdict(set)
    for name, used in graph.items():
        uses[first.get(name, name)] |= {first.get(each, each) for each in used}
    heights: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in heights:
            heights[name] = 1 + max((height(used) for used in uses[name] - {name}), default=0)
        return heights[name]

    return max(height(name) for name in list(uses))


def upward(graph: Graph) -> int:
    """Count the imports between two rooms that run against the direction of most of them."""
    rooms = {name: room(name, graph) for name in graph}
    between = Counter((rooms[name], rooms[used]) for name in graph for used in graph[name])
    return sum(
        min(count, between[there, here]) for (here, there), count in between.items() if here < there
    )


def room(module: str, modules: Iterable[str]) -> str:
    """Return a module's room: its folder in the package, or the package for files outside folders.

    >>> modules = ["door.lines", "door.lines.tls.tls", "door.clock"]
    >>> [room(module, modules) for module in modules]
    ['door/lines', 'door/lines', 'door']
    """
    parts = module.split(".")
    is_folder = any(other.startswith(f"{'.'.join(parts[:2])}.") for other in modules)
    return "/".join(parts[:2]) if is_folder else parts[0]


def module_of(path: PurePosixPath) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def rows_of(commit: str) -> dict[str, str]:
    """Measure a commit; return the cells of its column by the names of their rows."""
    files = files_of(commit)
    sizes: dict[str, list[int]] = defaultdict(list)
    for path, text in files.items():
        size = text.count("\n")
        sizes[path.parts[0]].append(size)
        if path.parts[0] in PRODUCT and len(path.parts) > 2:
            sizes["/".join(path.parts[:2])].append(size)
    rows = {name: f"{len(each):>4} files {sum(each):>6} lines" for name, each in sizes.items()}
    whole = [size for name in PRODUCT for size in sizes[name]]
    rows["product"] = f"{len(whole):>4} files {sum(whole):>6} lines"
    modules = {module_of(path): ast.parse(text) for path, text in files.items()}
    inside = {name: tree for name, tree in modules.items() if name.split(".")[0] in PRODUCT}
    graph = imports(inside)
    rows["modules in circles of imports"] = str(sum(map(len, circles(graph))))
    for package in PRODUCT:
        own = {name: tree for name, tree in inside.items() if name.split(".")[0] == package}
        rows[f"floors of {package}"] = str(floors(imports(own)))
    rows["imports that run up between rooms"] = str(upward(graph))
    users = Counter(used for name in graph for used in graph[name])
    rows["modules imported by one other"] = str(list(users.values()).count(1))
    names = Counter(
        node.name
        for tree in inside.values()
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    )
    rows["class names used twice or more"] = str(sum(count > 1 for count in names.values()))
    named = [path for path, text in files.items() if GAME in f"{path} {text.lower()}"]
    outside = [path for path in named if path.parts[0] in PRODUCT and GAME not in path.parts]
    rows[f"product files that name {GAME} outside its folders"] = str(len(outside))
    texts: dict[str, list[str]] = defaultdict(list)
    for name, path in zip(modules, files, strict=True):
        if path.parts[0] in PRODUCT:
            for place in {path.parts[0], room(name, modules)}:
                texts[place].extend(prose(files[path], modules[name]))
    rows |= {f"English of {place}": english(each) for place, each in texts.items()}
    rows["names that are no nouns"] = str(sum(map(poor_names, inside.values())))
    rows["commit subjects over 72 letters, of the last 500"] = str(long_subjects(commit))
    return rows


def table(columns: Mapping[str, Mapping[str, str]]) -> Iterable[str]:
    """Yield the lines of a Markdown table; a cell is empty where a commit has no such row."""
    names = sorted({name for rows in columns.values() for name in rows}, key=_place)
    yield "| | " + " | ".join(columns) + " |"
    yield "|---|" + "---|" * len(columns)
    for name in names:
        yield f"| {name} | " + " | ".join(rows.get(name, "") for rows in columns.values()) + " |"


def _place(name: str) -> tuple[int, str]:
    first = name.partition("/")[0]
    order = ["product", *PRODUCT, *OTHERS]
    return (order.index(first) if first in order else len(order), name)


def is_commit(name: str) -> bool:
    command = ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"]
    return not subprocess.run(command, check=False, capture_output=True).returncode


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tools.house",
        description="Compare commits by files, lines, imports and English, in a Markdown table.",
    )
    parser.add_argument(
        "commits", nargs="*", default=["HEAD"], metavar="COMMIT", help="by default HEAD"
    )
    commits = parser.parse_args(arguments).commits
    for commit in commits:
        if not is_commit(commit):
            parser.exit(2, f"git finds no commit {commit} here.\n")
    print("\n".join(table({commit: rows_of(commit) for commit in commits})))


if __name__ == "__main__":
    sys.setrecursionlimit(5000)
    main()
