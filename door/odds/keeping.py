"""The odds of the tables' rules, worked out once and kept on disk.

They are kept by the game, its rules, and the program that worked them out, in the user's own cache
(`XDG_CACHE_HOME`, else `~/.cache`). What cannot be read or is not what was written is thrown away,
and where nothing can be written nothing is kept: it is only worked out again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from door.games.engine.descriptor import Game, find
from door.odds.odds import Odds

FOLDER = "blackjack-for-time"

_PROGRAM = Path(__file__).parent.parent
_WORKED_OUT_BY = ("odds", "games")  # folders of the program


def odds_of(game: Game, rules: Any) -> Odds:
    """Return the odds of a game under some rules, kept or worked out."""
    path = _path(game.name, rules)
    kept = _kept(path)
    if kept is not None:
        return kept
    odds: Odds = find(game.odds_at)(game.name, rules)
    _keep(path, odds)
    return odds


def _path(name: str, rules: Any) -> Path:
    given = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(given) if os.path.isabs(given) else Path.home() / ".cache"
    what = f"{name}\n{rules!r}\n{_program()}"
    return folder / FOLDER / f"odds-{hashlib.sha256(what.encode()).hexdigest()}.json"


@cache
def _program() -> str:
    """Return the digest of all that odds are made by: another program has others."""
    digest = hashlib.sha256()
    for folder in _WORKED_OUT_BY:
        for file in sorted((_PROGRAM / folder).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _kept(path: Path) -> Odds | None:
    try:
        seal, _, text = path.read_text("utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    if seal == _seal(text):
        with contextlib.suppress(KeyError, TypeError, ValueError):
            return Odds.of_plain(json.loads(text))
    with contextlib.suppress(OSError):
        path.unlink()
    return None


def _keep(path: Path, odds: Odds) -> None:
    text = json.dumps(odds.plain())
    own = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(f"{_seal(text)}\n{text}", "utf-8")
        own.replace(path)


def _seal(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
