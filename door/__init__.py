"""The board: its lines, its callers, the lobby and the tables.

`docs/architecture.md` lists the rooms; tests/test_rooms.py holds which of them import each other.
"""
