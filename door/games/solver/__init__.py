"""What a table is worth to its callers: exact odds for the rules as the sysop set them.

Combinations, never samples, from a fresh shoe. One file a game, `odds.py` for what they have in
common, `keeping.py` for the copies on disk, `telling.py` for what is printed. A game's descriptor
has its own (`Game.odds`).
"""
