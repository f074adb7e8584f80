"""The kinds of listeners, one row each, with its port, its keys in sysop.toml and how to call it.

Settings, server, public page and `door check` use these rows. Setup and the address of the public
page name "telnet" and "web" themselves. The protocol of a kind is in a folder next to this file,
and is loaded only by a board with such a listener: two kinds need an extra.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from door.errors import CannotListen, HostKeyRefused
from door.lines.addresses import NETWORKS, Network
from timebank.extras import install_command
from timebank.language import N_
from timebank.settings.forms import OPTIONAL_PATH, OneOf, setting

if TYPE_CHECKING:
    from collections.abc import Awaitable, MutableMapping, Sequence

    from door.lines.line import Line
    from door.lines.port.connection import Entrance
    from door.lines.port.listener import Listener
    from door.lines.rlogin.header import RloginHeader
    from door.lines.ssh.ssh_identity import SshIdentity
    from door.lines.web.pages import File

Compatibility = Literal["modern", "boards", "old"]


# What the callers of a port have; "auto" leaves that to the terminal.
Letters = Literal["auto", "petscii", "atascii"]


@dataclass(frozen=True)
class ListenerSettings:
    kind: str  # of `KINDS`
    host: str  # an address in its usual spelling
    port: int  # 0 for any free one
    proxies: tuple[Network, ...] = setting(NETWORKS, [])  # front ends that name the caller
    # For telnets, and for web with TLS; `key` as well.
    certificate: Path | None = setting(OPTIONAL_PATH, "")
    key: Path | None = setting(OPTIONAL_PATH, "")
    # For web alone: front ends that name the caller in X-Forwarded-For, and origins of pages that
    # may call. Without origins, the page must come from the host that it calls.
    forwarded: tuple[Network, ...] = setting(NETWORKS, [])
    origins: tuple[str, ...] = ()
    # For ssh alone: how old the programs are that may call.
    compatibility: Compatibility = setting(OneOf(get_args(Compatibility)), "modern")
    charset: Letters = setting(OneOf(get_args(Letters)), "auto")  # for telnet alone


@dataclass(frozen=True)
class Answering:
    """The server as a listener sees it: functions that serve its callers, and facts it may need."""

    board: str  # its name
    language: str  # the board's own
    data: Path
    logon_seconds: int
    answer: Callable[[Line], Awaitable[None]]
    answer_ssh: Callable[[Line, SshIdentity], Awaitable[None]]
    answer_board: Callable[[Line, RloginHeader], Awaitable[None]]
    knows_key: Callable[[str, bytes], Awaitable[bool]]  # whether a name's caller has that key
    means_new: Callable[[str], bool]  # whether a name is what new callers type instead of one
    is_blocked: Callable[[str], bool]
    public_files: Callable[[], MutableMapping[str, File]]  # of the page about the board


@dataclass(frozen=True)
class ListenerKind:
    usual_port: int
    make: Callable[[Answering, ListenerSettings, Entrance], Listener]
    has_certificate: bool | None = False  # None if a certificate is optional
    own_keys: tuple[str, ...] = ()  # keys of [[listeners]] that no other kind has
    library: str = ""  # what it needs; the extra that brings it is called as the kind
    # How a front end names the caller, and the key that lists front ends; None if none can.
    front_ends: tuple[str, str] | None = ("the PROXY protocol", "proxies")
    local_call: str = ""  # what to type on this machine
    # For the public page: a label, and by host and port what to type and a link, or "".
    call_label: str = ""
    how_to_call: Callable[[str, int], tuple[str, str]] | None = None
    # Sentences of `door check`, by data folder and the listeners of this kind.
    check: Callable[[Path, Sequence[ListenerSettings]], list[str]] | None = None
    has_pages: bool = False  # whether its port shows the board's pages to browsers
    has_keys: bool = False  # whether callers may log on with a key

    def listener(self, server: Answering, where: ListenerSettings, entrance: Entrance) -> Listener:
        """Make the listener, to be opened later; raise `CannotListen`."""
        try:
            return self.make(server, where, entrance)
        except ImportError as missing:
            if words := lacks(where.kind):
                raise CannotListen(words) from missing
            raise


# Each loads the protocol of a kind when a listener of it is made.


def _telnet(server: Answering, where: ListenerSettings, entrance: Entrance) -> Listener:
    from door.lines.telnet import telnet  # noqa: PLC0415 - as are all imports below

    terminal = "" if where.charset == "auto" else where.charset
    return telnet.TelnetListener(server.answer, telnet.USUAL_LIMITS, entrance, terminal)


def _rlogin(server: Answering, _where: ListenerSettings, entrance: Entrance) -> Listener:
    from door.lines.rlogin import rlogin  # noqa: PLC0415

    return rlogin.RloginListener(server.answer_board, rlogin.USUAL_LIMITS, entrance)


def _web(server: Answering, where: ListenerSettings, entrance: Entrance) -> Listener:
    from door.lines.web import web  # noqa: PLC0415

    return web.WebListener(
        server.answer,
        web.USUAL_LIMITS,
        entrance,
        board=server.board,
        language=server.language,
        more=server.public_files(),
        forwarded=where.forwarded,
        origins=where.origins,
        is_blocked=server.is_blocked,
    )


def _ssh(server: Answering, where: ListenerSettings, entrance: Entrance) -> Listener:
    """Listen with the keys in the data folder; make those that are missing."""
    from door.lines.ssh.algorithms import OFFERS  # noqa: PLC0415
    from door.lines.ssh.host_key import host_key, noun  # noqa: PLC0415
    from door.lines.ssh.ssh import USUAL_LIMITS, SshListener, options_for  # noqa: PLC0415

    offer = OFFERS[where.compatibility]
    try:
        keys = [host_key(server.data, kind) for kind in offer.keys]
    except HostKeyRefused as refused:
        raise CannotListen(str(refused)) from refused
    for kind, key in zip(offer.keys, keys, strict=True):
        words = "callers by SSH are shown the %s %s"
        logging.getLogger("door.ssh").info(words, noun(kind), key.get_fingerprint())
    limits = replace(USUAL_LIMITS, admission=float(server.logon_seconds))
    options = options_for(keys, offer)
    functions = (server.answer_ssh, server.knows_key, server.means_new)
    return SshListener(*functions, options, limits, entrance)


def _check_ssh(data: Path, listeners: Sequence[ListenerSettings]) -> list[str]:
    """Return sentences with the fingerprints that callers by SSH are shown, to compare them."""
    from door.lines.ssh import host_key  # noqa: PLC0415
    from door.lines.ssh.algorithms import OFFERS  # noqa: PLC0415

    kinds = (kind for each in listeners for kind in OFFERS[each.compatibility].keys)
    sentences = [
        f'Port {each.port} proves with SHA-1 that it is your board (compatibility = "old").'
        " Somebody who forges SHA-1 can read passwords. Keep the port for callers who need it."
        for each in listeners
        if each.compatibility == "old"
    ]
    for kind in dict.fromkeys(kinds):
        path, noun = data / host_key.FILES[kind], host_key.noun(kind)
        try:
            key = host_key.existing(data, kind)
        except HostKeyRefused as refused:
            sentences.append(str(refused))
            continue
        sentences.append(
            f"The {noun} that callers by SSH are shown is made at the first start: {path}."
            if key is None
            else f"Callers by SSH are shown the {noun} {key.get_fingerprint()}, which is in {path}."
        )
    return sentences


def _by_telnet(host: str, port: int) -> tuple[str, str]:
    typed = f"telnet {host}" if port == 23 else f"telnet {host} {port}"
    return typed, _link("telnet", host, port)


def _by_telnets(host: str, port: int) -> tuple[str, str]:
    return f"{host} {port}", _link("telnets", host, port)


def _by_ssh(host: str, port: int) -> tuple[str, str]:
    return f"ssh new@{host}" if port == 22 else f"ssh -p {port} new@{host}", ""


def _link(scheme: str, host: str, port: int) -> str:
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


KINDS: Mapping[str, ListenerKind] = {
    "telnet": ListenerKind(
        usual_port=2323,
        make=_telnet,
        own_keys=("charset",),
        local_call="telnet localhost {port}",
        call_label=N_("By telnet"),
        how_to_call=_by_telnet,
    ),
    "telnets": ListenerKind(
        usual_port=2992,
        make=_telnet,
        has_certificate=True,
        call_label=N_("By telnet with TLS (host and port)"),
        how_to_call=_by_telnets,
    ),
    "rlogin": ListenerKind(usual_port=2513, make=_rlogin, front_ends=None),
    "web": ListenerKind(
        usual_port=8023,
        make=_web,
        has_certificate=None,
        own_keys=("forwarded", "origins"),
        library="websockets",
        front_ends=("X-Forwarded-For", "forwarded"),
        local_call="http://localhost:{port} in a browser",
        call_label=N_("In a browser"),
        has_pages=True,
    ),
    "ssh": ListenerKind(
        usual_port=2222,
        make=_ssh,
        own_keys=("compatibility",),
        library="asyncssh",
        call_label=N_("By SSH, the first time"),
        how_to_call=_by_ssh,
        check=_check_ssh,
        has_keys=True,
    ),
}


def lacks(kind: str) -> str:
    """Return a sentence that says how to install the library of a kind; "" if it is here."""
    library = KINDS[kind].library
    if not library or find_spec(library) is not None:
        return ""
    return (
        f'A port of the kind "{kind}" needs the library {library}, which is not installed: run'
        f" {install_command(kind)}."
    )
