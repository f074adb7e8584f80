"""`[pages]` of sysop.toml: the address of the books in a browser, and their readers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from door.lines.addresses import address_in
from timebank.names import names
from timebank.settings.forms import OPTIONAL_PATH, Number, Text, TrueOrFalse, setting

if TYPE_CHECKING:
    from timebank.settings.settings import BankSettings
    from timebank.settings.toml import TomlTable


@dataclass(frozen=True)
class PagesSettings:
    # Callers who may read the books in a browser without sysop powers: folded names.
    readers: frozenset[str] = frozenset()
    # Whether `door serve` shows them, in a process of its own.
    is_served: bool = setting(TrueOrFalse(), False, "serve")
    host: str = setting(Text(str), "127.0.0.1")
    port: int = setting(Number(1, 65535), 8024)
    certificate: Path | None = setting(OPTIONAL_PATH, "")
    key: Path | None = setting(OPTIONAL_PATH, "")


def read_pages(table: TomlTable, bank: BankSettings) -> PagesSettings:
    """Read the table; `readers` must be named in the bank's settings too."""
    readers = frozenset(map(names.fold, bank.readers))
    pages = table.fill(PagesSettings, readers=readers)
    fault = open_to_all(pages.host, pages.certificate, pages.key)
    if fault and table.is_sound("host", "certificate", "key"):
        table.refuse(*fault)
    return pages


def open_to_all(host: str, certificate: Path | None, key: Path | None) -> tuple[str, str] | None:
    """Return the key and the fault of an address that would send passwords in the clear."""
    address = address_in(host)
    if address is None:
        return "host", f"is {host}, which is not an IP address of this machine"
    if (certificate is None) != (key is None):
        lone = "certificate" if key is None else "key"
        return lone, "and its other half go together: name certificate and key, or neither"
    if certificate is None and not address.is_loopback:
        return "host", (
            f"is {host}, which is not this machine alone, and passwords would go there for all to"
            " read: name a certificate and its key, or listen on 127.0.0.1 behind a front end that"
            " has them"
        )
    return None
