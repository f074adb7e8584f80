"""Vegas: one table for up to seven callers, kept by the server."""
