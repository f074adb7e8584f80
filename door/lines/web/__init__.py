"""Callers in a browser: a page with a terminal, and WebSockets."""
