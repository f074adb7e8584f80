"""`door run`: the process that brings a caller whom a host board hands over to the board's server.

It is light, for callers wait while it is loaded: it knows no books.
"""
