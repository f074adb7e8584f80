"""How running servers learn at once of an event that a command or a page has started early.

They see it by themselves within five seconds, and whatever they write into the books keeps to it in
any case: so nothing is said of servers that cannot be asked.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from door.errors import NoAnswer
from door.server import asking


def tell_servers(path: Path) -> None:
    """Have the servers of the board with this sysop.toml look at the books."""
    with contextlib.suppress(NoAnswer):
        asking.ask_server(path, None, "look", {})
