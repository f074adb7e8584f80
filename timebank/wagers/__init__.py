"""Bets, stakes and settlements, the journal of rounds and shoes, play money.

Uses `calls` and the rooms below it; knows no game but by what a table hands in.
"""
