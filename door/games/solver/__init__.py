"""Exact odds of the tables, for the rules as the sysop has set them.

They are counted over all combinations of a fresh shoe. `odds.py` has the form of the odds, and
`odds_text.py` prints them. The descriptor of a game computes its own odds (`Game.odds`).
"""
