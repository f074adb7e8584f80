"""How a host board hands a caller to this door, and takes their time back.

`find` the files of a call, `understand` them, `give` back. One file a format. Nothing here opens a
database or a socket, because a door must start at once.
"""
