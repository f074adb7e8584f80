"""The line of a host board: standard input and output, or a socket that was handed down."""
