"""`door run`: one caller that a host board hands over, served by a process of its own.

All but `process` is light, because it is loaded before the first screen: it knows no books.
"""
