"""The rules for callers' names, and for names that look alike. Uses no other room."""
