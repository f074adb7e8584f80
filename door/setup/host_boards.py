"""The boards that can send their callers here, and what each needs, with the paths of this board.

The templates are in `files/boards`, and the guides in docs/boards, which say on which board they
were tried. Each board has a sample drop file. The samples of Synchronet, ENiGMA and Magicka are
real files of these boards, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from door.config.boards import NAMES, board_named, board_of, is_name
from door.errors import AmbiguousBoard, SetupRefused
from door.setup import machine
from door.setup.templates import fitted, plain

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

    from door.config.config import Config

DROP_FILE = "DOOR32.SYS"
TRIAL_MINUTES = 60  # the time left of the caller in a trial
LONGEST_COMMAND = 63  # letters in a command line of older versions of Synchronet
WRITTEN, WRAPPER = "boards", "rundoor.sh"  # the folder of the written files, and a script in it
_WORD = re.compile(r"[A-Za-z0-9._-]+")
_DOOR, _CONFIG, _FOLDER = "/usr/local/bin/door", "/bbs/bjft/sysop.toml", "/bbs/bjft"


@dataclass(frozen=True)
class HostKind:
    """The software of a board.

    `alias` is its name in its drop files, "" if those name only the board itself. Then the command
    line says which board it is. `root` is its usual folder. `table` has keys for [boards.NAME] and
    the comments next to them. `macro` stands for the drop file in its command lines. A board that
    `is_wrapped` has no such macro and starts our script, of which `macro` is then a variable.
    """

    key: str
    name: str
    alias: str
    root: str
    table: Mapping[str, tuple[object, str]]
    macro: str = ""
    followed: bool = True  # whether somebody has followed its guide on a board
    is_wrapped: bool = False

    @property
    def starts_doors(self) -> bool:
        return bool(self.macro)


_KEEPS_WINNINGS = ("bank", "{name} reads nothing back: winnings are kept here")
KINDS = {
    kind.key: kind
    for kind in (
        HostKind("synchronet", "Synchronet", "Synchronet", "/sbbs", {}, "%f"),
        HostKind(
            "enigma",
            "ENiGMA",
            "",
            "/enigma-bbs",
            {
                "minutes": (60, "a day: ENiGMA does not say how long a caller may stay"),
                "give_back": _KEEPS_WINNINGS,
            },
            "{dropFilePath}",
        ),
        HostKind(
            *("magicka", "Magicka", "Magicka", "/bbs/magicka", {"give_back": _KEEPS_WINNINGS}),
            macro="$dropfile",
            is_wrapped=True,
        ),
        HostKind(
            "mystic",
            "Mystic",
            "Mystic",
            "/mystic",
            {"give_back": _KEEPS_WINNINGS},
            "%Pdoor32.sys",
            False,
        ),
        HostKind("wwiv", "WWIV", "WWIV", "/wwiv", {"give_back": _KEEPS_WINNINGS}, "%E", False),
        HostKind("gamesrv", "GameSrv", "", "/gamesrv", {}),
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
        raise SetupRefused(f"No board can be called so: {NAMES}.")
    known = board_named(config.boards, name)
    name = known.name if known is not None else name
    is_another = board is not None and board.name != name
    says_board = kind.starts_doors and (not kind.alias or is_another)
    if says_board and _WORD.fullmatch(name) is None:
        raise SetupRefused(
            f"{kind.name} names this board on the command line, so its name here has letters,"
            " digits and . _ - alone."
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


def with_table(text: str, setup: HostSetup) -> tuple[str, list[str]]:
    """Add the board's table, or the keys that it lacks, and the server that its doors share.

    Keeps what the sysop has written, even if another value would do. Returns the new text of the
    settings and sentences about what was added.
    """
    import tomlkit  # noqa: PLC0415

    if not setup.kind.starts_doors:
        return text, []
    document = tomlkit.parse(text)
    changes = [_with_board(document, setup)]
    return tomlkit.dumps(document), changes


def _with_board(document: TOMLDocument, setup: HostSetup) -> str:
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
    made = _MAKERS[setup.kind.key](config, setup)
    if setup.kind.starts_doors:
        made[f"{WRITTEN}/{setup.kind.key}/{WRAPPER}"] = _wrapper(config, setup)
    return made


def _folder(config: Config) -> str:
    return plain(config.path.absolute().parent)


def _synchronet(config: Config, setup: HostSetup) -> dict[str, str]:
    ours = command(config, setup).removesuffix(f" {setup.kind.macro}")
    text = fitted("boards/install-xtrn.ini", {"cmd = door run --dropfile": f"cmd = {ours}"})
    if not setup.stdio:
        text = text.replace("|XTRN_IO_INTS", "").replace("|XTRN_NOECHO", "")
    return {"install-xtrn.ini": text}


def _enigma(config: Config, setup: HostSetup) -> dict[str, str]:
    instead = {
        _DOOR: plain(machine.program("door")),
        f"cwd: {_FOLDER}": f"cwd: {_folder(config)}",
        "YourBoard": setup.name,
        '"run", ': f'"run", "--config", "{plain(config.path.absolute())}", ',
    }
    if not setup.stdio:
        instead |= {
            '"{dropFilePath}" ]': '"{dropFilePath}", "--connect", "127.0.0.1:{srvPort}" ]',
            "io: stdio": "io: socket",
        }
    return {
        "boards/enigma/menu.hjson": fitted("boards/enigma.hjson", instead),
        "boards/enigma/submit.hjson": fitted("boards/enigma-submit.hjson", {}),
    }


def _magicka(config: Config, setup: HostSetup) -> dict[str, str]:
    instead = {"/bbs/bjft/rundoor.sh": f"{_folder(config)}/{WRITTEN}/magicka/{WRAPPER}"}
    if not setup.stdio:
        instead["stdio = true"] = "stdio = false"
    return {
        "boards/magicka/doors.ini": fitted("boards/magicka.ini", instead),
        "boards/magicka/doors.mnu": fitted("boards/magicka.mnu", {}),
    }


def _mystic(config: Config, setup: HostSetup) -> dict[str, str]:
    return {"boards/mystic/command.txt": f"{command(config, setup)}\n"}


def _wwiv(config: Config, setup: HostSetup) -> dict[str, str]:
    ours = f"{_DOOR} run --config {_CONFIG} --dropfile %E"
    instead = {ours: command(config, setup)}
    if not setup.stdio:
        instead = {
            ours: f"{command(config, setup)} --socket %H",
            "Exec Mode    : STDIO": "Exec Mode    : none",
        }
    return {"boards/wwiv/chain.txt": fitted("boards/wwiv.txt", instead)}


def _gamesrv(config: Config, setup: HostSetup) -> dict[str, str]:
    port = next((each.port for each in config.listeners if each.kind == "telnet"), 0)
    if not port:
        raise SetupRefused(
            "GameSrv leads its callers to the server's port for telnet. Give the server one in"
            f" {config.path}: a table of [[listeners]] with a port of its own."
        )
    return {"boards/gamesrv/doors.ini": fitted("boards/gamesrv.ini", {"2323": str(port)})}


_MAKERS: dict[str, Callable[[Config, HostSetup], dict[str, str]]] = {
    "synchronet": _synchronet,
    "enigma": _enigma,
    "magicka": _magicka,
    "mystic": _mystic,
    "wwiv": _wwiv,
    "gamesrv": _gamesrv,
}

# Where each board writes the drop file of a node, relative to its own folder; $1 is the node.
_NODE_FILES = {
    "synchronet": "node$1/DOOR32.SYS",
    "enigma": "drop/node$1/door32.sys",
    "magicka": "node$1/door32.sys",
    "mystic": "temp$1/door32.sys",
    "wwiv": "e/$1/temp/door32.sys",
}


def _wrapper(config: Config, setup: HostSetup) -> str:
    where = f"{plain(setup.root)}/{_NODE_FILES[setup.kind.key]}"
    named = f" --board {setup.name}" if setup.says_board else ""
    return fitted(
        "boards/rundoor.sh",
        {
            "dropfile=/bbs/node$1/door32.sys": f"dropfile={where}",
            "stdio=yes": "stdio=yes" if setup.stdio else "stdio=no",
            _DOOR: plain(machine.program("door")),
            _CONFIG: f"{plain(config.path.absolute())}{named}",
        },
    )


# A sample drop file


def drop_file(setup: HostSetup) -> bytes:
    """Return a DOOR32.SYS as the board writes it, for an invented caller."""
    return _DROP_FILES[setup.kind.key]()


def _lines(*values: object, end: str = "\r\n", charset: str = "cp437") -> bytes:
    return "".join(f"{line}{end}" for line in values).encode(charset)


_WHO = ("Ann Lee", "Ann")
_DROP_FILES: dict[str, Callable[[], bytes]] = {
    "synchronet": lambda: _lines(
        *(0, -1, 38400, "Synchronet BBS for Linux  Version 3.22a", 2, *_WHO, 50),
        *(TRIAL_MINUTES, 1, 1),
        end="\n",
    ),
    # Only ENiGMA says telnet with socket -1; it gives every caller the same minutes.
    "enigma": lambda: _lines(
        *(2, -1, 115200, "New ENiGMA\N{VULGAR FRACTION ONE HALF} BBS", 1, *_WHO, 100, 546, 1, 1)
    ),
    "magicka": lambda: _lines(*(2, 4, 38400, "Magicka 0.9", 1, *_WHO, 10, TRIAL_MINUTES, 1, 1)),
    "mystic": lambda: _lines(*(2, 0, 38400, "Mystic 1.12 A48", 1, *_WHO, 10, TRIAL_MINUTES, 1, 1)),
    # Only WWIV counts seconds.
    "wwiv": lambda: _lines(
        *(0, 0, 115200, "WWIV 5.8.0", 1, *_WHO, 10, 60 * TRIAL_MINUTES, 1, 1), end="\n"
    ),
}


# What the sysop does next


def next_steps(config: Config, setup: HostSetup) -> list[str]:
    """Return the sysop's steps on the other board; lines that begin with blanks are typed."""
    folder, root = config.path.absolute().parent, setup.root
    match setup.kind.key:
        case "synchronet":
            steps = [
                "Let Synchronet install it, as the user that it runs as:",
                f"    SBBSCTRL={root}/ctrl {root}/exec/jsexec install-xtrn {folder}",
                "Have it read its configuration again. It waits until the callers who are on have"
                " gone:",
                f"    touch {root}/ctrl/recycle",
            ]
            longest = len(f"{command(config, setup)} --door BACCARAT")
            if longest > LONGEST_COMMAND:
                steps.append(
                    f"The longest command line has {longest} letters. Versions of Synchronet that"
                    f" take {LONGEST_COMMAND} need a shorter path: link the program to"
                    " /usr/local/bin/door."
                )
            return steps
        case "enigma":
            return [
                f"Paste {folder}/boards/enigma/menu.hjson among the `menus` of",
                f"    {root}/config/menus/YOURBOARD-doors.hjson",
                f"and {folder}/boards/enigma/submit.hjson into the `submit` of its doorsMainMenu."
                " BJFT is what callers type there.",
            ]
        case "magicka":
            return [
                f"Paste {folder}/boards/magicka/doors.ini into",
                f"    {root}/config/doors.ini",
                f"and {folder}/boards/magicka/doors.mnu above the first HOTKEY of",
                f"    {root}/menus/doors.mnu",
                "Callers press B there; choose another key if yours is taken.",
            ]
        case "mystic":
            return [
                "Add a menu command of type D3 with this line as its data. It is in"
                f" {folder}/boards/mystic/command.txt as well.",
                f"    {command(config, setup)}",
            ]
        case "wwiv":
            return [
                f"In wwivconfig, under Chains, add what is in {folder}/boards/wwiv/chain.txt."
                " Its file name is",
                f"    {command(config, setup)}",
            ]
        case _:
            return [
                f"Paste {folder}/boards/gamesrv/doors.ini into",
                f"    {root}/menus/doors.ini",
                "Its callers are led to our server, which must run: they register there like all"
                " others.",
            ]
