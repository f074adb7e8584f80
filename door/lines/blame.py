"""The reason for which a call was cut off."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Blame:
    """Why a call was cut off, in our words for a log; nothing that was sent is quoted.

    `own_fault` is true for what no decent program does. The address may be banned for it.
    """

    why: str
    own_fault: bool = True
