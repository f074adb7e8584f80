"""Who is let in, who waits, and what is written down of it. Uses `config` and `lines`."""
