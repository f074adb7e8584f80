"""TLS between servers of one board: each makes a key of its own, and takes exactly those it knows.

There is no authority and nothing to renew. A server makes its key and a certificate when it starts,
and both die with it. The certificate stands in its row in the books, and whoever is in the books is
believed: both ends show theirs, and each looks the other's up.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import ssl
import tempfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from door.errors import LibraryMissing

# Which of them counts is said by the books. A machine whose clock is wrong is not to lose the
# others for that.
FROM, UNTIL = datetime(2000, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
LONGEST = 4096  # characters of a certificate in PEM; ours have some six hundred


class Identity:
    """Our own key and certificate, and whose certificates we take."""

    def __init__(self, folder: Path) -> None:
        """Make both. `folder` is where OpenSSL is given the key, in a file that is gone at once and
        locked by a password that nobody keeps.

        Raises `LibraryMissing`, and `OSError` where that file cannot be written.
        """
        password = secrets.token_bytes(32)
        key, self.certificate = _make(password)
        self._trusted: set[str] = set()
        with _written(folder, key + self.certificate.encode()) as file:
            self._for_dialling = _context(ssl.PROTOCOL_TLS_CLIENT, file, password)
            self._for_answering = _context(ssl.PROTOCOL_TLS_SERVER, file, password)

    def trust(self, certificates: Iterable[str]) -> None:
        """Shake hands, from now on, with those who have one of these certificates, in PEM.

        OpenSSL forgets none of them. So whose it is that was shown must be looked up each time:
        `shown_by` and `in_der`.
        """
        for certificate in certificates:
            if certificate in self._trusted or not 0 < len(certificate) <= LONGEST:
                continue
            self._trusted.add(certificate)
            for context in (self._for_dialling, self._for_answering):
                # One that is none is nobody's.
                with contextlib.suppress(ssl.SSLError, ValueError, TypeError):
                    context.load_verify_locations(cadata=certificate)

    def context(self) -> ssl.SSLContext:
        """Answer with this: whoever shows no certificate that is trusted gets no further."""
        return self._for_answering

    def context_for_dialling(self) -> ssl.SSLContext:
        return self._for_dialling


class HasFacts(Protocol):
    """A transport, of asyncio or of our own."""

    def get_extra_info(self, name: str, default: object = None) -> object: ...


def shown_by(transport: HasFacts) -> bytes:
    """Return the certificate that the other end has shown, in DER; empty where it showed none."""
    tls = transport.get_extra_info("ssl_object")
    return getattr(tls, "getpeercert", lambda **_: b"")(binary_form=True) or b""


def in_der(certificate: str) -> bytes:
    """Give a certificate in PEM as `shown_by` does; empty for what is none."""
    try:
        return ssl.PEM_cert_to_DER_cert(certificate)
    except ValueError:
        return b""


def _make(password: bytes) -> tuple[bytes, str]:
    """Make a key, locked by a password, and a certificate of it; both in PEM."""
    try:
        from cryptography import x509  # noqa: PLC0415 - an extra, and slow to load
        from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
        from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise LibraryMissing(
            f"A link between servers needs {error.name}, which is not installed:"
            ' pip install "blackjack-for-time[postgres]"'
        ) from error
    key = ec.generate_private_key(ec.SECP256R1())
    number = x509.random_serial_number()
    # A name of its own: OpenSSL finds those it trusts by their names.
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"{number:x}")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(number)
        .not_valid_before(FROM)
        .not_valid_after(UNTIL)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    locked = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(password),
    )
    return locked, certificate.public_bytes(serialization.Encoding.PEM).decode("ascii")


@contextlib.contextmanager
def _written(folder: Path, content: bytes) -> Iterator[str]:
    """Give the name of a file of ours alone, for as long as it takes to read it."""
    number, name = tempfile.mkstemp(prefix="link-", suffix=".pem", dir=folder)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
        yield name
    finally:
        os.unlink(name)


def _context(protocol: int, file: str, password: bytes) -> ssl.SSLContext:
    context = ssl.SSLContext(protocol)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False  # a server is known by its certificate, wherever it is
    context.verify_mode = ssl.CERT_REQUIRED
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.options |= ssl.OP_NO_TICKET
    context.load_cert_chain(file, password=password)
    if protocol == ssl.PROTOCOL_TLS_SERVER:
        context.num_tickets = 0
    return context
