"""The games: `engine`, one folder a game, and the registry that names them.

The rules of a game are pure (no I/O, no clock, no purse) and use only the engine. Tables are in
door/tables.
"""
