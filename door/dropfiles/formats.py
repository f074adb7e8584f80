"""The format of a file by its name, and one reader for all formats."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from door.dropfiles import bbsdev_drp, chain_txt, door32_sys, door_sys, dorinfo_def, exitinfo_bbs
from door.dropfiles.disk import HostFiles
from door.dropfiles.dropfile import DropFile, Format, HostSettings
from door.dropfiles.lines import Lines, raw
from door.errors import DropFileRefused

KNOWN = ", ".join(Format)
_NODES = re.compile(r"dorinfo([0-9a-z]{1,3})\.def", re.IGNORECASE)
_NAMES = {kind.value.casefold(): kind for kind in Format if kind is not Format.DORINFO}
_PARSERS: dict[Format, Callable[[Lines, HostSettings], DropFile]] = {
    Format.DOOR32: door32_sys.parse,
    Format.DOOR: door_sys.parse,
    Format.DORINFO: dorinfo_def.parse,
    Format.CHAIN: chain_txt.parse,
    Format.BBSDEV: bbsdev_drp.parse,
}


def kind_of(name: str) -> Format | None:
    """Return the format by a file's name, in any case; None for any other file.

    >>> kind_of("door32.sys"), kind_of("DORINFOa.DEF"), kind_of("XTRN.DAT")
    (<Format.DOOR32: 'DOOR32.SYS'>, <Format.DORINFO: 'DORINFOn.DEF'>, None)
    """
    if _NODES.fullmatch(name):
        return Format.DORINFO
    return _NAMES.get(name.casefold())


def dorinfo_nodes(name: str) -> frozenset[int]:
    """Return the nodes that the n of DORINFOn.DEF can mean; none for another file.

    Node 10 is 0 or A, and A is 10 or 11: ENiGMA continues with letters after 0, Synchronet counts
    in hexadecimal.

    >>> sorted(dorinfo_nodes("DORINFO3.DEF")), sorted(dorinfo_nodes("dorinfoa.def"))
    ([3], [10, 11])
    """
    match = _NODES.fullmatch(name)
    if match is None:
        return frozenset()
    text = match[1].casefold()
    nodes = {10} if text == "0" else {int(text)} if text.isdigit() else set()
    if set(text) <= set("0123456789abcdef") and text != "0":
        nodes.add(int(text, 16))
    if len(text) == 1 and text.isalpha():
        nodes.add(ord(text) - ord("a") + 11)
    return frozenset(nodes)


def read(path: Path, reading: HostSettings, at: HostFiles | None = None) -> DropFile:
    """Read a drop file of any format. A `DropFileRefused` holds no reference to its lines."""
    outcome = _outcome(path, reading, at)
    if isinstance(outcome, DropFileRefused):
        raise outcome.with_traceback(None)
    return outcome


def _outcome(path: Path, reading: HostSettings, at: HostFiles | None) -> DropFile | DropFileRefused:
    kind = kind_of(path.name)
    if kind is None:
        remedy = f"Name one of these: {KNOWN}."
        return DropFileRefused(path, None, "its name is not that of a drop file we read", remedy)
    try:
        content = raw(path, at).content
        if kind is Format.EXITINFO:
            drop_file = exitinfo_bbs.parse(path, content, reading)
        else:
            drop_file = _PARSERS[kind](Lines(path, content), reading)
    except DropFileRefused as refused:
        refused.__context__ = None
        return refused
    if drop_file.number is None and drop_file.key is None and not drop_file.name_key:
        what = "it names no caller, by number or by name"
        return DropFileRefused(path, None, what, "Only the board can tell who is calling.")
    return drop_file
