"""What a table is worth to its callers: exact odds for the rules as the sysop set them.

Combinations, never samples, from a fresh shoe. One file a game, `odds.py` for what they have in
common, `cache.py` for the copies on disk, `odds_text.py` for what is printed. A game's descriptor
has its own (`Game.odds`).
"""
