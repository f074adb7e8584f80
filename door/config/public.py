"""`[public]` in sysop.toml: the page about the board that everybody may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from door.config.listeners import ORIGIN
from timebank.settings.toml import shown

if TYPE_CHECKING:
    from door.lines.registry import ListenerSettings
    from timebank.settings.toml import TomlTable

LONGEST_ADDRESS = 200
EXAMPLE = '"https://board.example"'


@dataclass(frozen=True)
class PublicSettings:
    is_shown: bool = False
    address: str = ""  # of the board, as browsers write it: an origin, without a path
    has_names: bool = True  # whether callers are named
    ways: tuple[str, ...] = ()  # how to call, in the sysop's words; without any by the listeners

    @property
    def host(self) -> str:
        return urlsplit(self.address).hostname or ""


def read_public(table: TomlTable, listeners: Sequence[ListenerSettings]) -> PublicSettings:
    address = _address(table)
    is_shown = table.flag("page", False)
    if is_shown and not any(each.kind == "web" for each in listeners):
        table.refuse("page", 'is shown by a port of kind "web", and [[listeners]] has none')
    elif is_shown and not address and table.sound("address"):
        table.refuse("address", f"must be there for the page, such as {EXAMPLE}")
    return PublicSettings(is_shown, address, table.flag("names", True), table.texts("calls"))


def _address(table: TomlTable) -> str:
    text = table.optional_text("address", LONGEST_ADDRESS)
    address = text.lower().removesuffix("/")
    if not address or (ORIGIN.fullmatch(address) and _is_sound(address)):
        return address
    reason = f"must be the board's address in a browser, without a path, such as {EXAMPLE}"
    table.refuse("address", f"{reason}, is {shown(text)}")
    return ""


def _is_sound(address: str) -> bool:
    """Tell whether host and port can be read out of it."""
    try:
        parts = urlsplit(address)
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
