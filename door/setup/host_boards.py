"""The boards that can send their callers here, and what each needs, with the paths of this board.

A board's folder in `files/boards` has the templates of what is written for it, the steps that its
sysop takes next, and a sample drop file. The samples of Synchronet, ENiGMA and Magicka are real
files of these boards, byte for byte but for the caller. The guides in docs/boards say on which
boards they were tried.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from door.config.boards import NAMES, board_named, board_of, is_name
from door.errors import AmbiguousBoard, SetupRefused
from door.setup import machine
from door.setup.templates import FOLDER, fitted, plain, shipped

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

    from door.config.config import Config

# In the folder of each board: a sample, and what its sysop does next.
DROP_FILE, STEPS = "DOOR32.SYS", "steps.txt"
LONGEST_COMMAND = 63  # letters in a command line of older versions of Synchronet
WRITTEN, WRAPPER = "boards", "rundoor.sh"  # the folder of the written files, and a script in it
INSTALLER = "install-xtrn.ini"  # for Synchronet, next to the settings
_WORD = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True)
class HostKind:
    """The software of a board.

    `alias` is its name in its drop files, "" if those name only the board itself. Then the command
    line says which board it is. `root` is its usual folder, and `node_file` the drop file of the
    node $1 in it. `table` has keys for [boards.NAME] and the comments next to them. `macro` stands
    for the drop file in its command lines. A board that `is_wrapped` has no such macro and starts
    our script, of which `macro` is then a variable. `by_socket` has what changes in the templates
    if its callers come on their sockets.
    """

    key: str
    name: str
    alias: str
    root: str
    node_file: str = ""
    table: Mapping[str, tuple[object, str]] = field(default_factory=dict)
    macro: str = ""
    by_socket: Mapping[str, str] = field(default_factory=dict)
    followed: bool = True  # whether somebody has followed its guide on a board
    is_wrapped: bool = False

    @property
    def starts_doors(self) -> bool:
        return bool(self.macro)


_KEEPS_WINNINGS = ("bank", "{name} reads nothing back: winnings are kept here")
NO_LIMIT = (60, "a day, for callers with more than a day left, who have no limit")
KINDS = {
    kind.key: kind
    for kind in (
        HostKind(
            *("synchronet", "Synchronet", "Synchronet", "/sbbs", "node$1/DOOR32.SYS"),
            macro="%f",
            by_socket={"|XTRN_IO_INTS": "", "|XTRN_NOECHO": ""},
        ),
        HostKind(
            *("enigma", "ENiGMA", "", "/enigma-bbs", "drop/node$1/door32.sys"),
            {
                "minutes": (60, "a day: ENiGMA does not say how long a caller may stay"),
                "give_back": _KEEPS_WINNINGS,
            },
            "{dropFilePath}",
            {
                '"{dropFilePath}" ]': '"{dropFilePath}", "--connect", "127.0.0.1:{srvPort}" ]',
                "io: stdio": "io: socket",
            },
        ),
        HostKind(
            *("magicka", "Magicka", "Magicka", "/bbs/magicka", "node$1/door32.sys"),
            {"give_back": _KEEPS_WINNINGS},
            "$dropfile",
            {"stdio = true": "stdio = false"},
            is_wrapped=True,
        ),
        HostKind(
            *("mystic", "Mystic", "Mystic", "/mystic", "temp$1/door32.sys"),
            {"give_back": _KEEPS_WINNINGS},
            "%Pdoor32.sys",
            followed=False,
        ),
        HostKind(
            *("wwiv", "WWIV", "WWIV", "/wwiv", "e/$1/temp/door32.sys"),
            {"give_back": _KEEPS_WINNINGS},
            "%E",
            {"%E": "%E --socket %H", "Exec Mode    : STDIO": "Exec Mode    : DOOR32 (Socket)"},
            followed=False,
        ),
        HostKind(
            *("elebbs", "EleBBS", "EleBBS/Linux", "/elebbs", "node$1/door32.sys"),
            {
                "minutes": NO_LIMIT,
                "give_back": ("bank", "{name} may take minutes from EXITINFO.BBS: its guide"),
            },
            "$dropfile",
            followed=False,
            is_wrapped=True,
        ),
        HostKind(
            *("renegade", "Renegade", "Renegade", "/rg", "node$1/DOOR32.SYS"),
            {"minutes": NO_LIMIT, "give_back": _KEEPS_WINNINGS},
            "$dropfile",
            followed=False,
            is_wrapped=True,
        ),
        HostKind("gamesrv", "GameSrv", "", "/gamesrv"),
    )
}


@dataclass(frozen=True)
class HostSetup:
    """A board that will send its callers: its software, its name here, and its folder.

    `says_board` is true if its command line must name it. `stdio` is false if its callers come on
    their sockets.
    """

    kind: HostKind
    name: str
    root: Path
    says_board: bool = False
    stdio: bool = True


def recognized(software: str) -> HostKind | None:
    """Return the kind of board whose drop files use this name for the software."""
    words = software.casefold().split()
    for kind in KINDS.values():
        alias = kind.alias.casefold().split()
        if alias and words[: len(alias)] == alias:
            return kind
    return None


def chosen(
    config: Config, kind: HostKind, name: str | None, root: Path, *, stdio: bool
) -> HostSetup:
    """Return the setup of the board called `name`, else of the one whose alias fits, else of a new
    board called as its software. Raises `SetupRefused`."""
    try:
        board = board_of(config.boards, kind.alias) if kind.alias else None
    except AmbiguousBoard:
        board = None
        if name is None:
            raise SetupRefused(
                f"Several boards of {config.path} are {kind.name}: say which is meant with --name."
            ) from None
    if name is None and kind.starts_doors and not kind.alias:
        # An earlier setup of this kind has a table without an alias too.
        alike = [each for each in config.boards.values() if not each.aliases and each.agreed]
        board = alike[0] if len(alike) == 1 else None
    if name is None:
        name = board.name if board is not None else kind.name
    if not is_name(name):
        raise SetupRefused(f"The name of a board must have {NAMES}.")
    known = board_named(config.boards, name)
    name = known.name if known is not None else name
    is_another = board is not None and board.name != name
    says_board = kind.starts_doors and (not kind.alias or is_another)
    if says_board and _WORD.fullmatch(name) is None:
        raise SetupRefused(
            f"{kind.name} names this board on the command line, so its name here may have only"
            " letters, digits and . _ -."
        )
    return HostSetup(kind, name, root, says_board, stdio)


# The settings


def table(setup: HostSetup) -> dict[str, tuple[object, str]]:
    """Return the keys for its table, each with the comment next to it."""
    kind = setup.kind
    keys = {
        key: (value, comment.format(name=kind.name)) for key, (value, comment) in kind.table.items()
    }
    if kind.alias and not setup.says_board:
        keys = {"aliases": ([kind.alias], "the first words of what its drop files say"), **keys}
    return keys


def lines(setup: HostSetup) -> list[str]:
    """Return the lines to paste into sysop.toml."""
    import tomlkit  # noqa: PLC0415 - only commands that write settings need it

    document = tomlkit.document()
    boards = tomlkit.table(is_super_table=True)
    boards.add(setup.name, _written(setup))
    document.add("boards", boards)
    return tomlkit.dumps(document).strip().splitlines()


def no_room(text: str) -> str:
    """Return why no table can be added to the boards of settings; "" if one can be."""
    import tomlkit  # noqa: PLC0415

    if isinstance(tomlkit.parse(text).get("boards"), tomlkit.items.InlineTable):
        return "No table fits beside boards = {...}: write each board in it as [boards.NAME] first."
    return ""


def with_table(text: str, setup: HostSetup) -> tuple[str, str]:
    """Add the board's table, or the keys that it lacks.

    Keeps what the sysop has written, even if another value would do. Returns the new text of the
    settings and a sentence about what was added. Raises `SetupRefused`.
    """
    import tomlkit  # noqa: PLC0415

    document = tomlkit.parse(text)
    if refused := no_room(text):
        raise SetupRefused(refused)
    added = _add_table(document, setup)
    return tomlkit.dumps(document), added


def _add_table(document: TOMLDocument, setup: HostSetup) -> str:
    import tomlkit  # noqa: PLC0415

    boards = document.get("boards")
    if boards is None:
        boards = tomlkit.table(is_super_table=True)
        document["boards"] = boards
    header = f"[boards.{setup.name}]"
    if setup.name not in boards:
        boards[setup.name] = _written(setup)
        return f"Added {header} to the settings."
    own, added = boards[setup.name], list[str]()
    for key, (value, _) in table(setup).items():
        if key == "aliases":
            known = own.get(key, [])
            if any(recognized(each) is setup.kind for each in known):
                continue
            own[key] = [*known, *(value if isinstance(value, list) else [])]
        elif key in own:
            continue
        else:
            own[key] = value
        added.append(key)
    if not added:
        return f"{header} is in the settings already, and stays as it is."
    return f"Added {' and '.join(added)} to {header} in the settings."


def _written(setup: HostSetup) -> object:
    import tomlkit  # noqa: PLC0415

    own = tomlkit.table()
    for key, (value, comment) in table(setup).items():
        item = tomlkit.item(value)
        item.comment(comment)
        own.add(key, item)
    return own


# Files written for the board


def command(config: Config, setup: HostSetup) -> str:
    """Return the line that starts the door, as it is typed into the board's own settings."""
    if not setup.kind.starts_doors:
        return ""
    words = [plain(machine.program("door")), "run"]
    if setup.kind.key != "synchronet":  # which starts it in the folder of the settings
        words += ["--config", plain(config.path.absolute())]
    if setup.says_board:
        words += ["--board", setup.name]
    return " ".join([*words, "--dropfile", setup.kind.macro])


