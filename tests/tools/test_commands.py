"""The commands, options, settings and files that documents name are there.

Nothing is run: click and argparse parse the commands, and the board reads the settings.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path, PurePath
from unittest import mock

import click
import pytest

from door.cli.main import main as door
from door.config import schema
from tests import ROOT
from timebank.cli.main import main as timebank
from timebank.errors import SettingsError

DOCUMENTS = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
    for pattern in ("README.md", "docs/**/*.md", "bench/README.md", "verify/**/README.md")
    for path in ROOT.glob(pattern)
}
# In these, words with an underscore are also columns, names of Python and facts.
FOR_PROGRAMMERS = re.compile(
    r"verify/|docs/(architecture|formats|new-game|reliability|translating)\.md"
)
OTHERS_KEYS = {"stdio", "ignoreip", "pool_mode"}  # of Magicka, fail2ban and PgBouncer
OTHERS_WORDS = {
    *("beacon_urls", "beacon_wait_seconds", "takes_doors"),  # of 1.0; they are ignored
    *("ssh_host_key", "ssh_host_rsa_key"),  # files
    *("mean_within", "sd_within"),  # fields of `door odds`
    "insurance_unit",  # in the rules of a hand
    *("pg_dump", "pg_restore", "target_session_attrs", "idle_in_transaction_session_timeout"),
}
SETTINGS = "docs/guide/settings.md"  # here words without an underscore are keys too, except these
NO_KEYS = {
    *("at", "level", "logger", "message", "process", "traceback"),  # of a line of the log
    *("container", "logrotate", "prometheus", "system"),  # values
    *("beacon", "chmod", "timebank", "all"),
}

FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.M | re.S)
SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
# A line of code without a fence, and the remark of some documents after two spaces.
LINE = re.compile(r"^    ((?:python -m|door|timebank) .*?)(?:  .*)?$", re.M)
PROGRAMS: dict[str, click.Command] = {"door": door, "timebank": timebank}
PACKAGES = {"bench", "tools", "verify"}
STARTERS = {"exec", "runuser", "sudo"}
EXTRAS = re.compile(r"\[(postgres|ssh|web|pages|console)(,\w+)*\]")  # of `pip install`
OF_PYTEST = {"--long", "--hypothesis-profile"}


def blocks(text: str, language: str) -> list[str]:
    """Return the fenced blocks of a language, without their indentation."""
    fences = [each for each in FENCE.finditer(text) if each[2] == language]
    return [re.sub(rf"^{each[1]}", "", each[3], flags=re.M) for each in fences]


def spans(text: str) -> list[str]:
    return [" ".join(span.split()) for span in SPAN.findall(FENCE.sub("", text))]


def shell_commands(block: str) -> Iterator[list[str]]:
    """Split a block of shell into simple commands, each into its words."""
    text = re.sub(r"(^| )#.*|\\\n|\[(?=--)|(?<=\w)\]$", "", block, flags=re.M)
    words = shlex.shlex(text, posix=True, punctuation_chars="();<>|&\n")
    words.whitespace, words.whitespace_split = " ", True
    command: list[str] = []
    for word in words:
        if set(word) <= set("();<>|&\n"):
            yield command
            command = []
        else:
            command.append(word)
    yield command


def our_words(words: Sequence[str]) -> list[str]:
    """Return the words from our program on, without a prefix; none for another program."""
    for number, word in enumerate(words):
        if PurePath(word).name in PROGRAMS and (number == 0 or words[0] in STARTERS):
            return [PurePath(word).name, *words[number + 1 :]]
        if re.fullmatch(r"python3?", PurePath(word).name) and words[number + 1 :][:1] == ["-m"]:
            module = words[number + 2]
            return [module, *words[number + 3 :]] if module.split(".")[0] in PACKAGES else []
    return []


def commands_of(text: str) -> Iterator[tuple[list[str], bool]]:
    """Yield the words of each of our commands in a document, and whether it must be complete."""
    for block in [*blocks(text, "sh"), *LINE.findall(FENCE.sub("", text))]:
        yield from ((ours, True) for words in shell_commands(block) if (ours := our_words(words)))
    for span in spans(text):
        if re.match(r"(sudo |python3? -m |\S*\b(door|timebank) )", span):
            ours = our_words(shlex.split(re.sub(r"(\w)(\|\w+)+", r"\1", span)))
            yield from [(ours, False)] if ours else []


class Asked(Exception):
    """Carries the parser out of a `main`."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self.parser = parser


