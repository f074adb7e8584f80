"""The Vegas tables, at which callers sit together."""
