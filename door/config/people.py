"""People named in sysop.toml: who is registered, who has the sysop's powers, and what to type.

A name in the settings gives nothing, since powers belong to callers' numbers; but who has a name of
`[pages] readers` may look. Each is kept from new callers, and the sysop is told, at the start and
by `door check`, what is still to be done.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from timebank.callers import callers, powers
from timebank.names import names
from timebank.reports.statements import printable
from timebank.settings.settings import READERS

if TYPE_CHECKING:
    from timebank.callers.callers import CallerRecord
    from timebank.ledger.database import Desk
    from timebank.settings.settings import BankSettings

USUAL_CONFIG = Path("sysop.toml")  # what commands look for unless they are told
GIVES = ("[board] sysop", "[timebank] co_sysops")  # whose names are meant to have powers


def doubts(desk: Desk, path: Path) -> list[str]:
    """Say which names in the settings at `path` have no effect, and what to type."""
    if callers.count(desk) == 0:
        return unregistered(desk.settings, path)
    said = [_doubt(desk, path, key, name) for key, name in desk.settings.named]
    return [sentence for sentence in said if sentence]


def unregistered(settings: BankSettings, path: Path) -> list[str]:
    """Say the same of a board where nobody is registered yet."""
    return [_nobody(path, key, name) for key, name in settings.named]


def holders(desk: Desk) -> str:
    found = [_numbered(record) for record in powers.holders(desk)]
    return f"Sysop powers: {', '.join(found) or 'nobody'}."


def command(path: Path, words: str, name: str) -> str:
    """A command of `door callers`, ready to be typed."""
    config = [] if path == USUAL_CONFIG else ["--config", str(path)]
    return f"`{shlex.join(['door', 'callers', words, *config, name])}`"


def _doubt(desk: Desk, path: Path, key: str, name: str) -> str:
    record = callers.find(desk, name)
    if record is None:
        return _nobody(path, key, name)
    if not names.is_same(name, record.name):
        return (
            f"{key} names {name}, who is not registered: {_numbered(record)}, has a name that only"
            " looks the same, and gets nothing from it."
        )
    if key in GIVES and not record.powers:
        return (
            f"{key} names {_numbered(record)}, which gives no powers:"
            f" {command(path, 'grant', record.name)} gives them."
        )
    return ""


def _nobody(path: Path, key: str, name: str) -> str:
    enters = f"{command(path, 'password', name)} registers that caller"
    if key == GIVES[0]:
        enters += " with sysop powers"
    elif key == READERS:
        return (
            f"{key} names {name}, who is not registered, and no new caller can take it. {enters}."
        )
    elif key in GIVES:
        enters += f", and {command(path, 'grant', name)} gives sysop powers"
    return (
        f"{key} names {name}, who is not registered: nobody has powers by that name, and no"
        f" new caller can take it or one like it. {enters}."
    )


def _numbered(record: CallerRecord) -> str:
    return f"{printable(record.name)}, caller number {record.id}"