@cache
def parser_of(module: str) -> click.Command | argparse.ArgumentParser:
    """Return the parser of the command line of `python -m MODULE`."""
    spec = find_spec(module)
    assert spec is not None, f"no module {module}"
    entry = import_module(f"{module}.__main__" if spec.submodule_search_locations else module)
    if not hasattr(entry, "argparse"):
        main = getattr(entry, "main", None)
        return main if isinstance(main, click.Command) else argparse.ArgumentParser(module)

    def ask(parser: argparse.ArgumentParser, *_: object) -> None:
        raise Asked(parser)

    with mock.patch.object(argparse.ArgumentParser, "parse_args", ask):
        try:
            entry.main()
        except Asked as asked:
            return asked.parser
    raise AssertionError(f"{module} parses nothing")


def chosen(words: Sequence[str]) -> tuple[click.Command | argparse.ArgumentParser, list[str]]:
    """Return the command, or the command below it, and the words that are left for it."""
    name, *rest = words
    command = PROGRAMS[name] if name in PROGRAMS else parser_of(name)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        assert rest[0] in command.commands, f"no command {rest[0]}"
        command, rest = command.commands[rest[0]], rest[1:]
    return command, rest


def options_of(command: click.Command | argparse.ArgumentParser) -> set[str]:
    if isinstance(command, argparse.ArgumentParser):
        return set(command._option_string_actions)
    options = {one for each in command.params for one in (*each.opts, *each.secondary_opts)}
    below = command.commands.values() if isinstance(command, click.Group) else ()
    return options.union({"--help"}, *map(options_of, below))


def understand(words: Sequence[str], is_whole: bool) -> None:
    """Parse a command of ours. One in a sentence may lack words."""
    command, rest = chosen(words)
    if isinstance(command, argparse.ArgumentParser):
        named = {word.partition("=")[0] for word in rest if word.startswith("--")}
        assert named <= options_of(command), f"no option {named - options_of(command)}"
        return
    context = click.Context(command, info_name=words[0], help_option_names=["-h", "--help"])
    parser = command.make_parser(context)
    try:
        values, extra, _ = parser.parse_args(list(rest))
    except click.BadOptionUsage:
        assert not is_whole, "an option lacks its value"
        values, extra, _ = parser.parse_args([*rest, "VALUE"])
    assert extra == [], "words that the command does not take"
    for parameter in command.params:
        value = values.get(parameter.name)
        lacks = value is None or value == () or repr(value) == "Sentinel.UNSET"
        assert not (is_whole and parameter.required and lacks), f"{parameter.name} is needed"
        if not isinstance(parameter.type, click.Path):
            for one in value if isinstance(value, list | tuple) else [value]:
                if isinstance(one, str) and not one.isupper():  # NAME is a placeholder
                    parameter.type.convert(one, parameter, context)


def faults_of_commands(place: str, text: str) -> Iterator[str]:
    options = set(OF_PYTEST if "pytest" in text else ())
    for words, is_whole in commands_of(text):
        try:
            understand(words, is_whole)
            options |= options_of(chosen(words)[0])
        except (AssertionError, click.ClickException) as fault:
            yield f"{shlex.join(words)}: {getattr(fault, 'message', fault)}"
    for span in spans(text):
        if span.startswith("pytest "):
            places = re.findall(r" (tests/\S+)", span)
            yield from [place for place in places if not (ROOT / place).exists()]
    # Options in the files of host boards are checked by tests/door/cli/test_board_guides.py.
    for span in [] if place.startswith("docs/boards/") else spans(text):
        if span.startswith("--"):
            named = {word for word in span.split() if word.startswith("--")}
            if named - options:
                yield f"{span}: no command of this page has this option"


@cache
def keys() -> dict[str, set[str]]:
    """Return the header of each table of sysop.toml that has a key, by the key."""
    settings_named: dict[str, set[str]] = {}
    for setting in schema.default_keys():
        settings_named.setdefault(str(setting.path[-1]), set()).add(schema.header(setting.table))
    return settings_named


def is_setting(line: str) -> bool:
    """Return whether the board takes a line of TOML in a table that has its key, or in none."""
    key = line.split(maxsplit=1)[0]
    for table in {"", *keys().get(key, ())} - {"[]"}:
        try:
            schema.checked_keys(f"{table}\n{line}\n", Path("sysop.toml"))
        except SettingsError as fault:  # which may be of another key that this one needs
            if any(each.key.split()[-1] == key for each in fault.problems):
                continue
        return True
    return False


