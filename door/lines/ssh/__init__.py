"""SSH: asyncssh under our own ports, kept to a terminal and nothing else. It needs the extra `ssh`.

Nothing of it is imported by a board that has no such listener.
"""
