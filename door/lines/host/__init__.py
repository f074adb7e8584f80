"""The line of a host board's caller: standard input and output, or an inherited socket."""
