"""Reads sysop.toml once, checks it, and freezes it. Light, for doors that must start fast.

Uses the settings of the games, `dropfiles` and `lines/rlogin`.
"""
