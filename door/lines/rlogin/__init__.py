"""Callers whom other boards send by rlogin."""
