"""Bets, stakes and settlements, the journal of rounds and shoes, play money.

Uses `calls` and the rooms below it. Knows a game only by the values that a table passes.
"""
