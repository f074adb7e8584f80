"""The files of a certificate and its key, and what is wrong with them.

OpenSSL has one word for it, and often blames the wrong one of the two files. Here the one at fault
is found, and the sentence says what to do about it.
"""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from door.errors import CertificateRefused

SOON = timedelta(days=14)  # a certificate that is renewed by itself was renewed long before
_EXPIRED, _NOT_YET_VALID = 10, 9  # OpenSSL's X509_V_ERR_CERT_HAS_EXPIRED and ..._NOT_YET_VALID


def load(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    """Give a server's context its certificate and key, or raise `CertificateRefused`."""
    texts = _read("certificate", certificate), _read("key", key)
    asked = False

    def password() -> str:
        nonlocal asked
        asked = True
        return ""  # else it would be asked for at the terminal

    try:
        context.load_cert_chain(certificate, key, password=password)
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        which: Literal["certificate", "key"] = "key"
        why = getattr(error, "reason", None) or str(error)
        if b"-----BEGIN CERTIFICATE-----" not in texts[0]:
            which = "certificate"
            reason = f"must be a certificate in PEM, and {certificate} holds none"
        elif asked:
            reason = f"must need no password: `openssl pkey -in {key} -out NEW` writes one without"
        elif b"PRIVATE KEY-----" not in texts[1]:
            reason = f"must be a private key in PEM, and {key} holds none"
        elif why == "KEY_VALUES_MISMATCH":
            reason = f"must belong to the certificate {certificate}, and {key} does not"
        else:
            which = "certificate"
            reason = f"cannot be used ({why.replace('_', ' ').lower()}): {certificate} with {key}"
        raise CertificateRefused(which, reason) from error


def doubt(certificate: Path, key: Path, now: datetime) -> str:
    """Say that a certificate expires soon, "" when it does not.

    Raises `CertificateRefused`, also for one that has expired or is not valid yet: the board would
    show it, and no caller's program would take it.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    load(context, certificate, key)
    try:
        expires = _expires(context, certificate)
    except ssl.SSLCertVerificationError as error:
        reason = {
            _EXPIRED: f"has expired: {certificate} must be renewed",
            _NOT_YET_VALID: f"is not valid yet: {certificate}, by the clock of this machine",
        }.get(error.verify_code, f"would not be taken ({error.verify_message}): {certificate}")
        raise CertificateRefused("certificate", reason) from error
    if expires - now > SOON:
        return ""
    days = (expires.date() - now.date()).days
    when = ("today", "tomorrow")[days] if days < 2 else f"in {days} days"
    return f"The certificate {certificate} expires {when}, on {expires:%Y-%m-%d}: renew it."


def _read(which: Literal["certificate", "key"], file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        reason = (
            f"cannot be read: {file} ({(error.strerror or str(error)).lower()}); it must be there, "
            "and the user that the board runs as must have the right to read it"
        )
        raise CertificateRefused(which, reason) from error


def _expires(server: ssl.SSLContext, certificate: Path) -> datetime:
    """When a certificate expires; only a client can read it, so two shake hands in memory."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    client.load_verify_locations(certificate)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    caller = client.wrap_bio(to_client, to_server)
    board = server.wrap_bio(to_server, to_client, server_side=True)
    while True:
        try:
            caller.do_handshake()
        except ssl.SSLWantReadError:
            try:
                board.do_handshake()
            except ssl.SSLWantReadError:
                continue
        else:
            break
    shown = caller.getpeercert()
    assert shown  # it was verified
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(str(shown["notAfter"])), UTC)
