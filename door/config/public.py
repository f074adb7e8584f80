"""`[public]` of sysop.toml: the page about the board for everybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from door.config.listeners import ORIGIN
from door.lines.registry import KINDS
from timebank.settings.forms import Text, Texts, TrueOrFalse, setting
from timebank.settings.quoting import shown

if TYPE_CHECKING:
    from door.lines.registry import ListenerSettings
    from timebank.settings.toml import TomlTable

LONGEST_ADDRESS = 200
EXAMPLE = '"https://board.example"'


def _address(text: str) -> str:
    address = text.lower().removesuffix("/")
    if not address or (ORIGIN.fullmatch(address) and _is_sound(address)):
        return address
    reason = f"must be the board's address in a browser, without a path, such as {EXAMPLE}"
    raise ValueError(f"{reason}, is {shown(text)}")


def _is_sound(address: str) -> bool:
    """Return whether the host and port of an address can be parsed."""
    try:
        parts = urlsplit(address)
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


@dataclass(frozen=True)
class PublicSettings:
    is_shown: bool = setting(TrueOrFalse(), False, "page")
    # The board's address as browsers write it: an origin, without a path.
    address: str = setting(Text(_address, LONGEST_ADDRESS, may_be_empty=True), "")
    has_names: bool = setting(TrueOrFalse(), True, "names")  # whether the page names callers
    # How to call, in the sysop's words; the listeners if empty.
    call_lines: tuple[str, ...] = setting(Texts(str), [], "calls")

    @property
    def host(self) -> str:
        return urlsplit(self.address).hostname or ""


def read_public(table: TomlTable, listeners: Sequence[ListenerSettings]) -> PublicSettings:
    public = table.fill(PublicSettings)
    if public.is_shown and not any(KINDS[each.kind].has_pages for each in listeners):
        table.refuse("page", 'is shown by a port of kind "web", and [[listeners]] has none')
    elif public.is_shown and not public.address and table.is_sound("address"):
        table.refuse("address", f"must be there for the page, such as {EXAMPLE}")
    return public
