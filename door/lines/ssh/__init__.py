"""SSH: asyncssh under our own ports, kept to a terminal and nothing else. It needs the extra `ssh`.

Nothing of it is imported by a board that has no such listener.
"""

NEEDS_EXTRA = (
    "Callers by SSH need a library that is not installed here: run pip install"
    " 'blackjack-for-time[ssh]', or take that listener out of sysop.toml."
)
