"""sysop.toml, whole: read once, checked, and frozen. Light, for doors that start fast.

Uses the settings of the games, `dropfiles` and `lines/rlogin`.
"""
