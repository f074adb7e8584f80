"""Backup and restore, the nightly work, and what the sysop does to callers.

Uses every room but `reports` and `cli`.
"""
