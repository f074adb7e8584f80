"""The rooms between the games: the bank's window, bulletins, who is on line.

Uses `call` and the rooms below it.
"""
