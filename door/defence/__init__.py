"""Decides who is let in and who waits, and logs it. Uses `config` and `lines`."""
