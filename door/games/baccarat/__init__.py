"""Baccarat, for time or to break the bank, in English or in French."""
