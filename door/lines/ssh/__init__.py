"""SSH: asyncssh behind our own ports, limited to a terminal. It needs the extra `ssh`.

A board without such a listener imports nothing of it.
"""
