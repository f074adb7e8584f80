"""`door metrics`: numbers of the board for Prometheus, by a process of its own that only reads.

An extra, `metrics`; nothing else imports this room.
"""
