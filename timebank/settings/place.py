"""The place of books on a database server: a `postgresql://` URL without its password."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from timebank.errors import NoPlace

SCHEMES = ("postgresql", "postgres")
# Options after the "?", named as in PostgreSQL's own programs.
OPTIONS = ("host", "sslmode", "sslrootcert", "sslcert", "sslkey", "target_session_attrs")
EXAMPLE = "postgresql://user@host:5432/name"
_HOST = re.compile(r"(?P<host>\[[^\[\]]*\]|[^:\[\]]*)(?::(?P<port>[0-9]*))?")
_HIGHEST_PORT = 65535
EXAMPLE_TWO_HOSTS = "postgresql://user@host1:5432,host2:5433/name"
_PORT_AFTER_HOST = re.compile(r"(?:^|,)[^/:,]+:[0-9]+(?:,|$)")
_UNREADABLE = f'cannot be read as a URL; it must be one such as "{EXAMPLE}"'


@dataclass(frozen=True)
class ServerPlace:
    """A database on a PostgreSQL server. An empty text means the default of PostgreSQL's library.

    `host` may list several hosts, separated by commas, that are tried in turn. `port` is then one
    port for all, or a list of the same length.

    The password is in no field. Each connection reads it from `password_file`. Without that file
    the library reads it from PGPASSWORD or the file that PGPASSFILE names.
    """

    user: str
    host: str
    port: str
    name: str
    options: tuple[tuple[str, str], ...] = ()
    password_file: Path | None = None

    def __str__(self) -> str:
        """Return the URL without options. It contains no secret."""
        user = f"{self.user}@" if self.user else ""
        hosts, ports = self.host.split(","), self.port.split(",")
        if len(ports) < len(hosts):  # one port for all, written after the last host
            ports = [""] * (len(hosts) - 1) + ports
        named = (
            (f"[{host}]" if ":" in host else host) + (port and f":{port}")
            for host, port in zip(hosts, ports, strict=True)
        )
        return f"postgresql://{user}{','.join(named)}/{self.name}"


def is_server(text: str) -> bool:
    """Return whether a text is a URL of a PostgreSQL server, and not a path."""
    return text.partition("://")[0].lower() in SCHEMES and "://" in text


def read_place(text: str, password_file: Path | None = None) -> ServerPlace:
    """Read a URL; raises `NoPlace`. The error quotes no part of the URL except an option's key."""
    if not is_server(text):
        raise NoPlace(f'must be a URL such as "{EXAMPLE}", or empty')
    try:
        parts = urlsplit(text)
    except ValueError:
        raise NoPlace(_UNREADABLE) from None
    if parts.password is not None:
        raise NoPlace(
            "must not hold the password: take it out, and put it into the file that"
            " database_password_file names, or into the environment as PGPASSWORD"
        )
    name = unquote(parts.path.removeprefix("/"))
    if not name or not name.isprintable() or "/" in name or parts.fragment:
        raise NoPlace(f'must end in the name of a database, such as "{EXAMPLE}"')
    options = tuple(parse_qsl(parts.query, keep_blank_values=True))
    for key, value in options:
        if key not in OPTIONS:
            raise NoPlace(f'has the option "{key[:20]}"; known are {", ".join(OPTIONS)}')
        if key == "host" and _PORT_AFTER_HOST.search(value):
            raise NoPlace(
                f'must name hosts with ports before the database, such as "{EXAMPLE_TWO_HOSTS}"'
            )
    host, port = _hosts(parts.netloc.rpartition("@")[2])
    names = [key for key, _ in options] + (["host"] if host else [])
    if len(set(names)) < len(names):
        raise NoPlace("gives the host or an option twice")
    return ServerPlace(unquote(parts.username or ""), host, port, name, options, password_file)


def _hosts(text: str) -> tuple[str, str]:
    """Read hosts and ports. Each host may have a port, or the last host has one for all.

    Return both lists, separated by commas. Raises `NoPlace`.
    """
    matches = [_HOST.fullmatch(each) for each in text.split(",")]
    hosts = [unquote(each["host"].strip("[]")) for each in matches if each is not None]
    ports = [each["port"] or "" for each in matches if each is not None]
    if len(hosts) < len(matches) or any(port and int(port) > _HIGHEST_PORT for port in ports):
        raise NoPlace(_UNREADABLE)
    if len(hosts) > 1 and not all(hosts):
        raise NoPlace("has an empty name among its hosts")
    if not any(ports[:-1]):
        ports = ports[-1:]
    elif not all(ports):
        raise NoPlace("must have a port for each of its hosts, or one behind the last for all")
    return ",".join(hosts), ",".join(ports)
