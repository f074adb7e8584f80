"""Sessions at the pages: tokens and their expiry. Pure: the monotonic second is an argument.

A token is only in the browser's cookie; its digest is kept here. Each session has a second token,
which is in every form, so that other sites can't send one.
"""

from __future__ import annotations

import hmac
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import sha256

IDLE_SECONDS = 30 * 60.0
LONGEST_SECONDS = 12 * 3600.0
MOST_FORMS = 32  # open in a session
MOST = 64  # at once; one more ends the one unused for longest


@dataclass
class Session:
    caller_id: int
    password_hash: str  # at the log-on; a new one ends the session
    begun: float
    used: float
    form_token: str
    offered: str = field(default="", repr=False)  # a secret to set an authenticator up with
    # By its key, what a form was shown for, and the result once it is done: each is done once.
    forms: OrderedDict[str, tuple[object, str]] = field(default_factory=OrderedDict, repr=False)

    def issue(self, what: object) -> str:
        """Return the key of a form that is good for an act as it was shown, `what`."""
        key = secrets.token_urlsafe(16)
        self.forms[key] = what, ""
        if len(self.forms) > MOST_FORMS:
            self.forms.popitem(last=False)
        return key


class Sessions:
    def __init__(self) -> None:
        self._sessions: OrderedDict[bytes, Session] = OrderedDict()

    def begin(self, caller_id: int, password_hash: str, now: float) -> str:
        """Return the token of a new session."""
        token = secrets.token_urlsafe(32)
        form = secrets.token_urlsafe(32)
        self._sessions[_digest(token)] = Session(caller_id, password_hash, now, now, form)
        while len(self._sessions) > MOST:
            self._sessions.popitem(last=False)
        return token

    def find(self, token: str, now: float, *, uses: bool = True) -> Session | None:
        """Return the session of a token, None if it has expired. With `uses` this extends it.

        >>> sessions = Sessions()
        >>> token = sessions.begin(7, "hash", 0.0)
        >>> sessions.find(token, IDLE_SECONDS).caller_id
        7
        >>> sessions.find(token, 3 * IDLE_SECONDS) is None
        True
        """
        key = _digest(token)
        session = self._sessions.get(key)
        if session is None:
            return None
        if now - session.used > IDLE_SECONDS or now - session.begun > LONGEST_SECONDS:
            del self._sessions[key]
            return None
        if uses:
            session.used = now
            self._sessions.move_to_end(key)
        return session

    def end(self, token: str) -> None:
        self._sessions.pop(_digest(token), None)


def is_of(session: Session, form_token: str) -> bool:
    """Return whether a form was made for a session."""
    return hmac.compare_digest(session.form_token.encode(), form_token.encode())


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
