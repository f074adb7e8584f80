"""Backup and restore, the move of books, the nightly work, and the sysop's acts on callers.

Uses every room but `reports` and `cli`.
"""
