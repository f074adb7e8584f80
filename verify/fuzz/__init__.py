"""Hostile input for every reader of bytes, and hostile callers for the whole board: see README.md.

It is no part of the program and is not installed with it.
"""
