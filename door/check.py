"""`door check`: the settings, and what they name that must be there before the board opens.

A server and a door read their settings quickly and often; here there is time to open the files.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from door import config
from door.config import Config
from door.lines.certificates import CertificateRefused, doubt
from timebank.settings import Table, open_table


def check(path: Path) -> tuple[Config, list[str]]:
    """Return the settings, and what the sysop should know though nothing is wrong with it.

    Raises `SettingsError` with everything that is wrong.
    """
    root = open_table(path)
    settings = config.read(root, path)
    doubts = _look_at_certificates(root, settings)
    root.finish()
    return settings, doubts


def _look_at_certificates(root: Table, settings: Config) -> list[str]:
    doubts = []
    now = datetime.now(UTC)
    for table, listener in zip(root.tables("listeners") or (), settings.listeners, strict=False):
        if listener.certificate is None or listener.key is None:
            continue
        try:
            doubts.append(doubt(listener.certificate, listener.key, now))
        except CertificateRefused as refused:
            table.refuse(refused.which, refused.reason)
    return [words for words in doubts if words]
