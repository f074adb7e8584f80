"""The long tools that try the whole board: see README.md.

They are no part of the program and are not installed with it. Short slices of each run with the
other tests, in tests/verify.
"""
