"""How the bank's windows speak: every service ends in a sentence, its refusal included."""

from __future__ import annotations

from collections.abc import Awaitable

from timebank.database import BooksUnavailable
from timebank.refusals import CallClosed, Refused


async def serve(service: Awaitable[str]) -> str:
    """Return what a service has to say; only the end of the call is raised."""
    try:
        return await service
    except CallClosed:
        raise
    except (Refused, BooksUnavailable) as refused:
        return f"|12{refused}"
