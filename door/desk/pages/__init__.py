"""The books as pages, for the sysop: a process of its own that only reads. It needs the extra
`pages`.
"""