def faults_of_settings(place: str, text: str) -> Iterator[str]:
    for block in blocks(text, "toml"):
        try:
            schema.checked_keys(block, Path("sysop.toml"))
        except SettingsError as fault:
            yield str(fault)
    tables = {table for each in keys().values() for table in each}
    tables |= {f"{table.partition('.')[0]}]" for table in tables if "." in table} | {"[games.NAME]"}
    names = {setting.name for setting in schema.default_keys()}
    for words, _ in commands_of(text):
        takes_key = words[:2] == ["door", "config"] and words[2:3] != ["list"]
        if takes_key and words[3:] and re.match("[a-z]", words[3]):
            yield from [words[3]] if words[3] not in names else []
    for span in spans(text):
        if match := re.fullmatch(r"(\[+[a-z][\w.-]+\]+)(?: (\w+)(?: = .+)?)?", span):
            table, key = match[1], match[2]
            known = table in (keys().get(key, ()) if key else tables)
            yield from [] if known or EXTRAS.fullmatch(span) else [span]
        elif match := re.fullmatch(r"([a-z]\w+) = .+", span):
            yield from [] if match[1] in OTHERS_KEYS or is_setting(span) else [span]
        elif re.fullmatch(r"[a-z]+(_[a-z0-9]+)+", span) and not FOR_PROGRAMMERS.match(place):
            known = span in keys() or span in OTHERS_WORDS or span.startswith("bjft_")
            yield from [] if known else [span]
        elif place == SETTINGS and re.fullmatch("[a-z]+", span):
            yield from [] if span in keys() or span in NO_KEYS else [span]


@pytest.mark.parametrize("place", DOCUMENTS)
def test_the_commands_and_options_of_a_document_are_ours(place: str) -> None:
    assert list(faults_of_commands(place, DOCUMENTS[place])) == []


@pytest.mark.parametrize("place", DOCUMENTS)
def test_the_settings_of_a_document_are_ours(place: str) -> None:
    assert list(faults_of_settings(place, DOCUMENTS[place])) == []


FILE = re.compile(r"(?:ansi|bench|door|timebank|tests|tools|verify|docs)/[\w./-]*")


def faults_of_files(text: str) -> Iterator[str]:
    """Yield the files that are not there, below the repository or its tests, or lack a name."""
    for span in spans(text):
        places = [ROOT / span, ROOT / "tests" / span]
        if FILE.fullmatch(span) and not any(place.exists() for place in places):
            yield span
    for file, name in re.findall(r"`([\w/]+\.py)`: `(\w+)`", text):
        is_there = re.search(rf"^(class|def|async def) {name}\b|^{name}\b", read(file), re.M)
        yield from [] if is_there else [f"{file}: {name}"]


def read(file: str) -> str:
    path = ROOT / file
    return path.read_text("utf-8") if path.exists() else ""


@pytest.mark.parametrize("place", DOCUMENTS)
def test_the_files_of_a_document_are_there(place: str) -> None:
    assert list(faults_of_files(DOCUMENTS[place])) == []


WRONG = """
```sh
door hands 7
runuser -u bjft -- /opt/bjft/bin/timebank audit --since-digit D | cut -c 1
python -m bench --part nothing
door hand    # which?
door config set calls.node 8
```

    python -m verify.simulate --seeds 1-20 --step 8    some of them

Run `timebank export xml|csv`, `python -m tools.nothing`, `--given`, and
`pytest tests/tools tests/none`.

```toml
[calls]
node = 8
```

Write `node = 8`, `ties = "pull"`, `[calls] node` or `[call]` for `shoe_ahead`.

The key `node` limits calls.

`door/tables/table.py` is gone, and so is `door/tables/registry.py`: `Tables`.
"""


def test_wrong_commands_settings_and_files_are_found() -> None:
    assert [fault.partition(":")[0] for fault in faults_of_commands("", WRONG)] == [
        "door hands 7",
        "timebank audit --since-digit D",
        "bench --part nothing",
        "door hand",
        "verify.simulate --seeds 1-20 --step 8",
        "timebank export xml",
        "tools.nothing",
        "tests/none",
        "--given",
    ]
    toml, *others = faults_of_settings(SETTINGS, WRONG)
    assert "[calls] node: is not known" in toml
    assert others == [
        *("calls.node", "node = 8", 'ties = "pull"', "[calls] node", "[call]"),
        *("shoe_ahead", "node"),
    ]
    gone = ["door/tables/table.py", "door/tables/registry.py: Tables"]
    assert list(faults_of_files(WRONG)) == gone
