"""One caller on one line: console, display, purse, clock; and the board that holds them all.

Uses `config`, `defence`, `lines` and `dropfiles`.
"""
