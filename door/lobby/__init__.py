"""The rooms between the games: the bank's window, bulletins, statistics, looks of terminals.

Uses `call` and the rooms below it.
"""
