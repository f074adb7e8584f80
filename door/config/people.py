"""People named in sysop.toml: who is registered, who has sysop powers, and what to type.

A name in the settings gives no powers, which belong to callers' numbers. Only a name in `[pages]
readers` may read the pages. No new caller can take these names. The start of the server and `door
check` tell the sysop what is still to do.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from timebank.callers import callers, powers
from timebank.names import names
from timebank.reports.statements import printable

if TYPE_CHECKING:
    from timebank.callers.callers import CallerRecord
    from timebank.ledger.database import Desk
    from timebank.settings.settings import BankSettings

USUAL_CONFIG = Path("sysop.toml")  # the default of --config
GIVES = ("[board] sysop", "[timebank] co_sysops")  # keys whose names should have powers


def doubts(desk: Desk, path: Path) -> list[str]:
    """Return sentences about names in the settings that have no effect, with what to type."""
    if callers.count(desk) == 0:
        return unregistered(desk.settings, path)
    sentences = [_doubt(desk, path, key, name) for key, name in desk.settings.named_people]
    return [sentence for sentence in sentences if sentence]


def unregistered(settings: BankSettings, path: Path) -> list[str]:
    """Return the same sentences for a board where nobody is registered yet."""
    return [_nobody(path, key, name) for key, name in settings.named_people]


def holders(desk: Desk) -> str:
    numbered = [_numbered(record) for record in powers.holders(desk)]
    return f"Sysop powers: {', '.join(numbered) or 'nobody'}."


def command(path: Path, words: str, name: str) -> str:
    """Return a command of `door callers`, ready to type."""
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
    elif key in GIVES:
        enters += f", and {command(path, 'grant', name)} gives sysop powers"
    return (
        f"{key} names {name}, who is not registered yet. {enters}. No new caller can take that"
        " name."
    )


def _numbered(record: CallerRecord) -> str:
    return f"{printable(record.name)}, caller number {record.id}"
