"""Reads how a host board hands over a caller, and gives time back to the host.

`find` the files of a call, `understand` them, `give` back. Each format has its module. Imports no
database and no sockets, because a door must start at once.
"""
