"""Where the books are when they are on a server: a `postgresql://` URL without its password."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from timebank.errors import NoPlace

SCHEMES = ("postgresql", "postgres")
# What may follow the "?": how the server is reached, as its own programs call it.
OPTIONS = ("host", "sslmode", "sslrootcert", "sslcert", "sslkey", "target_session_attrs")
LIKE = "postgresql://user@host:5432/name"


@dataclass(frozen=True)
class ServerPlace:
    """A database on a server of PostgreSQL. Empty texts and no port mean what its library takes.

    The password is in no field: it is read from `password_file` when a connection is made, or else
    by the library, out of PGPASSWORD or the file that PGPASSFILE names.
    """

    user: str
    host: str
    port: int | None
    name: str
    options: tuple[tuple[str, str], ...] = ()
    password_file: Path | None = None

    def __str__(self) -> str:
        """Name it as a sentence may: there is no secret in it."""
        user = f"{self.user}@" if self.user else ""
        port = "" if self.port is None else f":{self.port}"
        return f"postgresql://{user}{self.host}{port}/{self.name}"


def is_server(text: str) -> bool:
    return text.partition("://")[0].lower() in SCHEMES and "://" in text


def read_place(text: str, password_file: Path | None = None) -> ServerPlace:
    """Read a URL; raises `NoPlace`, in whose text nothing of the URL is repeated but a key."""
    if not is_server(text):
        raise NoPlace(f'must be a URL such as "{LIKE}", or empty')
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise NoPlace(f'cannot be read as a URL; it must be one such as "{LIKE}"') from None
    if parts.password is not None:
        raise NoPlace(
            "must not hold the password: take it out, and put it into the file that"
            " database_password_file names, or into the environment as PGPASSWORD"
        )
    name = unquote(parts.path.removeprefix("/"))
    if not name or "/" in name or parts.fragment:
        raise NoPlace(f'must end in the name of a database, such as "{LIKE}"')
    options = tuple(parse_qsl(parts.query, keep_blank_values=True))
    for key, _ in options:
        if key not in OPTIONS:
            raise NoPlace(f'has the option "{key[:20]}"; known are {", ".join(OPTIONS)}')
    return ServerPlace(
        unquote(parts.username or ""),
        unquote(parts.hostname or ""),
        port,
        name,
        options,
        password_file,
    )
