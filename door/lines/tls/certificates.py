"""Loads a certificate and its key, and explains what is wrong with their files.

OpenSSL's errors are terse, and often blame the wrong file of the two. This module finds the file at
fault, and says what to do about it.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Literal

from door.errors import CertificateRefused


def load(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    """Load a certificate and its key into a server's context; raise `CertificateRefused`."""
    texts = _read("certificate", certificate), _read("key", key)
    asked = False

    def password() -> str:
        nonlocal asked
        asked = True
        return ""  # without this, OpenSSL would ask at the terminal

    try:
        context.load_cert_chain(certificate, key, password=password)
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        which: Literal["certificate", "key"] = "key"
        why = getattr(error, "reason", None) or str(error)
        if b"-----BEGIN CERTIFICATE-----" not in texts[0]:
            which = "certificate"
            reason = f"must be a certificate in PEM, and {certificate} holds none"
        elif asked:
            reason = f"must have no password: `openssl pkey -in {key} -out NEW` takes it off"
        elif b"PRIVATE KEY-----" not in texts[1]:
            reason = f"must be a private key in PEM, and {key} holds none"
        elif why == "KEY_VALUES_MISMATCH":
            reason = f"must belong to the certificate {certificate}, and {key} does not"
        else:
            which = "certificate"
            reason = f"cannot be used ({why.replace('_', ' ').lower()}): {certificate} with {key}"
        raise CertificateRefused(which, reason) from error


def _read(which: Literal["certificate", "key"], file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        reason = (
            f"cannot be read: {file} ({(error.strerror or str(error)).lower()}); it must be there, "
            "and the user that the board runs as must have the right to read it"
        )
        raise CertificateRefused(which, reason) from error