def files(config: Config, setup: HostSetup) -> dict[str, str]:
    """Return the files to write, by path from the settings' folder; raise `SetupRefused`."""
    kind, texts = setup.kind, _texts(config, setup)
    names = {f"{WRITTEN}/{kind.key}/{each}": f"boards/{kind.key}/{each}" for each in _own(kind)}
    if kind.starts_doors:
        names[f"{WRITTEN}/{kind.key}/{WRAPPER}"] = f"boards/{WRAPPER}"
    if kind.key == "synchronet":
        names[INSTALLER] = f"boards/{INSTALLER}"
    return {written: fitted(template, texts) for written, template in names.items()}


def _own(kind: HostKind) -> list[str]:
    """Return the names of the templates that only this board needs."""
    names = (each.name for each in (FOLDER / "boards" / kind.key).iterdir())
    return sorted(name for name in names if name not in (DROP_FILE, STEPS))


def _texts(config: Config, setup: HostSetup) -> dict[str, str]:
    """Return what stands in the templates, and what this board needs there."""
    kind, folder = setup.kind, plain(config.path.absolute().parent)
    door = plain(machine.program("door"))
    texts = {
        "/usr/local/bin/door": door,
        "cmd = door": f"cmd = {door}",
        "/bbs/bjft": folder,
        "/bbs/bjft/sysop.toml": plain(config.path.absolute()),
        "/bbs/bjft/rundoor.sh": f"{folder}/{WRITTEN}/{kind.key}/{WRAPPER}",
        "/bbs/node$1/door32.sys": f"{plain(setup.root)}/{kind.node_file}",
        "YourBoard": setup.name,
    }
    if setup.says_board:
        texts[" --dropfile"] = f" --board {setup.name} --dropfile"
    if not setup.stdio:
        texts |= {"stdio=yes": "stdio=no", **kind.by_socket}
    if kind.key == "gamesrv":
        texts["2323"] = str(_telnet_port(config))
    return texts


def _telnet_port(config: Config) -> int:
    for each in config.listeners:
        if each.kind == "telnet" and each.port:
            return each.port
    raise SetupRefused(
        "GameSrv leads its callers to the server's port for telnet. Give the server one in"
        f" {config.path}: a table of [[listeners]] with a port of its own."
    )


def drop_file(setup: HostSetup) -> bytes:
    """Return a DOOR32.SYS as the board writes it, for an invented caller."""
    return (FOLDER / "boards" / setup.kind.key / DROP_FILE).read_bytes()


def next_steps(config: Config, setup: HostSetup) -> list[str]:
    """Return the sysop's steps on the other board; lines that begin with blanks are typed."""
    folder, line = config.path.absolute().parent, command(config, setup)
    text = shipped(f"boards/{setup.kind.key}/{STEPS}")
    steps = text.format(folder=folder, root=setup.root, command=line).splitlines()
    longest = len(f"{line} --door BACCARAT")
    if setup.kind.key == "synchronet" and longest > LONGEST_COMMAND:
        steps.append(
            f"The longest command line has {longest} letters. Versions of Synchronet that"
            f" take {LONGEST_COMMAND} need a shorter path: link the program to"
            " /usr/local/bin/door."
        )
    return steps
