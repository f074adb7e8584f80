"""Callers that other boards send by rlogin."""
