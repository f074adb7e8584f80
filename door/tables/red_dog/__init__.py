"""The Red Dog table."""
